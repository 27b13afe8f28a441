import type { Id } from '../model/index.ts'
import type { Awaitable, LeaseRef } from './lease.ts'

/** What turns have used: tokens, `estimated` of which by the length of texts, and US dollars. */
export interface Spent {
  tokens: number
  estimated: number
  costUsd: number
}

/** What a turn has used, and the day that it counts for: the beginning of the day, in milliseconds since the epoch. */
export interface DaySpent extends Spent {
  day: number
}

/** The place of a turn among those that its tenant may have at the same time. It is over with its lease. */
export interface TurnPlace extends LeaseRef {
  turn: Id
  tenant: string
}

/** How many requests a process has taken under a name since it began. Its id is no other process's. */
export interface RequestCount {
  process: Id
  name: string
  count: number
}

/** The part of the store that the limits of keys rest on. They hold for all processes that share it. */
export interface KeyStore {
  /** The sum of what the turns of a tenant brought for a day with their ends, also of turns that were deleted since. */
  spentOf(tenant: string, day: number): Awaitable<Spent>
  /** Takes a place for a turn, atomically, unless its tenant has `most` places already. True when the turn has one. */
  takePlace(place: TurnPlace, most: number): Awaitable<boolean>
  /** Gives back the place of a turn. */
  givePlace(turn: Id): Awaitable<void>
  /** Stores the counts of a process that are given, and gives those of all others. */
  shareCounts(process: Id, counts: ReadonlyMap<string, number>, now: number): Awaitable<RequestCount[]>
}
