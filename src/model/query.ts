import type { JsonText } from './json.ts'
import type { Message, Usage } from './parts.ts'

/** Answer data of `query state`. */
export interface StateReply {
  agent: string
  session: string
  provider?: string
  model?: string
  cwd?: string
  busy: boolean
  messageCount: number
  usage?: Usage
}

/** Answer data of `query messages`: the session's transcript, oldest first. */
export interface MessagesReply {
  messages: readonly Message[]
}

/** One model that an agent can be set to. Token counts are absent when unknown. */
export interface ModelInfo {
  id: string
  provider?: string
  contextWindow?: number
  maxOutput?: number
  reasoning?: boolean
}

/** Answer data of `query models`. */
export interface ModelsReply {
  models: readonly ModelInfo[]
}

/** Answer data of `query health`. */
export interface HealthReply {
  ok: boolean
}

/** Answer data of `query agents`. */
export interface AgentsReply {
  agents: readonly { name: string; protocol: string }[]
}

/** `command-reply.data` is the JSON text of one of these. */
export type ReplyData = StateReply | MessagesReply | ModelsReply | HealthReply | AgentsReply

/** The JSON text of an answer's data. */
export function replyData(data: ReplyData): JsonText {
  return JSON.stringify(data)
}
