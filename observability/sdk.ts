/**
 * The OpenTelemetry SDK: only loaded where telemetry is on (`index.ts` imports it lazily). It instruments nothing by
 * itself: every span is made by `spans.ts`.
 */

import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { logs, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
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
import { spanHooks } from './spans.ts'

/** Where traces go and what is in them. */
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
  /** Told once when traces stop reaching the collector, and once when they do again. */
  warn?: (message: string) => void
}

/** Running telemetry. */
export interface Telemetry {
  hooks: Hooks
  /** Sends what is left, for 2 seconds at most. Never rejects. */
  shutdown(): Promise<void>
}

/**
 * How long one export may take with all its retries, and how long `shutdown` waits, in milliseconds. One limit for
 * both: no export that is under way outlives the shutdown for long, and a dead collector costs 2 seconds once.
 */
const PATIENCE_MS = 2_000
/** Spans wait this long for company, in milliseconds. */
const BATCH_MS = 1_000
/** A longer attribute is cut: session ids and names come from clients. Content is bounded on its own. */
const MAX_ATTRIBUTE = 1_024

/**
 * Starts exporting traces. Spans are queued and sent in the background: a collector that is down, slow or silent costs
 * spans, never a turn.
 *
 * @throws Error when `otlp` is not an http(s) URL or `sample` is not between 0 and 1.
 */
export async function startTelemetry(config: TelemetryConfig): Promise<Telemetry> {
  const url = tracesUrl(config.otlp)
  const agent = url.protocol === 'https:' ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true })
  const exporter = new OTLPTraceExporter({
    url: url.href,
    headers: { ...config.headers },
    timeoutMillis: PATIENCE_MS,
    httpAgentOptions: () => agent,
  })
  const sdk = new NodeSDK({
    autoDetectResources: false,
    resource: resource(config),
    sampler: sampler(config.sample ?? 1),
    spanLimits: { attributeValueLengthLimit: config.content ? undefined : MAX_ATTRIBUTE },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: watched(exporter, config.warn, url),
        scheduledDelayMillis: BATCH_MS,
        exportTimeoutMillis: PATIENCE_MS,
      }),
    ],
    // Named as none: left out, the SDK would export logs and metrics by its own defaults.
    logRecordProcessors: [],
    metricReaders: [],
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
      logs.disable()
      // Also cuts a connection on which a collector still trickles its answer: it would keep the process alive.
      agent.destroy()
    },
  }
}

function tracesUrl(otlp: string): URL {
  const url = URL.parse(otlp)
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new Error('telemetry.otlp is not an http or https URL; write the collector as http://127.0.0.1:4318.')
  }
  if (url.pathname === '/') url.pathname = '/v1/traces'
  return url
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

/** The exporter, with a word to the operator whenever its luck changes. */
function watched(exporter: SpanExporter, warn: TelemetryConfig['warn'], url: URL): SpanExporter {
  let failing = false
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const failed = result.error !== undefined || result.code !== 0
        if (failed && !failing) {
          warn?.(
            `Traces do not reach the collector at ${url.host} (${reason(result.error)}); turns go on without them.`,
          )
        } else if (!failed && failing) warn?.(`Traces reach the collector at ${url.host} again.`)
        failing = failed
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
  }
}

/** The error's code (`ECONNREFUSED`, an HTTP status): its message may hold the collector's answer. */
function reason(error: Error | undefined): string {
  const code = error !== undefined && 'code' in error ? error.code : undefined
  return typeof code === 'string' || typeof code === 'number' ? String(code) : 'no answer in time'
}

/** Waits for the promise, whatever becomes of it, up to a limit in milliseconds. */
async function atMost(ms: number, promise: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([promise.catch(() => {}), late])
  clearTimeout(timer)
}
