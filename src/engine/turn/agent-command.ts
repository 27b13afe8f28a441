import type { SessionSettings } from '../../contract/index.ts'
import type { Command, Message, TurnSettings, TurnStart } from '../../model/index.ts'
import { withHistory, withoutSecret } from '../carry/index.ts'
import type { SessionNames } from '../common/index.ts'
import type { AgentSession } from './agent-session.ts'
import type { Turn } from './turn.ts'
import { withAllowedPlace } from './work-place.ts'

/**
 * The request of a turn as its agent gets it: with the session as the agent knows it, without what it must not have.
 */
export function commandFor(turn: Turn, of: AgentSession): Command & TurnStart {
  const { agent, route } = turn
  const { bound, origin, settings, names } = of
  const report = turn.loss.bind(turn)
  const { history, command } = conversationFor(turn, of)
  const placed = withAllowedPlace(withSession(command, settings, names), agent, report)
  const told = withoutSecret(placed, agent, route, report)
  const full = withHistory(agent.dialect.back.capabilities, told, history, report)
  if (origin !== undefined) return { ...full, session: { ...full.session, origin } }
  return bound === undefined ? full : { ...full, session: { ...full.session, bound } }
}

/** The command, and the conversation before it: the client's own comes first. */
function conversationFor(
  { command, follows }: Turn,
  { remembers, history = [] }: AgentSession,
): { command: Command & TurnStart; history: readonly Message[] } {
  const { after: _after, retry: _retry, historyMode, ...rest } = command
  if (historyMode === undefined) return { command: rest, history }
  const { history: told = [], ...alone } = rest
  if (historyMode === 'delta') return { command: alone, history: [...history, ...told] }
  return { command: alone, history: follows && remembers ? [] : told }
}

/** The command with the agent's names of the session, and the client's settings of it that the command does not override. */
function withSession(
  command: Command & TurnStart,
  settings: SessionSettings,
  names: SessionNames,
): Command & TurnStart {
  const { conversation: _, ...session } = command.session ?? {}
  return { ...withDefaults(command, settings), session: { ...session, ...names } }
}

/** A request with the client's settings of its session, which its own options override. */
export function withDefaults<T extends Pick<TurnSettings, 'options'>>(
  request: T,
  { model, effort }: SessionSettings = {},
): T {
  const defaults = { ...(model !== undefined && { model }), ...(effort !== undefined && { effort }) }
  return { ...request, options: { ...defaults, ...request.options } }
}
