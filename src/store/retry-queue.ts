import type { Awaitable } from '../contract/index.ts'

/** The longest pause before the next attempt, in milliseconds. */
const LONGEST_PAUSE_MS = 32

/**
 * Runs work that fails for a moment while another process holds a lock. It runs at once where it can. Where it cannot,
 * it and all that comes after it run in order, each tried again and again after random pauses, so that processes which
 * want the same lock do not keep step. The event loop goes on meanwhile.
 */
export class RetryQueue {
  readonly #isBusy: (error: unknown) => boolean
  readonly #patienceMs: number
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  /** The patience was in vain. Nothing is waited for until something has succeeded. */
  #gaveUp = false

  /** `isBusy` tells an error that passes by itself; `patienceMs` is how long one piece of work is tried. */
  constructor(isBusy: (error: unknown) => boolean, patienceMs: number) {
    this.#isBusy = isBusy
    this.#patienceMs = patienceMs
  }

  /** The result of `work`, now or later. Throws or rejects with what `work` threw last. `once`: it has one attempt. */
  run<T>(work: () => T, once?: 'once'): Awaitable<T> {
    if (this.#waiting > 0) {
      return this.#enqueue(async () => (once ? work() : this.#retry(work, this.#attempt(work))))
    }
    const first = this.#attempt(work)
    if ('done' in first) return first.done
    if (once || !this.#mayPass(first.error)) throw first.error
    return this.#enqueue(() => this.#retry(work, first))
  }

  #enqueue<T>(retry: () => Promise<T>): Promise<T> {
    this.#waiting += 1
    const result = this.#last.then(retry).finally(() => {
      this.#waiting -= 1
    })
    this.#last = result.catch(() => {})
    return result
  }

  async #retry<T>(work: () => T, first: Attempt<T>): Promise<T> {
    const until = performance.now() + this.#patienceMs
    let attempt = first
    for (let most = 2; !('done' in attempt); most = Math.min(2 * most, LONGEST_PAUSE_MS)) {
      if (!this.#mayPass(attempt.error)) throw attempt.error
      this.#gaveUp = performance.now() >= until
      if (this.#gaveUp) throw attempt.error
      await new Promise((resolve) => setTimeout(resolve, most * Math.random()))
      attempt = this.#attempt(work)
    }
    return attempt.done
  }

  #attempt<T>(work: () => T): Attempt<T> {
    try {
      const done = work()
      this.#gaveUp = false
      return { done }
    } catch (error) {
      return { error }
    }
  }

  #mayPass(error: unknown): boolean {
    return !this.#gaveUp && this.#isBusy(error)
  }
}

type Attempt<T> = { done: T } | { error: unknown }
