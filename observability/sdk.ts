/**
 * The OpenTelemetry SDK: only loaded when telemetry is on (`index.ts` imports it lazily). Its automatic instrumentation
 * is off: `spans.ts` makes every span, `metrics.ts` counts every metric.
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
import { DEFAULT_PROTOCOL, type OtlpProtocol } from './endpoints.ts'
import { Exporters } from './exporters.ts'
import type { LogEntry } from './logs.ts'
import type { Metrics } from './metrics.ts'
import { metricProducer } from './otlp-metrics.ts'
import { spanHooks } from './spans.ts'

/** The destination and content of traces, metrics and logs. */
export interface TelemetryConfig {
  /** The collector's URL (OTLP over HTTP); `/v1/traces` is appended when it has no path. */
  otlp: string
  /** Default: Protocol Buffers. */
  protocol?: OtlpProtocol
  /** Sent with every export, such as the collector's key. */
  headers?: Readonly<Record<string, string>>
  /** Share of the traces beginning here that are recorded, 0 to 1. Default 1. A client's own decision always holds. */
  sample?: number
  /** Records the content of turns. Default: no. */
  content?: boolean
  /** The resource's `service.name`. Default: `OTEL_SERVICE_NAME`, else `turnpike`. */
  service?: string
  /** The resource's `service.version`. */
  version: string
  /** Metrics to send to `/v1/metrics`, next to the traces' path. */
  metrics?: Metrics
  /** Sends the log to `/v1/logs`, next to the traces' path. Default: no. */
  logs?: boolean
  /** Called once when traces, metrics or logs stop reaching the collector, and once when they do again. */
  warn?: (message: string) => void
}

/** Running telemetry. */
export interface Telemetry {
  /** The hooks of the spans. Metrics have their own hooks. */
  hooks: Hooks
  /** Sends a line of the log; absent when the log is not sent. */
  log?: (entry: LogEntry) => void
  /** Sends the rest, for 2 seconds at most. Never rejects. */
  shutdown(): Promise<void>
}

/**
 * The time limit of one export with all its retries, and of `shutdown`, in milliseconds. With one limit for both, no
 * running export outlives the shutdown for long, and a dead collector costs 2 seconds once.
 */
const PATIENCE_MS = 2_000
/** The interval of metric exports, in milliseconds. */
const METRICS_MS = 15_000
/** The delay in which spans are batched, in milliseconds. */
const BATCH_MS = 1_000
/** A longer attribute is cut: session ids and names come from clients. Content is bounded on its own. */
const MAX_ATTRIBUTE = 1_024

/**
 * Starts exporting. Everything is queued and sent in the background: a collector that is down or slow loses its data,
 * never a turn.
 *
 * @throws Error when `otlp` is not an http(s) URL or `sample` is not between 0 and 1.
 */
export async function startTelemetry(config: TelemetryConfig): Promise<Telemetry> {
  const { otlp, headers, protocol = DEFAULT_PROTOCOL, warn, version, content = false } = config
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
    // Given even when empty: otherwise the SDK would export logs and metrics by its own defaults.
    logRecordProcessors: logProcessor ? [logProcessor] : [],
    metricReaders: await metricReaders(config, exporters),
    // The engine passes the context over the wires, never a global propagator.
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

/**
 * The queue of log records; undefined when the logs endpoint is not known. Loaded on demand: few gateways send their
 * log.
 */
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

/** The service name: the configured one, else that of the standard environment variables, else our own. */
function resource(config: TelemetryConfig): ReturnType<typeof defaultResource> {
  const ours = { 'service.name': 'turnpike', 'service.version': config.version }
  const configured = config.service === undefined ? {} : { 'service.name': config.service }
  return defaultResource()
    .merge(resourceFromAttributes(ours))
    .merge(detectResources({ detectors: [envDetector] }))
    .merge(resourceFromAttributes(configured))
}

/** The periodic readers that send the metrics; none without metrics or without a known metrics endpoint. */
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

/** Waits until the promise settles, or up to a limit in milliseconds. */
async function atMost(ms: number, promise: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([promise.catch(() => {}), late])
  clearTimeout(timer)
}
