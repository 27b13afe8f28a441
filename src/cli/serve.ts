import { join } from 'node:path'
import { loadCodecs, standInNames } from '../../codecs/index.ts'
import type { Log } from '../../observability/index.ts'
import type { Config } from '../config/index.ts'
import {
  type ConsoleParts,
  type HttpServer,
  nameSocket,
  type ServerParts,
  startServer,
  startSocket,
} from '../server.ts'
import { agentNeeds } from './agent-probe.ts'
import { takeNothing, takeOptions, UsageError } from './arguments.ts'
import { openBrowser } from './browser.ts'
import { boundCompilers, compileSooner, keepCompiledCode, SETTLED_MS } from './compiled-code.ts'
import { configFile, DEFAULT_CONFIG } from './config-file.ts'
import { configOption, greeting, localUrl } from './greeting.ts'
import { gatewayName, otherGateways } from './other-gateways.ts'
import { namingConfig, ownCommand } from './own-command.ts'
import { packageRoot } from './package-root.ts'
import { readConfig } from './read-config.ts'
import { type Setup, setUp } from './setup.ts'
import { socketPath } from './socket-path.ts'
import { starterProgram } from './starter-program.ts'
import { version } from './version.ts'

/** The grace of running turns after SIGTERM, in milliseconds. */
const DRAIN_MS = 30_000

function readPort(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) throw new UsageError(`--port must be a number up to 65535, not "${text}"`)
  return port
}

/**
 * `turnpike serve`: serves until SIGTERM or SIGINT; a second signal does not wait for running turns. `isReported`: what
 * its agents need has already been printed.
 */
export async function serveCommand(args: string[], isReported = false): Promise<number> {
  const { options, rest } = takeOptions(args, ['config', 'port'])
  takeNothing(rest.filter((argument) => argument !== '--open'))
  const port = options.port === undefined ? undefined : readPort(options.port)
  const file = configFile(options.config) ?? DEFAULT_CONFIG
  let asked = false
  // From the start: without a listener the signal would end this process.
  let again = (): void => {
    asked = true
  }
  process.on('SIGHUP', () => again())
  await boundCompilers()
  await compileSooner()
  const loaded = await loadCodecs()
  const configured = { codecs: loaded, config: readConfig(loaded, file) }
  const setup = await setUp(configured, { env: process.env, starter: starterProgram() })
  const { config, codecs, gateway, log, metrics, close } = setup
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  const address = { ...config.server, ...(port !== undefined && { port }) }
  const named = configOption(file)
  const parts = {
    engine: gateway.engine,
    opened,
    codecs: Object.values(codecs),
    version: version(),
    command: ownCommand('anywhere'),
    naming: namingConfig(file),
    ...(named !== undefined && { configOption: named }),
    standIns: standInNames,
    operations: async () => (await import('../../codecs/operations.ts')).loadOperations(),
    ...(gateway.peers && { peers: gateway.peers }),
    ...(metrics && { metrics }),
    ...(config.server.console && { console: consoleOf(config) }),
  }
  const server = await startServer(address, parts)
  // No other live process listens there. Clients can connect from here on; they are answered under the lease of that name.
  await gateway.engine.serve(gatewayName(server.url))
  await gateway.engine.replication?.join(config.cluster?.address ?? server.url, parts.version)
  open()
  for (const other of await otherGateways(config, Number(new URL(server.url).port))) log.warn(other)
  const socket = await listenForStandIns(file, config.server, parts, log)
  // Before the log says that it serves: a reader of the log may stop it at once.
  const stop = stopped()
  log.info('serving', { url: server.url, agents: [...config.agents.keys()] })
  if (!isReported) for (const need of agentNeeds(config, process.env, file)) log.warn(need)
  process.stdout.write(greeting(server.url, config, file))
  const page = `${localUrl(server.url)}/console/`
  if (rest.includes('--open'))
    await openBrowser(page, (why) =>
      log.warn('no browser was opened; open the console by its address', { why, url: page }),
    )
  setTimeout(keepCompiledCode, SETTLED_MS).unref()
  again = () => reload(file, setup, server)
  if (asked) again()
  const drainMs = await stop
  log.info('stopping', { drainMs })
  const impatient = stopped().then(() => close(0))
  await Promise.race([close(drainMs), impatient])
  await Promise.all([server.close(), socket?.close()])
  return 0
}

/** Reads the file again. On errors they are logged and nothing changes. Running turns are not affected. */
function reload(file: string, { config, codecs, gateway, log }: Setup, server: HttpServer): void {
  try {
    const next = readConfig(codecs, file)
    const needs = agentNeeds(next, process.env, file)
    for (const warning of [...next.warnings, ...needRestart(config, next), ...needs]) log.warn(warning)
    server.reload(next.server)
    gateway.reload(next)
    log.info('the configuration was reloaded', { agents: [...next.agents.keys()] })
  } catch (error) {
    log.error('the configuration was not reloaded; the earlier one stays in use', { error: String(error) })
  }
}

/** A warning for each part that a running gateway cannot change. */
function needRestart(before: Config, after: Config): string[] {
  const parts = (config: Config): Record<string, unknown> => ({
    'server.host and server.port': [config.server.host, config.server.port],
    'server.socket': config.server.socket,
    'server.console': config.server.console,
    'server.limits': config.server.limits,
    store: { ...config.store, retention: undefined },
    cluster: config.cluster,
    telemetry: config.telemetry,
    log: config.log,
  })
  const [old, now] = [parts(before), parts(after)]
  const changed = Object.keys(old).filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]))
  return changed.map((name) => `${name} has changed; restart the gateway to apply it`)
}

/** The built console. */
function consoleOf({ telemetry }: Config): ConsoleParts {
  const traces = telemetry?.traces
  return { folder: join(packageRoot, 'dist/console'), ...(traces !== undefined && { traces }) }
}

/** Listens on the socket by which stand-ins find the gateway. When that fails, everything else still works. */
async function listenForStandIns(
  file: string,
  { socket: configured, limits }: Config['server'],
  parts: ServerParts,
  log: Log,
): Promise<HttpServer | undefined> {
  if (configured === false) return undefined
  const usual = socketPath(file, process.env)
  const path = configured ?? usual
  try {
    const socket = await startSocket(path, parts, limits)
    // Stand-ins do not read the file: they use the default path.
    const unname =
      path === usual ? undefined : await nameSocket(path, usual).catch((error) => unnamed(log, path, error))
    return {
      ...socket,
      close() {
        unname?.()
        return socket.close()
      },
    }
  } catch (error) {
    log.warn('stand-ins cannot reach this gateway; they will run turns themselves', { path, error: String(error) })
    return undefined
  }
}

function unnamed(log: Log, path: string, error: unknown): undefined {
  const why = { path, error: String(error) }
  log.warn('stand-ins only find this gateway with TURNPIKE_URL=unix:PATH; otherwise they run turns themselves', why)
}

/** Resolves at the next SIGTERM or SIGINT with the grace of running turns, in milliseconds. */
function stopped(): Promise<number> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve(DRAIN_MS))
    process.once('SIGINT', () => resolve(0))
  })
}
