import type { BackPorts } from '../contract/index.ts'
import {
  type EventOf,
  type Ext,
  type Fault,
  type Id,
  type Loss,
  type Part,
  type Role,
  TextRun,
  type TurnEnd,
  type TurnEvent,
} from '../model/index.ts'

/** An event without the members that its sender adds to all of its events: its turn, and those named in `K`. */
export type BodyOf<E, K extends string = never> = E extends unknown ? Omit<E, 'turn' | K> : never

/** A turn's end without what every end has. */
export type Ending = Omit<TurnEnd, 'turn' | 'type'>

/** The end of a turn that was cancelled. */
export const CANCELLED: Ending = { outcome: 'cancelled', stop: 'aborted' }

/** The end of a turn that failed. */
export function failedWith(why: Fault): Ending {
  return { outcome: 'failed', stop: 'error', fault: why }
}

/** Emits the events of one turn of an agent, or of one sub-agent in it, whose answer has one open message at most. */
export class TurnEmitter {
  readonly turn: Id
  readonly ports: BackPorts
  readonly #lane: string | undefined
  #started = false
  #message: Id | undefined

  /** `lane` names the sub-agent that all of its events are of. */
  constructor(ports: BackPorts, turn: Id, lane?: string) {
    this.ports = ports
    this.#lane = lane
    this.turn = turn
  }

  /** The open message of the agent. */
  get message(): Id | undefined {
    return this.#message
  }

  /** Emits `turn-started`, once. */
  started(ext?: Ext): void {
    if (this.#started) return
    this.#started = true
    this.emit({ type: 'turn-started' }, ext)
  }

  /** Opens a message of the agent; an open one ends before. `id` is a fresh one by default. */
  openMessage(ext?: Ext, phase?: 'commentary' | 'final' | 'refusal', id = this.ports.newId()): Id {
    this.closeMessage()
    this.#message = id
    const of = phase === undefined ? {} : { phase }
    this.emit({ type: 'message-start', message: id, role: 'assistant', ...of }, ext)
    return id
  }

  /** Emits a piece of the answer, in a new message if none is open. */
  text(text: string, ext?: Ext): void {
    const message = this.#message ?? this.openMessage()
    if (this.#lane !== undefined) this.emit({ type: 'text-delta', message, text }, ext)
    else if (ext === undefined) this.ports.emit({ turn: this.turn, type: 'text-delta', message, text })
    else this.ports.emit({ turn: this.turn, type: 'text-delta', message, text, ext })
  }

  /** Pieces of the answer in a row, in a new message if none is open. They are not emitted. */
  run(texts: string[]): TextRun {
    return TextRun.from(this.turn, this.#message ?? this.openMessage(), texts)
  }

  /**
   * Ends the open message, if there is one; `parts` are all that it holds. `revised`: they differ from its deltas.
   */
  closeMessage(parts?: readonly Part[], ext?: Ext, revised?: true): void {
    if (this.#message === undefined) return
    const end: BodyOf<EventOf<'message-end'>> = { type: 'message-end', message: this.#message }
    if (parts) end.parts = parts
    if (revised) end.revised = true
    this.emit(end, ext)
    this.#message = undefined
  }

  /** Emits a message that is a text and came whole; the open one stays open. `about` is the `ext` of its beginning. */
  wholeText(role: Role, text: string, ext?: Ext, about?: Ext): void {
    const message = this.ports.newId()
    this.emit({ type: 'message-start', message, role }, about)
    this.emit({ type: 'message-end', message, parts: [{ type: 'text', text }] }, ext)
  }

  notice(severity: 'info' | 'warning' | 'error', code: string, text: string, ext?: Ext): void {
    this.emit({ type: 'notice', severity, code, text }, ext)
  }

  /** Emits any event of the turn. */
  emit(event: BodyOf<TurnEvent>, ext?: Ext): void {
    const whole = { turn: this.turn, ...event } as TurnEvent
    if (ext !== undefined) whole.ext = ext
    if (this.#lane !== undefined) whole.lane = this.#lane
    this.ports.emit(whole)
  }

  report(loss: Loss): void {
    this.ports.report(loss, this.turn)
  }
}
