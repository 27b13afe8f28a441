import type { Id, Message, SidedLoss, TurnTimings, Usage } from '../model/index.ts'
import type { DaySpent, KeyStore } from './key-store.ts'
import type { Awaitable, LeaseRef } from './lease.ts'

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
  /** Values of the options that the agent offers. */
  options?: Readonly<Record<string, string | boolean>>
  /** The folder that the client works in, and the beginning of its first prompt: for lists of sessions. */
  cwd?: string
  title?: string
  /** Set until the agent of a copy has had a turn of it; null takes it away. */
  fork?: ForkOrigin | null
}

/** The session that another one is a copy of, by its own id, as it was: its agent's id of it, and its last turn. */
export interface ForkOrigin {
  of: Id
  bound?: string
  turn?: Id
}

/** The record of a session. Times are milliseconds since the epoch. */
export interface SessionRecord extends SessionKey {
  id: Id
  /** The agent's own id of the session, once the agent reported it. */
  bound?: string
  createdAt: number
  usedAt: number
  /** The time of its last reset: it was cleared, or a session with the same key was deleted. Absent: never. */
  epoch?: number
  settings?: SessionSettings
  /** Its agent knows it under the name that an older version of the gateway sent, not under the current one. */
  renamed?: true
  /** The last turn that runs in it, else the last one that has ended: absent when none is recorded. */
  last?: LastTurn
  /** The lease that it belongs to, where replicas share sessions; it may be over. */
  owner?: LeaseRef
}

/** The last turn of a session, and the process that runs it or has run it. */
export interface LastTurn {
  turn: Id
  owner: string
  ended: boolean
}

/** The agent that a session was with: the measures of its last turn, as far as they are recorded. */
export type HeardBy = Partial<Pick<TurnMeasures, 'back' | 'place'>>

/**
 * The measurements of a turn, as listed. `back` is the agent's protocol, `route` the condition of its route. `shape`:
 * its events have no content. `told`: the number of earlier messages that its request brought.
 */
export interface TurnMeasures {
  back: string
  /** A digest of the agent's command or URL. */
  place?: string
  route?: string
  timings: TurnTimings
  usage?: Usage
  shape?: true
  told?: number
  /** The message of its error, as far as content is kept. */
  error?: string
  /** The id of its trace. */
  trace?: string
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
  /** True once it is known that a client has its whole answer: see `markDelivered`. */
  delivered: boolean
  /** The losses between its first client and its agent, each with its side. */
  losses?: readonly SidedLoss[]
  measures?: TurnMeasures
}

/** Part of a list, the newest first. Absent members match everything. */
export interface Page {
  /** The tenant; absent: all. */
  tenant?: string
  agent?: string
  /** A part of one of its ids or texts; letters of ASCII are equal in either case. */
  text?: string
  /** The id of a row: the page begins after it. */
  before?: Id
  /** The most rows of the page. */
  limit: number
}

/**
 * The conditions of a list of turns. `text` is searched in their ids, that of their request and session, and their
 * error.
 */
export interface TurnPage extends Page {
  front?: string
  state?: 'running' | 'completed' | 'failed' | 'cancelled'
  /** The client's id of their session, or the gateway's. */
  session?: string
}

/** A page of a list. `next` is the `before` of the next page, absent when there is none: a page may be short all the same. */
export interface Listed<T> {
  rows: readonly T[]
  next?: Id
}

/** A turn in a list, with its client's id of its session. */
export interface ListedTurn extends TurnRecord {
  named: string
}

/** Consecutive events of one turn. `seq` is the number of the first one; numbers count from 1. */
export interface EventBlock {
  turn: Id
  seq: number
  /** The events as text, which the store does not read. */
  lines: string
}

/** Further effects of the end of a turn on the record. */
export interface TurnAdditions {
  /** The events that were not written before. */
  events?: EventBlock
  /** The messages that it adds to the session's transcript. */
  messages?: readonly Message[]
  /** Its use, where the use of its tenant is counted. */
  spent?: DaySpent
  /**
   * The lease under which its process has the session. Absent when its process is gone, and another one records the end.
   */
  by?: LeaseRef
  /** A digest of the conversation that it leaves its session with, and of its owner, for `findKnown`. */
  known?: string
  /** The frames of its wires as text, which the store does not read. */
  wire?: string
}

/** The result of claiming an idempotency key: it is new, or a turn holds it. */
export type Claim = { state: 'new' } | { state: 'held'; turn: Id; body: string }

/** The turn that holds a key, as it was found: with its end in the record, or (it may begin yet) with nothing there. */
export interface Holder {
  turn: Id
  ended: boolean
}

/**
 * The persistent state of the gateway. One contract test suite runs against every driver. Reads and writes take effect in
 * the order in which they are called, also while earlier ones have not resolved. Only what is taken from other processes (a
 * key, a free session, a place, a lease that has expired) may be taken a little later: its result has to be waited for.
 *
 * A process that was given up may still have writes on their way. So those that would change what the new owner of a
 * session relies on name the lease that the session belonged to when it was read (`by`; absent: to none). They change
 * nothing when it belongs to another one by now. Sessions that replicas do not share belong to none.
 */
