import { type Awaitable, isShared, type LeaseRef, type Store } from '../../contract/index.ts'
import type { Fault } from '../../model/index.ts'
import { type EngineLog, elapsed, LOST, logMistake, newId } from '../common/index.ts'

/** The interval at which a process renews its lease, in milliseconds. */
export const RENEW_MS = 2000
/** The time from its renewal until a lease expires, in milliseconds: one renewal may be lost. */
const LASTS_MS = 5000
/**
 * The grace after the expiry of a lease, in milliseconds: its process renews within it when the machine has slept or
 * its clock was set. So a process is given up 8 s after it was last heard of. The clocks of processes that share a file
 * may differ by less than `LASTS_MS - RENEW_MS`.
 */
export const LAST_CALL_MS = 3000

/** The time that a process goes on without a renewal after its lease on another machine's store has expired. */
const MARGIN_MS = LAST_CALL_MS / 2

/** The interval at which a lease is renewed, and its duration from then on, in milliseconds. */
export interface LeaseTimes {
  renewMs: number
  lastsMs: number
}

const USUAL: LeaseTimes = { renewMs: RENEW_MS, lastsMs: LASTS_MS }

/** The times of a lease whose process is given up after `ms` milliseconds without a renewal. */
export function leaseTimes(ms: number): LeaseTimes {
  const lastsMs = ms - LAST_CALL_MS
  return { lastsMs, renewMs: Math.round((lastsMs * RENEW_MS) / LASTS_MS) }
}

/** Dependencies of a lease. */
export interface LeaseParts {
  store: Store
  log: EngineLog
  /** Milliseconds since the epoch. */
  now(): number
  times?: LeaseTimes
}

/** The turns that run under a lease. */
export interface LeasedTurns {
  /** True while there are any, or a session has been taken for one. */
  readonly busy: boolean
  /** Ends those that have begun. */
  refuse(why: Fault): void
}

/** The expiry of a lease: on the clock that other processes see, and on a clock that is never set. */
interface Expiry {
  at: number
  elapsed: number
}

/**
 * This process's lease on the turns that it runs, kept in the store. It is taken with the first turn, under a name of
 * its own, and given up when no turn runs or is about to; a process that serves clients keeps it, under the name of what
 * it serves.
 */
