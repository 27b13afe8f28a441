import * as v from 'valibot'
import { dropped, keysOf, readChatUsage, wordTable } from '../../../src/codec-kit/index.ts'
import {
  type Ext,
  elements,
  type Fault,
  fault,
  isRecord,
  type JsonText,
  member,
  members,
  parseObject,
  type Role,
  rest,
} from '../../../src/model/index.ts'
import { faultOfError } from '../error-object.ts'
import { argumentsText } from '../messages.ts'
import { Chunk, Completion, Message, Metadata, ToolCall } from '../schema.ts'
import { entriesExt, MESSAGE_GAP, objectText, PROTOCOL_VERSION } from '../wire.ts'
import { type Annotations, readAnnotations } from './annotations.ts'
import { type Outcome, type Reader, reader } from './lines.ts'
import type { TurnDecoder } from './turn.ts'

const TOP = keysOf(Completion)
const MESSAGE = keysOf(Message)
const CALL = keysOf(ToolCall)
const NEGOTIATED = keysOf(Metadata)
const ROLES = wordTable<Role>({ user: 'user', system: 'system', tool: 'tool' })

/** A completion that is part of an answer. */
interface Said {
  notes: Annotations
  /** The unknown members of the line. */
  ext: Ext | undefined
  /** The raw calls, or pieces of calls, of its message. */
  calls: readonly JsonText[]
}

/** A `chat.completion` line. */
export const COMPLETION: Reader = reader('message-end', Completion, (turn, { choices, usage }, line) => {
  const { message, finish_reason: reason } = choices?.[0] ?? {}
  const said = readLine(turn, line, 'message', reason)
  if (!isSaid(said)) return said
  const { notes, ext, calls } = said
  const text = message?.content ?? ''
  if (notes.terminal) turn.terminal(notes.terminal, text)
  else turn.whole(ROLES.get(message?.role) ?? 'assistant', text, ext)
  for (const [at, { id, function: called }] of (message?.tool_calls ?? []).entries()) {
    const args = argumentsText(member(member(calls[at]!, 'function')!, 'arguments'))
    turn.call(id, called.name, args, extOfCall(calls[at]!, text === '' ? ext : undefined))
  }
  turn.countCall(readChatUsage(usage, (loss) => turn.report(loss)))
  if (reason != null) turn.reason(reason)
  notes.end?.()
  return 'read'
})

/** A `chat.completion.chunk` line; one with a finish reason other than for calls is the last of its turn. */
export const CHUNK: Reader = reader('text-delta', Chunk, (turn, { choices, usage }, line) => {
  const { delta, finish_reason: reason } = choices?.[0] ?? {}
  const said = readLine(turn, line, 'delta', reason)
  if (!isSaid(said)) return said
  const { notes, ext, calls } = said
  // A role begins a message, and the gap that comes with one is no text of it.
  if (delta?.role != null) turn.closeMessage()
  const text = delta?.role != null && delta.content === MESSAGE_GAP ? '' : (delta?.content ?? '')
  const left = text === '' ? ext : undefined
  if (notes.terminal) turn.terminal(notes.terminal, text)
  else turn.text(text, ext)
  for (const [at, { index, id, function: called }] of (delta?.tool_calls ?? []).entries()) {
    const piece = { index: index ?? at, id: id == null || id === '' ? undefined : String(id), name: called?.name }
    turn.callPiece(piece, called?.arguments ?? '', extOfCall(calls[at]!, left))
  }
  const counted = readChatUsage(usage, (loss) => turn.report(loss))
  if (reason === 'tool_calls') {
    turn.reason(reason)
    turn.endCalls()
    turn.countCall(counted)
  } else turn.countTurn(counted)
  notes.end?.()
  if (reason != null && reason !== 'tool_calls' && !turn.ended) {
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
  const { content, ...others } = choice['delta']
  for (const _ in others) return undefined
  return typeof content === 'string' ? content : undefined
}

/** Reads what both kinds have in common. A line that reports errors is read with that. */
function readLine(
  turn: TurnDecoder,
  line: JsonText,
  key: 'message' | 'delta',
  reason: string | null | undefined,
): Said | Outcome {
  const choices = elements(member(line, 'choices') ?? '')
  if (choices.length > 1) turn.report({ ...dropped('message-end', 'choices'), count: choices.length - 1 })
  const metadata = member(line, 'metadata') ?? '{}'
  const fatal = versionFault(metadata) ?? versionFault(objectText(member(line, 'system_fingerprint')))
  if (fatal) return fatal
  if (tellControlErrors(turn, member(metadata, 'control_errors')) || failed(turn, member(metadata, 'error'), reason)) {
    return 'read'
  }
  const inner = member(choices[0] ?? '', key) ?? '{}'
  const notes = readAnnotations(turn, [member(line, 'annotations'), member(inner, 'annotations')])
  const ext = entriesExt(members(rest(line, TOP) ?? '{}'), {
    metadata: rest(metadata, NEGOTIATED),
    annotations: notes.kept.length === 0 ? undefined : `[${notes.kept.join(',')}]`,
    [key]: rest(inner, MESSAGE),
  })
  return { notes, ext, calls: elements(member(inner, 'tool_calls') ?? '') }
}

function isSaid(read: Said | Outcome): read is Said {
  return typeof read === 'object' && 'notes' in read
}

/** The failure of an agent that speaks another major version than this one. */
function versionFault(json: JsonText | undefined): Fault | undefined {
  const { success, output } = v.safeParse(Metadata, parseObject(json ?? ''))
  const version = success ? output.protocol_version : undefined
  if (!version || version.split('.')[0] === PROTOCOL_VERSION.split('.')[0]) return undefined
  const text = `The agent speaks another version of its protocol than ${PROTOCOL_VERSION}: install one that speaks it.`
  return fault('unsupported-version', text)
}

/** True when the line reports faults of the control channel: its content is their text, and no answer. */
function tellControlErrors(turn: TurnDecoder, errors: JsonText | undefined): boolean {
  if (!errors?.startsWith('[')) return false
  for (const error of elements(errors)) turn.notice('error', 'control-error', faultOfError(error).message)
  return true
}

/** True when the line reports an error. It ends the turn, unless its finish reason says that calls follow. */
function failed(turn: TurnDecoder, error: JsonText | undefined, reason: string | null | undefined): boolean {
  const told = error?.startsWith('{') ? faultOfError(error) : undefined
  if (!told && reason !== 'error') return false
  const why = told ?? fault('internal', 'The agent ended the turn with an error.')
  if (reason === 'tool_calls') turn.notice('error', 'agent-error', why.message)
  else turn.fail(why)
  return true
}

/** The `ext` of a call: that of its line, and its own unknown members. */
function extOfCall(raw: JsonText, ext: Ext | undefined): Ext | undefined {
  return entriesExt(members(ext?.json ?? '{}'), { call: rest(raw, CALL) })
}
