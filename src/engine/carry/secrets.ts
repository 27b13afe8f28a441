import type { Route } from '../../contract/index.ts'
import { type Command, isLoopback, type Loss, type TurnStart } from '../../model/index.ts'
import type { AgentSettings } from '../common/index.ts'

/**
 * True when the secrets of a client's environment are kept from the agent: other machines get them only where the route
 * says so.
 */
export function keepsSecret(
  { environment }: TurnStart,
  { target, dialect }: AgentSettings,
  { secrets }: Route,
): boolean {
  if (environment?.privacy !== 'secret' || secrets === 'pass') return false
  if (dialect.back.capabilities['start.environment'] === 'none') return false
  return target.kind === 'http' && !isLoopback(new URL(target.url).hostname)
}

/** The request as this agent may see it; what is kept from it is a loss. */
export function withoutSecret(
  command: Command & TurnStart,
  agent: AgentSettings,
  route: Route,
  report: (loss: Loss) => void,
): Command & TurnStart {
  if (!keepsSecret(command, agent, route)) return command
  const { environment: _secret, ...told } = command
  report({ kind: 'dropped', item: 'start.environment', why: 'policy', count: 1 })
  return told
}
