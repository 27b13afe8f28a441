import { type Awaitable, type EventBlock, isShared, type LeaseRef, type Store } from '../../contract/index.ts'
import { MOVED, STALE } from '../common/index.ts'
import { takeLines } from '../events/index.ts'
import type { Turn } from '../turn/index.ts'
import type { Lease } from './lease.ts'
import type { StoreWatch } from './store-watch.ts'
import { type endOf, runUnder, type TurnPage } from './turn-page.ts'
import type { WriteQueue } from './write-queue.ts'

/** Writes pages of turns to the store: a turn's beginning, its events, its end. */
export class PageWriter {
  readonly #store: Store
  readonly #writes: WriteQueue<Turn>
  readonly #watch: StoreWatch
  readonly #lease: Lease

  /** Turns are recorded under the `lease`, with `writes`. `watch` knows the turns whose record is incomplete. */
  constructor(store: Store, writes: WriteQueue<Turn>, watch: StoreWatch, lease: Lease) {
    this.#store = store
    this.#writes = writes
    this.#watch = watch
    this.#lease = lease
  }

  /** Records the beginning of a turn, with the `claim` of its key. Gives true, now or later, when it was written. */
  begin(page: TurnPage, claim?: string): Awaitable<boolean> {
    page.begun = true
    const lease = this.#lease.hold()
    if (!(lease instanceof Promise)) return this.#write(page, () => this.#beginUnder(page, lease, claim))
    this.#writes.hold(lease)
    return this.#write(page, async () => this.#beginUnder(page, await lease, claim))
  }

  /** Writes the events of these pages, and the beginnings that are not written yet. Leaves out incomplete records. */
  write(pages: readonly TurnPage[]): void {
    const blocks: EventBlock[] = []
    for (const page of pages) {
      const block = takeLines(page.lines)
      if (!this.#watch.keeps(page.turn)) continue
      if (!page.begun) void this.begin(page)
      if (!block) continue
      // Each turn's by themselves, which is one message all the same: one that is refused concerns no other turn.
      if (isShared(this.#store)) void this.#write(page, () => this.#store.appendEvents([block]))
      else blocks.push(block)
    }
    if (blocks.length > 0) void this.#writes.write(() => this.#store.appendEvents(blocks))
  }

  /** Writes the end of a turn, once what is written of it is there: a record that lacks some of it has no such end. */
  end({ turn, writing }: TurnPage, ended: ReturnType<typeof endOf>): Awaitable<void> {
    if (!writing) return this.#end(turn, ended)
    return writing.then((so) => (so || ended[0].outcome === 'failed' ? this.#end(turn, ended) : turn.audience.cut()))
  }

  /**
   * Writes the end of a turn. Where the record has another end, clients must not get this one: others have ended the
   * turn as failed. A failure means the same, and clients keep it.
   */
  #end({ audience, session, command }: Turn, [record, additions]: ReturnType<typeof endOf>): Awaitable<void> {
    const { owner: by } = session.record
    const judge = (counts: boolean): void => {
      if (!counts && record.outcome !== 'failed') audience.cut()
    }
    // Another replica ends a turn without a recorded end as failed, and a repetition under its key runs again.
    const failed = (error: unknown): never => {
      if (isShared(this.#store) || command.once) judge(false)
      throw error
    }
    try {
      const written = this.#store.endTurn(record, by ? { ...additions, by } : additions)
      return written instanceof Promise ? written.then(judge, failed) : judge(written)
    } catch (error) {
      return failed(error)
    }
  }

  /** Does a write of a turn; replicas remember until it is done that its end must not be without it. */
  #write(page: TurnPage, work: () => Awaitable<void>): Awaitable<boolean> {
    const { writing: before } = page
    const written = this.#writes.write(work, page.turn)
    if (!(written instanceof Promise && isShared(this.#store))) return written
    const writing = written.then(async (so) => so && (before === undefined || (await before)))
    page.writing = writing
    void writing.then((so) => {
      if (so && page.writing === writing) page.writing = undefined
    })
    return written
  }

  /** Refuses the turn when another process has taken its session or its request. */
  #beginUnder(page: TurnPage, lease: LeaseRef, claim: string | undefined): Awaitable<void> {
    const begun = this.#store.beginTurn(runUnder(page, lease), claim)
    const judge = (so: boolean): void => {
      if (so) return
      page.turn.session.asOf = STALE
      page.turn.refuse(MOVED)
    }
    return begun instanceof Promise ? begun.then(judge) : judge(begun)
  }
}
