import * as v from 'valibot'
import {
  elements,
  isRecord,
  type JsonText,
  type Message,
  type ModelInfo,
  member,
  parse,
  parseObject,
  type QueryWhat,
  type ReplyData,
  ROLES,
  type Role,
} from '../../../src/model/index.ts'
import { readContent } from '../content.ts'
import { MessagesData, ModelsData, StateData } from '../schema.ts'
import { timeOf } from '../wire.ts'
import { usageOf } from './usage.ts'

/** The client's names of agent and session, which a state reply has and the agent does not know. */
export interface Asker {
  agent: string
  session: string
}

/** The agent's command that answers a query, and how its `data` is read; undefined data is not understood. */
export interface QueryReader {
  command: string
  read(data: JsonText, asker: Asker): ReplyData | undefined
}

/** The queries that an agent of this protocol can answer. */
export const QUERIES: ReadonlyMap<QueryWhat, QueryReader> = new Map<QueryWhat, QueryReader>([
  ['state', { command: 'get_state', read: readState }],
  ['messages', { command: 'get_messages', read: readMessages }],
  ['models', { command: 'get_models', read: readModels }],
  ['health', { command: 'ping', read: () => ({ ok: true }) }],
])

function readState(json: JsonText, asker: Asker): ReplyData | undefined {
  const { success, output } = v.safeParse(StateData, parse(json))
  if (!success) return undefined
  return {
    ...asker,
    ...(output.provider && { provider: output.provider }),
    ...(output.model && { model: output.model }),
    ...(output.cwd && { cwd: output.cwd }),
    busy: output.busy === true,
    messageCount: output.message_count ?? 0,
    ...(isRecord(output.usage) && { usage: usageOf(output.usage, () => {}) }),
  }
}

function readModels(json: JsonText): ReplyData | undefined {
  const { success, output } = v.safeParse(ModelsData, parse(json))
  if (!success) return undefined
  const models = (output.models ?? []).map((model): ModelInfo => {
    const info: ModelInfo = { id: model.id }
    if (model.provider) info.provider = model.provider
    if (model.context_window != null) info.contextWindow = model.context_window
    if (model.max_output != null) info.maxOutput = model.max_output
    if (model.reasoning != null) info.reasoning = model.reasoning
    return info
  })
  return { models }
}

const KNOWN_ROLES: ReadonlySet<string> = new Set(ROLES)

function readMessages(json: JsonText): ReplyData | undefined {
  if (!v.is(MessagesData, parse(json))) return undefined
  return { messages: elements(member(json, 'messages') ?? '[]').map(readMessage) }
}

/** One message of a transcript; a role that the model does not know counts as the system's. */
function readMessage(raw: JsonText): Message {
  const { role, time } = parseObject(raw)!
  const at = timeOf(time)
  return {
    role: KNOWN_ROLES.has(role as string) ? (role as Role) : 'system',
    parts: readContent(member(raw, 'content'), (id) => id).parts,
    ...(at !== undefined && { at }),
  }
}
