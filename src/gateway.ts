import { httpBackend, processBackend } from './backends/index.ts'
import type { AgentConfig, Config } from './config/index.ts'
import type { AnyCodec, Backend, Hooks } from './contract/index.ts'
import { type AgentSettings, Engine, type EngineLog, type EngineSettings } from './engine/index.ts'
import { openStore } from './store/index.ts'

/** What a gateway is made of beside its configuration. */
export interface GatewayParts {
  codecs: Readonly<Record<string, AnyCodec>>
  hooks: Hooks
  log: EngineLog
  env: Readonly<Record<string, string | undefined>>
}

/** The engine on its configured agents and store. `close` lets turns go on for `drainMs` (milliseconds) first. */
export interface Gateway {
  engine: Engine
  close(drainMs: number): Promise<void>
}

/** Builds the engine that a configuration describes. Throws when the store cannot be opened. */
export function createGateway(config: Config, parts: GatewayParts): Gateway {
  const settings = engineSettings(config, parts)
  const store = openStore(config.store)
  const engine = new Engine({ settings, store, hooks: parts.hooks, log: parts.log })
  return {
    engine,
    async close(drainMs) {
      await engine.close(drainMs)
      const { grace } = config.limits
      await Promise.all([...settings.agents.values()].map(({ backend }) => backend.close(grace)))
    },
  }
}

/** What the engine knows of a configuration: codecs chosen, backends open, everything that can be reloaded. */
function engineSettings(config: Config, parts: GatewayParts): EngineSettings {
  const agents = new Map([...config.agents].map(([name, agent]) => [name, agentSettings(agent, config, parts)]))
  return {
    agents,
    ...(config.default !== undefined && { default: config.default }),
    routes: config.routes,
    limits: config.limits,
  }
}

function agentSettings(agent: AgentConfig, config: Config, { codecs, env }: GatewayParts): AgentSettings {
  const codec = codecs[agent.protocol]!
  const isDefault = Object.keys(codec.dialects)[0] === agent.dialect
  const command = agent.command ?? ''
  return {
    name: agent.name,
    codec,
    protocol: isDefault ? agent.protocol : `${agent.protocol}@${agent.dialect}`,
    dialect: codec.dialects[agent.dialect]!,
    backend: openBackend(agent, hostEnv(config, env)),
    context: {
      options: agent.options,
      agent: agent.name,
      env: hostEnv(config, env),
      folder: agent.folder,
      ...(agent.kind === 'process' && {
        process: { command, env: agent.env, cwd: agent.cwd, ...(agent.args && { args: agent.args }) },
      }),
    },
    limits: agent.limits,
    pool: agent.pool,
    restore: agent.restore,
    target: agent.kind === 'process' ? { kind: 'process', command } : { kind: 'http', url: agent.url ?? '' },
  }
}

function openBackend(agent: AgentConfig, env: Record<string, string>): Backend {
  if (agent.kind === 'http') return httpBackend({ url: agent.url ?? '', headers: agent.headers ?? {} })
  return processBackend({
    command: agent.command ?? '',
    args: agent.args ?? [],
    cwd: agent.cwd,
    env: agent.env,
    inherit: agent.inherit,
    hostEnv: env,
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
