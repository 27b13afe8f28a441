/**
 * The OpenTelemetry SDK: only loaded where telemetry is on (`index.ts` imports it lazily). It instruments nothing by
 * itself: every span is made by `spans.ts`, every number is counted by `metrics.ts`.
 */

import { type Logger, logs, metrics, SeverityNumber, trace } from '@opentelemetry/api'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { type IMetricReader, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { NodeSDK } from '@opentelemetry/sdk-node'
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'
import type { Hooks } from '../src/contract/index.ts'
import { parentContext } from './context.ts'
import type { OtlpProtocol } from './endpoints.ts'
import { Exporters } from './exporters.ts'
import type { LogEntry } from './logs.ts'
import type { Metrics } from './metrics.ts'
import { metricProducer } from './otlp-metrics.ts'
import { spanHooks } from './spans.ts'

/** Where traces, metrics and logs go and what is in them. */
export interface TelemetryConfig {
  /** The collector's URL (OTLP over HTTP); `/v1/traces` is appended when it has no path. */
  otlp: string
  /** Default: JSON. */
  protocol?: OtlpProtocol
  /** Sent with every export, such as the collector's key. */
  headers?: Readonly<Record<string, string>>
  /** Share of the traces beginning here that are recorded, 0 to 1. Default 1. A client's own decision always holds. */
  sample?: number
  /** Whether what is said in turns is recorded. Default: no. */
  content?: boolean
  /** The resource's `service.name`. Default: `OTEL_SERVICE_NAME`, else `turnpike`. */
  service?: string
  /** The resource's `service.version`. */
  version: string
  /** Sent to the collector as well, to `/v1/metrics` beside the traces' path. */
  metrics?: Metrics
  /** Whether the log is sent as well, to `/v1/logs` beside the traces' path. Default: no. */
  logs?: boolean
  /** Told once when traces, metrics or logs stop reaching the collector, and once when they do again. */
  warn?: (message: string) => void
}

/** Running telemetry. */
export interface Telemetry {
  /** The hooks of the spans. Metrics are counted by their own. */
  hooks: Hooks
  /** Sends a line of the log; absent when the log is not sent. */
  log?: (entry: LogEntry) => void
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

/**
 * Starts exporting. Everything is queued and sent in the background: a collector that is down, slow or silent costs what
 * it would have got, never a turn.
 *
 * @throws Error when `otlp` is not an http(s) URL or `sample` is not between 0 and 1.
 */
export async function startTelemetry(config: TelemetryConfig): Promise<Telemetry> {
  const { otlp, headers, protocol = 'http/json', warn, version, content = false } = config
  const chosen = sampler(config.sample ?? 1)
  const exporters = new Exporters({ otlp, headers, protocol, warn, timeoutMillis: PATIENCE_MS })
  const logProcessor = config.logs ? await logProcessorOf(exporters) : undefined
  const sdk = new NodeSDK({
    autoDetectResources: false,
    resource: resource(config),
    sampler: chosen,
    spanLimits: { attributeValueLengthLimit: content ? undefined : MAX_ATTRIBUTE },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: await exporters.traces(),
        scheduledDelayMillis: BATCH_MS,
        exportTimeoutMillis: PATIENCE_MS,
      }),
    ],
    // Named even as none: left out, the SDK would export logs and metrics by its own defaults.
    logRecordProcessors: logProcessor ? [logProcessor] : [],
    metricReaders: await metricReaders(config, exporters),
    // The context goes over the wires by the engine's hands, never by a global propagator.
    textMapPropagator: null,
  })
  sdk.start()
  return {
    hooks: spanHooks(trace.getTracer('turnpike', version), { content }),
    ...(logProcessor && { log: logWriter(logs.getLogger('turnpike', version)) }),
    shutdown: async () => {
      await atMost(PATIENCE_MS, sdk.shutdown())
      trace.disable()
      metrics.disable()
      logs.disable()
      exporters.close()
    },
  }
}

/** What queues log records; undefined when no place for them is known. Loaded here: few gateways send their log. */
async function logProcessorOf(exporters: Exporters) {
  const exporter = await exporters.logs()
  if (!exporter) return undefined
  const { BatchLogRecordProcessor } = await import('@opentelemetry/sdk-logs')
  return new BatchLogRecordProcessor({ exporter, scheduledDelayMillis: BATCH_MS, exportTimeoutMillis: PATIENCE_MS })
}

const SEVERITY = {
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
} as const

/** Lines of the log as log records, in the trace that they belong to. */
function logWriter(logger: Logger): (entry: LogEntry) => void {
  return ({ level, message, fields, traceparent }) =>
    logger.emit({
      severityNumber: SEVERITY[level],
      severityText: level.toUpperCase(),
      body: message,
      attributes: fields,
      context: parentContext({ ...(traceparent !== undefined && { traceparent }) }),
    })
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

/** What reads the metrics every while and sends them; none when there are none or no place for them is known. */
async function metricReaders(config: TelemetryConfig, exporters: Exporters): Promise<IMetricReader[]> {
  const { metrics: counted, version } = config
  const exporter = counted && (await exporters.metrics())
  if (!exporter) return []
  return [
    new PeriodicExportingMetricReader({
      exporter,
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
