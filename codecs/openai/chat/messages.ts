import type { Entry } from '../../../src/codec-kit/index.ts'
import {
  type Citation,
  type JsonText,
  type Message,
  member,
  members,
  object,
  type Part,
  parseObject,
  quote,
  textOf,
} from '../../../src/model/index.ts'
import { readAnnotations } from '../annotations.ts'
import { type LostPart, NAME } from '../content.ts'
import { entriesExt, ownExt, ownMember } from '../wire.ts'
import { contentJson, readContent } from './content.ts'

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
  if (role === 'tool') return readResult(value, content, at)
  const { name } = value
  if (name != null && typeof name !== 'string') return { wrong: 'must be a string', param: `messages[${at}].name` }
  if (role !== 'assistant') return { role, parts: named(content, name) }
  // The older form of a call, which has no id.
  if (value['function_call'] != null) {
    return { wrong: 'is not supported; send tool_calls', param: `messages[${at}].function_call` }
  }
  const annotations = readAnnotations(member(json, 'annotations'))
  if (!annotations) return { wrong: 'must be an array of annotations', param: `messages[${at}].annotations` }
  const said = typeof value['refusal'] === 'string' ? [{ type: 'text' as const, text: value['refusal'] }] : []
  const calls = readCalls(value['tool_calls'], at)
  if ('wrong' in calls) return calls
  return { role, parts: [...reasoningOf(value), ...named(cited(content, annotations), name), ...said, ...calls] }
}

/** A content with the name of its speaker, which its first part has. */
function named(content: readonly Part[], name: string | null | undefined): Part[] {
  const [first, ...others] = content
  if (!first || name == null) return [...content]
  const ext = entriesExt([[NAME, quote(name)], ...members(ownExt(first.ext) ?? '{}')])!
  return [{ ...first, ext }, ...others]
}

/** The name of the speaker of a content. */
function nameEntry(parts: readonly Part[]): Entry {
  return [NAME, parts.map(({ ext }) => ownMember(ext, NAME)).find((name) => name !== undefined)]
}

/** The parts by speaker: each that has a name begins what another one says. */
function bySpeaker(parts: readonly Part[]): Part[][] {
  const all: Part[][] = []
  for (const part of parts) {
    if (all.length === 0 || ownMember(part.ext, NAME) !== undefined) all.push([part])
    else all.at(-1)!.push(part)
  }
  return all
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

function readCalls(value: unknown, at: number): Part[] | { wrong: string; param: string } {
  if (value == null) return []
  const param = `messages[${at}].tool_calls`
  if (!Array.isArray(value)) return { wrong: 'must be an array', param }
  const calls: Part[] = []
  for (const [index, call] of (value as unknown[]).entries()) {
    const read = readCall(call)
    if (!read) return { wrong: 'must have an id, and a function with name and arguments', param: `${param}[${index}]` }
    calls.push(read)
  }
  return calls
}

function readCall(call: unknown): Part | undefined {
  const { id, function: called, custom } = (call ?? {}) as Record<string, unknown>
  const { name, arguments: args, input } = (called ?? custom ?? {}) as Record<string, unknown>
  const given = args ?? input
  if (typeof id !== 'string' || typeof name !== 'string' || typeof given !== 'string') return undefined
  return { type: 'tool-call', tool: id, name, args: given }
}

/** A canonical message as those of a request: the results of tools are messages of their own. */
export function messageJsons({ role, parts }: Pick<Message, 'role' | 'parts'>, lost: LostPart): JsonText[] {
  const results = parts.filter((part) => part.type === 'tool-reply')
  const others = parts.filter((part) => part.type !== 'tool-reply')
  const replies = results.map((result) => resultJson(result, lost))
  if (others.length === 0) return replies
  if (role === 'assistant') return [assistantJson(others, lost), ...replies]
  const said = bySpeaker(others).map((all) =>
    object([
      ['role', quote(role === 'system' ? 'system' : 'user')],
      ['content', contentJson(all, lost)],
      nameEntry(all),
    ]),
  )
  return [...replies, ...said]
}

/**
 * The result of a tool as a message. The text of a failed call says that it failed, because the protocol has no place
 * for that.
 */
export function resultJson(result: Part & { type: 'tool-reply' }, lost: LostPart): JsonText {
  const said = result.parts.every((part) => part.type === 'text')
    ? quote(textOf(result.parts))
    : contentJson(result.parts, lost)
  const text =
    result.status === 'ok' || said !== '""' ? said : quote(`The tool call ended with the status: ${result.status}.`)
  return object([
    ['role', '"tool"'],
    ['tool_call_id', quote(result.tool)],
    ['content', text],
  ])
}

/** The text and calls of the model, as a message. It has no reasoning: only some servers accept that. */
export function assistantJson(parts: readonly Part[], lost: LostPart): JsonText {
  const calls = parts.filter((part) => part.type === 'tool-call')
  const said = parts.filter((part) => part.type !== 'tool-call' && part.type !== 'reasoning')
  for (const part of parts) if (part.type === 'reasoning') lost(part)
  const content = said.length === 0 && calls.length > 0 ? 'null' : contentJson(said, lost)
  return object([
    ['role', '"assistant"'],
    ['content', content],
    nameEntry(said),
    ['tool_calls', calls.length === 0 ? undefined : `[${calls.map(callJson).join(',')}]`],
  ])
}

function callJson({ tool, name, args }: Part & { type: 'tool-call' }): JsonText {
  const called = object([
    ['name', quote(name)],
    ['arguments', quote(args)],
  ])
  return object([
    ['id', quote(tool)],
    ['type', '"function"'],
    ['function', called],
  ])
}
