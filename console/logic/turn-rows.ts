import { type Filters, passes } from './filters.ts'
import type { TurnRow } from './types.ts'

/** The most turns that a list holds; the oldest make room. */
const MOST = 10_000

/**
 * A list of the turns that pass filters. Newest first, each turn once. It grows at both ends: by live turns
 * at its beginning, by older pages at its end.
 */
export class TurnRows {
  readonly #filters: Filters
  readonly #most: number
  readonly #rows = new Map<string, TurnRow>()

  constructor(filters: Filters = {}, most = MOST) {
    this.#filters = filters
    this.#most = most
  }

  /**
   * Adds turns, or replaces them by their newer state; one that passes no longer leaves the list. An ended turn does not
   * run again.
   */
  add(turns: readonly TurnRow[]): void {
    for (const turn of turns) {
      const known = this.#rows.get(turn.turn)
      if (known && known.state !== 'running' && turn.state === 'running') continue
      if (passes(turn, this.#filters)) this.#rows.set(turn.turn, turn)
      else this.#rows.delete(turn.turn)
    }
  }

  /** All of them, the newest first. What is too old for the list is forgotten. */
  list(): TurnRow[] {
    const sorted = [...this.#rows.values()].sort(newestFirst)
    for (const { turn } of sorted.splice(this.#most)) this.#rows.delete(turn)
    return sorted
  }
}

function newestFirst(a: TurnRow, b: TurnRow): number {
  return b.startedAt - a.startedAt || (a.turn < b.turn ? 1 : -1)
}
