/** What the gateway loads always: nothing of OpenTelemetry, which comes with the first `startTelemetry`. */

import type { Telemetry, TelemetryConfig } from './sdk.ts'

export {
  createLog,
  LOG_LEVELS,
  type Log,
  type LogDestination,
  type LogFields,
  type LogLevel,
  type LogOptions,
} from './logs.ts'
export {
  type CarrierSource,
  formatTraceparent,
  parseTraceparent,
  readCarrier,
  type TraceParent,
} from './propagation.ts'
export { REDACTED, type Redactor, redactor } from './redaction.ts'
export type { Telemetry, TelemetryConfig } from './sdk.ts'

/**
 * Loads the OpenTelemetry SDK and starts exporting traces; see `TelemetryConfig`.
 *
 * @throws Error when the configuration cannot be used.
 */
export async function startTelemetry(config: TelemetryConfig): Promise<Telemetry> {
  const sdk = await import('./sdk.ts')
  return sdk.startTelemetry(config)
}
