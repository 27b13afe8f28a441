import {
  type Command,
  canonicalJson,
  type JsonText,
  rest,
  type SessionRef,
  type TurnOptions,
  type TurnStart,
} from '../../model/index.ts'
import { digestOf } from '../common/index.ts'

type Start = Command & TurnStart

/** Members that distinguish requests. A member of the type that is missing in the table does not compile. */
type Compared<T> = Readonly<Record<keyof T, boolean>>

/**
 * Compares everything that changes the answer. It leaves out names that are new with each attempt, the key itself and
 * its policy, and how and how long the client waits for the answer.
 */
const START: Compared<Start> = {
  type: false,
  task: true,
  user: true,
  input: true,
  options: true,
  session: true,
  ext: true,
  invocation: true,
  after: true,
  history: true,
  historyMode: true,
  clientTools: true,
  askedCapabilities: true,
  environment: true,
  cwd: true,
  folders: true,
  mcpServers: true,
  // The agent that it is given to is compared instead, however it was named.
  agent: false,
  exchange: false,
  turn: false,
  request: false,
  once: false,
  retry: false,
}

const OPTIONS: Compared<TurnOptions> = {
  model: true,
  temperature: true,
  topP: true,
  maxTokens: true,
  stop: true,
  effort: true,
  systemPrompt: true,
  tools: true,
  toolChoice: true,
  parallelTools: true,
  outputSchema: true,
  locale: true,
  // The form of the answer and the time for it: a second attempt may ask for a stream, and has less time left.
  streaming: false,
  totalMs: false,
}

const SESSION: Compared<SessionRef> = {
  id: true,
  conversation: true,
  channel: true,
  name: true,
  continuation: true,
  // The engine's, not the client's.
  bound: false,
  origin: false,
}

/** Members of a command that are compared by themselves. */
const APART: ReadonlySet<string> = new Set(['invocation', 'options', 'session', 'ext'])

/** Members of the model that hold JSON as text. */
const JSON_MEMBERS: ReadonlySet<string> = new Set(['json', 'schema', 'args', 'outputSchema'])

/**
 * A digest of all that changes the answer of a request: two are the same request when theirs are the same. `agent` is
 * the one that the request is given to. JSON is compared by its meaning: white space and the order of members make no
 * difference. A missing member differs from one with any value, because defaults are the agents'.
 */
export function fingerprint(command: Start, agent: string): string {
  const { invocation, options, session, ext } = command
  const told = ext && rest(ext.json, new Set(command.once?.incidental))
  return digestOf(
    JSON.stringify([
      agent,
      ordered(command, (name) => !APART.has(name) && (START[name as keyof Start] ?? true)),
      ext && told ? [ext.protocol, canonicalJson(told)] : null,
      ordered(options, (name) => OPTIONS[name as keyof TurnOptions] ?? true),
      ordered(session ?? {}, (name) => SESSION[name as keyof SessionRef] ?? true),
      // Its arguments are compared as text, even if they look like JSON.
      invocation ? [invocation.kind, invocation.path, invocation.args] : null,
    ]),
  )
}

/** The members of the object that are compared, in order, without undefined ones. */
function ordered(value: object, isCompared: (name: string) => boolean = () => true): unknown[] {
  const named = value as Readonly<Record<string, unknown>>
  const names = Object.keys(named).filter((name) => named[name] !== undefined && isCompared(name))
  return names.sort().map((name) => [name, comparable(named[name], name)])
}

/** The value with the members of its objects as `ordered` gives them, and JSON texts in their canonical form. */
function comparable(value: unknown, key?: string): unknown {
  if (typeof value === 'string')
    return key !== undefined && JSON_MEMBERS.has(key) ? canonicalJson(value as JsonText) : value
  if (Array.isArray(value)) return value.map((item) => comparable(item))
  return typeof value === 'object' && value !== null ? ordered(value) : value
}
