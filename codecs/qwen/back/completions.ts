import {
  CHAT_COUNTS,
  furtherMembers,
  hasFurther,
  type KnownMembers,
  readChatUsage,
  reportFurther,
  wordTable,
} from '../../../src/codec-kit/index.ts'
import {
  type Ext,
  isRecord,
  type JsonText,
  type Loss,
  member,
  members,
  type Role,
  type Usage,
} from '../../../src/model/index.ts'
import { argumentsText } from '../messages.ts'
import { Chunk, Completion } from '../schema.ts'
import { entriesExt, MESSAGE_GAP } from '../wire.ts'
import { CHOICE, isSaid, lose, readLine } from './completion-line.ts'
import { type Reader, reader } from './lines.ts'
import type { TurnDecoder } from './turn.ts'

const CALL: KnownMembers = { index: true, id: true, type: true, function: { name: true, arguments: true } }
const ROLES = wordTable<Role>({ user: 'user', system: 'system', tool: 'tool' })

/** A `chat.completion` line. */
export const COMPLETION: Reader = reader('message-end', Completion, (turn, { choices, usage }, line) => {
  const choice = choices?.[0] ?? {}
  const { message, finish_reason: reason } = choice
  const said = readLine(turn, line, 'message', choice)
  if (!isSaid(said)) return said
  const { notes, ext, calls } = said
  const text = message?.content ?? ''
  if (notes.terminal) turn.terminal(notes.terminal, text)
  else turn.whole(ROLES.get(message?.role) ?? 'assistant', text, ext)
  if (text === '' ? calls.length === 0 : notes.terminal) lose(turn, ext)
  for (const [at, call] of (message?.tool_calls ?? []).entries()) {
    const { id, function: called } = call
    const args = argumentsText(member(member(calls[at]!, 'function')!, 'arguments'))
    turn.call(id, called.name, args, extOfCall(calls[at]!, call, text === '' ? ext : undefined))
  }
  turn.countCall(counts(turn, usage))
  if (reason != null) turn.reason(reason)
  notes.end?.()
  return 'read'
})

/** A `chat.completion.chunk` line; one with a finish reason other than for calls is the last of its turn. */
export const CHUNK: Reader = reader('text-delta', Chunk, (turn, { choices, usage }, line) => {
  const choice = choices?.[0] ?? {}
  const { delta, finish_reason: reason } = choice
  const said = readLine(turn, line, 'delta', choice)
  if (!isSaid(said)) return said
  const { notes, ext, calls } = said
  // A role begins a message, and the gap that comes with one is no text of it.
  if (delta?.role != null) turn.closeMessage()
  const text = delta?.role != null && delta.content === MESSAGE_GAP ? '' : (delta?.content ?? '')
  const left = text === '' ? ext : undefined
  const ends = reason != null && reason !== 'tool_calls'
  if (notes.terminal) turn.terminal(notes.terminal, text)
  else turn.text(text, ext)
  if (text === '' ? calls.length === 0 && !ends : notes.terminal) lose(turn, ext)
  for (const [at, call] of (delta?.tool_calls ?? []).entries()) {
    const { index, id, function: called } = call
    const piece = { index: index ?? at, id: id == null || id === '' ? undefined : String(id), name: called?.name }
    turn.callPiece(piece, called?.arguments ?? '', extOfCall(calls[at]!, call, left))
  }
  const counted = counts(turn, usage)
  if (reason === 'tool_calls') {
    turn.reason(reason)
    turn.endCalls()
    turn.countCall(counted)
  } else turn.countTurn(counted)
  notes.end?.()
  if (ends && !turn.ended) {
    turn.reason(reason)
    turn.finish(undefined, left)
  }
  return 'read'
})

const PLAIN: ReadonlySet<string> = new Set(['object', 'id', 'created', 'model', 'choices', 'session_id', 'prompt_id'])

/** The text of a chunk that holds nothing else; undefined for every other line. */
export function plainText(value: Record<string, unknown>): string | undefined {
  const choices = value['choices']
  if (value['object'] !== 'chat.completion.chunk' || !Array.isArray(choices) || choices.length !== 1) return undefined
  for (const key in value) if (!PLAIN.has(key)) return undefined
  const choice: unknown = choices[0]
  if (!isRecord(choice) || choice['finish_reason'] != null || !isRecord(choice['delta'])) return undefined
  if (hasFurther(choice, CHOICE)) return undefined
  const { content, ...others } = choice['delta']
  for (const _ in others) return undefined
  return typeof content === 'string' ? content : undefined
}

/** The tokens of a line. */
function counts(turn: TurnDecoder, usage: unknown): Usage | undefined {
  const report = (loss: Loss): void => turn.report(loss)
  if (isRecord(usage)) reportFurther(usage, CHAT_COUNTS, report, 'usage')
  return readChatUsage(usage, report)
}

/** The `ext` of a call: that of its line, and its own unknown members. */
function extOfCall(raw: JsonText, call: object, ext: Ext | undefined): Ext | undefined {
  return entriesExt(members(ext?.json ?? '{}'), { call: furtherMembers(raw, { ...call }, CALL) })
}
