import type { Id } from '../model/index.ts'
import type { Awaitable, LeaseRef } from './lease.ts'
import type { SessionKey, SessionRecord, Store, TurnRecord } from './store.ts'

/** What a replica announces to the others on the store. */
export interface ReplicaInfo {
  /** The URL under which the others reach it. */
  address: string
  version: string
  /** The agents that it can run, with the number of turns that each has room for. */
  agents: Readonly<Record<string, number>>
  /** It takes no session any more. */
  draining: boolean
}

/** A replica, by its lease. */
export interface Replica extends LeaseRef, ReplicaInfo {
  /** Its lease has expired, so it may be gone; what it owns is still its own. */
  expired: boolean
}

/**
 * The state that replicas share besides the record: who is there, and whose a session is. A session belongs to the lease
 * that has taken it until that is over or gives it up.
 */
export interface ReplicaStore {
  /** Announces the replica with this lease. Gives the others whose leases are not over. */
  announce(lease: LeaseRef, info: ReplicaInfo, now: number): Awaitable<Replica[]>
  /** The replicas whose leases are not over. */
  replicas(now: number): Awaitable<Replica[]>
  /**
   * The session of the key, created when there is none, with `id` as its id, and taken for this lease unless it belongs
   * to another one that is not over: `owner` of the record says whose it is then. Updates `usedAt`.
   */
  takeSession(key: SessionKey, id: Id, by: LeaseRef, now: number): Awaitable<SessionRecord>
  /** Gives a session up, so that another replica may take it. False when a turn of it is recorded as running. */
  giveUpSession(id: Id, by: LeaseRef): Awaitable<boolean>
  /** The running turn of a tenant whose client calls it so; undefined when there is none, or several. */
  runningTurn(tenant: string, request: string): Awaitable<TurnRecord | undefined>
  /** The secret that the replicas of this store share: the one that is given first. */
  secret(candidate: string): Awaitable<string>
  /** The store's time at a time of this process, in milliseconds since the epoch. */
  time(now: number): number
}

/** A store that replicas on several machines can share. */
export interface SharedStore extends Store {
  readonly replicas: ReplicaStore
}

/** True for a store that replicas can share. */
export function isShared(store: Store): store is SharedStore {
  return 'replicas' in store
}

/**
 * The part of a wire that another replica has answered: its link greeted the client. The link with the same id (the ids
 * of whatever it says begin with it) that is given the same input says the same.
 */
export interface Begun {
  link: Id
  /** The UTF-16 units that the client was told. */
  told: number
}

/** The way of a client's wire to another replica, until its first command is decided. */
export interface Detour {
  /** The wire has come from another replica: it goes no further than back there. */
  readonly forwarded: boolean
  /** Sends all of it on. `repeatable`: it does no harm twice, so it begins again when that replica dies. */
  to(replica: Replica, repeatable: boolean, begun: Begun): void
  /** It is answered here: nothing of it has to be kept any more. */
  settled(): void
}
