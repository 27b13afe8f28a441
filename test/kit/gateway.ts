/** A real gateway in this process: configuration text in, a listening server out. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { loadCodecs, standInNames } from '../../codecs/index.ts'
import { loadOperations } from '../../codecs/operations.ts'
import { codecInfos } from '../../src/cli/configured.ts'
import type { Config } from '../../src/config/index.ts'
import { parseConfig } from '../../src/config/load.ts'
import { type Hooks, silentHooks } from '../../src/contract/index.ts'
import type { Engine, EngineLog } from '../../src/engine/index.ts'
import { createGateway } from '../../src/gateway.ts'
import { type ConsoleParts, startServer } from '../../src/server.ts'

export const ROOT = join(import.meta.dirname, '../..')
export const AGENTS = join(ROOT, 'examples/agents')

/** The built program, which starts in a tenth of the time of its sources. `build.ts` builds it before the tests. */
export const TURNPIKE = join(ROOT, 'dist/turnpike.cjs')

/** The script that people start. */
export const LAUNCHER = join(ROOT, 'src/cli/turnpike.sh')

/** The program that starts agents. */
export const STARTER = join(ROOT, 'dist/starter.cjs')

export interface TestGateway {
  url: string
  folder: string
  engine: Engine
  config: Config
  /** The lines of the log. */
  logged: string[]
  close(): Promise<void>
}

/** The example agents, as YAML. */
export const EXAMPLE_AGENTS = `
  helper: { protocol: agentproc, command: ${AGENTS}/helper.sh, args: [] }
  coder: { protocol: zot, command: ${process.execPath}, args: [${AGENTS}/coder.mjs, rpc] }
  writer: { protocol: agentproc@0.4, command: ${process.execPath}, args: [${AGENTS}/writer.mjs] }
  planner: { protocol: zene, command: ${process.execPath}, args: [${AGENTS}/planner.mjs, host] }
`

/** The options of a test's gateway. */
export interface TestOptions {
  hooks?: Hooks
  keepAliveMs?: number
  /** Uses a starter for its agents, as `turnpike serve` does. */
  starter?: boolean
  /** The gateway whose folder and store it shares. That one is closed after it. */
  beside?: TestGateway
  /** Serves the console. */
  console?: ConsoleParts
  /** A schema of a PostgreSQL database: the gateway is a replica of those that were started with the same one. */
  replicaOn?: { url: string; schema: string }
}

/** With `TURNPIKE_TEST_STARTER=1` every gateway has one, with 0 none, and every test has to pass all the same. */
const FORCED = process.env['TURNPIKE_TEST_STARTER']

/** With the URL of a PostgreSQL database every gateway has its store there, and every test has to pass all the same. */
const DATABASE = process.env['TURNPIKE_TEST_DATABASE']

function storeIn(folder: string, on: TestOptions['replicaOn']): string {
  if (on) return `{ kind: postgres, url: '${on.url}', schema: '${on.schema}' }`
  if (DATABASE === undefined) return `{ kind: sqlite, path: ${folder}/turnpike.db }`
  return `{ kind: postgres, url: '${DATABASE}', schema: '${basename(folder)}' }`
}

/** With 1, and a database, requests reach another replica than the one that answers: every test has to pass all the same. */
const FORWARDED = process.env['TURNPIKE_TEST_CLUSTER'] === '1'

/** The label of the replica that has the agents then. */
const OWNER = 'owner'

/** Starts a gateway on a free port with a store of its own. `yaml` needs no server and no store. */
export async function startGateway(yaml: string, options: TestOptions = {}): Promise<TestGateway> {
  const { beside, replicaOn } = options
  const folder = beside?.folder ?? mkdtempSync(join(tmpdir(), 'turnpike-test-'))
  const codecs = await loadCodecs()
  const text = `${yaml}\nstore: ${storeIn(folder, replicaOn)}\n`
  const env = { ...process.env, TEST_FOLDER: folder }
  const config = patient(parseConfig(text, { file: 'turnpike.yaml', folder, env, codecs: codecInfos(codecs) }), yaml)
  if (!FORWARDED) return start(config, folder, options)
  const owner = await start(placed(config, [OWNER]), folder, options)
  const other = await start(placed(config, []), folder, options)
  // Before the first request: the other one has heard of the owner as it joined.
  return {
    ...owner,
    url: other.url,
    async close() {
      await other.close()
      await owner.close()
    },
  }
}

/**
 * The configuration with kept connections that the gateway does not close while a test runs, unless the test is about
 * that: a client that sends its next request in that moment gets no answer.
 */
function patient(config: Config, yaml: string): Config {
  if (yaml.includes('keepAlive')) return config
  const { server } = config
  return { ...config, server: { ...server, limits: { ...server.limits, keepAlive: 60_000 } } }
}

/** The configuration of a replica with these labels, when one with another label has all agents. */
function placed(config: Config, labels: readonly string[]): Config {
  const agents = [...config.agents].map(([name, agent]) => [name, { ...agent, placement: [OWNER] }] as const)
  return { ...config, agents: new Map(agents), cluster: { ...config.cluster!, labels } }
}

async function start(
  config: Config,
  folder: string,
  { hooks = silentHooks, keepAliveMs, starter = false, beside, console, replicaOn }: TestOptions,
): Promise<TestGateway> {
  const codecs = await loadCodecs()
  const logged: string[] = []
  const log = recordingLog(logged)
  const gateway = await createGateway(config, {
    codecs,
    hooks,
    log,
    env: { ...process.env, TEST_FOLDER: folder },
    ...(keepAliveMs && { keepAliveMs }),
    ...((FORCED ? FORCED === '1' : starter) && {
      starter: { program: STARTER, trouble: (message) => logged.push(message) },
    }),
  })
  const { engine, peers } = gateway
  const isReplica = replicaOn !== undefined || FORWARDED
  const parts = {
    engine,
    codecs: Object.values(codecs),
    version: '0',
    command: 'turnpike',
    standIns: standInNames,
    operations: loadOperations,
    ...(console && { console }),
    ...(isReplica && peers && { peers }),
  }
  const server = await startServer({ ...config.server, port: 0 }, parts)
  if (isReplica) {
    await engine.serve(server.url)
    await engine.replication!.join(server.url, '0')
  }
  return {
    url: server.url,
    folder,
    engine,
    config,
    logged,
    async close() {
      await gateway.close(0)
      await server.close()
      if (!beside) rmSync(folder, { recursive: true, force: true })
    },
  }
}

function recordingLog(lines: string[]): EngineLog {
  const write = (message: string, fields?: Record<string, unknown>): void => {
    lines.push(fields ? `${message} ${JSON.stringify(fields)}` : message)
  }
  return { debug: write, info: write, warn: write, error: write }
}
