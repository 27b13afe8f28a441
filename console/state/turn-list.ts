import { signal } from '@preact/signals'
import { type Filters, filterQuery } from '../logic/filters.ts'
import { TurnRows } from '../logic/turn-rows.ts'
import type { TurnPage, TurnRow } from '../logic/types.ts'
import { get, messageOf } from './api.ts'
import { followTurns } from './follow.ts'

/** Changes are shown together, at this interval in milliseconds: a busy gateway has hundreds in a second. */
const SHOW_MS = 200
const PAGE = '200'

/** The list of turns that pass the filters, live until `close`. */
export class TurnList {
  readonly rows = signal<readonly TurnRow[]>([])
  /** True while the stream of changes is open. */
  readonly live = signal(false)
  readonly problem = signal<string | undefined>(undefined)
  /** The first page has come. */
  readonly loaded = signal(false)
  /** There are older turns on the gateway. */
  readonly hasMore = signal(false)
  readonly #filters: Filters
  readonly #rows: TurnRows
  readonly #stop: () => void
  #showing: ReturnType<typeof setTimeout> | undefined
  #next: string | undefined
  #loading = false

  constructor(filters: Filters) {
    this.#filters = filters
    this.#rows = new TurnRows(filters)
    this.#stop = followTurns(filterQuery(filters), {
      began: () => void this.#first(),
      turns: (turns) => this.#take(turns),
      lost: () => {
        this.live.value = false
      },
    })
  }

  /** Stops following. */
  close(): void {
    this.#stop()
    clearTimeout(this.#showing)
  }

  /** Loads the next older page, if there is one. */
  async more(): Promise<void> {
    if (this.#next === undefined || this.#loading) return
    await this.#load(filterQuery(this.#filters, { limit: PAGE, before: this.#next }), true)
  }

  async #first(): Promise<void> {
    this.live.value = true
    await this.#load(filterQuery(this.#filters, { limit: PAGE }), this.#next === undefined)
    this.#show()
    this.loaded.value = true
  }

  async #load(query: string, isOldest: boolean): Promise<void> {
    this.#loading = true
    try {
      const { turns, next } = await get<TurnPage>(`/v1/turns?${query}`)
      if (isOldest) this.#next = next
      this.hasMore.value = this.#next !== undefined
      this.problem.value = undefined
      this.#take(turns)
    } catch (error) {
      this.problem.value = messageOf(error)
    }
    this.#loading = false
  }

  #take(turns: readonly TurnRow[]): void {
    this.#rows.add(turns)
    this.#showing ??= setTimeout(() => this.#show(), SHOW_MS)
  }

  #show(): void {
    clearTimeout(this.#showing)
    this.#showing = undefined
    this.rows.value = this.#rows.list()
  }
}
