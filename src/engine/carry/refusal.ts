import type { FrontDialect, Route } from '../../contract/index.ts'
import { type Command, type Fault, fault, type TurnStart } from '../../model/index.ts'
import type { AgentSettings } from '../common/index.ts'
import { strictRefusal } from './predict.ts'
import { keepsSecret } from './secrets.ts'

const SECRET = fault(
  'lossy-refused',
  'This route takes no losses, and surroundings that are called secret are kept from agents on other machines. ' +
    'Leave them out, choose another agent, or set "secrets: pass" on the route.',
)

/**
 * The fault with which an agent is refused a turn of a client that speaks `front`: it cannot do it, or would lose
 * something on a route that takes no losses. Undefined when it may.
 */
export function refusalFor(
  front: FrontDialect,
  command: Command & TurnStart,
  agent: AgentSettings,
  route: Route,
): Fault | undefined {
  const { capabilities } = agent.dialect.back
  if (command.task === 'compact' && capabilities['start.compact'] === 'none') {
    return fault('invalid-request', `The agent "${agent.name}" cannot compact its conversation.`)
  }
  if (route.loss !== 'strict') return undefined
  if (keepsSecret(command, agent, route)) return SECRET
  const { capabilities: able, demands } = front.front
  return strictRefusal(able, capabilities, command, front === agent.dialect, demands)
}
