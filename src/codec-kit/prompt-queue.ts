import type { Id } from '../model/index.ts'

/** The limit of waiting prompts. */
const LIMIT = 1000

/** The prompts of one client, in order and one at a time: the next is issued only after the end of the one before. */
export abstract class PromptQueue<Waiting, Active extends { readonly exchange: Id }> {
  readonly #held: () => boolean
  readonly #waiting: Waiting[] = []
  #active: Active | undefined
  #issuing = false

  /** No prompt is issued while `held` returns true; the caller that ends that state calls `resume`. */
  constructor(held: () => boolean = () => false) {
    this.#held = held
  }

  /** Issues a prompt. Calls `start`; the prompt may end before it returns. */
  protected abstract issue(waiting: Waiting): void

  /** True when nothing runs and nothing waits. */
  get idle(): boolean {
    return this.#active === undefined && this.#waiting.length === 0
  }

  /** Runs the prompt after those before it; false when too many wait already. */
  add(waiting: Waiting): boolean {
    if (this.#waiting.length >= LIMIT) return false
    this.#waiting.push(waiting)
    this.resume()
    return true
  }

  /**
   * Issues the prompts that may run now. A refused prompt ends while it is issued: a loop avoids a deep recursion for a
   * long queue of them.
   */
  resume(): void {
    if (this.#issuing) return
    this.#issuing = true
    while (this.#active === undefined && this.#waiting.length > 0 && !this.#held()) this.issue(this.#waiting.shift()!)
    this.#issuing = false
  }

  /** Discards the waiting prompts. */
  drop(): void {
    this.#waiting.length = 0
  }

  /** The prompt that runs. */
  protected get active(): Active | undefined {
    return this.#active
  }

  /** Returns the prompt that runs, if it is the one of this exchange. */
  protected running(exchange: Id): Active | undefined {
    return this.#active?.exchange === exchange ? this.#active : undefined
  }

  /** Removes the first waiting prompt that matches, and returns it. */
  protected take(matches: (waiting: Waiting) => boolean): Waiting | undefined {
    const at = this.#waiting.findIndex(matches)
    return at < 0 ? undefined : this.#waiting.splice(at, 1)[0]
  }

  /** Makes this the prompt that runs. */
  protected start(active: Active): void {
    this.#active = active
  }

  /** Ends the prompt that runs, and issues the next one. */
  protected end(): void {
    this.#active = undefined
    this.resume()
  }
}
