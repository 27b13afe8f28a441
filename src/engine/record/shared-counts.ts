import type { Store } from '../../contract/index.ts'
import { newId } from '../common/index.ts'

/**
 * The interval at which all counts are stored, also those that have not changed, in milliseconds. Counts of processes that
 * are gone are deleted a day after that, and what is stored again counts as new to those who have not seen it before.
 */
const KEEP_MS = 3_600_000

/** The counts of requests of this process and of all others that share its store. */
export class SharedCounts {
  readonly #store: Pick<Store, 'shareCounts'>
  readonly #now: () => number
  readonly #process = newId()
  /** The counts that were stored last, by name. */
  readonly #stored = new Map<string, number>()
  /** The counts of others when they were read last, by process and name. */
  readonly #known = new Map<string, number>()
  #began = false
  /** The time when all of them were stored last, in milliseconds since the epoch. */
  #keptAt: number

  /** `now` is milliseconds since the epoch. */
  constructor(store: Pick<Store, 'shareCounts'>, now: () => number) {
    this.#store = store
    this.#now = now
    this.#keptAt = now()
  }

  /**
   * Stores the number of requests that this process has taken under each name since it began. Returns the number that
   * the others have taken since the last call; nothing at the first call. Rejects when the store cannot be used.
   */
  async exchange(counts: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>> {
    const now = this.#now()
    const isDue = Math.abs(now - this.#keptAt) >= KEEP_MS
    const changed = new Map([...counts].filter(([name, count]) => isDue || this.#stored.get(name) !== count))
    const others = await this.#store.shareCounts(this.#process, changed, now)
    if (isDue) this.#keptAt = now
    for (const [name, count] of changed) this.#stored.set(name, count)
    const more = new Map<string, number>()
    for (const { process, name, count } of others) {
      const known = `${process} ${name}`
      if (this.#began) more.set(name, (more.get(name) ?? 0) + count - (this.#known.get(known) ?? 0))
      this.#known.set(known, count)
    }
    this.#began = true
    return more
  }
}
