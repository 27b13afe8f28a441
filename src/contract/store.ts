import type { Id, JsonText, Message, SidedLoss, TurnTimings, Usage } from '../model/index.ts'

/** A value or a promise of it: embedded drivers answer synchronously, remote ones do not. */
export type Awaitable<T> = T | Promise<T>

/** The tenant of a gateway without keys, and of a standalone stand-in. */
export const LOCAL_TENANT = 'local'

/**
 * The identity of a session: clients with different keys that send the same id to the same agent have different
 * sessions.
 */
export interface SessionKey {
  tenant: string
  agent: string
  /** The client's own id. */
  session: string
  conversation: string
}

/** The settings that a client made for a session. They hold for all of its turns, in every process. */
export interface SessionSettings {
  model?: string
  effort?: string
  /** The permission mode. */
  mode?: string
}

/** The record of a session. Times are milliseconds since the epoch. */
export interface SessionRecord extends SessionKey {
  id: Id
  /** The agent's own id of the session, once the agent reported it. */
  bound?: string
  createdAt: number
  usedAt: number
  usage?: Usage
  /** The time of its last reset: it was cleared, or a session with the same key was deleted. Absent: never. */
  epoch?: number
  settings?: SessionSettings
  /** Its agent knows it under the name that an older version sent, not under the name that is sent now. */
  renamed?: true
  /** The last turn that began in it: absent when none is recorded. */
  last?: LastTurn
}

/** The last turn of a session, and the process that runs it or has run it. */
export interface LastTurn {
  turn: Id
  owner: string
  ended: boolean
}

/**
 * The measurements of a turn, as listed. `back` is the agent's protocol, `route` the condition of its route. `shape`
 * says that its events have no content.
 */
export interface TurnMeasures {
  back: string
  route?: string
  timings: TurnTimings
  usage?: Usage
  shape?: true
}

/**
 * Names a lease: the process that has it, and which of its leases it is. A process that serves a name takes it over
 * from the one before it with a greater epoch, so the two are told apart.
 */
export interface LeaseRef {
  owner: string
  epoch: number
}

/** The record of a turn. `outcome` is absent while it runs. It runs under the lease of its process: see `lapseLease`. */
export interface TurnRecord extends LeaseRef {
  turn: Id
  session: Id
  tenant: string
  agent: string
  front: string
  request?: string
  startedAt: number
  endedAt?: number
  outcome?: 'completed' | 'failed' | 'cancelled'
  /** The `ErrorCode` of a failed turn. */
  code?: string
  /** True once an answer was written to a client to its end. */
  delivered: boolean
  /** The losses between its first client and its agent, each with its side. */
  losses?: readonly SidedLoss[]
  measures?: TurnMeasures
}

/** One canonical event of a turn, as JSON. `seq` counts from 1. */
export interface JournalEntry {
  turn: Id
  seq: number
  json: JsonText
}

/** The result of claiming an idempotency key: it is new, or a turn holds it. */
export type Claim = { state: 'new' } | { state: 'held'; turn: Id; body: string }

/** The persistent state of the gateway. One contract test suite runs against every driver. */
export interface Store {
  /**
   * Makes everything written so far durable, and visible to other processes. A driver may delay writes until this is
   * called, at most until the end of the tick; then it commits by itself.
   */
  commit(): Awaitable<void>
  /** Writes and commits about as much as a turn does. Throws or rejects at once when that is not possible now. */
  probe(): Awaitable<void>
  /**
   * The session of the key, created when there is none, with `id` as its id. Updates `usedAt`. When a session with the
   * same key was deleted before, the new one has an epoch.
   */
  openSession(key: SessionKey, id: Id, now: number): Awaitable<SessionRecord>
  /** The session of the key, or undefined. Changes nothing. */
  findSession(key: SessionKey): Awaitable<SessionRecord | undefined>
  readSession(id: Id): Awaitable<SessionRecord | undefined>
  /**
   * True when an agent has taken part in the session since its epoch: a turn has run or runs, or there is a message
   * that is not from a client.
   */
  isUsed(id: Id): Awaitable<boolean>
  /** The newest first, at most `limit`. */
  listSessions(tenant: string, limit: number): Awaitable<SessionRecord[]>
  /** Stores the agent's own id of the session and clears `renamed`. */
  bindSession(id: Id, bound: string | undefined): Awaitable<void>
  /** Stores the settings that are present; absent ones keep their value. */
  setSession(id: Id, settings: SessionSettings): Awaitable<void>
  /**
   * Deletes the session's messages and the agent's own id of it, and sets its epoch to `now`, or to a later value when
   * it has that already. Gives the epoch, or undefined when there is no such session.
   */
  clearSession(id: Id, now: number): Awaitable<number | undefined>
  /** Adds a turn's usage to the session's. */
  addUsage(id: Id, usage: Usage): Awaitable<void>
  /**
   * Deletes the session, its transcript, its turns and their events. Only a digest of its key stays, for `openSession`.
   */
  deleteSession(id: Id): Awaitable<void>

