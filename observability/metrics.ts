/**
 * The gateway's metrics, counted by the same hooks as the spans. They are kept in `meters.ts`, read by `GET /metrics`
 * as text and, when a collector is configured, by the OpenTelemetry SDK (`otlp-metrics.ts`). So everything is counted
 * once, and without a collector OpenTelemetry is not loaded.
 */

import type {
  CallScope,
  Carrier,
  Hooks,
  LinkOrigin,
  RequestInfo,
  RequestScope,
  RunningProcess,
  Share,
  ToolEvent,
  TurnInfo,
  TurnNote,
  TurnScope,
} from '../src/contract/index.ts'
import type { AgentEvent, Fault, Loss, TurnView, Usage } from '../src/model/index.ts'
import { INVOKE_AGENT, OTHER } from './attributes.ts'
import { countedBackend } from './backend-metrics.ts'
import { INSTRUMENTS, type MetricKey } from './instruments.ts'
import { Metric, type Series } from './meters.ts'
import { ProcessGauges } from './process-gauges.ts'
import { PROMETHEUS_TYPE, prometheusText } from './prometheus.ts'

/** All metrics, by their names in the code. */
type AllMetrics = Readonly<Record<MetricKey, Metric>>

/** The states of a circuit breaker. */
const BREAKER_STATES = ['closed', 'half-open', 'open'] as const

/** The part of the engine that metrics read: the agents and the states of their circuits. */
export type BreakerStates = () => Iterable<{ agent: string; state: (typeof BREAKER_STATES)[number] }>

/** The part of the store that metrics read: whether it is writable, and the number of failed writes. */
export type StoreState = { readonly writable: boolean; readonly failures: number }

/** All metrics of one gateway. */
export class Metrics {
  /** The start of counting, in milliseconds since the epoch. */
  readonly startedAt = Date.now()
  /** The content type of `text`. */
  readonly type = PROMETHEUS_TYPE
  readonly #all: AllMetrics
  readonly #gauges: ProcessGauges
  #breakers: BreakerStates = () => []
  #store: StoreState | undefined

  constructor() {
    const entries = Object.entries(INSTRUMENTS).map(([key, instrument]) => [key, new Metric(instrument)])
    this.#all = Object.fromEntries(entries) as AllMetrics
    this.#gauges = new ProcessGauges(this.#all)
  }

