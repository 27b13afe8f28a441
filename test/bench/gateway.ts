/** Gateways of the benchmarks: processes of their own, from the built bundle, with configurations made here. */
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../kit/gateway.ts'
import { acpUpdates, zotAnswer } from './answers.ts'
import { liveAgent } from './live.ts'
import { benchFile, Program } from './processes.ts'

/** Events of a streamed turn. */
export const EVENTS = 200

/** What the built program is made of. */
const COPIED = ['dist', 'package.json', 'src/cli/turnpike.sh']

/** A gateway that listens. */
export interface Gateway {
  port: number
  pid: number
  /** Its configuration file. */
  config: string
  /** The file of its store. */
  store: string
  stop(): Promise<void>
}

/** What differs between two gateways. */
export interface GatewayOptions {
  /** Where an agent that is an HTTP server listens. */
  upstream?: number
  /** Where a server of models listens. */
  models?: number
  /** More top-level configuration. */
  yaml?: string
  /** The file of its store, a new one when absent; `:memory:` is gone with the process. */
  store?: string
  /** The URL of a database with its store: it is a replica of the others there. */
  database?: string
  /** Its labels; the agent of live streams is where `live` is one. */
  labels?: readonly string[]
  /** Modules that are loaded before it. */
  imports?: readonly string[]
  env?: Readonly<Record<string, string>>
  /** Runs from the sources, and writes a profile of its processor time into this folder when it stops. */
  profiles?: string
}

/** A server of models as an agent of each of its APIs. */
function modelAgents(port: number): string {
  const url = `http://127.0.0.1:${port}`
  return `  chat: { protocol: openai, url: "${url}/v1", model: m }
  responses: { protocol: openai@responses, url: "${url}/v1", model: m }
  messages: { protocol: anthropic, url: "${url}", model: m }
`
}

/** The files that agents answer from, and where gateways keep theirs. `clean` removes them. */
export class Workshop {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'turnpike-bench-'))
  /** The arguments of the agent that streams `EVENTS` events, and of the one that says one. */
  readonly stream: readonly string[]
  readonly short: readonly string[]
  /** The arguments of the agent that streams them by the Agent Client Protocol. */
  readonly acp: readonly string[]
  /** The built program as it was at the start: another build meanwhile changes nothing. */
  readonly #program: string = join(this.folder, 'turnpike')
  /** What people start. */
  readonly launcher: string = join(this.#program, 'src/cli/turnpike.sh')
  #count = 0

  constructor() {
    this.#copy()
    const write = (name: string, answer: string): string => {
      const file = join(this.folder, name)
      writeFileSync(file, answer)
      return file
    }
    this.stream = [benchFile('agents/zot.sh'), write('stream.jsonl', zotAnswer(EVENTS))]
    this.short = [benchFile('agents/zot.sh'), write('short.jsonl', zotAnswer(1))]
    this.acp = [benchFile('agents/acp.sh'), write('acp.jsonl', acpUpdates(EVENTS))]
  }

  /** A configuration with all agents, in a folder of its own. */
  config({
    upstream,
    models,
    yaml = '',
    store = this.#storeFile(),
    database,
    labels = [],
  }: GatewayOptions = {}): string {
    const file = join(this.folder, `gateway-${++this.#count}.yaml`)
    const engine = upstream && `  engine: { protocol: openharness, url: "http://127.0.0.1:${upstream}/" }\n`
    const server = models && modelAgents(models)
    const pool = 'pool: { max: 256, idle: 10m }'
    const kept = database
      ? `store: { kind: postgres, url: "${database}" }\ncluster: { labels: ${JSON.stringify(labels)} }`
      : `store: { kind: sqlite, path: "${store}" }`
    const text = `server: { host: 127.0.0.1, port: 0 }
default: once
log: { level: error }
agents:
  stream: { protocol: zot, command: /bin/sh, args: ${JSON.stringify(this.stream)}, ${pool} }
  short: { protocol: zot, command: /bin/sh, args: ${JSON.stringify(this.short)}, ${pool} }
  acp: { protocol: acp, command: /bin/sh, args: ${JSON.stringify(this.acp)}, ${pool} }
  flood: { protocol: zot, command: ${process.execPath}, args: ["${benchFile('agents/flood.mjs')}"], ${pool} }
  live: { protocol: zot, command: /bin/sh, args: ${JSON.stringify(liveAgent(this.folder))}, pool: { max: 1000, idle: 10m }${database ? ', placement: [live]' : ''} }
  once: { protocol: agentproc, command: "${benchFile('agents/once.sh')}", args: [], pool: { max: 64 } }
  zene: { protocol: zene, command: "${benchFile('agents/zene.sh')}", args: [], pool: { max: 64 } }
${engine ?? ''}${server ?? ''}${kept}
${yaml}`
    writeFileSync(file, text)
    return file
  }

  /** Starts a gateway; resolves when it takes turns. */
  async gateway(options: GatewayOptions = {}): Promise<Gateway> {
    const { store = this.#storeFile() } = options
    const config = this.config({ ...options, store })
    const imports = (options.imports ?? []).map((path) => `--import=${benchFile(path)}`).join(' ')
    const env = { ...options.env, ...(imports && { NODE_OPTIONS: imports }) }
    const serve = ['serve', '--config', config]
    const { profiles } = options
    const profiled = ['--cpu-prof', `--cpu-prof-dir=${profiles}`, 'src/cli/main.ts', ...serve]
    const running = profiles ? new Program(process.execPath, profiled, env) : new Program(this.launcher, serve, env)
    for (;;) {
      const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(await running.line())?.[1]
      if (port) return { port: Number(port), pid: running.child.pid!, config, store, stop: () => running.stop() }
    }
  }

  #storeFile(): string {
    return join(this.folder, `${++this.#count}.db`)
  }

  #copy(): void {
    if (!existsSync(join(ROOT, 'dist/turnpike.cjs'))) throw new Error('there is no build; run npm run build')
    for (const path of COPIED) cpSync(join(ROOT, path), join(this.#program, path), { recursive: true })
    for (const path of ['node_modules', '.node']) {
      if (existsSync(join(ROOT, path))) symlinkSync(join(ROOT, path), join(this.#program, path))
    }
  }

  clean(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
