import type { FrontContext } from '../contract/index.ts'
import type {
  ClientTool,
  Command,
  Ext,
  Id,
  Message,
  Part,
  TurnOptions,
  TurnSettings,
  TurnStart,
} from '../model/index.ts'

/** A request to a model, as it was read: the conversation before its input, and its input. */
export interface StartRequest {
  /** Empty when it names no model. */
  agent: string
  input: readonly Part[]
  history: readonly Message[]
  options: TurnOptions
  tools: readonly ClientTool[]
  /** The user whom it names. */
  user?: string | undefined
  /** The session that it names in its own way. */
  session: string | undefined
  /** The conversation that it adds to, or the turn that it follows: the request has only what is new. */
  conversation?: string | undefined
  after?: Id | undefined
  /** Fields that the model has no place for. */
  ext: Ext | undefined
}

/** Returns the options, tools and other settings of a request, without its input. */
export function settingsOf({ agent, user, options, tools, ext }: StartRequest): TurnSettings {
  const settings: TurnSettings = { options }
  if (agent !== '') settings.agent = agent
  if (user) settings.user = user
  if (tools.length > 0) settings.clientTools = tools
  if (ext) settings.ext = ext
  return settings
}

/** The command of a request that begins a turn. */
export function startCommand(
  request: StartRequest,
  headers: FrontContext['headers'],
  exchange: Id,
  turn: Id,
): Command & TurnStart {
  const { input, history, session, conversation, after } = request
  const named = headers['turnpike-session']
  const id = named ?? conversation ?? session
  const key = headers['idempotency-key']
  const name = headers['x-request-id'] ?? headers['x-client-request-id']
  // Clients of these APIs count how often they have repeated a request.
  const repeats = Number(headers['x-stainless-retry-count'] ?? 0) > 0
  // A client that names its session may leave the conversation to it.
  const adds = after !== undefined || conversation !== undefined || (named !== undefined && history.length === 0)
  const historyMode = adds ? 'delta' : 'complete'
  const { options, agent, user, clientTools, ext } = settingsOf(request)
  const command: Command & TurnStart = {
    exchange,
    type: 'turn-start',
    turn,
    task: 'prompt',
    input,
    options,
    historyMode,
  }
  if (agent !== undefined) command.agent = agent
  if (user !== undefined) command.user = user
  if (clientTools) command.clientTools = clientTools
  if (ext) command.ext = ext
  if (name) command.request = name
  if (id) command.session = { id }
  if (after !== undefined) command.after = after
  if (history.length > 0) command.history = history
  if (key) command.once = { key, scope: 'tenant', duplicate: 'join', replay: 'success' }
  if (repeats) command.retry = true
  return command
}
