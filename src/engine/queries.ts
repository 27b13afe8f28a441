import type { Store } from '../contract/index.ts'
import {
  type AgentsReply,
  type CommandOf,
  type Fault,
  fault,
  type HealthReply,
  type JsonText,
  type MessagesReply,
  type ModelsReply,
  replyData,
  type StateReply,
} from '../model/index.ts'
import type { LiveSession } from './live-session.ts'
import type { AgentSettings, EngineSettings } from './settings.ts'

/** What a query is about. */
export interface QuerySubject {
  settings: EngineSettings
  agent: AgentSettings
  /** The agents that the client may use. */
  allowed?: readonly string[]
  /** The client's id of the session. */
  session: string
  live: LiveSession | undefined
  /** The kept session's id, when it has been used. */
  record: string | undefined
}

/** Answers what a front asks of the gateway itself: the data of a `command-reply`, or why it cannot be answered. */
export async function answerQuery(
  store: Store,
  command: CommandOf<'query'>,
  subject: QuerySubject,
): Promise<JsonText | Fault> {
  switch (command.what) {
    case 'health':
      return replyData({ ok: true } satisfies HealthReply)
    case 'agents':
      return replyData(agents(subject))
    case 'models':
      return replyData(models(subject))
    case 'messages': {
      const messages = subject.record === undefined ? [] : await store.readMessages(subject.record)
      return replyData({ messages } satisfies MessagesReply)
    }
    case 'state':
      return replyData(await state(store, subject))
    case 'sessions':
    case 'turn':
    case 'hints':
      return fault('invalid-request', `The gateway cannot answer the query "${command.what}" for this agent.`)
  }
}

function agents({ settings, allowed }: QuerySubject): AgentsReply {
  const usable = [...settings.agents.values()].filter(({ name }) => !allowed || allowed.includes(name))
  return { agents: usable.map(({ name, protocol }) => ({ name, protocol })) }
}

function models({ live }: QuerySubject): ModelsReply {
  const model = live?.link?.model
  return { models: model === undefined ? [] : [{ id: model }] }
}

async function state(store: Store, { agent, session, live, record }: QuerySubject): Promise<StateReply> {
  const messages = record === undefined ? [] : await store.readMessages(record)
  const kept = record === undefined ? undefined : await store.readSession(record)
  return {
    agent: agent.name,
    session,
    busy: live?.busy ?? false,
    messageCount: messages.length,
    ...(live?.link?.model !== undefined && { model: live.link.model }),
    ...(kept?.usage && { usage: kept.usage }),
  }
}
