/**
 * The OpenTelemetry SDK: only loaded where telemetry is on (`index.ts` imports it lazily). It instruments nothing by
 * itself: every span is made by `spans.ts`, every number is counted by `metrics.ts`.
 */

import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { logs, metrics, trace } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { type IMetricReader, PeriodicExportingMetricReader, type PushMetricExporter } from '@opentelemetry/sdk-metrics'
import { NodeSDK } from '@opentelemetry/sdk-node'
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'
import type { Hooks } from '../src/contract/index.ts'
import { metricsUrl, tracesUrl } from './endpoints.ts'
import { type ExportWatch, exportWatch } from './export-watch.ts'
import type { Metrics } from './metrics.ts'
import { metricProducer } from './otlp-metrics.ts'
import { spanHooks } from './spans.ts'

/** Where traces and metrics go and what is in them. */
export interface TelemetryConfig {
  /** The collector's URL (OTLP over HTTP, JSON); `/v1/traces` is appended when it has no path. */
  otlp: string
  /** Sent with every export, such as the collector's key. */
  headers?: Readonly<Record<string, string>>
  /** Share of the traces beginning here that are recorded, 0 to 1. Default 1. A client's own decision always holds. */
  sample?: number
  /** Whether the agent's answers are recorded. Default: no. */
  content?: boolean
  /** The resource's `service.name`. Default: `OTEL_SERVICE_NAME`, else `turnpike`. */
  service?: string
  /** The resource's `service.version`. */
  version: string
  /** Sent to the collector as well, to `/v1/metrics` beside the traces' path. */
  metrics?: Metrics
  /** Told once when traces or metrics stop reaching the collector, and once when they do again. */
  warn?: (message: string) => void
}

/** Running telemetry. */
export interface Telemetry {
  /** The hooks of the spans. Metrics are counted by their own. */
  hooks: Hooks
  /** Sends what is left, for 2 seconds at most. Never rejects. */
  shutdown(): Promise<void>
}

/**
 * How long one export may take with all its retries, and how long `shutdown` waits, in milliseconds. One limit for
 * both: no export that is under way outlives the shutdown for long, and a dead collector costs 2 seconds once.
 */
const PATIENCE_MS = 2_000
/** Metrics are sent this often, in milliseconds. */
const METRICS_MS = 15_000
/** Spans wait this long for company, in milliseconds. */
const BATCH_MS = 1_000
/** A longer attribute is cut: session ids and names come from clients. Content is bounded on its own. */
const MAX_ATTRIBUTE = 1_024

/** What all exporters are made with. */
interface ExporterOptions {
  headers: Record<string, string>
  timeoutMillis: number
  httpAgentOptions: () => HttpAgent | HttpsAgent
}

/**
 * Starts exporting traces and metrics. Spans are queued and sent in the background: a collector that is down, slow or silent costs
 * spans, never a turn.
 *
 * @throws Error when `otlp` is not an http(s) URL or `sample` is not between 0 and 1.
 */
export async function startTelemetry(config: TelemetryConfig): Promise<Telemetry> {
  const url = tracesUrl(config.otlp)
  const agent = url.protocol === 'https:' ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true })
  const options = { headers: { ...config.headers }, timeoutMillis: PATIENCE_MS, httpAgentOptions: () => agent }
  const exporter = new OTLPTraceExporter({ ...options, url: url.href })
  const watch: ExportWatch = { what: 'Traces', url, meaning: 'turns go on without them', warn: config.warn }
  const sdk = new NodeSDK({
    autoDetectResources: false,
    resource: resource(config),
    sampler: sampler(config.sample ?? 1),
    spanLimits: { attributeValueLengthLimit: config.content ? undefined : MAX_ATTRIBUTE },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: watchedSpans(exporter, watch),
        scheduledDelayMillis: BATCH_MS,
        exportTimeoutMillis: PATIENCE_MS,
      }),
    ],
    // Named even as none: left out, the SDK would export logs and metrics by its own defaults.
    logRecordProcessors: [],
    metricReaders: metricReaders(config, options),
    // The context goes over the wires by the engine's hands, never by a global propagator.
    textMapPropagator: null,
  })
  sdk.start()
  const tracer = trace.getTracer('turnpike', config.version)
  return {
    hooks: spanHooks(tracer, { content: config.content ?? false }),
    shutdown: async () => {
      await atMost(PATIENCE_MS, sdk.shutdown())
      trace.disable()
      metrics.disable()
      logs.disable()
      // Also cuts a connection on which a collector still trickles its answer: it would keep the process alive.
      agent.destroy()
    },
  }
}

function sampler(share: number): Sampler {
  if (!(share >= 0 && share <= 1)) {
    throw new Error(`telemetry.sample is ${share}; write a share between 0 (none) and 1 (all traces).`)
  }
  return new ParentBasedSampler({ root: share === 1 ? new AlwaysOnSampler() : new TraceIdRatioBasedSampler(share) })
}

/** Our name, unless the standard variables of the environment or the configuration have another. */
function resource(config: TelemetryConfig): ReturnType<typeof defaultResource> {
  const ours = { 'service.name': 'turnpike', 'service.version': config.version }
  const configured = config.service === undefined ? {} : { 'service.name': config.service }
  return defaultResource()
    .merge(resourceFromAttributes(ours))
    .merge(detectResources({ detectors: [envDetector] }))
    .merge(resourceFromAttributes(configured))
}

/** The exporter of spans, watched. */
function watchedSpans(exporter: SpanExporter, watch: ExportWatch): SpanExporter {
  const told = exportWatch(watch)
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        told(result)
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
  }
}

/** What reads the metrics every while and sends them; none when there are none or no place for them is known. */
function metricReaders(config: TelemetryConfig, options: ExporterOptions): IMetricReader[] {
  const { metrics: counted, otlp, version, warn } = config
  const url = metricsUrl(otlp)
  if (!counted || !url) return []
  const exporter = new OTLPMetricExporter({ ...options, url: url.href })
  const told = exportWatch({ what: 'Metrics', url, meaning: 'GET /metrics still has them', warn })
  const watched: PushMetricExporter = {
    export: (data, done) =>
      exporter.export(data, (result) => {
        told(result)
        done(result)
      }),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  }
  return [
    new PeriodicExportingMetricReader({
      exporter: watched,
      exportIntervalMillis: METRICS_MS,
      exportTimeoutMillis: PATIENCE_MS,
      metricProducers: [metricProducer(counted, version)],
    }),
  ]
}

/** Waits for the promise, whatever becomes of it, up to a limit in milliseconds. */
async function atMost(ms: number, promise: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([promise.catch(() => {}), late])
  clearTimeout(timer)
}
