import type { Id, JsonText, Loss, Message, TurnTimings, Usage } from '../model/index.ts'

/** A value now or later: embedded drivers answer at once, shared ones do not. */
export type Awaitable<T> = T | Promise<T>

/** The tenant of a gateway without keys, and of a stand-in that runs alone. */
export const LOCAL_TENANT = 'local'

/** What makes a session one: two clients that say the same id to the same agent under different keys are not in one session. */
export interface SessionKey {
  tenant: string
  agent: string
  /** The client's own id. */
  session: string
  conversation: string
}

/** What a client has set for a session: it holds for every turn of it, in whatever process. */
export interface SessionSettings {
  model?: string
  effort?: string
  /** The permission mode. */
  mode?: string
}

/** A session as it is kept. Times are milliseconds since the epoch. */
export interface SessionRecord extends SessionKey {
  id: Id
  /** The agent's own id of the session, once it told it. */
  bound?: string
  createdAt: number
  usedAt: number
  usage?: Usage
  /** When it last began anew: it was cleared, or one of the same key was deleted. Absent: it has never been. */
  epoch?: number
  settings?: SessionSettings
  /** Its agent knows it under the name that an older version told, and not under the one that it is told now. */
  renamed?: true
}

/**
 * What a turn took, as it is listed. `back` is the agent's protocol, `route` what its route asked for; `shape` says that
 * its events are without what was said, `toClient` which of its losses are what its first client was not shown.
 */
export interface TurnMeasures {
  back: string
  route?: string
  timings: TurnTimings
  usage?: Usage
  shape?: true
  toClient?: readonly Loss[]
}

/** A turn as it is kept. `outcome` is absent while it runs. */
export interface TurnRecord {
  turn: Id
  session: Id
  tenant: string
  agent: string
  front: string
  /** The process that runs it, as `ownOwner` writes it: once that is gone, an unfinished turn will never end by itself. */
  owner: string
  request?: string
  startedAt: number
  endedAt?: number
  outcome?: 'completed' | 'failed' | 'cancelled'
  /** The `ErrorCode` of a failed turn. */
  code?: string
  /** True once an answer was written to a client to its end. */
  delivered: boolean
  /** What did not survive between its client and its agent. */
  losses?: readonly Loss[]
  measures?: TurnMeasures
}

/** One canonical event of a turn, as JSON. `seq` counts from 1. */
export interface JournalEntry {
  turn: Id
  seq: number
  json: JsonText
}

/** What a claim of an idempotency key found: nothing, or the turn that holds it. */
export type Claim = { state: 'new' } | { state: 'held'; turn: Id; body: string }

/** What the gateway remembers. One contract test suite runs against every driver. */
export interface Store {
  /**
   * Makes durable, and visible to other processes, everything that was written so far. A driver may hold what it was
   * told until this is called, at most until the end of the turn of the event loop; then it does it by itself.
   */
  commit(): Awaitable<void>
  /** Writes something of the size of a turn and commits it. Throws or rejects when that cannot be done now, without waiting. */
  probe(): Awaitable<void>
  /**
   * The session of the key, made when there is none; `id` is used for a new one. Touches `usedAt`. Where one of the same
   * key was deleted before, the new one has an epoch.
   */
  openSession(key: SessionKey, id: Id, now: number): Awaitable<SessionRecord>
  /** The session of the key, when there is one; changes nothing. */
  findSession(key: SessionKey): Awaitable<SessionRecord | undefined>
  readSession(id: Id): Awaitable<SessionRecord | undefined>
  /** Whether an agent has taken part in the session since its epoch: a turn runs or has run, or something was said that no client said. */
  isUsed(id: Id): Awaitable<boolean>
  /** The newest first, at most `limit`. */
  listSessions(tenant: string, limit: number): Awaitable<SessionRecord[]>
  /** Keeps the agent's own id of the session. It is not `renamed` any more. */
  bindSession(id: Id, bound: string | undefined): Awaitable<void>
  /** Keeps what a client has set and leaves what it has not named as it was set before. */
  setSession(id: Id, settings: SessionSettings): Awaitable<void>
  /**
   * Forgets what was said in the session and the agent's own id of it, and gives it the epoch `now`, or a later one where
   * it has that already. Resolves with the epoch; undefined where there is no such session.
   */
  clearSession(id: Id, now: number): Awaitable<number | undefined>
  /** Adds a turn's usage to the session's. */
  addUsage(id: Id, usage: Usage): Awaitable<void>
  /** Deletes the session, its transcript, its turns and their events. All that stays is a digest of its key, for `openSession`. */
  deleteSession(id: Id): Awaitable<void>

  appendMessages(session: Id, messages: readonly Message[]): Awaitable<void>
  /** The transcript, oldest first. */
  readMessages(session: Id): Awaitable<Message[]>

  beginTurn(turn: TurnRecord): Awaitable<void>
  /** Another agent takes a turn that runs. */
  moveTurn(turn: Id, session: Id, agent: string): Awaitable<void>
  /** The first end counts: a turn that has one keeps it, and gets no more events. */
  endTurn(turn: Id, end: Pick<TurnRecord, 'endedAt' | 'outcome' | 'code' | 'losses' | 'measures'>): Awaitable<void>
  /** An answer of the turn was written to a client to its end. */
  markDelivered(turn: Id): Awaitable<void>
  readTurn(turn: Id): Awaitable<TurnRecord | undefined>
  /** The newest first, at most `limit`. */
  listTurns(tenant: string, limit: number): Awaitable<TurnRecord[]>
  /** Turns without an outcome: after a restart, those that the last process left. */
  unfinishedTurns(): Awaitable<TurnRecord[]>

  /** Events of one turn come in order, and each number once. */
  appendEvents(entries: readonly JournalEntry[]): Awaitable<void>
  /** The events behind `after`, in order. */
  readEvents(turn: Id, after: number): Awaitable<JournalEntry[]>

  /**
   * Claims a key for a turn, atomically. An expired claim (`ttlMs` since it was made) is as good as none.
   * `body` is a digest of the request, for telling a duplicate from another request under the same key.
   */
  claim(key: string, turn: Id, body: string, now: number, ttlMs: number): Awaitable<Claim>
  /**
   * Gives the key to another turn (a failed answer is tried again), atomically: from the turn `from` only, or whoever
   * holds it. `held` when somebody else does by now.
   */
  reclaim(key: string, turn: Id, body: string, now: number, from?: Id): Awaitable<Claim>
  release(key: string): Awaitable<void>

  /** Deletes turns, events and claims that ended before `before`. */
  prune(before: number): Awaitable<void>
  close(): Awaitable<void>
}
