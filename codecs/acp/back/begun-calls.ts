/**
 * The ids of the tool calls that an agent has begun: in the turn that runs, and in the last one before it that had any.
 * An agent may still write about a call that has its end, also after the turn.
 */
export class BegunCalls {
  #now: Set<string> | undefined
  #before: Set<string> | undefined

  /** A turn begins. */
  turn(): void {
    this.#before = this.#now ?? this.#before
    this.#now = undefined
  }

  add(id: string): void {
    this.#now ??= new Set()
    this.#now.add(id)
  }

  has(id: string): boolean {
    return this.#now?.has(id) === true || this.#before?.has(id) === true
  }
}
