import type { BackPorts } from '../contract/index.ts'
import type { Ext, Fault, Id, Loss, Part, TurnEnd, TurnEvent } from '../model/index.ts'

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

/** Emits the events of one turn of an agent, whose answer has one open message at most. */
export class TurnEmitter {
  readonly turn: Id
  readonly ports: BackPorts
  #started = false
  #message: Id | undefined

  constructor(ports: BackPorts, turn: Id) {
    this.ports = ports
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

  /** Opens a message of the agent; an open one ends before. */
  openMessage(ext?: Ext, phase?: 'commentary' | 'final' | 'refusal'): Id {
    this.closeMessage()
    this.#message = this.ports.newId()
    const of = phase === undefined ? {} : { phase }
    this.emit({ type: 'message-start', message: this.#message, role: 'assistant', ...of }, ext)
    return this.#message
  }

  /** Emits a piece of the answer, in a new message if none is open. */
  text(text: string, ext?: Ext): void {
    const message = this.#message ?? this.openMessage()
    if (ext === undefined) this.ports.emit({ turn: this.turn, type: 'text-delta', message, text })
    else this.ports.emit({ turn: this.turn, type: 'text-delta', message, text, ext })
  }

  /**
   * Ends the open message, if there is one; `parts` are all that it holds. `revised`: they differ from its deltas.
   */
  closeMessage(parts?: readonly Part[], ext?: Ext, revised?: true): void {
    if (this.#message === undefined) return
    const whole = { ...(parts && { parts }), ...(revised && { revised }) }
    this.emit({ type: 'message-end', message: this.#message, ...whole }, ext)
    this.#message = undefined
  }

  notice(severity: 'info' | 'warning' | 'error', code: string, text: string, ext?: Ext): void {
    this.emit({ type: 'notice', severity, code, text }, ext)
  }

  /** Emits any event of the turn. */
  emit(event: BodyOf<TurnEvent>, ext?: Ext): void {
    const whole = { turn: this.turn, ...event } as TurnEvent
    this.ports.emit(ext === undefined ? whole : { ...whole, ext })
  }

  report(loss: Loss): void {
    this.ports.report(loss, this.turn)
  }
}
