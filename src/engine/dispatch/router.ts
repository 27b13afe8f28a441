import type { Route } from '../../contract/index.ts'
import { type Command, type Fault, fault, globMatches } from '../../model/index.ts'
import type { AgentSettings, EngineSettings } from '../common/index.ts'
import { type Facts, routeTableOf } from './route-table.ts'

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

/**
 * Chooses the agent of a turn: the one named explicitly, else the one that the protocol's own field names (when there
 * is one of that name), else the first matching route, else the default. A route's policies apply whoever chose. What is
 * asked of the gateway as a whole is no agent's business: any will do.
 */
export function chooseAgent(settings: EngineSettings, query: RouteQuery): RouteChoice | Fault {
  const [first] = isOfAll(query.command) ? settings.agents.values() : []
  const table = routeTableOf(settings)
  if (first) return { agent: first, route: table.plain(first.name) }
  const route = table.match(factsOf(query))
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
  return { agent, route: route ?? table.plain(name) }
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

function factsOf({ front, explicit, principal, command }: RouteQuery): Facts {
  const start = command.type === 'turn-start' ? command : undefined
  return {
    front,
    principal,
    channel: command.session?.channel,
    agent: explicit ?? start?.agent,
    session: command.session?.id,
    model: start?.options.model,
  }
}
