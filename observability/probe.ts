/** Tests whether a collector accepts the gateway's exports, without loading OpenTelemetry. */

import { DEFAULT_PROTOCOL, type OtlpProtocol, signalUrl, tracesUrl } from './endpoints.ts'

/** The time limit for a collector's answer, in milliseconds. */
const PATIENCE_MS = 2_000

/** The collector to test: its address, and the headers of every export. */
export interface ProbeTarget {
  /** The configured URL. */
  otlp: string
  headers?: Readonly<Record<string, string>>
  /** Also test metrics and logs. */
  metrics: boolean
  logs?: boolean
  /** Default: Protocol Buffers. */
  protocol?: OtlpProtocol
}

/**
 * Sends empty exports to a collector. Gives one line for each problem, with its remedy; no line holds the address's
 * credentials or query, the headers or the collector's answer.
 *
 * @throws Error when `otlp` is not an http(s) URL.
 */
export async function probeCollector(target: ProbeTarget): Promise<string[]> {
  const traces = tracesUrl(target.otlp)
  const found = await ask(traces, 'resourceSpans', target)
  if (found !== 'ok') return [`the collector at ${traces.host} ${problem(found, traces)}`]
  return [
    ...(target.metrics ? await signalProblem('metrics', 'resourceMetrics', 'GET /metrics has them', target) : []),
    ...(target.logs ? await signalProblem('logs', 'resourceLogs', 'they are on stderr', target) : []),
  ]
}

/** The problem with a signal other than traces; `instead` says where it is still available. */
async function signalProblem(
  signal: 'metrics' | 'logs',
  list: string,
  instead: string,
  target: ProbeTarget,
): Promise<string[]> {
  const url = signalUrl(target.otlp, signal)
  if (!url) return [`telemetry.otlp names a path of its own for traces, so ${signal} are not sent; ${instead}`]
  const found = await ask(url, list, target)
  if (found === 'ok') return []
  return [`the collector at ${url.host} takes traces but no ${signal} (${found}); ${instead} all the same`]
}

/** Sends an empty export. Gives `ok`, the status of the refusal, or the reason for no answer. */
async function ask(
  url: URL,
  list: string,
  { headers, protocol = DEFAULT_PROTOCOL }: ProbeTarget,
): Promise<'ok' | number | string> {
  const { username, password } = url
  const target = new URL(url)
  target.username = target.password = ''
  const binary = protocol === 'http/protobuf'
  try {
    const basic = username === '' ? {} : { authorization: basicOf(username, password) }
    const response = await fetch(target, {
      method: 'POST',
      headers: { 'content-type': binary ? 'application/x-protobuf' : 'application/json', ...basic, ...headers },
      // A Protocol Buffers message without fields has no bytes.
      body: binary ? '' : JSON.stringify({ [list]: [] }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    await response.body?.cancel()
    return response.ok ? 'ok' : response.status
  } catch (error) {
    return code(error)
  }
}

/** Decodes percent-encoded credentials of a URL, as Node's own client does. */
function basicOf(username: string, password: string): string {
  const text = decodeURIComponent(`${username}:${password}`)
  return `Basic ${Buffer.from(text).toString('base64')}`
}

/** The problem with the collector, and its remedy. */
function problem(found: number | string, { pathname }: URL): string {
  if (typeof found === 'string') {
    return `does not answer (${found}): start it, or correct telemetry.otlp (4318 is the usual port of OTLP over HTTP)`
  }
  if (found === 401 || found === 403) return `refuses the gateway (${found}): put its key into telemetry.headers`
  if (found === 404 || found === 405) return `does not take OTLP at ${pathname} (${found}): correct telemetry.otlp`
  return `answered with status ${found}: see its log`
}

function code(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') return `not within ${PATIENCE_MS / 1e3} s`
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'no connection'
}
