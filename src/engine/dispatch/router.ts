import type { Route } from '../../contract/index.ts'
import { type Command, type Fault, fault, globMatches } from '../../model/index.ts'
import type { AgentSettings, EngineSettings } from '../common/index.ts'

/** The facts of a turn when its agent is chosen. */
export interface RouteQuery {
  /** The front's protocol name. */
  front: string
  /** The agent that the path, the header or `--agent` names. */
  explicit?: string
  principal?: string
  /** The agents that the client's key may use; undefined means all. */
  allowed?: readonly string[]
  command: Command
}

/** The chosen agent and the rule that chose it. */
export interface RouteChoice {
  agent: AgentSettings
  route: Route
}

const NO_ROUTE: Omit<Route, 'agent'> = {
  when: {},
  fallback: [],
  approvals: 'deny',
  loss: 'report',
  busy: 'queue',
  journal: 'full',
  secrets: 'keep',
}

/**
 * Chooses the agent of a turn: the one named explicitly, else the one that the protocol's own field names (when there
 * is one of that name), else the first matching route, else the default. A route's policies apply whoever chose. What is
 * asked of the gateway as a whole is no agent's business: any will do.
 */
export function chooseAgent(settings: EngineSettings, query: RouteQuery): RouteChoice | Fault {
  const [first] = isOfAll(query.command) ? settings.agents.values() : []
  if (first) return { agent: first, route: { ...NO_ROUTE, agent: first.name } }
  const route = settings.routes.find((candidate) => matches(candidate, query))
  const own = query.command.type === 'turn-start' ? query.command.agent : undefined
  const name =
    query.explicit ??
    (own !== undefined && settings.agents.has(own) ? own : undefined) ??
    route?.agent ??
    settings.default
  if (name === undefined) {
    return fault('agent-not-found', 'No route matches this request and no default agent is configured; name an agent.')
  }
  const agent = settings.agents.get(name)
  if (!agent) return fault('agent-not-found', `There is no agent "${name}"; GET /v1/agents lists those there are.`)
  if (!mayUse(query.allowed, name)) {
    return fault('forbidden', `This key may not use the agent "${name}".`)
  }
  return { agent, route: route ?? { ...NO_ROUTE, agent: name } }
}

/** True for a command about the gateway's own turns and sessions, whatever their agents. */
function isOfAll(command: Command): boolean {
  if (command.type === 'query') return ['turns', 'turn', 'sessions', 'session'].includes(command.what)
  return command.type === 'session-delete'
}

/** True when a key that is limited to these agents (globs; undefined means all) may use the one of that name. */
export function mayUse(allowed: readonly string[] | undefined, name: string): boolean {
  return !allowed || allowed.some((pattern) => globMatches(pattern, name))
}

function matches(route: Route, { front, explicit, principal, command }: RouteQuery): boolean {
  const facts: Record<keyof Route['when'], string | undefined> = {
    front,
    principal,
    channel: command.session?.channel,
    agent: explicit ?? (command.type === 'turn-start' ? command.agent : undefined),
    session: command.session?.id,
    model: command.type === 'turn-start' ? command.options.model : undefined,
  }
  return Object.entries(route.when).every(([key, pattern]) => {
    if (covers(pattern, facts[key as keyof Route['when']])) return true
    // `agentproc` means its front in every dialect.
    return key === 'front' && covers(pattern, front.split('@')[0])
  })
}

/** An absent value matches nothing. */
function covers(pattern: string, value: string | undefined): boolean {
  return value !== undefined && globMatches(pattern, value)
}