export interface Store extends KeyStore {
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
   * The agent that has taken part in the session since its epoch, by its last turn; undefined when none has: no turn has
   * run or runs, and there is no message that is not from a client.
   */
  heardBy(id: Id): Awaitable<HeardBy | undefined>
  /**
   * The last used first; `text` is searched in their ids, titles and folders. Undefined when there is no session `before`.
   */
  listSessions(page: Page): Awaitable<Listed<SessionRecord> | undefined>
  /** Stores the agent's own id of the session and clears `renamed`. */
  bindSession(id: Id, bound: string | undefined, by?: LeaseRef): Awaitable<void>
  /**
   * Stores the settings that are present; absent ones keep their value, each option by itself. False when the session
   * belongs to another lease.
   */
  setSession(id: Id, settings: SessionSettings, by?: LeaseRef): Awaitable<boolean>
  /**
   * Deletes the session's messages and the agent's own id of it, and sets its epoch to `now`, or to a later value when
   * it has that already. Gives the epoch, or undefined when there is no such session, or it belongs to another lease.
   */
  clearSession(id: Id, now: number, by?: LeaseRef): Awaitable<number | undefined>
  /** Records that the session was used again at this time. */
  touchSession(id: Id, now: number): Awaitable<void>
  /** The sum of the usage of all turns of the session; undefined when none has reported any. */
  usageOf(id: Id): Awaitable<Usage | undefined>
  /**
   * Deletes the session, its transcript, its turns and their events. Only a digest of its key stays, for `openSession`.
   * False when it belongs to another lease.
   */
  deleteSession(id: Id, by?: LeaseRef): Awaitable<boolean>

  /** Adds a message that no turn brings to the transcript, after those of the turns that have ended. */
  appendMessage(session: Id, message: Message, by?: LeaseRef): Awaitable<void>
  /**
   * The transcript: the messages of the session's turns in the order in which the turns ended, and those between them.
   * `until` names one of its ended turns, after which nothing is read.
   */
  readMessages(session: Id, until?: Id): Awaitable<Message[]>

  /**
   * Records a turn as running. One that is recorded already is assigned to the agent and session that are given now.
   * `claim` is the key that it has claimed. False, and nothing is recorded, when the session belongs to another lease, or
   * another turn has the key by now.
   */
  beginTurn(turn: TurnRecord, claim?: string): Awaitable<boolean>
  /**
   * Records an ended turn with all effects of its end, atomically, whether or not it was recorded as running. The first
   * end counts: a turn that has one keeps it, and gets no more events. False when it has another one. Of a turn whose
   * session belongs to another lease than `additions.by` only a failure is recorded, without messages; else false.
   */
  endTurn(turn: TurnRecord, additions?: TurnAdditions): Awaitable<boolean>
  /** The ended turns that left their sessions with this digest, and after which none has ended there: the newest first. */
  findKnown(known: string, limit: number): Awaitable<Id[]>
  /** Records that a client was sent a complete answer of an ended turn. */
  markDelivered(turn: Id): Awaitable<void>
  readTurn(turn: Id): Awaitable<TurnRecord | undefined>
  /** The messages that an ended turn has brought to its session's transcript; undefined when there is no such turn. */
  readTurnMessages(turn: Id): Awaitable<Message[] | undefined>
  /**
   * Deletes an ended turn: its events, its messages, and the digest that finds its session. It is not found or listed
   * any more. Its usage stays with its session, and so does its place, so that an earlier turn does not become the
   * newest. False when there is no such turn any more, or it runs.
   */
  deleteTurn(turn: Id): Awaitable<boolean>
  /** The frames of an ended turn's wires; undefined when none were kept. */
  readWire(turn: Id): Awaitable<string | undefined>
  /** The newest first. Undefined when there is no turn `before`. */
  listTurns(page: TurnPage): Awaitable<Listed<ListedTurn> | undefined>
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
   * True when a lease is over, for ever: it was given up, taken over, or has lapsed. An expired one lapses in two
   * steps, atomically: the first call gives it `lastCallMs` more, the first one after that ends it, unless it was
   * renewed. So a process is not given up because the machine slept or its clock was set, if it renews soon after that.
   */
  lapseLease(lease: LeaseRef, now: number, lastCallMs: number): Awaitable<boolean>
  /**
   * A number that differs from an earlier one when another process has changed the store meanwhile. Absent where only
   * reading can tell.
   */
  version?(): number
  /** True when another owner has a lease at `now`. */
  hasOtherLease(owner: string, now: number): Awaitable<boolean>
  /** Gives up a lease. */
  dropLease(lease: LeaseRef): Awaitable<void>

  /**
   * Appends events of turns that are recorded as running under a lease that is not over. Of two blocks with one number the
   * first is kept.
   */
  appendEvents(blocks: readonly EventBlock[]): Awaitable<void>
  /** The blocks that may hold events after number `after`, in order. */
  readEvents(turn: Id, after: number): Awaitable<EventBlock[]>

  /**
   * Claims a key for a turn, atomically. A claim expires `ttlMs` after it was made; an expired claim counts as none.
   * `body` is a digest of the request, to tell a duplicate from another request with the same key.
   */
  claim(key: string, turn: Id, body: string, now: number, ttlMs: number): Awaitable<Claim>
  /**
   * Gives the key to another turn (a failed request is tried again), atomically: from one that is still as it was found, or
   * from any holder, but from none that is recorded as running. `held` when another turn holds it.
   */
  reclaim(key: string, turn: Id, body: string, now: number, from?: Holder): Awaitable<Claim>
  /** Gives up the claim on a key of a turn that does not begin; one that is recorded keeps it. */
  release(key: string, turn: Id): Awaitable<void>

  /**
   * Deletes claims and leases that expired, what is left of them, what was used on earlier days, and at most `limit` turns
   * that ended before `before`, with their events; transcripts and usage of their sessions stay. Gives the number of
   * deleted turns.
   */
  prune(before: number, limit: number): Awaitable<number>
  close(): Awaitable<void>
}
