import type { Awaitable, JournalEntry, Store } from '../contract/index.ts'
import type { Id, TurnEvent } from '../model/index.ts'

const BATCH = 256
const DELAY_MS = 50

/** What answers a client: it is written at once, before the answer is, so that no answer is given that the record lacks. */
const ANSWERS: ReadonlySet<TurnEvent['type']> = new Set(['turn-end', 'turn-parked'])

/** Writes canonical events to the store in batches: after 256 events or 50 ms, and at once when a turn ends or is parked. */
export class Journal {
  readonly #store: Store
  readonly #failed: (error: unknown) => void
  #batch: JournalEntry[] = []
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()
  /** Batches that are being written. */
  #waiting = 0

  /** `failed` hears of a batch that could not be written; turns go on without their record. */
  constructor(store: Store, failed: (error: unknown) => void) {
    this.#store = store
    this.#failed = failed
  }

  append(turn: Id, seq: number, event: TurnEvent): void {
    this.#batch.push({ turn, seq, json: JSON.stringify(event) })
    if (this.#batch.length >= BATCH || ANSWERS.has(event.type)) this.#write()
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
    if (this.#waiting === 0) this.#append(batch)
    else this.#later(() => this.#store.appendEvents(batch))
  }

  /** A store that answers at once has written when this returns. */
  #append(batch: readonly JournalEntry[]): void {
    try {
      const written = this.#store.appendEvents(batch)
      if (written) this.#later(() => written)
    } catch (error) {
      this.#failed(error)
    }
  }

  #later(write: () => Awaitable<void>): void {
    this.#waiting += 1
    this.#writing = this.#writing
      .then(write)
      .catch(this.#failed)
      .finally(() => {
        this.#waiting -= 1
      })
  }
}
