import * as v from 'valibot'
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
  rest,
} from '../../../src/model/index.ts'
import { faultOfError } from '../error-object.ts'
import { argumentsText } from '../messages.ts'
import { Chunk, Completion, Metadata } from '../schema.ts'
import { readUsage } from '../usage.ts'
import { entriesExt, MESSAGE_GAP, objectText, PROTOCOL_VERSION } from '../wire.ts'
import { readAnnotations } from './annotations.ts'
import type { TurnDecoder } from './turn.ts'
import type { Outcome } from './wire.ts'

const TOP: ReadonlySet<string> = new Set([
  'object',
  'id',
  'created',
  'model',
  'choices',
  'usage',
  'metadata',
  'system_fingerprint',
  'session_id',
  'prompt_id',
  'annotations',
])
const MESSAGE: ReadonlySet<string> = new Set(['role', 'content', 'tool_calls', 'annotations'])
const CALL: ReadonlySet<string> = new Set(['index', 'id', 'type', 'function'])
const NEGOTIATED: ReadonlySet<string> = new Set([
  'protocol_version',
  'input_format',
  'output_format',
  'capabilities',
  'error',
  'control_errors',
])
const ROLES: ReadonlyMap<unknown, 'user' | 'system' | 'tool'> = new Map<unknown, 'user' | 'system' | 'tool'>([
  ['user', 'user'],
  ['system', 'system'],
  ['tool', 'tool'],
])

/** The members of a completion besides its choice. */
interface About {
  /** The raw `message` or `delta` of its first choice. */
  inner: JsonText
  error: JsonText | undefined
  controlErrors: JsonText | undefined
  /** A failure that ends the wire. */
  fatal: Fault | undefined
}

/** A `chat.completion` line. */
export function readCompletion(turn: TurnDecoder, value: object, line: JsonText): Outcome {
  const { success, output } = v.safeParse(Completion, value)
  if (!success) return 'misfit'
  const about = readAbout(turn, line, 'message')
  if (about.fatal) return about.fatal
  const choice = output.choices?.[0]
  const reason = choice?.finish_reason ?? undefined
  if (tellControlErrors(turn, about)) return 'read'
  if (failed(turn, about, reason)) return 'read'
  const notes = readAnnotations(turn, [member(line, 'annotations'), member(about.inner, 'annotations')])
  const ext = extOfCompletion(line, about.inner, 'message', notes.kept)
  const text = choice?.message?.content ?? ''
  if (notes.terminal) turn.terminal(notes.terminal, text)
  else turn.message(ROLES.get(choice?.message?.role) ?? 'assistant', text, ext)
  readCalls(turn, about.inner, text === '' ? ext : undefined)
  turn.countCall(readUsage(output.usage, (loss) => turn.report(loss)))
  if (reason !== undefined) turn.reason(reason)
  notes.end?.()
  return 'read'
}

/** A `chat.completion.chunk` line; one with a finish reason other than for calls is the last of its turn. */
export function readChunk(turn: TurnDecoder, value: object, line: JsonText): Outcome {
  const { success, output } = v.safeParse(Chunk, value)
  if (!success) return 'misfit'
  const about = readAbout(turn, line, 'delta')
  if (about.fatal) return about.fatal
  const choice = output.choices?.[0]
  const reason = choice?.finish_reason ?? undefined
  if (tellControlErrors(turn, about)) return 'read'
  if (failed(turn, about, reason)) return 'read'
  const notes = readAnnotations(turn, [member(line, 'annotations'), member(about.inner, 'annotations')])
  const ext = extOfCompletion(line, about.inner, 'delta', notes.kept)
  const text = pieceOf(turn, choice?.delta?.role, choice?.delta?.content ?? '')
  if (notes.terminal) turn.terminal(notes.terminal, text)
  else turn.text(text, ext)
  readPieces(turn, output, about.inner, text === '' ? ext : undefined)
  const usage = readUsage(output.usage, (loss) => turn.report(loss))
  if (reason === 'tool_calls') {
    turn.reason(reason)
    turn.endCalls()
    turn.countCall(usage)
  } else turn.countTurn(usage)
  notes.end?.()
  if (reason !== undefined && reason !== 'tool_calls' && !turn.ended) {
    turn.reason(reason)
    turn.finish(undefined, text === '' ? ext : undefined)
  }
  return 'read'
}

