import * as v from 'valibot'
import {
  agentOf,
  answerFormat,
  count,
  flag,
  jsonSchema,
  maybe,
  number,
  objects,
  record,
  type StartRequest,
  strayReply,
  text,
  texts,
  type WrongMember,
  whole,
  wrongMember,
} from '../../../src/codec-kit/index.ts'
import type { FrontContext } from '../../../src/contract/index.ts'
import {
  type Ext,
  elements,
  type Fault,
  type JsonText,
  type Message,
  member,
  members,
  object,
  type Part,
  parseObject,
  rest,
  type TurnOptions,
  textOf,
} from '../../../src/model/index.ts'
import { invalidRequest } from '../errors.ts'
import { estimateTokens } from '../estimate.ts'
import { readContent } from '../read-blocks.ts'
import { toExt } from '../wire.ts'
import { effortOf, thinking } from './effort.ts'
import { sessionOfUser } from './session.ts'
import { choice, readTools, tool, toolOptions } from './tools.ts'

/** A request as it was read, and the form of its answer. */
export interface MessagesRequest extends StartRequest {
  /** The name that the answer repeats. */
  model: string
  streams: boolean
  /** The estimated tokens of the request. */
  tokens: number
}

const format = answerFormat('schema', jsonSchema)

/** Members that the model has a place for. */
const OWN = {
  model: v.optional(text, ''),
  max_tokens: count,
  messages: v.pipe(v.array(v.unknown(), 'must be an array'), v.minLength(1, 'must not be empty')),
  system: maybe(v.union([text, v.array(v.unknown())], 'must be a string or an array of blocks')),
  stream: maybe(flag),
  tools: maybe(v.array(tool, 'must be an array')),
  tool_choice: maybe(choice),
  temperature: maybe(number),
  top_p: maybe(number),
  stop_sequences: maybe(texts),
}
const textOrObject = v.union([text, record({})], 'must be a string or an object')
/** Members that reach a server of this API; the model has a place for a part of some. */
const PASSED = {
  metadata: maybe(record({ user_id: maybe(text) })),
  output_config: maybe(record({ effort: maybe(text), format: maybe(format) })),
  output_format: maybe(format),
  thinking: maybe(thinking),
  betas: maybe(texts),
  billing_policy: maybe(record({})),
  cache_control: maybe(record({ type: text })),
  compaction: maybe(record({})),
  container: maybe(textOrObject),
  context_management: maybe(record({})),
  diagnostics: maybe(record({})),
  fallback_credit_token: maybe(textOrObject),
  fallbacks: maybe(v.union([text, objects], 'must be a string or an array of objects')),
  inference_geo: maybe(text),
  mcp_servers: maybe(objects),
  service_tier: maybe(text),
  speed: maybe(text),
  thread: maybe(record({})),
  top_k: maybe(whole),
  user_profile_id: maybe(text),
  workspace_id: maybe(text),
}

/** A body as it is sent. */
export const Request = v.looseObject({ ...OWN, ...PASSED })
type Read = v.InferOutput<typeof Request>

/** A body whose tokens are counted: it takes no limit of the answer. */
export const Counted = v.looseObject({ ...Request.entries, max_tokens: maybe(count) })

/** Members that the model has a place for a part of. */
const PARTLY: ReadonlySet<string> = new Set(['metadata', 'output_config', 'output_format', 'thinking'])
const KNOWN: ReadonlySet<string> = new Set(Object.keys(OWN))

/** Members of objects that have a place in the model. */
const USER: ReadonlySet<string> = new Set(['user_id'])
const OUTPUT: ReadonlySet<string> = new Set(['effort', 'format'])
const FORMAT: ReadonlySet<string> = new Set(['format'])

/** Reads a request of `POST /v1/messages`. */
export function readRequest(body: string, headers: FrontContext['headers']): MessagesRequest | Fault {
  const checked = check(Request, body)
  if ('code' in checked) return checked
  const { read } = checked
  const messages = readMessages(body)
  if ('code' in messages) return messages
  const system = readContent(read.system == null ? undefined : member(body, 'system'), 'system')
  if ('wrong' in system) return refusal(system)
  const tools = readTools(read.tools ?? [], member(body, 'tools') ?? '[]')
  if ('code' in tools) return tools
  const [agent, model] = agentOf(read.model)
  return {
    model: read.model,
    agent,
    user: read.metadata?.user_id ?? undefined,
    ...conversation(messages),
    options: { ...optionsOf(read, body, system), ...(model !== undefined && { model }) },
    tools,
    session: headers['x-claude-code-session-id'] ?? sessionOfUser(read.metadata?.user_id),
    streams: read.stream === true,
    tokens: estimateTokens(read),
    ext: extOf(body, read, system, headers['anthropic-beta']),
  }
}

