import type { Awaitable } from '../../contract/index.ts'

/** Output that waits for a commit. */
export interface Outgoing {
  /** A commit begins; what comes from now on waits for a later one. Gives the place up to which this one counts. */
  mark(): number
  /** The commit is done: what was there up to this place leaves. */
  flush(until: number): void
}

/**
 * The output of one tick for clients. It leaves at the end of the tick, after the commit of what the store was given
 * meanwhile: the record has every answer that is out, and one commit and one write serve the whole tick.
 */
export class Outbox {
  readonly #commit: () => Awaitable<void>
  readonly #uncommitted: (error: unknown) => void
  readonly #unsent: (error: unknown) => void
  #waiting: Outgoing[] = []
  /** The outputs that wait for commits that have begun, as one promise for each commit. */
  readonly #leaving = new Set<Promise<void>>()

  /**
   * `commit` and the outputs that wait may throw: `uncommitted` and `unsent` get the error, and the rest is sent all
   * the same.
   */
  constructor(commit: () => Awaitable<void>, uncommitted: (error: unknown) => void, unsent: (error: unknown) => void) {
    this.#commit = commit
    this.#uncommitted = uncommitted
    this.#unsent = unsent
  }

  /** Flushes an output after the next commit. */
  add(output: Outgoing): void {
    if (this.#waiting.push(output) === 1) setImmediate(() => this.#flush())
  }

  /** Resolves when nothing waits any more: what was added until then has left. */
  async untilEmpty(): Promise<void> {
    while (this.#waiting.length > 0 || this.#leaving.size > 0) {
      await new Promise(setImmediate)
      await Promise.all(this.#leaving)
    }
  }

  #flush(): void {
    const outputs = this.#waiting
    this.#waiting = []
    const all = (): void => {
      for (const output of outputs) this.#safely(output, output.mark())
    }
    try {
      const committed = this.#commit()
      if (committed) this.#after(committed, outputs)
      else all()
    } catch (error) {
      this.#uncommitted(error)
      // Turns that were notified of the failure act first.
      queueMicrotask(all)
    }
  }

  /** Flushes after a commit what was there when it began: an end that comes meanwhile may not be recorded with it. */
  #after(committed: Promise<void>, outputs: readonly Outgoing[]): void {
    const marks = outputs.map((output) => output.mark())
    const left = committed.catch(this.#uncommitted).then(() => {
      this.#leaving.delete(left)
      for (const [at, output] of outputs.entries()) this.#safely(output, marks[at]!)
    })
    this.#leaving.add(left)
  }

  #safely(output: Outgoing, until: number): void {
    try {
      output.flush(until)
    } catch (error) {
      this.#unsent(error)
    }
  }
}
