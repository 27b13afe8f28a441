import { furtherMembers, type KnownMembers } from '../../../src/codec-kit/index.ts'
import { type Citation, elements, type JsonText, member, type Part, parseObject } from '../../../src/model/index.ts'
import { readAnnotations } from '../annotations.ts'
import { readRefusal } from '../content.ts'
import { MESSAGES, withOwn } from '../further.ts'
import { readContent } from './content.ts'

/** A message of a request, as it was read; or the member that is wrong, and why. */
export type ReadMessage = { role: WireRole; parts: Part[] } | { wrong: string; param: string }

/** The roles of messages. `developer` is the newer name of `system`. */
export type WireRole = 'system' | 'user' | 'assistant' | 'tool'

const ROLES: Readonly<Record<string, WireRole>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
}

const SAID: KnownMembers = { role: true, content: true }

/** The members of a message of each role that it reads. Others, the name of its speaker too, ride with its first part. */
const KNOWN: Readonly<Record<WireRole, KnownMembers>> = {
  system: SAID,
  user: SAID,
  assistant: {
    ...SAID,
    annotations: true,
    reasoning: true,
    reasoning_content: true,
    refusal: true,
    tool_calls: true,
    // Clients of the official library send back what it has read of an answer.
    parsed: true,
  },
  tool: { ...SAID, tool_call_id: true },
}

/** Reads one of the `messages`; `at` is its place. */
export function readMessage(json: JsonText, at: number): ReadMessage {
  const value = parseObject(json)
  const role =
    typeof value?.['role'] === 'string' && Object.hasOwn(ROLES, value['role']) ? ROLES[value['role']] : undefined
  if (!value || !role)
    return { wrong: `has no role of: ${Object.keys(ROLES).join(', ')}`, param: `messages[${at}].role` }
  const content = readContent(member(json, 'content'))
  if ('wrong' in content) {
    const place = content.at < 0 ? '' : `[${content.at}]`
    return { wrong: content.wrong, param: `messages[${at}].content${place}` }
  }
  const { name } = value
  if (name != null && typeof name !== 'string') return { wrong: 'must be a string', param: `messages[${at}].name` }
  const read =
    role === 'tool'
      ? readResult(value, content, at)
      : role === 'assistant'
        ? readAnswer(json, value, content, at)
        : { role, parts: content }
  if ('wrong' in read) return read
  return { role, parts: MESSAGES.chat.begin(read.parts, furtherMembers(json, value, KNOWN[role])) }
}

/** Reads what a model has said. */
function readAnswer(json: JsonText, value: Record<string, unknown>, content: readonly Part[], at: number): ReadMessage {
  // The older form of a call, which has no id.
  if (value['function_call'] != null) {
    return { wrong: 'is not supported; send tool_calls', param: `messages[${at}].function_call` }
  }
  const annotations = readAnnotations(member(json, 'annotations'))
  if (!annotations) return { wrong: 'must be an array of annotations', param: `messages[${at}].annotations` }
  const refusal = readRefusal(value['refusal'])
  const calls = readCalls(value['tool_calls'], member(json, 'tool_calls'), at)
  if ('wrong' in calls) return calls
  const said = [...cited(content, annotations), ...(refusal ? [refusal] : [])]
  return { role: 'assistant', parts: [...reasoningOf(value), ...said, ...calls] }
}

/** A content with the sources of its text. */
export function cited(content: readonly Part[], citations: readonly Citation[]): readonly Part[] {
  if (citations.length === 0) return content
  const at = content.findIndex(({ type }) => type === 'text')
  return content.map((part, index) => (index === at ? { ...part, citations } : part) as Part)
}

function readResult(value: Record<string, unknown>, parts: Part[], at: number): ReadMessage {
  const tool = value['tool_call_id']
  if (typeof tool !== 'string') return { wrong: 'must be the id of a tool call', param: `messages[${at}].tool_call_id` }
  return { role: 'tool', parts: [{ type: 'tool-reply', tool, status: 'ok', parts }] }
}

/** Reasoning that the client gives back, under either of the names that servers use. */
function reasoningOf(value: Record<string, unknown>): Part[] {
  const text = value['reasoning_content'] ?? value['reasoning']
  return typeof text === 'string' && text !== '' ? [{ type: 'reasoning', text }] : []
}

function readCalls(value: unknown, json: JsonText | undefined, at: number): Part[] | { wrong: string; param: string } {
  if (value == null) return []
  const param = `messages[${at}].tool_calls`
  if (!Array.isArray(value)) return { wrong: 'must be an array', param }
  const calls: Part[] = []
  const raws = elements(json!)
  for (const [index, call] of (value as unknown[]).entries()) {
    const read = readCall(call)
    if (!read) return { wrong: 'must have an id, and a function with name and arguments', param: `${param}[${index}]` }
    calls.push(withOwn(read, 'chat', raws[index]!, call as Record<string, unknown>, CALL))
  }
  return calls
}

/** The members of a call that are read, and its place in a stream, which clients send back. */
export const CALL: KnownMembers = {
  id: true,
  type: true,
  index: true,
  function: { name: true, arguments: true, parsed_arguments: true },
  custom: { name: true, input: true },
}

function readCall(call: unknown): Part | undefined {
  const { id, function: called, custom } = (call ?? {}) as Record<string, unknown>
  const { name, arguments: args, input } = (called ?? custom ?? {}) as Record<string, unknown>
  const given = args ?? input
  if (typeof id !== 'string' || typeof name !== 'string' || typeof given !== 'string') return undefined
  return { type: 'tool-call', tool: id, name, args: given }
}