/** Reads the body of `POST /v1/messages/count_tokens`: the estimated tokens of the request. */
export function readCounted(body: string): number | Fault {
  const checked = check(Counted, body)
  if ('code' in checked) return checked
  const messages = readMessages(body)
  return 'code' in messages ? messages : estimateTokens(checked.read)
}

function check<S extends v.GenericSchema>(schema: S, body: string): { read: v.InferOutput<S> } | Fault {
  const value = parseObject(body)
  if (!value) return invalidRequest('The body is not a JSON object; send {"model":"…","max_tokens":…,"messages":[…]}.')
  const checked = v.safeParse(schema, value)
  return checked.success ? { read: checked.output } : refusal(wrongMember(checked.issues[0]))
}

function refusal({ wrong, param }: WrongMember): Fault {
  return invalidRequest(`${param} ${wrong}.`)
}

const ROLES = ['user', 'assistant', 'system'] as const

function readMessages(body: string): Message[] | Fault {
  const messages: Message[] = []
  for (const [at, json] of elements(member(body, 'messages')!).entries()) {
    const value = parseObject(json)
    const role = ROLES.find((known) => known === value?.['role'])
    if (!role) return refusal({ param: `messages[${at}].role`, wrong: `must be one of: ${ROLES.join(', ')}` })
    const parts = readContent(member(json, 'content'), `messages[${at}].content`)
    if ('wrong' in parts) return refusal(parts)
    messages.push({ role, parts })
  }
  const stray = strayReply(messages)
  if (stray === undefined) return messages
  return refusal({ param: `messages[${stray}].content`, wrong: 'has a result whose tool_use_id no message before has' })
}

/** The user's messages after the last answer are the input; instructions of the system after it belong to the history. */
function conversation(messages: readonly Message[]): Pick<MessagesRequest, 'input' | 'history'> {
  const answered = messages.findLastIndex(({ role }) => role === 'assistant') + 1
  const last = messages.slice(answered)
  return {
    history: [...messages.slice(0, answered), ...last.filter(({ role }) => role === 'system')],
    input: last.flatMap(({ role, parts }) => (role === 'user' ? parts : [])),
  }
}

function optionsOf(read: Read, body: string, system: readonly Part[]): TurnOptions {
  const { temperature, top_p: topP, stop_sequences: stop, max_tokens: maxTokens, output_config: output } = read
  const systemPrompt = promptOf(system)
  const effort = output?.effort ?? effortOf(read.thinking)
  const outputSchema = schemaOf(body, 'output_format') ?? schemaOf(member(body, 'output_config'), 'format')
  return {
    maxTokens,
    ...(read.stream === true && { streaming: true }),
    ...(temperature != null && { temperature }),
    ...(topP != null && { topP }),
    ...(stop != null && { stop }),
    ...(effort !== undefined && { effort }),
    ...(systemPrompt !== '' && { systemPrompt }),
    ...toolOptions(read.tool_choice),
    ...(outputSchema !== undefined && { outputSchema }),
  }
}

function promptOf(system: readonly Part[]): string {
  return system.map((part) => textOf([part])).join('\n\n')
}

function schemaOf(json: JsonText | undefined, key: string): JsonText | undefined {
  const held = member(json ?? '', key)
  return held === undefined || held === 'null' ? undefined : member(held, 'schema')
}

/** The members that the model has no place for, and a system prompt that is more than text. */
function extOf(body: string, read: Read, system: readonly Part[], betas: string | undefined): Ext | undefined {
  const others = rest(body, KNOWN) ?? '{}'
  const json = object([
    ['system', system.some(({ ext }) => ext) ? member(body, 'system') : undefined],
    ...members(others).map(([key, value]) => [key, withinOf(key, value, read)] as const),
    ['betas', betas === undefined ? undefined : JSON.stringify(betas.split(/\s*,\s*/))],
  ])
  return json === '{}' ? undefined : toExt(json)
}

/**
 * The rest of a member; undefined when nothing is left. With thinking, the effort of a client stays in its own member.
 */
function withinOf(key: string, value: JsonText, { thinking: thought }: Read): JsonText | undefined {
  if (value === 'null' && PARTLY.has(key)) return undefined
  if (key === 'metadata') return rest(value, USER)
  if (key === 'output_format') return member(value, 'schema') === undefined ? value : undefined
  return key === 'output_config' ? rest(value, thought == null ? OUTPUT : FORMAT) : value
}