export class Lease {
  readonly #parts: LeaseParts
  readonly #turns: LeasedTurns
  /** The name of this process: its own, or that of what it serves. */
  #owner = newId()
  #held: LeaseRef | undefined
  #expiry: Expiry = { at: 0, elapsed: 0 }
  /** The lease is lost, and its turns are about to be ended. */
  #lost = false
  #serves = false
  #taking: Promise<LeaseRef> | undefined
  #renewing = false
  /** The reason why no lease could be taken the last time. */
  #refusal: string | undefined
  /** The version of the store at which no other process had a lease. */
  #aloneAt: number | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(parts: LeaseParts, turns: LeasedTurns) {
    this.#parts = parts
    this.#turns = turns
  }

  /** The interval of its renewal, and its duration. */
  get times(): LeaseTimes {
    return this.#parts.times ?? USUAL
  }

  /** The name of this process in the record, whether or not it has a lease now. */
  get owner(): string {
    return this.#owner
  }

  /** The lease, if it is taken. */
  get held(): LeaseRef | undefined {
    return this.#held
  }

  /**
   * True while this process serves and no other one has a lease, so that no other process looks for turns that are not
   * recorded yet.
   */
  alone(): Awaitable<boolean> {
    if (!this.#serves || !this.#held) return false
    const { store, now } = this.#parts
    const version = store.version?.()
    if (version !== undefined && version === this.#aloneAt) return true
    const shared = store.hasOtherLease(this.#owner, now())
    if (shared instanceof Promise) return shared.then((so) => !so)
    this.#aloneAt = shared ? undefined : version
    return !shared
  }

  /** True when this process has the lease of a turn. */
  covers({ owner, epoch }: LeaseRef): boolean {
    return this.#held?.owner === owner && this.#held.epoch === epoch
  }

  /**
   * Takes the lease of a name that no two live processes can have: the address that this one listens on. Turns that an
   * earlier process has run under that name are over. To be called before the first turn.
   */
  async serve(name: string): Promise<void> {
    this.#serves = true
    this.#owner = name
    await this.#take()
  }

  /** The lease for a turn that begins. It is taken, under a name of its own, when there is none. */
  hold(): Awaitable<LeaseRef> {
    if (this.confirm() && this.#held) return this.#held
    this.#taking ??= this.#take().finally(() => {
      this.#taking = undefined
    })
    return this.#taking
  }

  /**
   * False when the lease is lost: what this process does for its turns no longer counts. Reads two clocks; when the
   * lease has expired by one of them it is renewed, and a store that cannot confirm it synchronously counts as a
   * refusal.
   */
  confirm(): boolean {
    const lease = this.#held
    if (!lease) return !this.#lost
    if (this.#isShared) return !this.#loseWhenOver()
    if (elapsed() < this.#expiry.elapsed && this.#parts.now() < this.#expiry.at) return true
    const expiry = this.#nextExpiry()
    try {
      if (this.#parts.store.renewLease(lease, expiry.at) === true) {
        this.#expiry = expiry
        return true
      }
    } catch (error) {
      // It is not known that anyone has ended it. Writes of its turns fail too, which is reported.
      logMistake(this.#parts.log, error)
      return true
    }
    this.#lose()
    return false
  }

  /** False when it was not renewed in time, so that others may end it soon: nothing should begin under it. */
  get safe(): boolean {
    if (!this.#held) return !this.#serves
    return elapsed() < this.#expiry.elapsed
  }

  /** Gives up the lease. */
  async drop(): Promise<void> {
    clearInterval(this.#timer)
    this.#timer = undefined
    const lease = this.#held
    this.#held = undefined
    if (lease) await this.#parts.store.dropLease(lease)
  }

  async #take(): Promise<LeaseRef> {
    const expiry = this.#nextExpiry()
    const owner = this.#owner
    const lease = { owner, epoch: await this.#parts.store.takeLease(owner, this.#parts.now(), expiry.at) }
    this.#held = lease
    this.#expiry = expiry
    this.#timer ??= setInterval(() => void this.#tick(), this.times.renewMs).unref()
    return lease
  }

  /** The store is on another machine: its clock counts, and it refuses what comes from a lease that is over. */
  get #isShared(): boolean {
    return isShared(this.#parts.store)
  }

  /** Loses a lease that could not be renewed, before others may end it. True when it did. */
  #loseWhenOver(): boolean {
    if (!this.#held || elapsed() < this.#expiry.elapsed + MARGIN_MS) return false
    this.#lose()
    return true
  }

  async #tick(): Promise<void> {
    if (this.#isShared) this.#loseWhenOver()
    // A process that serves keeps its lease, so that others see it.
    if (this.#serves && !this.#held && !this.#lost) await this.#retake()
    if (this.#renewing || !this.#held) return
    this.#renewing = true
    try {
      if (this.#serves || this.#turns.busy) await this.#renew(this.#held)
      else await this.drop()
    } catch (error) {
      // It is tried again soon. Writes of turns meanwhile fail too, which is reported.
      logMistake(this.#parts.log, error)
    }
    this.#renewing = false
  }

  async #retake(): Promise<void> {
    try {
      await this.hold()
      this.#refusal = undefined
    } catch (error) {
      // It is tried again soon.
      if (String(error) === this.#refusal) return
      this.#refusal = String(error)
      this.#parts.log.error('no lease could be taken', { error: this.#refusal })
    }
  }

  async #renew(lease: LeaseRef): Promise<void> {
    const expiry = this.#nextExpiry()
    const kept = await this.#parts.store.renewLease(lease, expiry.at)
    if (lease !== this.#held) return
    if (kept) this.#expiry = expiry
    else this.#lose()
  }

  /** The expiry of a lease that is taken or renewed now. */
  #nextExpiry(): Expiry {
    const { lastsMs } = this.times
    return { at: this.#parts.now() + lastsMs, elapsed: elapsed() + lastsMs }
  }

  /** The turns of the lease end when the step in hand is done. Later ones get another lease. */
  #lose(): void {
    this.#held = undefined
    this.#lost = true
    // Another process may have taken the name of this one.
    if (this.#serves) this.#owner = newId()
    queueMicrotask(() => {
      this.#lost = false
      this.#parts.log.error('this process did not run for a while, and others have given up its turns')
      this.#turns.refuse(LOST)
      if (this.#serves) void this.#retake()
    })
  }
}
