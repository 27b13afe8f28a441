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
  /** The default agent does not take a turn that names another one. */
  namesAgents?: boolean
  command: Command
}

/** The chosen agent and the rule that chose it. */
export interface RouteChoice {
  agent: AgentSettings
  route: Route
}

/**
 * Chooses the agent of a turn: the one named explicitly, else the one that the protocol's own field names (when there
 * is one of that name), else the first matching route, else the default. A route's policies apply however the agent was
 * chosen. Queries about the gateway as a whole go to any agent.
 */
export function chooseAgent(settings: EngineSettings, query: RouteQuery): RouteChoice | Fault {
  const [first] = isOfAll(query.command) ? settings.agents.values() : []
  const table = routeTableOf(settings)
  if (first) return { agent: first, route: table.plain(first.name) }
  const route = table.match(factsOf(query))
  const own = query.command.type === 'turn-start' ? query.command.agent : undefined
  const known = own !== undefined && settings.agents.has(own) ? own : undefined
  const name = query.explicit ?? known ?? route?.agent ?? (query.namesAgents ? own : undefined) ?? settings.default
  if (name === undefined) {
    return fault('agent-not-found', 'No route matches this request and no default agent is configured; name an agent.')
  }
  const agent = settings.agents.get(name)
  if (!agent) return noAgent(name, settings, query.allowed)
  if (!mayUse(query.allowed, name)) {
    return fault('forbidden', `This key may not use the agent "${name}".`)
  }
  return { agent, route: route ?? table.plain(name) }
}

/** The most agents that a refusal names. */
const NAMED_AGENTS = 20

function noAgent(name: string, { agents }: EngineSettings, allowed: RouteQuery['allowed']): Fault {
  const usable = [...agents.keys()].filter((agent) => mayUse(allowed, agent))
  const some = usable.slice(0, NAMED_AGENTS).join(', ')
  const rest = usable.length > NAMED_AGENTS ? ` and ${usable.length - NAMED_AGENTS} more` : ''
  return fault('agent-not-found', `There is no agent "${name}"; there are: ${some}${rest}.`)
}

/** True for a command about the gateway itself, its turns and its sessions, whatever their agents. */
function isOfAll(command: Command): boolean {
  if (command.type === 'query') {
    const { what, args } = command
    return ['agents', 'turns', 'turn', 'input', 'sessions'].includes(what) || (what === 'session' && args !== undefined)
  }
  return command.type === 'session-delete' || command.type === 'session-fork'
}

/** True when a key that is limited to these agents (globs; undefined means all) may use the agent of this name. */
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
