import type { FrameRun, InputFate } from '../../src/contract/index.ts'
import type { AgentEvent, Command, Fault, Id, JsonText, Loss, TextRun, TurnEvent } from '../../src/model/index.ts'
import { parseObject, quote } from '../../src/model/index.ts'
import { isCommandType, isEventType } from './read.ts'
import { extended, PROTOCOL, write } from './wire.ts'

/** The members of an event's line besides the event. */
export interface EventExtras {
  /** Its number within the turn; absent for events without one. */
  seq?: number | undefined
  /** The name that the reader gave to the turn. */
  turn?: Id | undefined
  /** The name that the reader gave to the exchange: with `turn-accepted` and `command-reply`. */
  exchange?: string | undefined
  losses?: readonly Loss[]
}

const OWN_OF_EVENTS: ReadonlySet<string> = new Set(['type', 'turn', 'seq'])

/** Neither a turn's ids nor what the gateway alone says of the session are taken from a client's unknown fields. */
const OWN_OF_COMMANDS: ReadonlySet<string> = new Set(['type', 'exchange', 'turn', 'session'])

/**
 * The line of an event: one JSON object without a line end. `seq` is the event's number within its turn; events without
 * a turn have none. JSON texts (arguments, data, plans) are JSON in it, digit for digit.
 */
export function eventJson(event: AgentEvent, seq?: number): JsonText {
  return eventLine(event, { seq })
}

/** Writes the line of an event with further members. */
export function eventLine(event: AgentEvent, extras: EventExtras): JsonText {
  const turn = extras.turn ?? event.turn
  const number = extras.seq === undefined ? '' : `,"seq":${extras.seq}`
  const head = `{"type":"${event.type}","turn":${turn === null ? 'null' : quote(turn)}${number}`
  if (event.type === 'foreign' && isOwnFrame(event, isEventType)) return event.frame
  const { type: _type, turn: _turn, ext, ...fields } = event
  const { seq: _seq, turn: _named, ...more } = extras
  return extended(joined(head, { ...fields, ...more }), ext, OWN_OF_EVENTS)
}

/** Writes the lines of pieces of text and thought, which are most events of a turn. */
export class DeltaLines {
  #type = ''
  #turn: Id | undefined
  #message: Id | undefined
  /** The text before and after the number in the lines of one message. */
  #head = ''
  #middle = ''

  /** The line of an event with this number in this turn, as `eventLine` writes it; undefined for most other events. */
  line(event: TurnEvent, turn: Id, seq: number): JsonText | undefined {
    if (event.type !== 'text-delta' && event.type !== 'reasoning-delta') return undefined
    const { type, message, text } = event
    if (event.ext !== undefined || event.lane !== undefined) return undefined
    this.#of(type, message, turn)
    return `${this.#head}${seq}${this.#middle}${quote(text)}}`
  }

  /** The lines of pieces of text in this turn, of which the last has the number `seq`. */
  lines({ message, inner, length }: TextRun, turn: Id, seq: number): FrameRun {
    this.#of('text-delta', message, turn)
    return {
      before: this.#head,
      count: { first: seq - length + 1, after: `${this.#middle}"` },
      pieces: inner,
      after: '"}',
    }
  }

  #of(type: string, message: Id, turn: Id): void {
    if (message !== this.#message || type !== this.#type || turn !== this.#turn) {
      this.#type = type
      this.#turn = turn
      this.#message = message
      this.#head = `{"type":"${type}","turn":${quote(turn)},"seq":`
      this.#middle = `,"message":${quote(message)},"text":`
    }
  }
}

/** The line of a command for an agent. */
export function commandLine(command: Command): JsonText {
  if (command.type === 'foreign' && isOwnFrame(command, isCommandType)) return command.frame
  const { type, exchange, ext, ...fields } = command
  return extended(joined(`{"type":"${type}","exchange":${quote(exchange)}`, fields), ext, OWN_OF_COMMANDS)
}

/** A failure outside of any turn; `fatal` when nothing more can be read from the wire. */
export function faultLine(
  { ext, ...fault }: Fault,
  exchange: string | undefined,
  input: InputFate,
  losses: readonly Loss[],
): JsonText {
  const fatal = input === 'ends' && { fatal: true }
  return joined('{"type":"fault"', {
    exchange,
    fault: { ...fault, ...fatal, ext },
    ...(losses.length > 0 && { losses }),
  })
}

function joined(head: JsonText, fields: object): JsonText {
  const body = write(fields).slice(1, -1)
  return body === '' ? `${head}}` : `${head},${body}}`
}

/** A message of this protocol that its reader did not know: it is passed on unchanged. Known messages never are. */
function isOwnFrame(of: { protocol: string; frame: string }, isKnown: (type: unknown) => boolean): boolean {
  const value = of.protocol === PROTOCOL ? parseObject(of.frame) : undefined
  return value !== undefined && value['type'] !== 'fault' && !isKnown(value['type'])
}
