import type { Awaitable } from '../../contract/index.ts'

/**
 * Writes to the store, some of which are about a `T`. Each is given to the store at once, which does them in the order in which they are called; so a
 * store on another machine can do many of them together.
 */
export class WriteQueue<T> {
  readonly #failed: (error: unknown, of?: T) => void
  /** A promise that later writes have to wait for. */
  #gate: Promise<unknown> | undefined
  /** Resolves when all writes so far are done. */
  #last: Promise<unknown> = Promise.resolve()
  /** The number of writes that have not resolved yet. */
  #unresolved = 0

  /** `failed` gets the error of each write that threw or rejected, and what it was about; the others are done all the same. */
  constructor(failed: (error: unknown, of?: T) => void) {
    this.#failed = failed
  }

  /** Does a write. Gives true, now or later, when it was done. */
  write(work: () => Awaitable<unknown>, of?: T): Awaitable<boolean> {
    if (this.#gate) return this.#watch(this.#gate.then(work), of)
    try {
      const written = work()
      return written instanceof Promise ? this.#watch(written, of) : true
    } catch (error) {
      this.#failed(error, of)
      return false
    }
  }

  /** Holds up the writes that come from now on until this has resolved or rejected, which is not reported. */
  hold(until: Promise<unknown>): void {
    const before = this.#gate
    const gate = Promise.allSettled([before, until])
    this.#gate = gate
    // Registered first, so that it runs before the waiting writes, and later ones come after them.
    void gate.then(() => {
      if (this.#gate === gate) this.#gate = undefined
    })
  }

  /** True while a write is not done. */
  get busy(): boolean {
    return this.#unresolved > 0
  }

  /** Resolves when all writes so far are done. */
  async settled(): Promise<void> {
    await this.#last
  }

  #watch(written: Promise<unknown>, of?: T): Promise<boolean> {
    this.#unresolved += 1
    const before = this.#last
    const done = written.then(
      () => true,
      (error: unknown) => {
        this.#failed(error, of)
        return false
      },
    )
    this.#last = done.then(() => {
      this.#unresolved -= 1
      return before
    })
    return done
  }
}
