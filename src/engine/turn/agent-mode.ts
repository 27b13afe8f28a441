import { type Fault, fault } from '../../model/index.ts'
import type { AgentLink } from '../agent/index.ts'
import type { AgentSession } from './agent-session.ts'

/**
 * Sets an agent to the permission mode that the client has set for its session. Resolves with the fault of a turn that
 * must not run without it. A link that is gone is no fault here: the turn's run says that.
 */
export async function setMode(
  link: AgentLink,
  mode: string,
  of: AgentSession,
  exchange: string,
): Promise<Fault | undefined> {
  const { name, dialect } = link.agent
  if (dialect.back.capabilities['config-set'] !== 'full') return refused(name, mode)
  const session = { ...of.names, ...(of.bound !== undefined && { bound: of.bound }) }
  const reply = await link.ask({ type: 'config-set', exchange, session, mode })
  if (reply?.fault) return refused(name, mode, reply.fault)
  if (reply) link.mode = mode
  return undefined
}

function refused(agent: string, mode: string, why?: Fault): Fault {
  const said = why ? ` (${why.message})` : ''
  const text = `The agent "${agent}" cannot be set to the mode "${mode}" that its client has set${said}; set another mode.`
  return fault('invalid-request', text)
}
