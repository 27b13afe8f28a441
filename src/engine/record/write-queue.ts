import type { Awaitable } from '../../contract/index.ts'

/** Writes to the store, one after the other: at once while it answers at once, else each when the one before is done. */
export class WriteQueue {
  readonly #failed: (error: unknown) => void
  #last: Promise<unknown> = Promise.resolve()
  /** The number of writes that have not resolved yet. */
  #unresolved = 0

  /** `failed` hears of each write that threw or rejected; those after it are tried all the same. */
  constructor(failed: (error: unknown) => void) {
    this.#failed = failed
  }

  /** Runs a write. Gives true, now or later, when it was done. */
  write(work: () => Awaitable<unknown>): Awaitable<boolean> {
    if (this.busy) return this.#later(work)
    try {
      const written = work()
      return written instanceof Promise ? this.#later(() => written) : true
    } catch (error) {
      this.#failed(error)
      return false
    }
  }

  /** True while a write is not done. */
  get busy(): boolean {
    return this.#unresolved > 0
  }

  /** Resolves when all writes so far are done. */
  async settled(): Promise<void> {
    await this.#last
  }

  #later(work: () => Awaitable<unknown>): Promise<boolean> {
    this.#unresolved += 1
    const done = this.#last.then(work).then(
      () => true,
      (error: unknown) => {
        this.#failed(error)
        return false
      },
    )
    this.#last = done.finally(() => {
      this.#unresolved -= 1
    })
    return done
  }
}
