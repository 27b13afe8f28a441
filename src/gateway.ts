import { httpBackend, processBackend, resourceLimiter, Starter, type StarterConfig } from './backends/index.ts'
import type { ClusterPeers } from './cluster/index.ts'
import { type AgentConfig, agentRedactor, type ClusterConfig, type Config } from './config/index.ts'
import { type AnyCodec, asBack, type Backend, type Hooks, isShared, type Store } from './contract/index.ts'
import { type AgentSettings, Engine, type EngineLog, type EngineSettings } from './engine/index.ts'
import { openStore } from './store/index.ts'

/** The dependencies of a gateway besides its configuration. */
export interface GatewayParts {
  codecs: Readonly<Record<string, AnyCodec>>
  /** Further codecs, which are loaded when one of their agents is first used. */
  late?: Readonly<Record<string, () => AnyCodec>>
  hooks: Hooks
  log: EngineLog
  env: Readonly<Record<string, string | undefined>>
  /** Takes secrets out of what is kept of wires. */
  clean?: (text: string) => string
  /** The longest silence of a streamed answer before a keep-alive is sent, in milliseconds. */
  keepAliveMs?: number
  /** The command that logs in the program that this one starts; undefined where it is not known. */
  loginOf?: (command: string, args: readonly string[]) => string | undefined
  /** The process that starts agents, which pays off for a long-lived gateway. */
  starter?: StarterConfig
  /** The process ends when the gateway is closed. */
  shortLived?: boolean
}

/** The engine with its configured agents and store. `close` first lets turns run on for `drainMs` milliseconds. */
export interface Gateway {
  engine: Engine
  /** Present where there are other replicas on the store: the wires to them. */
  peers?: ClusterPeers
  /** Applies another configuration to everything that begins from now on; store and listeners do not change. */
  reload(config: Config): void
  close(drainMs: number): Promise<void>
}

/**
 * The part of the heap that the events of all running turns may take, in UTF-16 units for each byte: they are there several
 * times at the end of a turn, as its text, its record, and an answer in one piece.
 */
const HELD_SHARE = 1 / 8

/** The most bytes that the heap can have. */
async function heapLimit(): Promise<number> {
  const { getHeapStatistics } = await import('node:v8')
  return getHeapStatistics().heap_size_limit
}

/**
 * The wall clock by which the record is kept: that of the store where processes on several machines share it, because they
 * compare the times that the others have recorded to their own.
 */
function clockOf(store: Store): () => number {
  return isShared(store) ? () => store.replicas.time(Date.now()) : Date.now
}

/** Builds the engine that a configuration describes. Rejects when the store cannot be opened. */
export async function createGateway(config: Config, parts: GatewayParts): Promise<Gateway> {
  const starter = parts.starter && new Starter(parts.starter)
  const built = new BuiltAgents(parts, starter)
  const { hooks, log, keepAliveMs, clean, shortLived = false } = parts
  const store = await openStore(config.store, { shortLived, failed: (error) => engine.storeWatch.failed(error) })
  const peers = config.cluster && (await (await import('./cluster/index.ts')).openPeers(config.cluster, store))
  const mostHeld = shortLived ? undefined : (await heapLimit()) * HELD_SHARE
  const engine: Engine = new Engine({
    settings: built.settings(config),
    store,
    hooks,
    log,
    now: clockOf(store),
    ...(keepAliveMs && { keepAliveMs }),
    ...(clean && { clean }),
    ...(mostHeld !== undefined && { mostHeld }),
    ...(peers && { cluster: peers.cluster }),
  })
  return {
    engine,
    ...(peers && { peers }),
    reload: (next) => engine.reload(built.settings(next)),
    async close(drainMs) {
      const until = performance.now() + drainMs
      const left = (): number => Math.max(0, until - performance.now())
      if (peers) await quiet(engine, peers, Math.min(drainMs, SENDING_ON_MS))
      await engine.close(left())
      await built.close(config.limits.grace)
      // What was sent on in the last moment is answered too.
      await peers?.forwarder.untilIdle(left())
      peers?.forwarder.close()
      starter?.close()
    },
  }
}

/**
 * The longest time for which a gateway that stops sends requests on, in milliseconds. They may come without a pause from
 * a load balancer that has not seen yet that it is not ready.
 */
const SENDING_ON_MS = 5000

/**
 * Has other replicas take the sessions, until no turn runs here and none that was sent on is awaited, or for `ms`
 * milliseconds.
 */
async function quiet(engine: Engine, { forwarder }: ClusterPeers, ms: number): Promise<void> {
  // While the store is away the others hear of it by the lease.
  await engine.drain().catch(() => {})
  await Promise.all([engine.untilDone(ms), forwarder.untilIdle(ms)])
}

/** The dependencies of agents. */
type AgentParts = Pick<GatewayParts, 'codecs' | 'late' | 'env' | 'hooks' | 'loginOf'>

/**
 * The agents built so far. One with an unchanged configuration stays the same object over a reload, with its processes.
 */
class BuiltAgents {
  readonly #parts: AgentParts
  readonly #starter: Starter | undefined
  readonly #all: AgentSettings[] = []
  #current = new Map<string, { text: string; settings: AgentSettings }>()

