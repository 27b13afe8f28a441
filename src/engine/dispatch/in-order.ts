/**
 * Runs steps with the same key one after the other, in the order in which they come. A step without one before it runs
 * synchronously, so a store that answers synchronously is not slowed down.
 */
export class InOrder<Key> {
  readonly #last = new Map<Key, Promise<unknown>>()

  /** The result of the step. A step that fails does not delay the next one. */
  run<T>(key: Key, step: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key)
    const done = before ? before.then(step, step) : step()
    this.#last.set(key, done)
    const leave = (): void => {
      if (this.#last.get(key) === done) this.#last.delete(key)
    }
    done.then(leave, leave)
    return done
  }
}
