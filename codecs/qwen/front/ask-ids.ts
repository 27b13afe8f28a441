import type { Id } from '../../../src/model/index.ts'

/** The number of ids of questions that are remembered: those that were used last. */
const MOST_IDS = 1000

/**
 * The ids of questions as one client knows them. Agents count theirs from one in every turn: an id that was used before
 * gets a number, so that a late answer to the earlier question does not answer this one.
 */
export class AskIds {
  readonly #asked = new Map<Id, number>()

  of(ask: Id): string {
    const times = (this.#asked.get(ask) ?? 0) + 1
    this.#asked.delete(ask)
    this.#asked.set(ask, times)
    const [oldest] = this.#asked.keys()
    if (this.#asked.size > MOST_IDS) this.#asked.delete(oldest!)
    return times === 1 ? ask : this.of(`${ask}#${times}`)
  }
}
