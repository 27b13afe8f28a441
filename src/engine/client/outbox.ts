import type { Awaitable } from '../../contract/index.ts'

/**
 * The output of one tick for clients. It leaves at the end of the tick, after the commit of what the store was given
 * meanwhile: the record has every answer that is out, and one commit and one write serve the whole tick.
 */
export class Outbox {
  readonly #commit: () => Awaitable<void>
  readonly #uncommitted: (error: unknown) => void
  readonly #unsent: (error: unknown) => void
  #waiting: (() => void)[] = []

  /**
   * `commit` and the callbacks that wait may throw: `uncommitted` and `unsent` get the error, and the rest is sent all
   * the same.
   */
  constructor(commit: () => Awaitable<void>, uncommitted: (error: unknown) => void, unsent: (error: unknown) => void) {
    this.#commit = commit
    this.#uncommitted = uncommitted
    this.#unsent = unsent
  }

  /** Calls `send` after the next commit. */
  add(send: () => void): void {
    if (this.#waiting.push(send) === 1) setImmediate(() => this.#flush())
  }

  #flush(): void {
    const sends = this.#waiting
    this.#waiting = []
    const all = (): void => {
      for (const send of sends) this.#safely(send)
    }
    try {
      const committed = this.#commit()
      if (committed) void committed.catch(this.#uncommitted).then(all)
      else all()
    } catch (error) {
      this.#uncommitted(error)
      // Those that were told of the failure act first.
      queueMicrotask(all)
    }
  }

  #safely(send: () => void): void {
    try {
      send()
    } catch (error) {
      this.#unsent(error)
    }
  }
}