  constructor(parts: AgentParts, starter: Starter | undefined) {
    this.#parts = parts
    this.#starter = starter
  }

  /** The engine's settings of a configuration: its codecs and backends, and everything that can be reloaded. */
  settings(config: Config): EngineSettings {
    const env = hostEnv(config, this.#parts.env)
    const next = new Map([...config.agents].map(([name, agent]) => [name, this.#built(agent, config, env)]))
    this.#current = next
    return {
      agents: new Map([...next].map(([name, { settings }]) => [name, settings])),
      ...(config.default !== undefined && { default: config.default }),
      routes: config.routes,
      limits: config.limits,
      retention: config.store.retention,
      turnLimits: new Map(config.server.keys.flatMap(({ name, limits }) => (limits ? [[name, limits]] : []))),
    }
  }

  /** Ends all of their processes and calls. */
  async close(graceMs: number): Promise<void> {
    await Promise.all(this.#all.map(({ backend }) => backend.close(graceMs)))
  }

  #built(agent: AgentConfig, config: Config, env: Record<string, string>): { text: string; settings: AgentSettings } {
    const text = JSON.stringify([agent, config.withheld])
    const known = this.#current.get(agent.name)
    if (known?.text === text) return known
    const settings = agentSettings(agent, config, { ...this.#parts, env }, this.#starter)
    this.#all.push(settings)
    return { text, settings }
  }
}

/** `env` is the environment that agents may see. */
type HostedParts = AgentParts & { env: Record<string, string> }

function agentSettings(
  agent: AgentConfig,
  config: Config,
  { codecs, late, env, hooks, loginOf }: HostedParts,
  starter: Starter | undefined,
): AgentSettings {
  const load = late?.[agent.protocol]
  const command = agent.command ?? ''
  const login = loginOf?.(command, agent.args ?? [])
  const backend = openBackend(agent, env, starter)
  const settings = {
    name: agent.name,
    backend: hooks.backend?.(agent.name, backend) ?? backend,
    context: {
      options: agent.options,
      agent: agent.name,
      env,
      folder: agent.folder,
      ...(agent.kind === 'process' && {
        process: { command, env: agent.env, cwd: agent.cwd, ...(agent.args && { args: agent.args }) },
      }),
    },
    ...(agent.workspaces && { workspaces: agent.workspaces }),
    ...(agent.clientMcpServers && { clientMcpServers: true as const }),
    ...(isAway(agent, config.cluster) && { away: true as const }),
    limits: agent.limits,
    pool: agent.pool,
    restore: agent.restore,
    redact: agentRedactor(config, agent),
    ...(login !== undefined && { login }),
    breaker: agent.breaker,
    ...(agent.health && { health: agent.health }),
    target:
      agent.kind === 'process'
        ? { kind: 'process' as const, command }
        : { kind: 'http' as const, url: agent.url ?? '' },
  }
  return load ? speakingLate(settings, agent, load) : { ...settings, ...spokenBy(agent, codecs[agent.protocol]!) }
}

type Spoken = Pick<AgentSettings, 'protocol' | 'dialect'>

/** Settings of an agent whose codec is loaded when its protocol or dialect is first read. */
function speakingLate(
  settings: Omit<AgentSettings, keyof Spoken>,
  agent: AgentConfig,
  load: () => AnyCodec,
): AgentSettings {
  let known: Spoken | undefined
  const spoken = (): Spoken => (known ??= spokenBy(agent, load()))
  const late = { protocol: { get: () => spoken().protocol }, dialect: { get: () => spoken().dialect } }
  return Object.defineProperties(settings, late) as AgentSettings
}

/** The protocol and the dialect of an agent. */
function spokenBy({ protocol, dialect }: AgentConfig, { dialects }: AnyCodec): Spoken {
  const isDefault = Object.keys(dialects)[0] === dialect
  return { protocol: isDefault ? protocol : `${protocol}@${dialect}`, dialect: asBack(dialects[dialect]) }
}

/** True for an agent that only other replicas have. */
function isAway({ placement }: AgentConfig, cluster: ClusterConfig | undefined): boolean {
  return placement !== undefined && !placement.some((label) => cluster?.labels.includes(label))
}

function openBackend(agent: AgentConfig, env: Record<string, string>, starter: Starter | undefined): Backend {
  if (agent.kind === 'http') return httpBackend({ url: agent.url ?? '', headers: agent.headers ?? {} })
  // Started ahead of the first turn.
  void starter?.prepare()
  return processBackend({
    command: agent.command ?? '',
    args: agent.args ?? [],
    wrap: [...resourceLimiter(agent.resources ?? {}), ...(agent.wrap ?? [])],
    cwd: agent.cwd,
    ...(agent.workspaces && { roots: [agent.cwd, ...agent.workspaces] }),
    env: agent.env,
    inherit: agent.inherit,
    hostEnv: env,
    ...(starter && { starter }),
  })
}

/** The gateway's environment without its clients' keys, which no agent may see. */
function hostEnv(config: Config, env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !config.withheld.includes(name)) kept[name] = value
  }
  return kept
}
