import type { Awaitable, Store } from '../../contract/index.ts'
import type { Id } from '../../model/index.ts'
import { elapsed } from '../common/index.ts'
import type { Turn } from '../turn/index.ts'
import type { StoreWatch } from './store-watch.ts'
import type { WriteQueue } from './write-queue.ts'

/** The interval at which the times of use of sessions are written, in milliseconds. */
const TOUCH_MS = 1000

/** Notes that the record may get a little later: which answers clients have, and when sessions were used. */
export class Marks {
  readonly #store: Store
  readonly #watch: StoreWatch
  readonly #writes: WriteQueue<Turn>
  #delivered: Id[] = []
  /** The times when sessions were used, by their ids. */
  readonly #used = new Map<Id, number>()
  #touchAt = 0

  /** They are written with `writes`, while `watch` says that anything can be. */
  constructor(store: Store, watch: StoreWatch, writes: WriteQueue<Turn>) {
    this.#store = store
    this.#watch = watch
    this.#writes = writes
  }

  /** True while something is to be written. */
  get waiting(): boolean {
    return this.#delivered.length > 0 || this.#used.size > 0
  }

  /** A client holds the whole answer of a turn. */
  delivered(turn: Id): void {
    this.#delivered.push(turn)
  }

  /** A session was used. */
  used(session: Id, at: number): void {
    this.#used.set(session, at)
  }

  /** Writes which answers clients have. */
  writeDelivered(): void {
    const turns = this.#delivered
    this.#delivered = []
    this.#each(turns, (turn) => this.#store.markDelivered(turn))
  }

  /** Writes what is due: of the times of use, at most one a second for each session. */
  writeDue(): void {
    this.writeDelivered()
    if (elapsed() >= this.#touchAt) this.writeUsed()
  }

  /** Writes when sessions were used. */
  writeUsed(): void {
    this.#touchAt = elapsed() + TOUCH_MS
    const used = [...this.#used]
    this.#used.clear()
    this.#each(used, ([session, at]) => this.#store.touchSession(session, at))
  }

  /** Writes them until one fails: each of the others would wait as long for a locked store. */
  #each<T>(items: readonly T[], write: (item: T) => Awaitable<void>): void {
    if (items.length > 0 && this.#watch.writable) void this.#writes.write(() => all(items, write))
  }
}

/** Writes all; a store that answers later may do them together. */
function all<T>(items: readonly T[], write: (item: T) => Awaitable<void>): Awaitable<void> {
  const later: Promise<void>[] = []
  for (const item of items) {
    const written = write(item)
    if (written) later.push(written)
  }
  if (later.length > 0) return Promise.all(later).then(() => {})
}
