import type { Message, SessionInfo, TurnEvent, TurnInfoReply, TurnReply } from '../../src/model/index.ts'

/** The answers of the native API, as the console reads them. */

/** A turn of the list. */
export type TurnRow = TurnInfoReply

/** A page of the list of turns. */
export interface TurnPage {
  turns: readonly TurnRow[]
  next?: string
}

/** One turn with its content. */
export type TurnDetail = TurnReply & TurnRow

/** An event of a turn with its number. */
export type NumberedEvent = TurnEvent & { seq: number }

/** A message of a wire. `seq` is the number of the event that it was written for or read as. */
export interface WireFrame {
  dir: 'in' | 'out'
  at?: number
  seq?: number
  text: string
  cut?: true
}

/** Both wires of a turn; `kept: false`: its events, encoded again. */
export interface Wire {
  kept: boolean
  clientProtocol: string
  /** Absent for a turn that no agent has got. */
  agentProtocol?: string
  client: readonly WireFrame[]
  agent: readonly WireFrame[]
}

/** A session of the list. */
export type SessionRow = SessionInfo & {
  model?: string
  mode?: string
  process?: 'running' | 'idle' | 'none'
  key?: string
}

/** A page of the list of sessions. */
export interface SessionPage {
  sessions: readonly SessionRow[]
  next?: string
}

/** A session with its transcript. */
export type SessionDetail = SessionRow & { messages: readonly Message[] }

/** The median and the 95th percentile, in milliseconds. */
export interface Latency {
  p50?: number
  p95?: number
}

/** An agent with its figures of the last hour. */
export interface AgentRow {
  name: string
  protocol: string
  default?: boolean
  version?: string
  model?: string
  breaker?: 'closed' | 'open' | 'half-open'
  pool?: { running: number; idle: number; max?: number }
  queued?: number
  turns?: number
  failures?: number
  firstEvent?: Latency
  total?: Latency
  errors?: readonly AgentError[]
}

/** A failure of an agent's turns: the newest of those that say the same. */
export interface AgentError {
  at: number
  turn: string
  times?: number
  code: string
  message?: string
  stderr?: string
}

/** One minute of the overview. */
export interface Minute {
  at: number
  turns: number
  failed: number
  input: number
  output: number
  costUsd: number
  firstEvent?: Latency
  total?: Latency
}

/** The last hour. */
export interface OverviewAnswer {
  running: number
  queued: number
  store?: { writable: boolean; writeMs: number }
  minutes: readonly Minute[]
  replicas?: Replicas
}

/** The replicas of a gateway whose figures an answer has. */
export interface Replicas {
  of: number
  answered: number
  /** The addresses of those that have not answered; only admins get them. */
  missing?: readonly string[]
}

/** The answer of `GET /v1/agents`. */
export interface AgentsAnswer {
  agents: readonly AgentRow[]
  replicas?: Replicas
}

/** A door of the gateway: an endpoint, or a program. */
export interface Door {
  protocol: string
  over: 'http' | 'stdio'
  method?: string
  path?: string
  command?: string
}

/** The caller, and whether the gateway has keys. */
export interface Me {
  role: 'admin' | 'user'
  key?: string
  keys: boolean
}

/** Answers of the gateway to its console. */
export interface Settings {
  version?: string
  /** The command that starts the gateway's program. */
  command?: string
  /** The address of a trace in the collector's pages; `{trace}` stands for its id. */
  traces?: string
}
