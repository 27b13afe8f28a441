import { growthOf } from '../../../src/codec-kit/index.ts'
import type { Usage } from '../../../src/model/index.ts'

/** The tokens of turns, of an agent whose counts are those of all turns of a session so far. */
export class SessionTokens {
  #session: string | undefined
  #sum: Usage | undefined

  /**
   * The tokens of a turn of this session, of the count at its end. Undefined when there are none, and when the turn before
   * had no count: it may have had some.
   */
  ofTurn(session: string | undefined, counted: Usage | undefined): Usage | undefined {
    const goesOn = session === this.#session
    const isKnown = counted !== undefined && !(goesOn && this.#sum === undefined)
    const grown = isKnown ? growthOf(counted, goesOn ? this.#sum : undefined) : undefined
    this.#session = session
    this.#sum = counted
    return grown
  }
}