/** The text of a piece. A role begins a message, and the gap that comes with one is no text of it. */
function pieceOf(turn: TurnDecoder, role: string | null | undefined, content: string): string {
  if (role == null) return content
  turn.closeMessage()
  return content === MESSAGE_GAP ? '' : content
}

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

const PLAIN: ReadonlySet<string> = new Set(['object', 'id', 'created', 'model', 'choices', 'session_id', 'prompt_id'])

function readAbout(turn: TurnDecoder, line: JsonText, key: 'message' | 'delta'): About {
  const choices = elements(member(line, 'choices') ?? '')
  if (choices.length > 1) {
    turn.report({ kind: 'dropped', item: 'message-end', field: 'choices', why: 'no-place', count: choices.length - 1 })
  }
  const inner = member(choices[0] ?? '', key)
  const metadata = member(line, 'metadata') ?? '{}'
  const error = member(metadata, 'error')
  const controlErrors = member(metadata, 'control_errors')
  return {
    inner: inner?.startsWith('{') ? inner : '{}',
    error: error?.startsWith('{') ? error : undefined,
    controlErrors: controlErrors?.startsWith('[') ? controlErrors : undefined,
    fatal: versionFault(metadata) ?? versionFault(objectText(member(line, 'system_fingerprint'))),
  }
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
function tellControlErrors(turn: TurnDecoder, { controlErrors }: About): boolean {
  if (controlErrors === undefined) return false
  for (const error of elements(controlErrors)) {
    const { message } = faultOfError(error)
    turn.emit({ type: 'notice', severity: 'error', code: 'control-error', text: message })
  }
  return true
}

/** True when the line reports an error. It ends the turn, unless its finish reason says that calls follow. */
function failed(turn: TurnDecoder, { error }: About, reason: string | undefined): boolean {
  if (error === undefined && reason !== 'error') return false
  const why = error === undefined ? fault('internal', 'The agent ended the turn with an error.') : faultOfError(error)
  if (reason === 'tool_calls') {
    turn.emit({ type: 'notice', severity: 'error', code: 'agent-error', text: why.message })
  } else turn.fail(why)
  return true
}

function extOfCompletion(
  line: JsonText,
  inner: JsonText,
  key: 'message' | 'delta',
  annotations: readonly JsonText[],
): Ext | undefined {
  return entriesExt([
    ...members(rest(line, TOP) ?? '{}'),
    ['metadata', rest(member(line, 'metadata') ?? '{}', NEGOTIATED)],
    ['annotations', annotations.length === 0 ? undefined : `[${annotations.join(',')}]`],
    [key, rest(inner, MESSAGE)],
  ])
}

function readCalls(turn: TurnDecoder, message: JsonText, ext: Ext | undefined): void {
  for (const raw of elements(member(message, 'tool_calls') ?? '')) {
    const inner = member(raw, 'function')!
    const said: unknown = JSON.parse(member(raw, 'id') ?? 'null')
    const id = said === null ? '' : String(said)
    const name = JSON.parse(member(inner, 'name')!) as string
    const all = entriesExt([...members(ext?.json ?? '{}'), ['call', rest(raw, CALL)]])
    turn.call(id, name, argumentsText(member(inner, 'arguments')), all)
  }
}

function readPieces(turn: TurnDecoder, output: Chunk, delta: JsonText, ext: Ext | undefined): void {
  const raws = elements(member(delta, 'tool_calls') ?? '')
  for (const [at, piece] of (output.choices?.[0]?.delta?.tool_calls ?? []).entries()) {
    const { index, id, function: inner } = piece
    const all = entriesExt([...members(ext?.json ?? '{}'), ['call', rest(raws[at]!, CALL)]])
    turn.callPiece(
      index ?? at,
      id == null || id === '' ? undefined : String(id),
      inner?.name ?? undefined,
      inner?.arguments ?? '',
      all,
    )
  }
}
