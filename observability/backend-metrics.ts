/** Counts the processes, failures, bytes and pauses of an agent's backend, without look-ups per chunk. */

import type { Backend, CallEnd, CallHandle, CallHead, CallSink } from '../src/contract/index.ts'
import { OTHER } from './attributes.ts'
import type { Metric, Series } from './meters.ts'

/** The metrics of an agent's calls. */
export interface BackendMetrics {
  processes: Metric
  starts: Metric
  failures: Metric
  io: Metric
  pauses: Metric
}

/** Wraps the backend so that it is counted under the agent's name. */
export function countedBackend(metrics: BackendMetrics, agent: string, backend: Backend): Backend {
  const series: AgentSeries = {
    processes: metrics.processes.of(agent),
    starts: metrics.starts.of(agent),
    received: metrics.io.of(agent, 'receive'),
    sent: metrics.io.of(agent, 'transmit'),
    pauses: metrics.pauses.of(agent),
    failed: (errorType) => metrics.failures.of(agent, errorType).add(1),
  }
  return {
    open: (call, sink, trace) => new CountedCall(series, sink, (counted) => backend.open(call, counted, trace)),
    close: (graceMs) => backend.close(graceMs),
    ...(backend.file && { file: (request) => backend.file!(request) }),
    ...(backend.isWithin && { isWithin: (path, roots) => backend.isWithin!(path, roots) }),
  }
}

interface AgentSeries {
  processes: Series
  starts: Series
  received: Series
  sent: Series
  pauses: Series
  failed(errorType: string): void
}

/**
 * A call that is counted on its way to its sink. A class, because an object literal with a getter makes V8 a hidden class
 * for each call, which keeps the call, and with it a turn, until the next full collection.
 */
class CountedCall implements CallSink, CallHandle {
  readonly #series: AgentSeries
  readonly #sink: CallSink
  readonly #handle: CallHandle
  #runs = false
  #stopped = false

  /** `open` opens the call with this as its sink. */
  constructor(series: AgentSeries, sink: CallSink, open: (sink: CallSink) => CallHandle) {
    this.#series = series
    this.#sink = sink
    this.#handle = open(this)
  }

  get pid(): number {
    return this.#handle.pid as number
  }

  started(info: { pid?: number }): void {
    if (info.pid !== undefined) {
      this.#runs = true
      this.#series.processes.add(1)
      this.#series.starts.add(1)
    }
    this.#sink.started?.(info)
  }

  head(head: CallHead): void {
    this.#sink.head?.(head)
  }

  data(text: string): void {
    this.#series.received.add(Buffer.byteLength(text))
    this.#sink.data(text)
  }

  dataEnd(): void {
    this.#sink.dataEnd?.()
  }

  log(text: string): void {
    this.#sink.log?.(text)
  }

  end(end: CallEnd): void {
    if (this.#runs) this.#series.processes.add(-1)
    const errorType = this.#stopped ? undefined : failure(end)
    if (errorType !== undefined) this.#series.failed(errorType)
    this.#sink.end(end)
  }

  write(piece: string | Uint8Array): boolean {
    this.#series.sent.add(typeof piece === 'string' ? Buffer.byteLength(piece) : piece.byteLength)
    return this.#handle.write(piece)
  }

  endInput(): void {
    this.#handle.endInput()
  }

  pause(): void {
    this.#series.pauses.add(1)
    this.#handle.pause()
  }

  resume(): void {
    this.#handle.resume()
  }

  stop(...how: Parameters<CallHandle['stop']>): void {
    this.#stopped = true
    this.#handle.stop(...how)
  }
}

/** The failure of a call that was not stopped: an error code, a signal or an exit code. */
function failure(end: CallEnd): string | undefined {
  if (end.why === 'failed') return end.fault?.code ?? OTHER
  return end.signal ?? (end.exitCode ? String(end.exitCode) : undefined)
}
