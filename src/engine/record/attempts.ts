import type { Command, TurnStart } from '../../model/index.ts'
import type { LiveTurns } from '../session/index.ts'
import type { Turn } from '../turn/index.ts'
import { fingerprint } from './fingerprint.ts'

/** A request as its client sent it: by whom, over which protocol, and to which agent it is given. */
export interface Attempt {
  tenant: string
  front: string
  agent: string
  command: Command & TurnStart
}

/**
 * The running turn of the request that this one repeats, for clients that repeat one by themselves while its answer does
 * not come; undefined when none runs. Nothing is kept for it: requests are compared only when one says that it repeats.
 */
export function repeatedBy({ tenant, front, agent, command }: Attempt, turns: LiveTurns): Turn | undefined {
  const body = fingerprint(command, agent)
  return turns.values().find((turn) => {
    if (turn.ended || turn.cancelled || turn.scope.front !== front || turn.agent.name !== agent) return false
    const first = turn.audience.first.command
    const isOfTenant = turn.session.record.tenant === tenant
    return isOfTenant && first.type === 'turn-start' && fingerprint(first, agent) === body
  })
}
