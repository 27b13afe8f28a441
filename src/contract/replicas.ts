import type { Id } from '../model/index.ts'
import type { Awaitable, LeaseRef } from './lease.ts'
import type { SessionKey, SessionRecord, Store, TurnRecord } from './store.ts'

/** The announcement of a replica to the others on the store. */
export interface ReplicaInfo {
  /** The URL under which the others reach it. */
  address: string
  version: string
  /** The agents that it can run, with the number of turns that each has room for. */
  agents: Readonly<Record<string, number>>
  /** It takes no further sessions. */
  draining: boolean
}

/** A replica, by its lease. */
export interface Replica extends LeaseRef, ReplicaInfo {
  /** Its lease has expired, so it may have ended; it still owns its sessions. */
  expired: boolean
}

/**
 * The state that replicas share besides the record: the live replicas, and the owner of each session. A session belongs
 * to the lease that has taken it until that lease is over or gives it up.
 */
export interface ReplicaStore {
  /** Announces the replica with this lease. Gives the others whose leases are not over. */
  announce(lease: LeaseRef, info: ReplicaInfo, now: number): Awaitable<Replica[]>
  /** The replicas whose leases are not over. */
  replicas(now: number): Awaitable<Replica[]>
  /**
   * The session of the key, created when there is none, with `id` as its id, and taken for this lease unless it belongs
   * to another one that is not over: the record's `owner` is the lease that has it. One that has an owner is not changed, not
   * even its `usedAt`: replicas that ask for the same sessions never wait for each other.
   */
  takeSession(key: SessionKey, id: Id, by: LeaseRef, now: number): Awaitable<SessionRecord>
  /** Gives a session up, so that another replica may take it. False when a turn of it is recorded as running. */
  giveUpSession(id: Id, by: LeaseRef): Awaitable<boolean>
  /** The running turn of a tenant with this request id; undefined when there is none, or several. */
  runningTurn(tenant: string, request: string): Awaitable<TurnRecord | undefined>
  /** The secret that the replicas of this store share: the first one that is given. */
  secret(candidate: string): Awaitable<string>
  /** Converts a time of this process to the store's clock, in milliseconds since the epoch. */
  time(now: number): number
}

/** A store that replicas on several machines can share. The times that it gets and gives are of its own clock. */
export interface SharedStore extends Store {
  readonly replicas: ReplicaStore
}

/** True for a store that replicas can share. */
export function isShared(store: Store): store is SharedStore {
  return 'replicas' in store
}

/**
 * The part of a wire that another replica has answered: its link greeted the client. A link with the same id (its ids
 * begin with it) and the same input writes the same.
 */
export interface Begun {
  link: Id
  /** The UTF-16 units that were written to the client. */
  told: number
}

/** The way of a client's wire to another replica, until its first command is decided. */
export interface Detour {
  /** The wire has come from another replica, so it may only go back there. */
  readonly forwarded: boolean
  /** Forwards all of it. `repeatable`: it is idempotent, so it begins again when that replica dies. */
  to(replica: Replica, repeatable: boolean, begun: Begun): void
  /** It is answered here, so its input need not be kept any more. */
  settled(): void
}
