/** Gauges of the gateway's own process: the delay of its event loop, its memory, its age. */

import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Metric } from './meters.ts'

/** The sampling interval of the loop, in milliseconds. It is part of each measured delay and subtracted again. */
const RESOLUTION_MS = 20
/** The window of remembered delays, in milliseconds. Two windows are kept, so that no reader misses a delay. */
const WINDOW_MS = 30_000

/** The metrics of the process itself. */
export interface ProcessMetrics {
  loopP50: Metric
  loopP99: Metric
  loopMax: Metric
  memory: Metric
  uptime: Metric
}

/** Seconds. */
interface Delays {
  p50: number
  p99: number
  max: number
}

/** Watches the process until `close`. */
export class ProcessGauges {
  readonly #metrics: ProcessMetrics
  readonly #histogram: ReturnType<typeof monitorEventLoopDelay>
  readonly #turning: NodeJS.Timeout
  #before: Delays = { p50: 0, p99: 0, max: 0 }

  constructor(metrics: ProcessMetrics) {
    this.#metrics = metrics
    this.#histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
    this.#histogram.enable()
    this.#turning = setInterval(() => {
      this.#before = this.#now()
      this.#histogram.reset()
    }, WINDOW_MS)
    this.#turning.unref()
  }

  /** Updates the gauges, with the worse value of this window and the one before. */
  read(): void {
    const { loopP50, loopP99, loopMax, memory, uptime } = this.#metrics
    const now = this.#now()
    loopP50.of().value = Math.max(now.p50, this.#before.p50)
    loopP99.of().value = Math.max(now.p99, this.#before.p99)
    loopMax.of().value = Math.max(now.max, this.#before.max)
    memory.of().value = process.memoryUsage.rss()
    uptime.of().value = process.uptime()
  }

  close(): void {
    clearInterval(this.#turning)
    this.#histogram.disable()
  }

  #now(): Delays {
    const histogram = this.#histogram
    if (histogram.count === 0) return { p50: 0, p99: 0, max: 0 }
    return {
      p50: seconds(histogram.percentile(50)),
      p99: seconds(histogram.percentile(99)),
      max: seconds(histogram.max),
    }
  }
}

/** Converts nanoseconds between two samples to seconds of delay. */
function seconds(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1e3)
}
