import type { LeaseRef, Store } from '../../contract/index.ts'
import { newId } from '../common/index.ts'

/** The interval at which a process renews its lease, in milliseconds. */
export const RENEW_MS = 2000
/** The time from its renewal until a lease expires, in milliseconds: one renewal may be lost. */
const LASTS_MS = 5000
/**
 * The time that an expired lease is given once more, in milliseconds: its process renews within it when the machine has
 * slept or its clock was set. So a process is given up 8 s after it was last heard of. The clocks of processes that
 * share a store may differ by less than `LASTS_MS - RENEW_MS`.
 */
export const LAST_CALL_MS = 3000

/**
 * This process's lease on the turns that it runs, kept in the store. It is taken with the first turn, under a name of
 * its own, and given up when no turn runs; a process that serves clients keeps it, under the name of what it serves.
 */
export class Lease {
  readonly #store: Store
  readonly #turns: { readonly busy: boolean }
  readonly #now: () => number
  #held: LeaseRef | undefined
  #serves = false
  #taking: Promise<LeaseRef> | undefined
  #renewing = false
  #timer: NodeJS.Timeout | undefined

  /** It is needed while `turns` are busy. `now` is milliseconds since the epoch. */
  constructor(store: Store, turns: { readonly busy: boolean }, now: () => number) {
    this.#store = store
    this.#turns = turns
    this.#now = now
  }

  /** The lease, if it is taken. */
  get held(): LeaseRef | undefined {
    return this.#held
  }

  /** True when this process has the lease of a turn. */
  covers({ owner, epoch }: LeaseRef): boolean {
    return this.#held?.owner === owner && this.#held.epoch === epoch
  }

  /**
   * Takes the lease of a name that no two live processes can have: the address that this one listens on. What another
   * one has run under that name has ended with it. To be called before the first turn.
   */
  async serve(name: string): Promise<void> {
    this.#serves = true
    await this.#take(name)
  }

  /** Takes a lease, under a name of its own. */
  take(): Promise<LeaseRef> {
    this.#taking ??= this.#take(newId()).finally(() => {
      this.#taking = undefined
    })
    return this.#taking
  }

  /** Gives up the lease. */
  async drop(): Promise<void> {
    clearInterval(this.#timer)
    this.#timer = undefined
    const lease = this.#held
    this.#held = undefined
    if (lease) await this.#store.dropLease(lease)
  }

  async #take(owner: string): Promise<LeaseRef> {
    const now = this.#now()
    const lease = { owner, epoch: await this.#store.takeLease(owner, now, now + LASTS_MS) }
    this.#held = lease
    this.#timer ??= setInterval(() => void this.#renew(), RENEW_MS).unref()
    return lease
  }

  async #renew(): Promise<void> {
    if (this.#renewing || !this.#held) return
    this.#renewing = true
    try {
      if (!this.#serves && !this.#turns.busy) await this.drop()
      else await this.#store.renewLease(this.#held, this.#now() + LASTS_MS)
    } catch {
      // It is tried again soon, and whatever a turn writes meanwhile fails too, which is reported.
    }
    this.#renewing = false
  }
}
