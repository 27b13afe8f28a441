import type { Id } from '../model/index.ts'
import type { Awaitable, LeaseRef } from './lease.ts'

/** The use of turns: tokens, of which `estimated` are estimated by the length of texts, and US dollars. */
export interface Spent {
  tokens: number
  estimated: number
  costUsd: number
}

/** The use of a turn, and the day that it counts for: the beginning of the day, in milliseconds since the epoch. */
export interface DaySpent extends Spent {
  day: number
}

/** The place of a turn among those that its tenant may have at the same time. It ends with its lease. */
export interface TurnPlace extends LeaseRef {
  turn: Id
  tenant: string
}

/** The number of requests that a process has taken under a name since it began. Its id is unique. */
export interface RequestCount {
  process: Id
  name: string
  count: number
}

/** The part of the store for the limits of keys, which hold for all processes that share it. */
export interface KeyStore {
  /** The sum of the use of a tenant's turns that ended on a day, including turns that were deleted since. */
  spentOf(tenant: string, day: number): Awaitable<Spent>
  /** Takes a place for a turn, atomically, unless its tenant has `most` places already. True when the turn has one. */
  takePlace(place: TurnPlace, most: number): Awaitable<boolean>
  /** Gives back the place of a turn. */
  givePlace(turn: Id): Awaitable<void>
  /** Stores the given counts of a process, and returns those of all others. */
  shareCounts(process: Id, counts: ReadonlyMap<string, number>, now: number): Awaitable<RequestCount[]>
}
