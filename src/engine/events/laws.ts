import type { Subscriber } from 'rxjs'
import {
  type AgentEvent,
  type EventOf,
  type Fault,
  fault,
  type Id,
  type TextRun,
  type TurnEnd,
  type TurnEvent,
} from '../../model/index.ts'
import { Identities } from './identities.ts'
import { cancelledTurn, failedTurn } from './turn-events.ts'

/** The turn that the laws guard, as they see it. */
export interface LawContext {
  turn: Id
  /** The fault of a wire that completed without a `turn-end`. */
  missingEnd(): Fault
  /** True once the turn was asked to be cancelled: a failure after that is a cancellation. */
  cancelled(): boolean
}

const UNSAID = fault('agent-crashed', 'The agent failed without saying why; see the gateway log.')

/** A message, tool call or step that is open in a lane, by its id or its number. */
type OpenGroup = { kind: 'message' | 'tool' | 'step'; id: Id; lane: string | undefined }

/** The events that complete a turn that was cut off after `said`: they close what is open, then end it. */
export function closingsOf(turn: Id, said: readonly TurnEvent[], why: Fault): TurnEvent[] {
  const closings: TurnEvent[] = []
  let over = false
  const next = (event: TurnEvent): void => {
    if (over) closings.push(event)
  }
  const context = { turn, missingEnd: () => why, cancelled: () => false }
  const laws = new TurnLaws(context, { next, complete() {}, closed: false })
  for (const event of said) laws.next(event as AgentEvent)
  over = true
  laws.complete()
  // The laws hold back usage that came already until the end.
  return closings.filter(({ type }) => type !== 'usage')
}

/** The reader of a turn's events. */
export type TurnReader = Pick<Subscriber<TurnEvent>, 'next' | 'complete' | 'closed'>

/**
 * Guards one turn's events: exactly one `turn-end`, last, whatever the wire does; messages, tools and steps that the
 * agent left open are closed before it; text for a message that was never opened opens it; every message and tool call
 * has an id of its own; one usage total, right before the end; events of no turn or another one are dropped. What ends
 * the turn from outside is an event, or `complete`.
 */
export class TurnLaws {
  readonly #context: LawContext
  readonly #reader: TurnReader
  readonly #open = new Map<string, OpenGroup>()
  readonly #identities = new Identities()
  #usage: TurnEvent | undefined
  /** The open message that the last piece of text was for, as the agent calls it, its lane, and its own id. */
  #speaking: Id | undefined
  #lane: string | undefined
  #spoken: Id = ''
  #ended = false

  /** `reader` gets the events, and is completed after the end. */
  constructor(context: LawContext, reader: TurnReader) {
    this.#context = context
    this.#reader = reader
  }

  /** True when nobody gets what follows: the turn has its end, or was left. */
  get closed(): boolean {
    return this.#reader.closed
  }

