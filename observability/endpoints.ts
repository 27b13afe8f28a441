/** The endpoints of a collector: `telemetry.otlp` is its address, or the path of its traces endpoint. */

/** The kinds of telemetry sent to a collector. */
export type Signal = 'traces' | 'metrics' | 'logs'

/** The encoding: OTLP over HTTP, as JSON or as Protocol Buffers. */
export type OtlpProtocol = 'http/json' | 'http/protobuf'

/** The encoding when none is named: the default of OpenTelemetry's own SDKs. */
export const DEFAULT_PROTOCOL: OtlpProtocol = 'http/protobuf'

/** The protocol of `OTEL_EXPORTER_OTLP_PROTOCOL`: the default when it is not set, undefined when it is not supported. */
export function otlpProtocol(value: string | undefined): OtlpProtocol | undefined {
  if (value === undefined || value === '') return DEFAULT_PROTOCOL
  return value === 'http/json' || value === 'http/protobuf' ? value : undefined
}

/**
 * The URL of the traces endpoint: `/v1/traces` is added when the URL has no path.
 *
 * @throws Error when it is not an http(s) URL.
 */
export function tracesUrl(otlp: string): URL {
  const url = URL.parse(otlp)
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new Error('telemetry.otlp is not an http or https URL; write the collector as http://127.0.0.1:4318.')
  }
  if (url.pathname === '/') url.pathname = pathOf('traces')
  return url
}

/** The URL of a signal, next to that of the traces. Undefined when it cannot be derived from the traces' path. */
export function signalUrl(otlp: string, signal: Signal): URL | undefined {
  const url = tracesUrl(otlp)
  const traces = pathOf('traces')
  if (signal === 'traces') return url
  if (!url.pathname.endsWith(traces)) return undefined
  url.pathname = url.pathname.slice(0, -traces.length) + pathOf(signal)
  return url
}

function pathOf(signal: Signal): string {
  return `/v1/${signal}`
}