  appendMessages(session: Id, messages: readonly Message[]): Awaitable<void>
  /** The transcript, oldest first. */
  readMessages(session: Id): Awaitable<Message[]>

  beginTurn(turn: TurnRecord): Awaitable<void>
  /** Assigns a running turn to another agent. */
  moveTurn(turn: Id, session: Id, agent: string): Awaitable<void>
  /** Ends a turn. The first end counts: a turn that has one keeps it, and gets no more events. */
  endTurn(turn: Id, end: Pick<TurnRecord, 'endedAt' | 'outcome' | 'code' | 'losses' | 'measures'>): Awaitable<void>
  /** Records that a client was sent a complete answer of the turn. */
  markDelivered(turn: Id): Awaitable<void>
  readTurn(turn: Id): Awaitable<TurnRecord | undefined>
  /** The newest first, at most `limit`. */
  listTurns(tenant: string, limit: number): Awaitable<TurnRecord[]>
  /** Turns without an outcome, the oldest first: all, or those of a session. */
  unfinishedTurns(session?: Id): Awaitable<TurnRecord[]>
  /** Those of them whose lease is over, or has expired at `now`. */
  lostTurns(now: number): Awaitable<TurnRecord[]>

  /**
   * Takes the lease of an owner until `expiresAt`, whoever has it. Returns its epoch, which is `now` or more, and
   * greater than that of a lease which it ends.
   */
  takeLease(owner: string, now: number, expiresAt: number): Awaitable<number>
  /** Keeps a lease until `expiresAt`. False when it is over. */
  renewLease(lease: LeaseRef, expiresAt: number): Awaitable<boolean>
  /**
   * True when a lease is over, for ever: it was given up, taken over, or has lapsed. An expired one lapses in two steps,
   * atomically: the first call gives it `lastCallMs` more, the first one after that ends it, unless it was renewed. So a
   * process is not given up because the machine slept, or its clock was set, as long as it renews soon after that.
   */
  lapseLease(lease: LeaseRef, now: number, lastCallMs: number): Awaitable<boolean>
  /** Gives up a lease. */
  dropLease(lease: LeaseRef): Awaitable<void>

  /** Appends events. Those of one turn come in order, each number once. */
  appendEvents(entries: readonly JournalEntry[]): Awaitable<void>
  /** The events after `after`, in order. */
  readEvents(turn: Id, after: number): Awaitable<JournalEntry[]>

  /**
   * Claims a key for a turn, atomically. A claim expires `ttlMs` after it was made; an expired claim counts as none.
   * `body` is a digest of the request, to tell a duplicate from another request with the same key.
   */
  claim(key: string, turn: Id, body: string, now: number, ttlMs: number): Awaitable<Claim>
  /**
   * Gives the key to another turn (a failed request is tried again), atomically: from the turn `from` only, or from any
   * holder. `held` when another turn holds it by now.
   */
  reclaim(key: string, turn: Id, body: string, now: number, from?: Id): Awaitable<Claim>
  release(key: string): Awaitable<void>

  /** Deletes turns, events, claims and leases that ended before `before`. */
  prune(before: number): Awaitable<void>
  close(): Awaitable<void>
}
