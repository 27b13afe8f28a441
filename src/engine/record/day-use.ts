import type { DaySpent, Spent, Store } from '../../contract/index.ts'
import { type Fault, fault } from '../../model/index.ts'
import { elapsed, type TurnLimits } from '../common/index.ts'
import { addSpent, dayOf, endOfDay } from './spent.ts'

/** The time for which what other processes have used need not be read again, in milliseconds. */
const FRESH_MS = 1000

const NOTHING: Spent = { tokens: 0, estimated: 0, costUsd: 0 }

/** The use of a tenant on a day as it is known here: what was read, and what turns of this process have added since. */
interface Known {
  readonly day: number
  read: Spent
  added: Spent
  /** The time when it was read, as `elapsed` counts. */
  since: number
  reading: Promise<void> | undefined
}

/**
 * The use of tenants today, in all processes. That of other processes may be a second old; turns that run do not count.
 */
export class DayUse {
  readonly #store: Pick<Store, 'spentOf'>
  readonly #now: () => number
  readonly #known = new Map<string, Known>()

  /** `now` is milliseconds since the epoch. */
  constructor(store: Pick<Store, 'spentOf'>, now: () => number) {
    this.#store = store
    this.#now = now
  }

  /** The fault of a tenant that has reached its limit for the day. */
  async refusal(tenant: string, limits: TurnLimits): Promise<Fault | undefined> {
    const { tokensPerDay = Number.POSITIVE_INFINITY, usdPerDay = Number.POSITIVE_INFINITY } = limits
    const now = this.#now()
    const { tokens, estimated, costUsd } = await this.#spent(tenant, dayOf(now))
    const ends = endOfDay(dayOf(now))
    if (tokens >= tokensPerDay) {
      const guessed = estimated > 0 ? ` (${estimated} of them estimated)` : ''
      return spent(`${tokensPerDay} tokens in a day and has used ${tokens}${guessed}`, ends, now)
    }
    if (costUsd < usdPerDay) return undefined
    return spent(`turns for ${usdPerDay} US dollars in a day and has used ${costUsd.toFixed(2)}`, ends, now)
  }

  /** A turn of this process has its end, and is about to be recorded with what it has used. */
  add(tenant: string, used: DaySpent): void {
    const known = this.#known.get(tenant)
    if (known?.day === used.day) known.added = addSpent(known.added, used)
  }

  async #spent(tenant: string, day: number): Promise<Spent> {
    const known = this.#of(tenant, day)
    if (elapsed() - known.since >= FRESH_MS) {
      known.reading ??= this.#read(tenant, known).finally(() => {
        known.reading = undefined
      })
      await known.reading
    }
    return addSpent(known.read, known.added)
  }

  #of(tenant: string, day: number): Known {
    const before = this.#known.get(tenant)
    if (before?.day === day) return before
    const known = { day, read: NOTHING, added: NOTHING, since: Number.NEGATIVE_INFINITY, reading: undefined }
    this.#known.set(tenant, known)
    return known
  }

  /** The result includes all earlier additions: the store works in the order of calls. */
  async #read(tenant: string, known: Known): Promise<void> {
    const before = known.added
    known.added = NOTHING
    try {
      known.read = await this.#store.spentOf(tenant, known.day)
      known.since = elapsed()
    } catch (error) {
      known.added = addSpent(before, known.added)
      throw error
    }
  }
}

function spent(use: string, ends: number, now: number): Fault {
  const when = new Date(ends).toISOString().replace('.000', '')
  return fault('overloaded', `This key may use ${use}; send this again after ${when}.`, { retryAfterMs: ends - now })
}