  /** Hooks that count, and pass all calls on to `inner`. */
  hooks(inner: Hooks): Hooks {
    return {
      ...(inner.ahead && { ahead: (agent) => inner.ahead!(agent) }),
      request: (info) => new CountedRequest(this.#all, info, inner.request(info)),
      backend: (agent, backend) => countedBackend(this.#all, agent, inner.backend?.(agent, backend) ?? backend),
    }
  }

  /** Sets the source of the circuits' states. */
  watchBreakers(states: BreakerStates): void {
    this.#breakers = states
  }

  /** Sets the source of the store's state. */
  watchStore(store: StoreState): void {
    this.#store = store
  }

  /** The current values of all metrics. */
  read(): readonly Metric[] {
    this.#gauges.read()
    this.#all.breaker.clear()
    for (const { agent, state } of this.#breakers()) {
      for (const one of BREAKER_STATES) this.#all.breaker.of(agent, one).value = one === state ? 1 : 0
    }
    if (this.#store) {
      this.#all.storeWritable.of().value = this.#store.writable ? 1 : 0
      this.#all.storeFailures.of().value = this.#store.failures
    }
    return Object.values(this.#all)
  }

  /** All metrics as Prometheus text. */
  text(): string {
    return prometheusText(this.read())
  }

  /** Stops watching the process. The values can still be read. */
  close(): void {
    this.#gauges.close()
  }
}

class CountedRequest implements RequestScope {
  readonly carrier: Carrier
  readonly #all: AllMetrics
  readonly #info: RequestInfo
  readonly #inner: RequestScope
  readonly #received: Series
  readonly #sent: Series
  #fault: Fault | undefined

  constructor(all: AllMetrics, info: RequestInfo, inner: RequestScope) {
    this.carrier = inner.carrier
    this.#all = all
    this.#info = info
    this.#inner = inner
    this.#received = all.clientIo.of(info.front, info.transport, 'receive')
    this.#sent = all.clientIo.of(info.front, info.transport, 'transmit')
  }

  read(): void {
    this.#inner.read?.()
  }

  shares(how: Share, turn: Carrier | undefined): void {
    this.#inner.shares?.(how, turn)
  }

  received(text: string): void {
    this.#received.add(Buffer.byteLength(text))
  }

  sent(text: string): void {
    this.#sent.add(Buffer.byteLength(text))
  }

  turn(info: TurnInfo): TurnScope {
    return new CountedTurn(this.#all, this.#info.front, info, this.#inner.turn(info))
  }

  fault(fault: Fault): void {
    this.#fault = fault
    this.#inner.fault(fault)
  }

  end(result: { status?: number; exitCode?: number }): void {
    this.#all.requests.of(this.#info.front, this.#info.transport, this.#fault?.code).add(1)
    this.#inner.end(result)
  }
}

/** Token counts and cost, by the name of the count in the model; the total is the sum of others. */
const USAGE = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning', 'costUsd'] as const satisfies (keyof Usage)[]

class CountedTurn implements TurnScope {
  readonly carrier: Carrier
  readonly #all: AllMetrics
  readonly #front: string
  readonly #inner: TurnScope
  readonly #startedAt = performance.now()
  #agent: string
  #back: string
  #waits = false
  #everRan = false
  #ranAt = this.#startedAt
  #spoke = false

  constructor(all: AllMetrics, front: string, { agent, back }: TurnInfo, inner: TurnScope) {
    this.carrier = inner.carrier
    this.#all = all
    this.#front = front
    this.#inner = inner
    this.#agent = agent
    this.#back = back
    this.#enter()
  }

  call(info: Parameters<TurnScope['call']>[0]): CallScope {
    return this.#inner.call(info)
  }

  linked(origin: LinkOrigin, process?: RunningProcess): void {
    this.#all.links.of(this.#agent, origin).add(1)
    this.#inner.linked(origin, process)
  }

  queued(ms: number): void {
    this.#leaveQueue()
    if (!this.#everRan) this.#all.wait.of(this.#agent).record(ms / 1e3)
    this.#everRan = true
    this.#ranAt = performance.now()
    this.#inner.queued(ms)
  }

  firstEvent(event: AgentEvent): void {
    if (!this.#spoke && event.type !== 'turn-end') {
      this.#spoke = true
      this.#all.firstChunk.of(INVOKE_AGENT, this.#agent).record((performance.now() - this.#ranAt) / 1e3)
    }
    this.#inner.firstEvent(event)
  }

  tool(event: ToolEvent): void {
    this.#inner.tool?.(event)
  }

  loss(loss: Loss): void {
    this.#all.losses.of(loss.kind, loss.item).add(loss.count)
    this.#inner.loss(loss)
  }

  note(what: TurnNote, about?: string): void {
    if (what === 'asked') this.#all.asks.of(about).add(1)
    else if (what === 'settled') this.#all.settled.of(about).add(1)
    else this.#all.notes.of(what).add(1)
    this.#inner.note(what, about)
  }

  moved(to: Pick<TurnInfo, 'agent' | 'back'>): void {
    this.#leave()
    this.#agent = to.agent
    this.#back = to.back
    this.#enter()
    this.#all.notes.of('fallback').add(1)
    this.#inner.moved(to)
  }

  end(view: TurnView): void {
    const all = this.#all
    const { outcome, fault } = view.end ?? { outcome: 'failed' as const }
    const errorType = outcome === 'failed' ? (fault?.code ?? OTHER) : undefined
    this.#leave()
    all.turns.of(this.#front, this.#back, this.#agent, outcome, errorType).add(1)
    all.duration.of(INVOKE_AGENT, this.#agent, errorType).record((performance.now() - this.#startedAt) / 1e3)
    all.events.of(this.#front, this.#back).add(view.seq)
    this.#usage(view)
    this.#inner.end(view)
  }

  #usage({ usage, usageEstimated }: TurnView): void {
    if (!usage) return
    for (const key of USAGE) {
      const count = usage[key]
      if (count !== undefined) {
        this.#all[key].of(INVOKE_AGENT, this.#agent, usageEstimated ? 'true' : undefined).add(count)
      }
    }
  }

  #enter(): void {
    this.#waits = true
    this.#all.active.of(this.#agent).add(1)
    this.#all.depth.of(this.#agent).add(1)
  }

  #leave(): void {
    this.#all.active.of(this.#agent).add(-1)
    this.#leaveQueue()
  }

  #leaveQueue(): void {
    if (this.#waits) this.#all.depth.of(this.#agent).add(-1)
    this.#waits = false
  }
}
