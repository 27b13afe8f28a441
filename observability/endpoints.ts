/** Where a collector takes what: `telemetry.otlp` names its address, or the path that it takes traces at. */

const TRACES = '/v1/traces'
const METRICS = '/v1/metrics'

/**
 * Where traces go: `/v1/traces` when the URL has no path.
 *
 * @throws Error when it is not an http(s) URL.
 */
export function tracesUrl(otlp: string): URL {
  const url = URL.parse(otlp)
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new Error('telemetry.otlp is not an http or https URL; write the collector as http://127.0.0.1:4318.')
  }
  if (url.pathname === '/') url.pathname = TRACES
  return url
}

/** Where metrics go: beside the traces. Undefined when the traces' path does not say where that is. */
export function metricsUrl(otlp: string): URL | undefined {
  const url = tracesUrl(otlp)
  if (!url.pathname.endsWith(TRACES)) return undefined
  url.pathname = url.pathname.slice(0, -TRACES.length) + METRICS
  return url
}
