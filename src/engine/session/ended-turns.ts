import type { Id } from '../../model/index.ts'
import { elapsed } from '../common/index.ts'

/**
 * The time for which, and the number of turns of which, the end is remembered: as long as their answers may be given
 * again.
 */
const REMEMBERED_MS = 600_000
const REMEMBERED = 10_000

/**
 * Remembers when turns ended. Their order is kept besides the map: to find its first entry a map goes through all the
 * deleted ones before it, thousands where each turn deletes the oldest.
 */
export class EndedTurns {
  /** On a clock that is never set. */
  readonly #times = new Map<Id, number>()
  /** The oldest first; those before `#first` are forgotten. */
  readonly #order: Id[] = []
  #first = 0

  /** The milliseconds since a turn ended; undefined when that is long ago, or not remembered. */
  since(id: Id): number | undefined {
    const at = this.#times.get(id)
    return at === undefined ? undefined : elapsed() - at
  }

  /** A turn has ended. */
  add(id: Id): void {
    const now = elapsed()
    this.#times.set(id, now)
    this.#order.push(id)
    for (;;) {
      const oldest = this.#order[this.#first]!
      if (this.#times.size <= REMEMBERED && now - this.#times.get(oldest)! < REMEMBERED_MS) break
      this.#times.delete(oldest)
      this.#first += 1
    }
    if (this.#first < REMEMBERED) return
    this.#order.splice(0, this.#first)
    this.#first = 0
  }
}
