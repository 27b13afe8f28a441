import type { AgentPolicy, BackContext, BackDialect, Backend, Limits, Route } from '../../contract/index.ts'

/** An agent as the engine knows it: its codec is chosen, its options are validated, its backend is open. */
export interface AgentSettings extends AgentPolicy {
  name: string
  /** The codec's name, with the dialect where it is not the default one. */
  protocol: string
  dialect: BackDialect
  backend: Backend
  context: BackContext<unknown>
  /** The folders besides its own one in which its processes run where their client has named such a one. */
  workspaces?: readonly string[]
  /** Clients may bring MCP servers: programs that it starts on this machine. */
  clientMcpServers?: true
  /** Only other replicas can run it. */
  away?: true
  /** Removes the secrets that the configuration gave the agent from its error messages. */
  redact(text: string): string
  /** The command that logs its program in, for the message of an error; absent where none is known. */
  login?: string
  /** For observers: what is started or called. */
  target: { kind: 'process'; command: string } | { kind: 'http'; url: string }
}

/** The limits of a key's turns: at the same time, and of what they use on one day (UTC). Absent means none. */
export interface TurnLimits {
  turns?: number
  tokensPerDay?: number
  usdPerDay?: number
}

/** All that can be reloaded while the engine runs. */
export interface EngineSettings {
  agents: ReadonlyMap<string, AgentSettings>
  default?: string
  routes: readonly Route[]
  limits: Limits
  /** The time that ended turns are kept, in milliseconds. */
  retention: number
  /** By tenant; one that is missing has no limits. */
  turnLimits?: ReadonlyMap<string, TurnLimits>
}

/** The settings that hold now: a reload replaces them. */
export interface CurrentSettings {
  readonly current: EngineSettings
}

/** The last answer for each route: nearly all of its turns go to one agent. */
const LIMITS = new WeakMap<Route, { agent: AgentSettings; limits: Limits }>()

/** The limits of a turn: those of its agent, with its route's laid over them. */
export function limitsOf(agent: AgentSettings, route: Route): Limits {
  if (!route.limits) return agent.limits
  const known = LIMITS.get(route)
  if (known?.agent === agent) return known.limits
  const limits = { ...agent.limits, ...route.limits }
  LIMITS.set(route, { agent, limits })
  return limits
}
