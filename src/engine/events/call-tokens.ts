import { addUsage, type Usage, usageWithout } from '../../model/index.ts'

/** The tokens of model calls as an agent reports them, for each answer of a turn that is parked in between. */
export class CallTokens {
  /** The tokens of earlier answers. */
  #before: Usage
  #now: Usage | undefined
  /** Their answer has ended: later calls belong to the next one. */
  #over = false

  constructor(before: Usage = {}) {
    this.#before = before
  }

  /** A call was made. */
  add(usage: Usage): void {
    if (this.#over) this.#begin()
    this.#now = addUsage(this.#now ?? {}, usage)
  }

  /** The turn is parked: an answer ends. */
  park(): void {
    if (this.#over) this.#begin()
    this.#over = true
  }

  /**
   * The tokens of the newest answer: those of its calls, or what the `total` of the turn has beyond earlier answers.
   * Undefined when they are not known. `ended`: the turn has its end.
   */
  answer(total: Usage | undefined, ended: boolean): Usage | undefined {
    if (ended && this.#over) this.#begin()
    return total ? usageWithout(total, this.#before) : this.#now
  }

  /** The tokens for a view that begins with the next answer. */
  next(): CallTokens {
    return new CallTokens(addUsage(this.#before, this.#now ?? {}))
  }

  #begin(): void {
    this.#before = addUsage(this.#before, this.#now ?? {})
    this.#now = undefined
    this.#over = false
  }
}
