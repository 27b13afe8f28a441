import {
  type BreakerStates,
  type Log,
  type LogEntry,
  type Metrics,
  openLog,
  openMetrics,
  otlpProtocol,
  redactor,
  startTelemetry,
  type Telemetry,
  type TelemetryConfig,
} from '../../observability/index.ts'
import type { Config } from '../config/index.ts'
import { type Hooks, silentHooks } from '../contract/index.ts'
import type { Engine, EngineLog } from '../engine/index.ts'
import { createGateway, type Gateway } from '../gateway.ts'
import type { Configured } from './configured.ts'
import { knownAgent } from './known-agents.ts'
import { version } from './version.ts'

/** A gateway that is ready for clients, with its shutdown. */
export interface Setup extends Configured {
  gateway: Gateway
  log: Log
  /** The metrics; absent for stand-ins, and when they are switched off. */
  metrics?: Metrics
  /** Lets turns run on for `drainMs` milliseconds, then stops everything. */
  close(drainMs: number): Promise<void>
}

/** The circumstances of a gateway. */
export interface Circumstances {
  /** The environment of this process, copied once because reading `process.env` is slow. */
  env: Readonly<Record<string, string | undefined>>
  standalone?: boolean
  /** The program that starts agents for a long-lived gateway. */
  starter?: string
}

/**
 * Builds the gateway of a configuration. `standalone` is for a stand-in that serves one client: the log is silent,
 * because stderr belongs to the client, and the process ends when the gateway is closed.
 */
export async function setUp(
  { codecs, late, config }: Configured,
  { env, standalone = false, starter }: Circumstances,
): Promise<Setup> {
  const secrets = config.server.keys.flatMap(({ secret }) => secret ?? [])
  const level = standalone && process.env['TURNPIKE_LOG'] === undefined ? 'silent' : config.log.level
  const { pretty } = config.log
  // The log exists before the telemetry that may export it.
  let also: ((entry: LogEntry) => void) | undefined
  const log = await openLog({
    level,
    redact: redactor(secrets),
    also: (entry) => also?.(entry),
    ...(pretty !== undefined && { pretty }),
  })
  for (const warning of config.warnings) log.warn(warning)
  // A standalone stand-in ends before its metrics could be read.
  const metrics = standalone || config.telemetry?.metrics === false ? undefined : await openMetrics()
  const telemetry = await telemetryOf(config, log, metrics)
  also = telemetry?.log
  const traced: Hooks = telemetry?.hooks ?? silentHooks
  const hooks = metrics?.hooks(traced) ?? traced
  const secretless = redactor(secrets)
  const gateway = await createGateway(config, {
    codecs,
    ...(late && { late }),
    clean: (text) => secretless.whole(config.redact(text)),
    hooks,
    log: redacting(log, config),
    env,
    loginOf: (command, args) => knownAgent(command, args)?.login?.command,
    shortLived: standalone,
    ...(starter !== undefined && { starter: { program: starter, trouble: (message) => log.warn(message) } }),
  })
  const { engine } = gateway
  metrics?.watchBreakers(() => breakerStates(engine))
  metrics?.watchStore(engine.storeWatch)
  return {
    config,
    codecs,
    gateway,
    log,
    ...(metrics && { metrics }),
    async close(drainMs) {
      await gateway.close(drainMs)
      await telemetry?.shutdown()
      metrics?.close()
      await log.flushed()
    },
  }
}

/** The state of every configured agent's circuit. */
function breakerStates({ settings, breakers }: Engine): ReturnType<BreakerStates> {
  return [...settings.agents.values()].map((agent) => ({ agent: agent.name, state: breakers.state(agent) }))
}

/** Redacts stderr of agents, which may contain values of the configuration. */
function redacting(log: Log, { redact }: Config): EngineLog {
  const clean = (fields?: Record<string, unknown>): Record<string, unknown> | undefined =>
    fields &&
    Object.fromEntries(
      Object.entries(fields).map(([key, value]) => [key, typeof value === 'string' ? redact(value) : value]),
    )
  return {
    debug: (message, fields) => log.debug(message, clean(fields)),
    info: (message, fields) => log.info(message, clean(fields)),
    warn: (message, fields) => log.warn(message, clean(fields)),
    error: (message, fields) => log.error(message, clean(fields)),
  }
}

/** The collector's URL: the configured one, else that of the environment. */
export function collectorOf(config: Config): string | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base } = process.env
  return config.telemetry?.otlp ?? (base ? appendedToBase(base) : undefined)
}

/**
 * The traces URL of a base URL: the signal's path is appended (OpenTelemetry, OTLP exporter, "Endpoint URLs for
 * OTLP/HTTP"), unless it already ends in it.
 */
function appendedToBase(base: string): string {
  const url = URL.parse(base)
  if (!url || url.pathname.endsWith('/v1/traces')) return base
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`
  return url.href
}

/** The export of the log and the encoding of all exports: as configured, else by OpenTelemetry's variables. */
export function exportOptions({
  telemetry,
}: Config): Pick<TelemetryConfig, 'logs' | 'protocol'> & { problem?: string } {
  const { OTEL_LOGS_EXPORTER: exporter, OTEL_EXPORTER_OTLP_PROTOCOL: named } = process.env
  const protocol = telemetry?.protocol ?? otlpProtocol(named)
  const logs = telemetry?.logs ?? exporter?.split(',').some((name) => name.trim() === 'otlp') ?? false
  if (protocol) return { logs, protocol }
  return { logs, problem: `OTEL_EXPORTER_OTLP_PROTOCOL is ${named}; OTLP is sent as http/protobuf (or http/json)` }
}

async function telemetryOf(config: Config, log: Log, metrics: Metrics | undefined): Promise<Telemetry | undefined> {
  const otlp = collectorOf(config)
  if (otlp === undefined) return undefined
  const { headers, content, sample } = config.telemetry ?? { content: false, metrics: true }
  const { problem, ...options } = exportOptions(config)
  if (problem !== undefined) log.warn(problem)
  return startTelemetry({
    otlp,
    content,
    ...options,
    version: version(),
    warn: (message) => log.warn(message),
    ...(headers && { headers: { ...headers } }),
    ...(sample !== undefined && { sample }),
    ...(metrics && { metrics }),
  })
}
