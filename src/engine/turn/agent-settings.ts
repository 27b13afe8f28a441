import type { SessionSettings } from '../../contract/index.ts'
import { type CommandOf, type Fault, fault } from '../../model/index.ts'
import type { AgentLink } from '../agent/index.ts'
import type { AgentSession } from './agent-session.ts'

/** One setting that an agent gets before a turn. */
export type AgentSetting = Pick<CommandOf<'config-set'>, 'mode' | 'option'>

/** The permission mode and the options of a session that its agent has not been set to. */
export function missingSettings(link: AgentLink, { mode, options }: SessionSettings): readonly AgentSetting[] {
  const missing: AgentSetting[] = mode !== undefined && mode !== link.mode ? [{ mode }] : []
  for (const id in options) {
    const value = options[id]!
    if (link.options?.[id] !== value) missing.push({ option: { id, value } })
  }
  return missing
}

/**
 * Sets an agent as the client has set its session. Resolves with the fault of a turn that must not run without it. A
 * link that has ended is no fault here: the run of the turn reports it.
 */
export async function setAgent(
  link: AgentLink,
  setting: AgentSetting,
  of: AgentSession,
  exchange: string,
): Promise<Fault | undefined> {
  const { name, dialect } = link.agent
  if (dialect.back.capabilities['config-set'] !== 'full') return refused(name, setting)
  const session = { ...of.names, ...(of.bound !== undefined && { bound: of.bound }) }
  const reply = await link.ask({ type: 'config-set', exchange, session, ...setting })
  if (reply?.fault) return refused(name, setting, reply.fault)
  if (reply) link.wasSet(setting)
  return undefined
}

function refused(agent: string, { mode, option }: AgentSetting, why?: Fault): Fault {
  const said = why ? ` (${why.message})` : ''
  const [what, another] = option ? [`value of "${option.id}"`, 'value'] : [`mode "${mode}"`, 'mode']
  const text = `The agent "${agent}" cannot be set to the ${what} that its client has set${said}; set another ${another}.`
  return fault('invalid-request', text)
}
