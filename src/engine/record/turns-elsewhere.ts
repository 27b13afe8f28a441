import type { ListedTurn, Store } from '../../contract/index.ts'
import type { Id } from '../../model/index.ts'
import type { Watches } from '../session/index.ts'
import { turnInfo } from '../turn/index.ts'
import type { Lease } from './lease.ts'

/** The number of the newest turns that are looked at. */
const NEWEST = 200

/** Dependencies of `TurnsElsewhere`. */
export interface ElsewhereParts {
  store: Store
  lease: Pick<Lease, 'owner'>
  watches: Watches
}

/**
 * Shows the turns of other replicas to the clients that follow all turns. They are read from the store, so they come a
 * moment later and without their phases.
 */
export class TurnsElsewhere {
  readonly #parts: ElsewhereParts
  /** The turns as they were found last; undefined while nobody follows. */
  #known: ReadonlyMap<Id, ListedTurn> | undefined
  /** The number of followers that have come so far. */
  #heardBy = 0

  constructor(parts: ElsewhereParts) {
    this.#parts = parts
  }

  /**
   * Looks up what has changed since the last time. Running turns are sent again when another client has begun to
   * follow.
   */
  async look(): Promise<void> {
    const { store, lease, watches } = this.#parts
    const known = watches.any ? this.#known : undefined
    this.#known = known
    if (!watches.any) return
    const isNew = watches.added !== this.#heardBy
    this.#heardBy = watches.added
    const { rows = [] } = (await store.listTurns({ limit: NEWEST })) ?? {}
    const others = [...rows, ...(await this.#older(rows))].filter(({ owner }) => owner !== lease.owner)
    for (const record of others) {
      const before = known?.get(record.turn)
      const hasChanged = before ? before.outcome !== record.outcome : known !== undefined
      if (hasChanged || (record.outcome === undefined && isNew))
        watches.tell(turnInfo(record, record.named, undefined), record)
    }
    this.#known = new Map(others.map((record) => [record.turn, record]))
  }

  /** The turns that ran when they were found, and that are not among the newest any more. */
  async #older(newest: readonly ListedTurn[]): Promise<ListedTurn[]> {
    const listed = new Set(newest.map(({ turn }) => turn))
    const left = [...(this.#known?.values() ?? [])].filter(({ turn, outcome }) => !outcome && !listed.has(turn))
    const records = await Promise.all(left.map(({ turn }) => this.#parts.store.readTurn(turn)))
    return records.flatMap((record, at) => (record ? { ...record, named: left[at]!.named } : []))
  }
}
