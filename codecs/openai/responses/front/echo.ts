import {
  type ClientTool,
  type Ext,
  elements,
  type JsonText,
  type Member,
  member,
  members,
  object,
  oneLine,
} from '../../../../src/model/index.ts'
import { entriesExt, ownExt } from '../../wire.ts'
import { toolsOf } from './tools.ts'

/** The parts of a request that later responses repeat. */
export interface Echo {
  /** The members that the response repeats, as one object. */
  request: JsonText
  /** The tools of its `additional_tools` items, raw. */
  tools: readonly JsonText[]
  /**
   * Items of its input that no message of the turn has: the system messages at its beginning, or all items of a request
   * that goes on with a parked turn, results without their `output`.
   */
  input: readonly JsonText[]
  /** The time of a request that goes on with a parked turn, in milliseconds since the epoch, where it is known. */
  at?: number | undefined
}

/** Nothing is known of the request: its content is not kept. */
export const NO_ECHO: Echo = { request: '{}', tools: [], input: [] }

/** The members that a response repeats of its request, with what it says where the request does not. */
const REPEATED = {
  background: 'false',
  instructions: 'null',
  max_output_tokens: 'null',
  max_tool_calls: 'null',
  parallel_tool_calls: 'true',
  previous_response_id: 'null',
  prompt: 'null',
  prompt_cache_key: 'null',
  prompt_cache_retention: 'null',
  reasoning: '{"effort":null,"summary":null}',
  safety_identifier: 'null',
  store: 'true',
  temperature: 'null',
  text: '{"format":{"type":"text"}}',
  tool_choice: '"auto"',
  tools: '[]',
  top_logprobs: '0',
  top_p: 'null',
  truncation: '"disabled"',
  user: 'null',
  metadata: '{}',
} as const satisfies Readonly<Record<string, JsonText>>

/** Members of which a request may say a part. */
const IN_PARTS: ReadonlySet<string> = new Set(['reasoning', 'text'])

/** The members of a request that its response repeats, as one object. */
export function repeatedOf(body: readonly Member[]): JsonText {
  return oneLine(object(body.filter(([key, value]) => Object.hasOwn(REPEATED, key) && value !== 'null')))
}

/** The members that a response repeats from its request: two of them, and all the others as text. */
export interface Echoed {
  background: JsonText
  metadata: JsonText
  others: JsonText
}

/** The members that a response repeats from its request. */
export function echoed({ request }: Echo): Echoed {
  return request === '{}' ? UNSAID : repeating(new Map(members(request)))
}

function repeating(given: ReadonlyMap<string, JsonText>): Echoed {
  const others: Record<string, JsonText> = { ...REPEATED }
  for (const [key, said] of given) others[key] = IN_PARTS.has(key) ? merged(others[key]!, said) : said
  const { background, metadata, ...rest } = others
  return { background: background!, metadata: metadata!, others: object(rest).slice(1, -1) }
}

/** The members of a response whose request has none of them. */
const UNSAID: Echoed = repeating(new Map())

/** The members of both objects; those of the second one count. */
function merged(usual: JsonText, said: JsonText): JsonText {
  return object(new Map([...members(usual), ...members(said)]))
}

/** The tools that a request declares. */
export function declaredIn({ request, tools }: Echo): ClientTool[] {
  return [...toolsOf(member(request, 'tools')), ...toolsOf(list(tools))]
}

/** An echo as it is kept with the turn. */
export function echoExt({ request, tools, input, at }: Echo): Ext | undefined {
  return entriesExt([
    ['request', request === '{}' ? undefined : request],
    ['tools', tools.length === 0 ? undefined : list(tools)],
    ['input', input.length === 0 ? undefined : list(input)],
    ['at', at === undefined ? undefined : String(at)],
  ])
}

/** The echo that was kept. */
export function readEcho(ext: Ext | undefined): Echo {
  const json = ownExt(ext)
  if (json === undefined) return NO_ECHO
  const at = member(json, 'at')
  return {
    request: member(json, 'request') ?? '{}',
    tools: elements(member(json, 'tools') ?? '[]'),
    input: elements(member(json, 'input') ?? '[]'),
    at: at === undefined ? undefined : Number(at),
  }
}

function list(items: readonly JsonText[]): JsonText {
  return oneLine(`[${items.join(',')}]`)
}