  /** An event of the agent. */
  next(event: AgentEvent): void {
    if (this.#ended || event.turn === null || event.turn !== this.#context.turn) return
    switch (event.type) {
      case 'text-delta':
      case 'reasoning-delta':
      case 'reasoning-end':
        if (event.message !== this.#speaking || event.lane !== this.#lane) this.#speak(event.message, event.lane)
        this.#reader.next(this.#spoken === event.message ? event : { ...event, message: this.#spoken })
        return
      case 'message-start':
        this.#startMessage(event)
        return
      case 'message-end':
        this.#endMessage(event)
        return
      case 'step-start':
        this.#startStep(event)
        return
      case 'step-end':
        this.#endStep(event)
        return
      case 'turn-end':
        this.#end(event)
        return
      case 'usage':
        if (event.scope === 'turn') this.#usage = event
        else this.#reader.next(event)
        return
      default: {
        const unique = this.#identities.unique(event)
        this.#track(unique)
        this.#reader.next(unique)
      }
    }
  }

  /** Pieces of text of the agent, for `reader` all at once. */
  texts(run: TextRun, reader: (run: TextRun) => void): void {
    if (this.#ended || this.closed || run.turn !== this.#context.turn) return
    if (run.message !== this.#speaking || this.#lane !== undefined) this.#speak(run.message, undefined)
    reader(run.of(this.#spoken))
  }

  /** The wire has ended: a turn without an end fails. */
  complete(): void {
    if (!this.#ended) this.#end(failedTurn(this.#context.turn, this.#context.missingEnd()))
  }

  #speak(message: Id, lane: string | undefined): void {
    this.#spoken = this.#identities.openedMessage(message, lane) ?? this.#openMessage(message, lane)
    this.#speaking = message
    this.#lane = lane
  }

  #openMessage(message: Id, lane: string | undefined): Id {
    const turn = this.#context.turn
    const id = this.#identities.openMessage(message, lane)
    this.#open.set(`message ${id}`, { kind: 'message', id, lane })
    this.#reader.next({ type: 'message-start', turn, message: id, role: 'assistant', ...laneOf(lane) })
    return id
  }

  /** An id that is open in this lane begins another message: the one before is over. */
  #startMessage(event: EventOf<'message-start'>): void {
    const { message, lane } = event
    if (this.#identities.openedMessage(message, lane) !== undefined)
      this.#endMessage({ type: 'message-end', turn: event.turn, message, ...laneOf(lane) })
    const id = this.#identities.openMessage(message, lane)
    this.#open.set(`message ${id}`, { kind: 'message', id, lane })
    this.#speaking = undefined
    this.#reader.next(id === message ? event : { ...event, message: id })
  }

  #endMessage(event: EventOf<'message-end'>): void {
    const { message, lane, parts } = event
    const id = this.#identities.openedMessage(message, lane) ?? this.#openMessage(message, lane)
    this.#identities.closeMessage(message, lane)
    this.#open.delete(`message ${id}`)
    this.#speaking = undefined
    const own = parts && this.#identities.parts(parts, lane)
    if (id === message && own === parts) this.#reader.next(event)
    else this.#reader.next({ ...event, message: id, ...(own && { parts: own }) })
  }

  /** A number that is open in this lane begins another step: the one before is over. */
  #startStep(event: EventOf<'step-start'>): void {
    const { turn, step, lane } = event
    const key = stepKey(event)
    if (this.#open.delete(key)) this.#reader.next({ type: 'step-end', turn, step, stop: 'end', ...laneOf(lane) })
    this.#open.set(key, { kind: 'step', id: String(step), lane })
    this.#reader.next(event)
  }

  #endStep(event: EventOf<'step-end'>): void {
    const { turn, step, lane } = event
    if (!this.#open.delete(stepKey(event))) this.#reader.next({ type: 'step-start', turn, step, ...laneOf(lane) })
    this.#reader.next(event)
  }

  #track(event: TurnEvent): void {
    if (event.type === 'tool-start' || event.type === 'tool-call') {
      const { tool: id, lane } = event
      this.#open.set(`tool ${id}`, { kind: 'tool', id, lane })
    } else if (event.type === 'tool-end') this.#open.delete(`tool ${event.tool}`)
  }

  #end(end: TurnEnd): void {
    const judged = this.#judge(end)
    this.#closeGroups(judged)
    if (this.#usage) this.#reader.next(this.#usage)
    this.#ended = true
    this.#reader.next(judged)
    this.#reader.complete()
  }

  /**
   * A failure after a cancellation was asked for is a cancellation; a turn that completed all the same stays completed.
   * One that did not complete has a fault even if the agent's protocol has none, because clients need its code.
   */
  #judge(end: TurnEnd): TurnEnd {
    if (end.outcome === 'completed') return end
    if (end.outcome === 'failed' && this.#context.cancelled()) return { ...end, ...cancelledTurn(end.turn) }
    if (end.fault) return end
    return { ...end, fault: end.outcome === 'cancelled' ? cancelledTurn(end.turn).fault! : UNSAID }
  }

  #closeGroups(end: TurnEnd): void {
    const turn = this.#context.turn
    for (const { kind, id, lane } of [...this.#open.values()].reverse()) {
      const of = { turn, ...laneOf(lane) }
      if (kind === 'message') this.#reader.next({ type: 'message-end', ...of, message: id })
      else if (kind === 'step')
        this.#reader.next({ type: 'step-end', ...of, step: Number(id), stop: end.stop ?? 'end' })
      else if (end.outcome !== 'completed') {
        const status = end.outcome === 'cancelled' ? 'cancelled' : 'error'
        this.#reader.next({ type: 'tool-end', ...of, tool: id, status, parts: [] })
      }
    }
  }
}

/** Steps are counted in each lane. */
function stepKey({ step, lane = '' }: EventOf<'step-start' | 'step-end'>): string {
  return `step ${lane} ${step}`
}

function laneOf(lane: string | undefined): { lane?: string } {
  return lane === undefined ? {} : { lane }
}
