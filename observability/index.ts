/** The part that the gateway always loads. OpenTelemetry is only loaded by `startTelemetry`. */

import type { Log, LogOptions } from './logs.ts'
import type { Metrics } from './metrics.ts'
import type { Telemetry, TelemetryConfig } from './sdk.ts'

export { type OtlpProtocol, otlpProtocol } from './endpoints.ts'
export type { Log, LogDestination, LogEntry, LogFields, LogLevel, LogOptions } from './logs.ts'
export type { BreakerStates, Metrics } from './metrics.ts'
export { probeCollector } from './probe.ts'
export {
  type CarrierSource,
  formatTraceparent,
  parseTraceparent,
  readCarrier,
  type TraceParent,
} from './propagation.ts'
export { REDACTED, type Redactor, redactor } from './redaction.ts'
export type { Telemetry, TelemetryConfig } from './sdk.ts'

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {}, async flushed() {} }

/** Makes a log. A silent one loads nothing, because loading the log library would delay a standalone stand-in. */
export async function openLog(options: LogOptions): Promise<Log> {
  return options.level === 'silent' ? SILENT : (await import('./logs.ts')).createLog(options)
}

/**
 * Begins to count; the gateway is watched until `close`. Loaded on demand, because a standalone stand-in counts
 * nothing.
 */
export async function openMetrics(): Promise<Metrics> {
  const { Metrics } = await import('./metrics.ts')
  return new Metrics()
}

/**
 * Loads the OpenTelemetry SDK and starts exporting; see `TelemetryConfig`.
 *
 * @throws Error when the configuration cannot be used.
 */
export async function startTelemetry(config: TelemetryConfig): Promise<Telemetry> {
  const sdk = await import('./sdk.ts')
  return sdk.startTelemetry(config)
}
