import type { Route, SessionKey, SessionSettings, TurnInfo } from '../../contract/index.ts'
import type { Command, Fault, Loss, SessionRef, TurnStart } from '../../model/index.ts'
import { refusalFor, without } from '../carry/index.ts'
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
  // It is not known yet whether its agent needs the whole conversation.
  const judged = told.historyMode === 'complete' ? without(told, (key) => key === 'history') : told
  const why = refusalFor(client.options.front.dialect, judged, agent, route)
  if (why) return why
  const session = { ...told.session, id: told.session?.id ?? newId() }
  const command = { ...told, options: optionsFor(told, agent), session }
  const entry: Entry = { client, command, exchange, agent, route }
  if (told.session) entry.asked = told.session
  if (asked.cwd !== undefined) entry.cwd = asked.cwd
  return entry
}

/** The session that the request means, on an agent. */
export function sessionKey({ client, command }: Entry, agent: AgentSettings): SessionKey {
  const { id = '', conversation = '' } = command.session ?? {}
  return { tenant: client.options.access.tenant, agent: agent.name, session: id, conversation }
}

/** The request under its key. */
export function keyed(entry: Entry): Keyed {
  const { command, asked, agent } = entry
  const named = asked ? { ...command, session: asked } : without(command, (key) => key === 'session')
  return { scope: scopeOf(entry), agent: agent.name, command: named }
}

/**
 * The scope of a key: the tenant and the protocol of its client, and the session and conversation that it named, unless
 * its keys are for all of its sessions.
 */
export function scopeOf({ client, command, asked }: Entry): string {
  const { front, access } = client.options
  // A request that names no session has one of its own.
  const { id = command.turn, conversation = '' } = asked ?? {}
  const names = command.once?.scope === 'tenant' ? [] : [id, conversation]
  return JSON.stringify([access.tenant, front.codec.name, ...names])
}

/** A turn of an agent as observers see it. Its content is included unless its client calls it secret. */
export function infoOf({ command, exchange, route: { when, journal } }: Entry, agent: AgentSettings): TurnInfo {
  const { model, systemPrompt } = command.options
  const { trace } = exchange.answer
  const info: TurnInfo = {
    turn: command.turn,
    agent: agent.name,
    ...placeOf(agent),
    session: command.session?.id ?? '',
  }
  if (model !== undefined) info.model = model
  const asked = Object.entries(when).map(([fact, pattern]) => `${fact}=${pattern}`)
  if (asked.length > 0) info.route = asked.join(',')
  if (trace) info.carrier = trace
  if (journal !== 'shape' && (command.environment?.privacy ?? 'public') === 'public') {
    info.content = systemPrompt === undefined ? { input: command.input } : { input: command.input, systemPrompt }
  }
  return info
}

/** The principal of the request, for the record. */
export function principalOf({ options: { context, access } }: ClientLink): string {
  return `client ${context.principal ?? access.tenant}`
}

/** An agent that works in its client's folder anyway does not need the folder if its protocol has no place for it. */
function inFolder(asked: Command & TurnStart, { context, workspaces, dialect }: AgentSettings): Command & TurnStart {
  const { cwd } = asked
  if (cwd === undefined) return asked
  const isMoved = workspaces !== undefined && dialect.back.capabilities['start.cwd'] === 'none'
  return isMoved || cwd === context.process?.cwd ? without(asked, (key) => key === 'cwd') : asked
}

/** A `model` that only named the agent is not passed on to the agent. */
function optionsFor({ options, agent: named }: Command & TurnStart, agent: AgentSettings): TurnStart['options'] {
  const isOfAgent = named === agent.name && options.model === named
  return isOfAgent ? without(options, (key) => key === 'model') : options
}
