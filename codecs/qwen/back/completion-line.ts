import * as v from 'valibot'
import { dropped, furtherMembers, type KnownMembers, keysOf } from '../../../src/codec-kit/index.ts'
import {
  type Ext,
  elements,
  type Fault,
  fault,
  type JsonText,
  member,
  members,
  parseObject,
  quote,
  rest,
} from '../../../src/model/index.ts'
import { faultOfError } from '../error-object.ts'
import { Completion, Message, Metadata } from '../schema.ts'
import { entriesExt, objectText, PROTOCOL, PROTOCOL_VERSION } from '../wire.ts'
import { type Annotations, readAnnotations } from './annotations.ts'
import type { Outcome } from './lines.ts'
import type { TurnDecoder } from './turn.ts'

const TOP = keysOf(Completion)
const MESSAGE = keysOf(Message)
const NEGOTIATED = keysOf(Metadata)
/** Members of a choice of either kind. */
export const CHOICE: KnownMembers = { index: true, finish_reason: true, message: true, delta: true }

/** The first choice of a line. */
interface Choice {
  finish_reason?: string | null | undefined
}

/** A completion that is part of an answer. */
export interface Said {
  notes: Annotations
  /** The unknown members of the line. */
  ext: Ext | undefined
  /** The raw calls, or pieces of calls, of its message. */
  calls: readonly JsonText[]
}

/** Reads what completions and chunks have in common. A line that reports errors is read with that. */
export function readLine(turn: TurnDecoder, line: JsonText, key: 'message' | 'delta', choice: Choice): Said | Outcome {
  const choices = elements(member(line, 'choices') ?? '')
  if (choices.length > 1) turn.report({ ...dropped('message-end', 'choices'), count: choices.length - 1 })
  const metadata = member(line, 'metadata') ?? '{}'
  const fatal = versionFault(metadata) ?? versionFault(objectText(member(line, 'system_fingerprint')))
  if (fatal) return fatal
  const inner = member(choices[0] ?? '', key) ?? '{}'
  const further = {
    [key]: rest(inner, MESSAGE),
    choice: furtherMembers(choices[0] ?? '{}', { ...choice }, CHOICE),
  }
  const around = { metadata: rest(metadata, NEGOTIATED) }
  const top = members(rest(line, TOP) ?? '{}')
  if (tellControlErrors(turn, member(metadata, 'control_errors')) || failed(turn, metadata, choice, inner)) {
    lose(turn, entriesExt(top, around, further))
    return 'read'
  }
  const notes = readAnnotations(turn, [member(line, 'annotations'), member(inner, 'annotations')])
  const kept = notes.kept.length === 0 ? undefined : `[${notes.kept.join(',')}]`
  const ext = entriesExt(top, { ...around, annotations: kept, ...further })
  return { notes, ext, calls: elements(member(inner, 'tool_calls') ?? '') }
}

/** True for a line that is part of an answer. */
export function isSaid(read: Said | Outcome): read is Said {
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

/**
 * True when the line reports an error. It ends the turn, unless its finish reason says that calls follow. Its content
 * repeats the message.
 */
function failed(turn: TurnDecoder, metadata: JsonText, { finish_reason: reason }: Choice, inner: JsonText): boolean {
  const error = member(metadata, 'error')
  const told = error?.startsWith('{') ? faultOfError(error) : undefined
  if (!told && reason !== 'error') return false
  const why = told ?? fault('internal', 'The agent ended the turn with an error.')
  const content = member(inner, 'content') ?? '""'
  if (![quote(''), quote(why.message), 'null'].includes(content)) turn.report(dropped('message-end', 'text', 'policy'))
  if (reason === 'tool_calls') turn.notice('error', 'agent-error', why.message)
  else turn.fail(why)
  return true
}

/** Reports the members of a line of which nothing is passed on. */
export function lose(turn: TurnDecoder, ext: Ext | undefined): void {
  if (ext) turn.report(dropped('ext', PROTOCOL))
}
