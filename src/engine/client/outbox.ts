import type { Awaitable } from '../../contract/index.ts'

/**
 * The output of one tick for clients. It leaves at the end of the tick, after the commit of what the store
 * was told meanwhile: no answer is out that the record lacks, and one commit and one write serve what came together.
 */
export class Outbox {
  readonly #commit: () => Awaitable<void>
  readonly #uncommitted: (error: unknown) => void
  readonly #unsent: (error: unknown) => void
  #waiting: (() => void)[] = []

  /** `commit` and what waits may throw: `uncommitted` and `unsent` hear of it, and the rest is sent all the same. */
  constructor(commit: () => Awaitable<void>, uncommitted: (error: unknown) => void, unsent: (error: unknown) => void) {
    this.#commit = commit
    this.#uncommitted = uncommitted
    this.#unsent = unsent
  }

  /** Calls `send` behind the next commit. */
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
      // Whoever heard of it has a say first.
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
