import type { JournalEntry, Store } from '../contract/index.ts'
import type { Id, TurnEvent } from '../model/index.ts'

const BATCH = 64
const DELAY_MS = 50

/** Writes canonical events to the store in batches: after 64 events or 50 ms, and at once when a turn ends. */
export class Journal {
  readonly #store: Store
  readonly #failed: (error: unknown) => void
  #batch: JournalEntry[] = []
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  /** `failed` hears of a batch that could not be written; turns go on without their record. */
  constructor(store: Store, failed: (error: unknown) => void) {
    this.#store = store
    this.#failed = failed
  }

  append(turn: Id, seq: number, event: TurnEvent): void {
    this.#batch.push({ turn, seq, json: JSON.stringify(event) })
    if (this.#batch.length >= BATCH) this.#write()
    else this.#timer ??= setTimeout(() => this.#write(), DELAY_MS)
  }

  /** Resolves when everything appended so far is in the store. */
  flush(): Promise<void> {
    this.#write()
    return this.#writing
  }

  #write(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#batch.length === 0) return
    const batch = this.#batch
    this.#batch = []
    this.#writing = this.#writing.then(() => this.#store.appendEvents(batch)).catch(this.#failed)
  }
}
