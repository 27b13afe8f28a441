import type { Id } from '../model/index.ts'

/** The agent's session names of the turns of a wire, in order, if it sent them. */
export class AgentSessions {
  readonly #known: readonly (Id | undefined)[]
  /** The names that were read. */
  readonly read: Id[] = []

  /** `known` are the names that an earlier reading of the wire found: a name may follow the answer that refers to it. */
  constructor(known: readonly (Id | undefined)[]) {
    this.#known = known
  }

  /** The agent names the session of the newest of so many turns. */
  bind(turns: number, name: Id): void {
    this.read[Math.max(0, turns - 1)] = name
  }

  /** The name of the session of the turn after so many others, else this one. */
  next(turns: number, otherwise: Id): Id {
    return this.#known.slice(0, turns + 1).findLast((name) => name !== undefined) ?? otherwise
  }
}
