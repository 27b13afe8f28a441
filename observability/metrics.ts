/**
 * The gateway's metrics, counted by the same hooks as the spans. They are kept in `meters.ts`, read by `GET /metrics`
 * as text and, when a collector is configured, by the OpenTelemetry SDK (`otlp-metrics.ts`). So everything is counted
 * once, and without a collector OpenTelemetry is not loaded.
 */

import type { Hooks } from '../src/contract/index.ts'
import { countedBackend } from './backend-metrics.ts'
import { type AllMetrics, INSTRUMENTS } from './instruments.ts'
import { Metric } from './meters.ts'
import { ProcessGauges } from './process-gauges.ts'
import { PROMETHEUS_TYPE, prometheusText } from './prometheus.ts'
import { CountedRequest } from './request-metrics.ts'

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
