import {
  type AgentReply,
  type AgentsReply,
  type CommandOf,
  type Fault,
  fault,
  type HealthReply,
  ITEMS,
  isRecord,
  type JsonText,
  type MessagesReply,
  type ModelsReply,
  parse,
  replyData,
  type SessionReply,
  type StateReply,
  type TurnReply,
  type TurnsArgs,
} from '../../model/index.ts'
import type { AgentSettings, EngineSettings } from '../common/index.ts'
import { foldUpTo, numbered, viewOf } from '../events/index.ts'
import type { LiveSession } from '../session/index.ts'
import { turnInfo } from '../turn/index.ts'
import { turnsArgs } from './list-args.ts'
import { type Known, listSessions, listTurns, maySee, sessionInfo, type Viewer } from './lists.ts'
import { mayUse } from './router.ts'
import { turnInput } from './turn-input.ts'

/** Subject of a query. */
export interface QuerySubject {
  settings: EngineSettings
  agent: AgentSettings
  /** The agents that the client may use. */
  allowed?: readonly string[]
  /** The client that asks. */
  viewer: Viewer
  /** The client's id of the session. */
  session: string
  live: LiveSession | undefined
  /** The kept session's id, when it has been used. */
  record: string | undefined
}

/**
 * Answers the queries that the gateway serves itself: the data of a `command-reply`, or the reason why there is none.
 */
export async function answerQuery(
  known: Known,
  command: CommandOf<'query'>,
  subject: QuerySubject,
): Promise<JsonText | Fault> {
  const { store } = known
  switch (command.what) {
    case 'health':
      return replyData({ ok: true } satisfies HealthReply)
    case 'agent':
      return replyData(described(subject))
    case 'agents':
      return replyData(agents(subject))
    case 'models':
      return replyData(models(known, subject))
    case 'messages': {
      const messages = subject.record === undefined ? [] : await store.readMessages(subject.record)
      return replyData({ messages } satisfies MessagesReply)
    }
    case 'state':
      return replyData(await state(known, subject))
    case 'sessions':
      return listSessions(known, command, subject.viewer)
    case 'session':
      return session(known, subject.viewer, command.args === undefined ? subject.record : argument(command, 'id'))
    case 'turns':
      return listTurns(known, command, subject.viewer)
    case 'turn':
      return turn(known, subject.viewer, argument(command, 'turn'))
    case 'input':
      return turnInput(known, subject.viewer.tenant, argument(command, 'turn'), argument(command, 'continuation'))
    case 'agent-sessions':
      if (subject.agent.dialect.back.capabilities['query.agent-sessions'] !== 'none') return NOBODY
      return cannotAnswer(command)
    case 'offers':
    case 'hints':
      return cannotAnswer(command)
  }
}

const NOBODY = fault('agent-unavailable', 'No process of the agent was free to answer; try again later.')

function cannotAnswer({ what }: CommandOf<'query'>): Fault {
  return fault('invalid-request', `The gateway cannot answer the query "${what}" for this agent.`)
}

/** The args of a query that is answered again whenever a turn changes its state; undefined for other queries. */
export function followedTurns({ what, args }: CommandOf<'query'>): TurnsArgs | undefined {
  const read = what === 'turns' ? turnsArgs(args) : {}
  return 'follow' in read ? read : undefined
}

function described({ agent: { name, protocol, dialect } }: QuerySubject): AgentReply {
  return { name, protocol, carries: ITEMS.filter((item) => dialect.back.capabilities[item] !== 'none') }
}

function agents({ settings, allowed }: QuerySubject): AgentsReply {
  const usable = [...settings.agents.values()].filter(({ name }) => mayUse(allowed, name))
  return { agents: usable.map(({ name, protocol }) => ({ name, protocol })) }
}

/** The session's model; before its first turn that of the agent's other processes. */
function modelOf({ sessions }: Known, { live, agent }: QuerySubject): string | undefined {
  return live?.link?.model ?? sessions.modelOf(agent)
}

function models(known: Known, subject: QuerySubject): ModelsReply {
  const model = modelOf(known, subject)
  return { models: model === undefined ? [] : [{ id: model }] }
}

async function state(known: Known, subject: QuerySubject): Promise<StateReply> {
  const { store } = known
  const { agent, session, live, record } = subject
  const model = modelOf(known, subject)
  const messages = record === undefined ? [] : await store.readMessages(record)
  const usage = record === undefined ? undefined : await store.usageOf(record)
  return {
    agent: agent.name,
    session,
    busy: live?.busy ?? false,
    messageCount: messages.length,
    ...(model !== undefined && { model }),
    ...(usage && { usage }),
  }
}

/** An argument as text; empty when there is none. */
function argument({ args }: CommandOf<'query'>, name: string): string {
  const given = args === undefined ? undefined : parse(args)
  return isRecord(given) ? String(given[name] ?? '') : ''
}

async function session(known: Known, viewer: Viewer, id: string | undefined): Promise<JsonText | Fault> {
  const { store } = known
  const record = id === undefined ? undefined : await store.readSession(id)
  if (!record || !maySee(viewer, record)) return fault('session-not-found', 'There is no such session.')
  const messages = await store.readMessages(record.id)
  return replyData({ ...(await sessionInfo(known, record)), messages } satisfies SessionReply)
}

async function turn({ store, turns: live }: Known, viewer: Viewer, id: string): Promise<JsonText | Fault> {
  const record = await store.readTurn(id)
  if (!record || !maySee(viewer, record)) return fault('session-not-found', 'There is no such turn.')
  const info = turnInfo(record, (await store.readSession(record.session))?.session ?? '', live.get(id))
  const view = live.get(id)?.view ?? foldUpTo(viewOf(info, []), numbered(await store.readEvents(id, 0), 0), Infinity)
  return replyData({
    ...info,
    seq: view.seq,
    text: view.text,
    ...(view.asks.length > 0 && { asks: view.asks }),
    ...(view.usage && { usage: view.usage }),
    ...(view.end?.stop && { stop: view.end.stop }),
    ...(view.end?.fault && { fault: view.end.fault }),
  } satisfies TurnReply)
}
