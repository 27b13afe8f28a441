import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { decodeProtobuf } from './otlp-protobuf.ts'

/** An attribute's value; lists keep their order. */
export type AttributeValue =
  | string
  | number
  | boolean
  | readonly AttributeValue[]
  | { readonly [key: string]: AttributeValue }
  | undefined
export type SpanAttributes = Readonly<Record<string, AttributeValue>>

/** A span as a collector sees it. `parentSpanId` is absent for a root; times are nanoseconds since the epoch. */
export interface ReceivedSpan {
  name: string
  traceId: string
  spanId: string
  parentSpanId: string | undefined
  traceState: string | undefined
  kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer' | 'unspecified'
  attributes: SpanAttributes
  events: readonly { name: string; attributes: SpanAttributes }[]
  links: readonly { traceId: string; spanId: string; attributes: SpanAttributes }[]
  status: 'unset' | 'ok' | 'error'
  startedAt: bigint
  endedAt: bigint
  resource: SpanAttributes
}

/** One number of a metric as a collector sees it; of a histogram its sum, with the count and the counts per bucket. */
export interface ReceivedPoint {
  metric: string
  unit: string
  kind: 'sum' | 'updown' | 'gauge' | 'histogram'
  attributes: SpanAttributes
  value: number
  count: number | undefined
  buckets: readonly number[] | undefined
  resource: SpanAttributes
}

/** One line of a log as a collector sees it. */
export interface ReceivedLog {
  severity: string
  body: AttributeValue
  attributes: SpanAttributes
  traceId: string | undefined
  spanId: string | undefined
}

/** One export as it came in. */
export interface ReceivedExport {
  path: string
  headers: IncomingHttpHeaders
}

export interface OtlpReceiver {
  /** The base URL. */
  url: string
  /** Everything received so far, in the order of arrival. */
  spans(): readonly ReceivedSpan[]
  /** The numbers of the last export of metrics. */
  points(): readonly ReceivedPoint[]
  logs(): readonly ReceivedLog[]
  exports(): readonly ReceivedExport[]
  /** The spans once the predicate holds for them; rejects with their names when it does not within `ms` (10 s). */
  waitFor(predicate: (spans: readonly ReceivedSpan[]) => boolean, ms?: number): Promise<readonly ReceivedSpan[]>
  close(): Promise<void>
}

/** A collector for tests: OTLP over HTTP, as JSON and as Protocol Buffers, on a free port of the loopback. `status` is what it answers (200). */
export async function startOtlpReceiver(options: { status?: number } = {}): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = []
  const logs: ReceivedLog[] = []
  let points: ReceivedPoint[] = []
  const exports: ReceivedExport[] = []
  const arrivals = new EventTarget()
  const server = createServer((request, response) => {
    void receive(request, response).then(() => arrivals.dispatchEvent(new Event('export')))
  })

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = Buffer.concat(await request.toArray())
    exports.push({ path: request.url ?? '', headers: request.headers })
    const status = options.status ?? 200
    const type = request.headers['content-type'] ?? ''
    if (type !== 'application/json' && type !== 'application/x-protobuf') response.writeHead(415)
    else {
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes
      const json = type === 'application/json'
      const decoded = (
        json ? JSON.parse(body.toString()) : decodeProtobuf(request.url!.replace(/^.*(?=\/v1\/)/, ''), body)
      ) as Request
      if (status === 200) spans.push(...decodeSpans(decoded))
      if (status === 200) logs.push(...decodeLogs(decoded))
      if (status === 200 && decoded.resourceMetrics) points = decodePoints(decoded)
      response.writeHead(status, { 'content-type': type })
    }
    response.end(type === 'application/json' ? '{}' : '')
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => spans,
    points: () => points,
    logs: () => logs,
    exports: () => exports,
    waitFor: async (predicate, ms = 10_000) => {
      const signal = AbortSignal.timeout(ms)
      while (!predicate(spans)) {
        await once(arrivals, 'export', { signal }).catch(() => {
          throw new Error(`The expected spans did not come; there are: ${spans.map((span) => span.name).join(', ')}`)
        })
      }
      return spans
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The parts of an `ExportTraceServiceRequest` and an `ExportMetricsServiceRequest` (OTLP 1.x, JSON) that are read here. */
interface Request {
  resourceLogs?: { scopeLogs?: { logRecords?: WireLog[] }[] }[]
  resourceSpans?: { resource?: { attributes?: KeyValue[] }; scopeSpans?: { spans?: WireSpan[] }[] }[]
  resourceMetrics?: { resource?: { attributes?: KeyValue[] }; scopeMetrics?: { metrics?: WireMetric[] }[] }[]
}
interface WireLog {
  severityText?: string
  body?: AnyValue
  attributes?: KeyValue[]
  traceId?: string
  spanId?: string
}
interface WireMetric {
  name: string
  unit?: string
  sum?: { isMonotonic?: boolean; dataPoints?: WirePoint[] }
  gauge?: { dataPoints?: WirePoint[] }
  histogram?: { dataPoints?: WirePoint[] }
}
interface WirePoint {
  attributes?: KeyValue[]
  asInt?: string | number
  asDouble?: number
  sum?: number
  count?: string | number
  bucketCounts?: (string | number)[]
}
interface KeyValue {
  key: string
  value?: AnyValue
}
interface AnyValue {
  stringValue?: string
  boolValue?: boolean
  intValue?: string | number
  doubleValue?: number
  arrayValue?: { values?: AnyValue[] }
  kvlistValue?: { values?: KeyValue[] }
}
interface WireSpan {
  name: string
  traceId: string
  spanId: string
  parentSpanId?: string
  traceState?: string
  kind?: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes?: KeyValue[]
  events?: { name: string; attributes?: KeyValue[] }[]
  links?: { traceId: string; spanId: string; attributes?: KeyValue[] }[]
  status?: { code?: number }
}

const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] as const
const STATUSES = ['unset', 'ok', 'error'] as const

