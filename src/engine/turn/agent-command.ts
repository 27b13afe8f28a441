import type { SessionSettings } from '../../contract/index.ts'
import type { Command, TurnStart } from '../../model/index.ts'
import { withHistory, withoutSecret } from '../carry/index.ts'
import type { SessionNames } from '../common/index.ts'
import type { AgentSession } from './agent-session.ts'
import type { Turn } from './turn.ts'

/** The request of a turn as its agent is to get it: with the session as the agent knows it, without secrets. */
export function commandFor(turn: Turn, { bound, history, settings, names }: AgentSession): Command & TurnStart {
  const { command, agent, route } = turn
  const report = turn.loss.bind(turn)
  const told = withoutSecret(withSession(command, settings, names), agent, route, report)
  const full = history ? withHistory(agent.dialect.back.capabilities, told, history, report) : told
  return bound === undefined ? full : { ...full, session: { ...full.session, bound } }
}

/** The command with the agent's names of the session, and the client's settings of it that the command does not override. */
function withSession(
  command: Command & TurnStart,
  { model, effort }: SessionSettings,
  names: SessionNames,
): Command & TurnStart {
  const { conversation: _, ...session } = command.session ?? {}
  const options = { ...(model !== undefined && { model }), ...(effort !== undefined && { effort }), ...command.options }
  return { ...command, options, session: { ...session, ...names } }
}
