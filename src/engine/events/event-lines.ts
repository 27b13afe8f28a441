import type { EventBlock } from '../../contract/index.ts'
import { type EventOf, type Id, quote, type TextRun, type TurnEvent } from '../../model/index.ts'

/** A piece of text of a message. */
type Delta = EventOf<'text-delta' | 'reasoning-delta'>

/** The members of a delta without others, in the two orders that back halves use. */
const TURN_FIRST: readonly string[] = ['turn', 'type', 'message', 'text']
const TYPE_FIRST: readonly string[] = ['type', 'turn', 'message', 'text']

/** The kind of an event that is not such a delta. */
const OTHER = -1

/**
 * Consecutive events of a turn as text for the record, which grows. A line is an event as JSON, or a run of deltas of one
 * message: `[kind, message, text, text, …]`. Most events of a turn are deltas, and all but their text is the same. A kind
 * is 0 for text and 2 for reasoning, and one more where the type is the first member.
 */
export interface EventLines {
  readonly turn: Id
  /** The number of the first event. */
  seq: number
  text: string
  /** The kind and the message of the run that the last line is, which is not closed yet. */
  kind: number
  message: Id
}

/** The lines of a turn, without an event. */
export function newLines(turn: Id): EventLines {
  return { turn, seq: 0, text: '', kind: OTHER, message: '' }
}

/** Appends the event with the number `seq`, which follows the last one. */
export function appendLine(lines: EventLines, seq: number, event: TurnEvent): void {
  const { text } = lines
  const kind = kindOf(event, lines.turn)
  const { message, text: said } = event as Delta
  if (kind !== OTHER && kind === lines.kind && message === lines.message) {
    lines.text += `,${quote(said)}`
    return
  }
  if (text === '') lines.seq = seq
  else lines.text += lines.kind === OTHER ? '\n' : ']\n'
  lines.text += kind === OTHER ? JSON.stringify(event) : `[${kind},${quote(message)},${quote(said)}`
  lines.kind = kind
  lines.message = message
}

/** Appends pieces of text, of which the first has the number `seq`. */
export function appendTexts(lines: EventLines, seq: number, run: TextRun): void {
  appendLine(lines, seq, run.first)
  if (lines.kind === OTHER)
    for (const [at, event] of run.events.slice(1).entries()) appendLine(lines, seq + 1 + at, event)
  else lines.text += `,"${run.inner.slice(1).join('","')}"`
}

/** Takes the events out as a block; undefined when there are none. */
export function takeLines(lines: EventLines): EventBlock | undefined {
  const { turn, seq, text, kind } = lines
  if (text === '') return undefined
  lines.text = ''
  lines.kind = OTHER
  return { turn, seq, lines: kind === OTHER ? text : `${text}]` }
}

/** The events of a line of a turn's record. */
export function eventsOf(turn: Id, line: string): TurnEvent[] {
  const read = JSON.parse(line) as TurnEvent | [kind: number, message: Id, ...texts: string[]]
  if (!Array.isArray(read)) return [read]
  const [kind, message, ...texts] = read
  const type = kind < 2 ? 'text-delta' : 'reasoning-delta'
  return texts.map((text) => (kind % 2 === 0 ? { turn, type, message, text } : { type, turn, message, text }))
}

/** The kind of a delta that is read as it was from its kind, its message and its text. */
function kindOf(event: TurnEvent, turn: Id): number {
  const { type } = event
  if ((type !== 'text-delta' && type !== 'reasoning-delta') || event.turn !== turn) return OTHER
  let order = TURN_FIRST
  let at = 0
  for (const member in event) {
    if (member === 'type' && at === 0) order = TYPE_FIRST
    if (member !== order[at++]) return OTHER
  }
  if (at !== order.length) return OTHER
  return (type === 'text-delta' ? 0 : 2) + (order === TYPE_FIRST ? 1 : 0)
}
