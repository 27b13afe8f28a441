import {
  type CallInfo,
  type CallScope,
  type Carrier,
  type LinkOrigin,
  type RunningProcess,
  type ToolEvent,
  type TurnInfo,
  type TurnMeasures,
  type TurnNote,
  type TurnScope,
  traceIdOf,
} from '../../contract/index.ts'
import type { AgentEvent, Loss, TurnPhase, TurnTimings, TurnView, Usage } from '../../model/index.ts'
import type { Tape } from '../common/index.ts'

/** Dependencies of a turn's clock. */
export interface ClockInit {
  /** Gets every note after it. */
  inner: TurnScope
  info: TurnInfo
  /** The protocol of the client that began it. */
  front: string
  /** Milliseconds since the epoch, on a clock that is never set while the turn runs. */
  now(): number
  /** The state of the turn has changed. */
  changed(): void
  /** Keeps the frames of the turn, where its route wants them. */
  tape?: Tape
}

/** The phase of a turn after a note. */
const PHASE_AFTER: Partial<Record<TurnNote, TurnPhase>> = { asked: 'asking', settled: 'working', parked: 'parked' }

/** Measures how long the stretches of a turn take and knows what it does now; passes everything on to its observers. */
export class TurnClock implements TurnScope {
  readonly carrier: Carrier
  readonly front: string
  readonly #init: ClockInit
  readonly #timings: TurnTimings = {}
  readonly #route: string | undefined
  readonly #calls: ClockedCall[] = []
  #agent: Pick<TurnInfo, 'back' | 'place'>
  #usage: Usage | undefined
  #waitsSince: number
  #ranAt = 0
  phase: TurnPhase = 'queued'
  /** The text that its agent had written to stderr when it failed, without secrets. */
  stderr: string | undefined

  constructor(init: ClockInit) {
    this.#init = init
    this.carrier = init.inner.carrier
    this.front = init.front
    this.#agent = init.info
    this.#route = init.info.route
    this.#waitsSince = init.now()
  }

  /** Keeps the frames of the turn, where its route wants them. */
  get tape(): Tape | undefined {
    return this.#init.tape
  }

  /** The clock for everything about the turn. */
  now(): number {
    return this.#init.now()
  }

  /** The milliseconds from handing it to the agent to its first event, once that has come. */
  get firstEventMs(): number | undefined {
    return this.#timings.firstEvent
  }

  /** The measures so far, which are the caller's own. */
  get measures(): TurnMeasures {
    const { back, place } = this.#agent
    const measures: TurnMeasures = { back, timings: { ...this.#timings } }
    if (place !== undefined) measures.place = place
    if (this.#route !== undefined) measures.route = this.#route
    if (this.#usage) measures.usage = this.#usage
    const trace = traceIdOf(this.carrier)
    if (trace !== undefined) measures.trace = trace
    return measures
  }

  call(info: CallInfo): CallScope {
    const { inner, now } = this.#init
    const openedAt = now()
    const call = new ClockedCall(inner.call(info), () => {
      this.#timings.agentStart = now() - openedAt
      this.#init.changed()
    })
    this.#calls.push(call)
    return call
  }

  linked(origin: LinkOrigin, process?: RunningProcess): void {
    const scope = process?.scope instanceof ClockedCall ? process.scope.inner : process?.scope
    this.#init.inner.linked(origin, process && scope && { ...process, scope })
  }

  queued(ms: number): void {
    const now = this.#init.now()
    this.#timings.queue = (this.#timings.queue ?? 0) + now - this.#waitsSince
    this.#ranAt = now
    this.#enter('starting')
    this.#init.inner.queued(ms)
  }

  firstEvent(event: AgentEvent): void {
    this.#timings.firstEvent = this.#init.now() - this.#ranAt
    this.#enter('working')
    this.#init.inner.firstEvent(event)
  }

  tool(event: ToolEvent): void {
    this.#init.inner.tool?.(event)
  }

  loss(loss: Loss): void {
    this.#init.inner.loss(loss)
  }

  note(what: TurnNote, about?: string): void {
    const phase = PHASE_AFTER[what]
    if (phase) this.#enter(phase)
    this.#init.inner.note(what, about)
  }

  moved(to: Pick<TurnInfo, 'agent' | 'back' | 'place'>): void {
    this.#agent = to
    this.#waitsSince = this.#init.now()
    this.#enter('queued')
    this.#init.inner.moved(to)
  }

  end(view: TurnView): void {
    this.#usage = view.usage
    this.#init.inner.end(view)
    this.#init.changed()
    for (const call of this.#calls.splice(0)) call.forgetTurn()
  }

  #enter(phase: TurnPhase): void {
    this.phase = phase
    this.#init.changed()
  }
}

/** A call whose start is measured: until it runs, or until it reports later that it is ready. */
class ClockedCall implements CallScope {
  readonly inner: CallScope
  #begun: (() => void) | undefined

  constructor(inner: CallScope, begun: () => void) {
    this.inner = inner
    this.#begun = begun
  }

  get carrier(): Carrier {
    return this.inner.carrier
  }

  /** The turn that opened it has ended, and a process that lives on must not hold it. */
  forgetTurn(): void {
    this.#begun = undefined
  }

  started(info: Parameters<CallScope['started']>[0]): void {
    this.inner.started(info)
    this.#begun?.()
  }

  head(head: Parameters<CallScope['head']>[0]): void {
    this.inner.head(head)
  }

  ready(): void {
    this.inner.ready()
    this.#begun?.()
  }

  end(end: Parameters<CallScope['end']>[0]): void {
    this.inner.end(end)
  }
}
