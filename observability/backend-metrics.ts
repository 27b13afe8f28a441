/** Counts the processes, failures, bytes and pauses of an agent's backend, without look-ups per chunk. */

import type { Backend, Call, CallEnd, CallHandle, CallSink, Carrier } from '../src/contract/index.ts'
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
    open: (call, sink, trace) => openCounted(series, backend, call, sink, trace),
    close: (graceMs) => backend.close(graceMs),
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

function openCounted(series: AgentSeries, backend: Backend, call: Call, sink: CallSink, trace: Carrier): CallHandle {
  let runs = false
  let stopped = false
  const counted: CallSink = {
    started(info) {
      if (info.pid !== undefined) {
        runs = true
        series.processes.add(1)
        series.starts.add(1)
      }
      sink.started?.(info)
    },
    head: (head) => sink.head?.(head),
    data(text) {
      series.received.add(Buffer.byteLength(text))
      sink.data(text)
    },
    dataEnd: () => sink.dataEnd?.(),
    log: (text) => sink.log?.(text),
    end(end) {
      if (runs) series.processes.add(-1)
      const errorType = stopped ? undefined : failure(end)
      if (errorType !== undefined) series.failed(errorType)
      sink.end(end)
    },
  }
  const handle = backend.open(call, counted, trace)
  return {
    get pid() {
      return handle.pid
    },
    write(text) {
      series.sent.add(Buffer.byteLength(text))
      return handle.write(text)
    },
    endInput: () => handle.endInput(),
    pause() {
      series.pauses.add(1)
      handle.pause()
    },
    resume: () => handle.resume(),
    stop(why, graceMs) {
      stopped = true
      handle.stop(why, graceMs)
    },
  }
}

/** The failure of a call that was not stopped: an error code, a signal or an exit code. */
function failure(end: CallEnd): string | undefined {
  if (end.why === 'failed') return end.fault?.code ?? OTHER
  return end.signal ?? (end.exitCode ? String(end.exitCode) : undefined)
}