function decodeSpans(request: Request): ReceivedSpan[] {
  return (request.resourceSpans ?? []).flatMap(({ resource, scopeSpans = [] }) => {
    const of = attributesOf(resource?.attributes)
    return scopeSpans.flatMap(({ spans = [] }) => spans.map((span) => decodeSpan(span, of)))
  })
}

function decodeLogs(request: Request): ReceivedLog[] {
  const scopes = (request.resourceLogs ?? []).flatMap(({ scopeLogs = [] }) => scopeLogs)
  return scopes.flatMap(({ logRecords = [] }) =>
    logRecords.map(({ severityText = '', body, attributes, traceId, spanId }) => ({
      severity: severityText,
      body: plain(body),
      attributes: attributesOf(attributes),
      traceId: traceId || undefined,
      spanId: spanId || undefined,
    })),
  )
}

function decodePoints(request: Request): ReceivedPoint[] {
  return (request.resourceMetrics ?? []).flatMap(({ resource, scopeMetrics = [] }) => {
    const of = attributesOf(resource?.attributes)
    return scopeMetrics.flatMap(({ metrics = [] }) => metrics.flatMap((metric) => decodeMetric(metric, of)))
  })
}

function decodeMetric(
  { name, unit = '', sum, gauge, histogram }: WireMetric,
  resource: SpanAttributes,
): ReceivedPoint[] {
  const kind = histogram ? 'histogram' : gauge ? 'gauge' : sum?.isMonotonic ? 'sum' : 'updown'
  const points = (histogram ?? gauge ?? sum)?.dataPoints ?? []
  return points.map((point) => ({
    metric: name,
    unit,
    kind,
    attributes: attributesOf(point.attributes),
    value: Number(point.asInt ?? point.asDouble ?? point.sum),
    count: point.count === undefined ? undefined : Number(point.count),
    buckets: point.bucketCounts?.map(Number),
    resource,
  }))
}

function decodeSpan(span: WireSpan, resource: SpanAttributes): ReceivedSpan {
  return {
    name: span.name,
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId || undefined,
    traceState: span.traceState || undefined,
    kind: KINDS[span.kind ?? 0] ?? 'unspecified',
    attributes: attributesOf(span.attributes),
    events: (span.events ?? []).map(({ name, attributes }) => ({ name, attributes: attributesOf(attributes) })),
    links: (span.links ?? []).map(({ traceId, spanId, attributes }) => ({
      traceId,
      spanId,
      attributes: attributesOf(attributes),
    })),
    status: STATUSES[span.status?.code ?? 0] ?? 'unset',
    startedAt: BigInt(span.startTimeUnixNano),
    endedAt: BigInt(span.endTimeUnixNano),
    resource,
  }
}

function attributesOf(pairs: readonly KeyValue[] = []): SpanAttributes {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, plain(value)]))
}

function plain(value: AnyValue | undefined): AttributeValue {
  if (value?.arrayValue) return (value.arrayValue.values ?? []).map(plain)
  if (value?.kvlistValue) return attributesOf(value.kvlistValue.values)
  if (value?.intValue !== undefined) return Number(value.intValue)
  return value?.stringValue ?? value?.boolValue ?? value?.doubleValue
}
