import type { SessionSettings } from '../../contract/index.ts'
import type { Command, Loss, Message, TurnSettings, TurnStart } from '../../model/index.ts'
import { withHistory, without, withoutSecret } from '../carry/index.ts'
import type { AgentSession } from './agent-session.ts'
import type { Turn } from './turn.ts'
import { withAllowedPlace } from './work-place.ts'

/**
 * The request of a turn as its agent gets it: with the session as the agent knows it, without what it must not have.
 */
export function commandFor(turn: Turn, of: AgentSession): Command & TurnStart {
  const { agent, route } = turn
  const report = (loss: Loss): void => turn.loss(loss)
  const { history, command } = conversationFor(turn, of)
  const placed = withAllowedPlace(withSession(command, of), agent, report)
  const told = withoutSecret(placed, agent, route, report)
  return withHistory(agent.dialect.back.capabilities, told, history, report)
}

/** Members of a command that are for the gateway alone. */
const OWN: ReadonlySet<string> = new Set<keyof TurnStart>(['after', 'retry', 'historyMode'])

/** The command, and the conversation before it: the client's own comes first. */
function conversationFor(
  { command, follows }: Turn,
  { remembers, history = [] }: AgentSession,
): { command: Command & TurnStart; history: readonly Message[] } {
  const { historyMode, history: told = [] } = command
  if (historyMode === undefined) return { command: without(command, (key) => OWN.has(key)), history }
  const alone = without(command, (key) => key === 'history' || OWN.has(key))
  if (historyMode === 'delta') return { command: alone, history: [...history, ...told] }
  return { command: alone, history: follows && remembers ? [] : told }
}

/** The command with the agent's names of the session, and the client's settings of it that the command does not override. */
function withSession(
  command: Command & TurnStart,
  { bound, origin, settings, names }: AgentSession,
): Command & TurnStart {
  const session = { ...without(command.session ?? {}, (key) => key === 'conversation'), ...names }
  if (origin !== undefined) session.origin = origin
  else if (bound !== undefined) session.bound = bound
  return { ...withDefaults(command, settings), session }
}

/** A request with the client's settings of its session, which its own options override. */
export function withDefaults<T extends Pick<TurnSettings, 'options'>>(
  request: T,
  { model, effort }: SessionSettings = {},
): T {
  if (model === undefined && effort === undefined) return request
  const defaults = { ...(model !== undefined && { model }), ...(effort !== undefined && { effort }) }
  return { ...request, options: { ...defaults, ...request.options } }
}
