/** Exporters of spans, metrics and log records to a collector. Each is loaded when it is first needed. */

import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { LogRecordExporter } from '@opentelemetry/sdk-logs'
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import { type OtlpProtocol, type Signal, signalUrl } from './endpoints.ts'
import { type ExportWatch, exportWatch } from './export-watch.ts'

/** The address and encoding of the exports. */
export interface ExporterOptions {
  otlp: string
  headers: Readonly<Record<string, string>> | undefined
  protocol: OtlpProtocol
  /** The time limit of one export with all its retries, in milliseconds. */
  timeoutMillis: number
  warn: ((message: string) => void) | undefined
}

/** The consequence when a signal does not arrive. */
const MEANING: Readonly<Record<Signal, Pick<ExportWatch, 'what' | 'meaning'>>> = {
  traces: { what: 'Traces', meaning: 'turns go on without them' },
  metrics: { what: 'Metrics', meaning: 'GET /metrics still has them' },
  logs: { what: 'Logs', meaning: 'they are on stderr all the same' },
}

/** Exporters for one collector, over connections that they share. */
export class Exporters {
  readonly #options: ExporterOptions
  readonly #agent: HttpAgent | HttpsAgent

  /** Throws an Error when the address is not an http(s) URL. */
  constructor(options: ExporterOptions) {
    this.#options = options
    const secure = signalUrl(options.otlp, 'traces')!.protocol === 'https:'
    this.#agent = secure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true })
  }

  async traces(): Promise<SpanExporter> {
    const { OTLPTraceExporter } = this.#binary
      ? await import('@opentelemetry/exporter-trace-otlp-proto')
      : await import('@opentelemetry/exporter-trace-otlp-http')
    const exporter = new OTLPTraceExporter(this.#config('traces')!)
    const told = this.#watch('traces')
    return {
      export: (spans, done) => exporter.export(spans, told(done)),
      shutdown: () => exporter.shutdown(),
    }
  }

  /** Undefined when the metrics endpoint is not known. */
  async metrics(): Promise<PushMetricExporter | undefined> {
    const config = this.#config('metrics')
    if (!config) return undefined
    const { OTLPMetricExporter } = this.#binary
      ? await import('@opentelemetry/exporter-metrics-otlp-proto')
      : await import('@opentelemetry/exporter-metrics-otlp-http')
    const exporter = new OTLPMetricExporter(config)
    const told = this.#watch('metrics')
    return {
      export: (data, done) => exporter.export(data, told(done)),
      forceFlush: () => exporter.forceFlush(),
      shutdown: () => exporter.shutdown(),
    }
  }

  /** Undefined when the logs endpoint is not known. */
  async logs(): Promise<LogRecordExporter | undefined> {
    const config = this.#config('logs')
    if (!config) return undefined
    const { OTLPLogExporter } = this.#binary
      ? await import('@opentelemetry/exporter-logs-otlp-proto')
      : await import('@opentelemetry/exporter-logs-otlp-http')
    const exporter = new OTLPLogExporter(config)
    const told = this.#watch('logs')
    return {
      export: (records, done) => exporter.export(records, told(done)),
      forceFlush: () => exporter.forceFlush(),
      shutdown: () => exporter.shutdown(),
    }
  }

  /**
   * Closes every connection, also one on which a collector still sends its answer, which would keep the process alive.
   */
  close(): void {
    this.#agent.destroy()
  }

  get #binary(): boolean {
    return this.#options.protocol === 'http/protobuf'
  }

  #config(signal: Signal) {
    const { otlp, headers, timeoutMillis } = this.#options
    const url = signalUrl(otlp, signal)?.href
    return url === undefined
      ? undefined
      : { url, headers: { ...headers }, timeoutMillis, httpAgentOptions: () => this.#agent }
  }

  /** Passes the result to the export watch, then to the caller. */
  #watch(
    signal: Signal,
  ): <R extends { code: number; error?: Error }>(done: (result: R) => void) => (result: R) => void {
    const { otlp, warn } = this.#options
    const watch = exportWatch({ ...MEANING[signal], url: signalUrl(otlp, signal)!, warn })
    return (done) => (result) => {
      watch(result)
      done(result)
    }
  }
}
