import { growthOf } from '../../../src/codec-kit/index.ts'
import type { Usage } from '../../../src/model/index.ts'

/** The tokens of turns, of an agent whose counts are those of all turns of a session so far. */
export class SessionTokens {
  #session: string | undefined
  #sum: Usage | undefined

  /** The tokens of a turn of this session, of the count at its end; undefined when there are none. */
  ofTurn(session: string | undefined, counted: Usage | undefined): Usage | undefined {
    const grown = counted && growthOf(counted, session === this.#session ? this.#sum : undefined)
    this.#session = session
    this.#sum = counted
    return grown
  }
}
