import type { Awaitable } from '../contract/index.ts'

/** The longest pause before the next attempt, in milliseconds. */
const LONGEST_PAUSE_MS = 32

/**
 * Runs work that fails while another process holds a lock. It runs at once when possible. Otherwise it and all later
 * work run in order, each retried after random pauses, so that processes that want the same lock do not stay in step.
 * The event loop is not blocked.
 */
export class RetryQueue {
  readonly #isBusy: (error: unknown) => boolean
  readonly #patienceMs: number
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  /** The patience ran out. Work is not retried until some work has succeeded. */
  #gaveUp = false

  /** `isBusy` is true for an error that passes by itself; `patienceMs` is how long one piece of work is retried. */
  constructor(isBusy: (error: unknown) => boolean, patienceMs: number) {
    this.#isBusy = isBusy
    this.#patienceMs = patienceMs
  }

  /** The result of `work`, now or later. Throws or rejects with what `work` threw last. `once`: only one attempt. */
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
