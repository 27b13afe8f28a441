import { loadCodecs } from '../../codecs/index.ts'
import { createLog, type Log, redactor, startTelemetry, type Telemetry } from '../../observability/index.ts'
import { type CodecInfo, type Config, loadConfig } from '../config/index.ts'
import { type AnyCodec, type Hooks, silentHooks } from '../contract/index.ts'
import type { EngineLog } from '../engine/index.ts'
import { createGateway, type Gateway } from '../gateway.ts'
import { version } from './version.ts'

/** A gateway that is ready to take clients, and how to take it down again. */
export interface Setup {
  config: Config
  codecs: Readonly<Record<string, AnyCodec>>
  gateway: Gateway
  log: Log
  /** Lets turns go on for `drainMs` milliseconds, then stops everything. */
  close(drainMs: number): Promise<void>
}

/** Reads a configuration file. `TURNPIKE_NODE` in it is the Node.js that runs the gateway. */
export function readConfig(codecs: Readonly<Record<string, AnyCodec>>, file: string): Config {
  const env = { ...process.env, TURNPIKE_NODE: process.env['TURNPIKE_NODE'] ?? process.execPath }
  return loadConfig({ env, cwd: process.cwd(), codecs: infos(codecs), file })!
}

/** Builds the gateway of a configuration. `quiet` keeps the log silent: for stand-ins, whose stderr is their client's. */
export async function setUp(file: string, { quiet }: { quiet: boolean }): Promise<Setup> {
  const codecs = await loadCodecs()
  const config = readConfig(codecs, file)
  const secrets = config.server.keys.flatMap(({ secret }) => secret ?? [])
  const level = quiet && process.env['TURNPIKE_LOG'] === undefined ? 'silent' : config.log.level
  const { pretty } = config.log
  const log = createLog({ level, redact: redactor(secrets), ...(pretty !== undefined && { pretty }) })
  for (const warning of config.warnings) log.warn(warning)
  const telemetry = await telemetryOf(config, log)
  const hooks: Hooks = telemetry?.hooks ?? silentHooks
  const gateway = createGateway(config, { codecs, hooks, log: redacting(log, config), env: process.env })
  return {
    config,
    codecs,
    gateway,
    log,
    async close(drainMs) {
      await gateway.close(drainMs)
      await telemetry?.shutdown()
    },
  }
}

/** What agents say on stderr may hold what the configuration gave them: its values are replaced by their names. */
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

async function telemetryOf(config: Config, log: Log): Promise<Telemetry | undefined> {
  const otlp = config.telemetry?.otlp ?? process.env['OTEL_EXPORTER_OTLP_ENDPOINT']
  if (otlp === undefined || otlp === '') return undefined
  const { headers, content, sample } = config.telemetry ?? { content: false }
  return startTelemetry({
    otlp,
    content,
    version: version(),
    warn: (message) => log.warn(message),
    ...(headers && { headers: { ...headers } }),
    ...(sample !== undefined && { sample }),
  })
}

function infos(codecs: Readonly<Record<string, AnyCodec>>): Record<string, CodecInfo> {
  return Object.fromEntries(
    Object.entries(codecs).map(([name, { dialects, options }]) => [name, { dialects: Object.keys(dialects), options }]),
  )
}
