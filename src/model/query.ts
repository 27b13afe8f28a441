import type { Ask } from './asks.ts'
import type { Fault } from './errors.ts'
import type { Item } from './items.ts'
import type { JsonText } from './json.ts'
import type { Loss } from './loss.ts'
import type { Offers } from './offers.ts'
import type { Ext, Id, Message, Part, Usage } from './parts.ts'
import type { Stop, ToolStatus } from './words.ts'

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

/** Answer data of `query agent`: the agent that serves the client, and all items that its protocol carries. */
export interface AgentReply {
  name: string
  protocol: string
  carries: readonly Item[]
}

/** Answer data of `query agents`. */
export interface AgentsReply {
  agents: readonly { name: string; protocol: string }[]
}

/**
 * A session as it is listed. `id` is the gateway's own id of it, `session` the client's. Times: milliseconds since the
 * epoch.
 */
export interface SessionInfo {
  id: Id
  agent: string
  session: string
  conversation: string
  createdAt: number
  usedAt: number
  /** The folder that its client works in. */
  cwd?: string
  /** The beginning of its first prompt. */
  title?: string
  /** A turn of it runs now. */
  busy: boolean
  usage?: Usage
  /** The name of the key that it belongs to. */
  key?: string
  /** The model that its client chose, else the one that its agent has named. */
  model?: string
  /** The permission mode that its client chose. */
  mode?: string
  /** Its agent's process, as far as one lives between its turns: it has a turn, waits for the next one, or there is none. */
  process: 'running' | 'idle' | 'none'
}

/** Answer data of `query sessions`: the newest first. `next` is the `before` of the next page, absent when there is none. */
export interface SessionsReply {
  sessions: readonly SessionInfo[]
  next?: Id
}

/** The args of `query sessions`; absent members match everything. */
export interface SessionsArgs {
  /** Of all clients, for those who may see them. */
  all?: boolean
  agent?: string
  /** The name of a key. */
  key?: string
  /** A part of their ids or of their title; letters of ASCII are equal in either case. */
  q?: string
  /** The id of a session: only those after it. */
  before?: Id
  /** 1 to 200. */
  limit?: number
}

/**
 * Answer data of `query session`: with its transcript, oldest first. It is the session of the command, by the client's
 * id, or with the args `{"id"}` the one that the gateway calls so.
 */
export interface SessionReply extends SessionInfo {
  messages: readonly Message[]
}

/**
 * A session that an agent keeps itself, also one that no client of the gateway began. `id` is the agent's own id of it,
 * `usedAt` milliseconds since the epoch.
 */
export interface AgentSessionInfo {
  id: string
  cwd?: string
  title?: string
  usedAt?: number
}

/**
 * Answer data of `query agent-sessions`: those that the agent lists, in its order. `next` is the `before` of the next
 * page, in the agent's own words.
 */
export interface AgentSessionsReply {
  sessions: readonly AgentSessionInfo[]
  next?: string
}

/** The args of `query agent-sessions`. */
export interface AgentSessionsArgs {
  /** Only those that work in this folder. */
  cwd?: string
  before?: string
}

/** The durations of a turn's phases, in milliseconds; absent: not reached, or not yet. */
export interface TurnTimings {
  /** Waiting for its session or a free process. */
  queue?: number
  /** Until its agent's process was ready or its call had begun; absent when the process existed before. */
  agentStart?: number
  /** From handing it to the agent until the agent's first event. */
  firstEvent?: number
  /** From its acceptance to its end. */
  total?: number
}

/** A turn as it is listed. `state` is `running` until it has its end. Times: milliseconds since the epoch. */
export interface TurnInfoReply {
  turn: Id
  state: 'running' | 'completed' | 'failed' | 'cancelled'
  agent: string
  /** The client's protocol. */
  front: string
  /** The agent's protocol. */
  back?: string
  /** The condition of its route, such as `channel=qq_*`; absent when none matched. */
  route?: string
  /**
   * The phase of a running turn: waiting in line, starting its agent, working, asking a question, or waiting for the
   * client's next request.
   */
  phase?: TurnPhase
  /** The client's id of the session. */
  session: string
  request?: string
  startedAt: number
  endedAt?: number
  /** The code of the error of a failed turn, and its message. */
  code?: string
  error?: string
  /** The name of the key that it belongs to. */
  key?: string
  losses?: readonly Loss[]
  timings?: TurnTimings
  usage?: Usage
  /** The id of its trace (W3C Trace Context). */
  trace?: string
}

/** The phase of a running turn. */
export type TurnPhase = 'queued' | 'starting' | 'working' | 'asking' | 'parked'

/**
 * Answer data of `query turns`: the newest first. `next` is the `before` of the next page, absent when there is none: a
 * page of a search may be short although others follow. With the args `{"follow":true}` there are many answers: the
 * turns that run, then those that have changed, until the client leaves.
 */
export interface TurnsReply {
  turns: readonly TurnInfoReply[]
  next?: Id
}

/** The args of `query turns`; absent members match everything. `q` is also searched in requests and errors. */
export interface TurnsArgs extends SessionsArgs {
  follow?: boolean
  front?: string
  back?: string
  /** The client's id of their session, or the gateway's. */
  session?: string
  state?: TurnInfoReply['state']
}

/** Answer data of `query turn` (args: `{"turn"}`): its state so far. */
export interface TurnReply extends TurnInfoReply {
  /** The last event's number. */
  seq: number
  text: string
  asks?: readonly Ask[]
  stop?: Stop
  fault?: Fault
}

/** A client's answer to a question of a parked turn: the result of a call. `at` is the question's place, from 0. */
export interface GivenResult {
  at: number
  status: ToolStatus
  parts: readonly Part[]
}

/**
 * Answer data of `query input` (args: `{"turn"}`): what the client of a turn said, with the conversation before it where
 * that was told. With the `continuation` of a park in the args it is what the client answered there: the results of calls.
 */
export interface InputReply {
  messages: readonly Message[]
  results?: readonly GivenResult[]
  /** The part of the request that the turn's front has kept: the `echo` of its answer. */
  ext?: Ext
}

/** `command-reply.data` is the JSON text of one of these. */
export type ReplyData =
  | StateReply
  | MessagesReply
  | ModelsReply
  | Offers
  | HealthReply
  | AgentReply
  | AgentsReply
  | SessionsReply
  | SessionReply
  | AgentSessionsReply
  | TurnsReply
  | TurnReply
  | InputReply

/** The JSON text of an answer's data. */
export function replyData(data: ReplyData): JsonText {
  return JSON.stringify(data)
}
