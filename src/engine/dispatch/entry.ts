import type { Route, SessionKey, SessionSettings, TurnInfo } from '../../contract/index.ts'
import type { Command, Fault, Loss, SessionRef, TurnStart } from '../../model/index.ts'
import { refusalFor } from '../carry/index.ts'
import type { ClientLink, Exchange } from '../client/index.ts'
import { type AgentSettings, newId, placeOf } from '../common/index.ts'
import type { Keyed, Told } from '../record/index.ts'
import type { RouteChoice } from './router.ts'

/**
 * A request for a turn before its admission. Its command has a session, and no wish that is not meant for its agent.
 * `asked` is the session that its client named.
 */
export interface Entry {
  client: ClientLink
  command: Command & TurnStart
  asked?: SessionRef
  /** The folder that its client works in, also where its agent does not get it. */
  cwd?: string
  exchange: Exchange
  agent: AgentSettings
  route: Route
  /** The conversation before it, where its client may send it again. */
  told?: Told
  /** The claim by which no other request has its place in its session. */
  holds?: string
  /** The client's settings of the session that it means, where its turn begins another one. */
  settings?: SessionSettings
  /** Losses by the choice of its session. */
  losses?: readonly Loss[]
}

/** The request as admission handles it, or the reason why its agent cannot take it. */
export function entryOf(
  client: ClientLink,
  asked: Command & TurnStart,
  { agent, route }: RouteChoice,
  exchange: Exchange,
): Entry | Fault {
  const told = inFolder(asked, agent)
  const { history: _, ...alone } = told
  // It is not known yet whether its agent needs the whole conversation.
  const judged = told.historyMode === 'complete' ? alone : told
  const why = refusalFor(client.options.front.dialect, judged, agent, route)
  if (why) return why
  const session = { ...told.session, id: told.session?.id ?? newId() }
  const command = { ...told, options: optionsFor(told, agent), session }
  const named = { ...(told.session && { asked: told.session }), ...(asked.cwd !== undefined && { cwd: asked.cwd }) }
  return { client, command, ...named, exchange, agent, route }
}

/** The session that the request means, on an agent. */
export function sessionKey({ client, command }: Entry, agent: AgentSettings): SessionKey {
  const { id = '', conversation = '' } = command.session ?? {}
  return { tenant: client.options.access.tenant, agent: agent.name, session: id, conversation }
}

/**
 * The request under its key, whose scope is the tenant and the protocol of its client, and the session and conversation
 * that it named, unless its keys are for all of its sessions.
 */
export function keyed({ client, command, asked, agent }: Entry): Keyed {
  const { front, access } = client.options
  // A request that names no session has one of its own.
  const { id = command.turn, conversation = '' } = asked ?? {}
  const names = command.once?.scope === 'tenant' ? [] : [id, conversation]
  const { session: _, ...rest } = command
  const named = { ...rest, ...(asked && { session: asked }) }
  return { scope: JSON.stringify([access.tenant, front.codec.name, ...names]), agent: agent.name, command: named }
}

/** A turn of an agent as observers see it. Its content is included unless its client calls it secret. */
export function infoOf({ command, exchange, route: { when, journal } }: Entry, agent: AgentSettings): TurnInfo {
  const { model, systemPrompt } = command.options
  const asked = Object.entries(when).map(([fact, pattern]) => `${fact}=${pattern}`)
  const isPublic = journal !== 'shape' && (command.environment?.privacy ?? 'public') === 'public'
  return {
    turn: command.turn,
    agent: agent.name,
    ...placeOf(agent),
    session: command.session?.id ?? '',
    ...(model !== undefined && { model }),
    ...(asked.length > 0 && { route: asked.join(',') }),
    ...(exchange.answer.trace && { carrier: exchange.answer.trace }),
    ...(isPublic && { content: { input: command.input, ...(systemPrompt !== undefined && { systemPrompt }) } }),
  }
}

/** The principal of the request, for the record. */
export function principalOf({ options: { context, access } }: ClientLink): string {
  return `client ${context.principal ?? access.tenant}`
}

/** An agent that works in its client's folder anyway does not need the folder if its protocol has no place for it. */
function inFolder(asked: Command & TurnStart, { context, workspaces, dialect }: AgentSettings): Command & TurnStart {
  const { cwd, ...rest } = asked
  const isMoved = workspaces !== undefined && dialect.back.capabilities['start.cwd'] === 'none'
  return cwd !== undefined && (isMoved || cwd === context.process?.cwd) ? rest : asked
}

/** A `model` that only named the agent is not passed on to the agent. */
function optionsFor({ options, agent: named }: Command & TurnStart, agent: AgentSettings): TurnStart['options'] {
  const { model, ...rest } = options
  return named === agent.name && model === named ? rest : options
}
