import type { Awaitable, JournalEntry, Store } from '../../contract/index.ts'
import type { Id, TurnEvent } from '../../model/index.ts'

/** The UTF-16 units that may wait to be written, and the milliseconds that they may wait. */
const WAITING_UNITS = 1_048_576
const DELAY_MS = 50

/** Events that answer a client: they are written at once, before the answer is, so that the record has every answer. */
const ANSWERS: ReadonlySet<TurnEvent['type']> = new Set(['turn-end', 'turn-parked'])

/**
 * Writes canonical events to the store, those of one turn together: when it ends or is parked, and all that wait after
 * 50 ms or a mebi of characters.
 */
export class Journal {
  readonly #store: Store
  readonly #failed: (error: unknown) => void
  readonly #waiting = new Map<Id, JournalEntry[]>()
  #units = 0
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()
  /** The number of writes that have not resolved yet. */
  #unresolved = 0

  /** `failed` hears of events that could not be written; turns go on without their record. */
  constructor(store: Store, failed: (error: unknown) => void) {
    this.#store = store
    this.#failed = failed
  }

  append(turn: Id, seq: number, event: TurnEvent): void {
    const json = JSON.stringify(event)
    const entries = this.#waiting.get(turn)
    if (entries) entries.push({ turn, seq, json })
    else this.#waiting.set(turn, [{ turn, seq, json }])
    this.#units += json.length
    if (ANSWERS.has(event.type)) this.#writeTurn(turn)
    else if (this.#units > WAITING_UNITS) this.#writeAll()
    else this.#timer ??= setTimeout(() => this.#writeAll(), DELAY_MS)
  }

  /** Resolves when everything appended so far is in the store. */
  flush(): Promise<void> {
    this.#writeAll()
    return this.#writing
  }

  #writeAll(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#waiting.size === 0) return
    const entries = [...this.#waiting.values()].flat()
    this.#waiting.clear()
    this.#units = 0
    this.#write(entries)
  }

  #writeTurn(turn: Id): void {
    const entries = this.#waiting.get(turn)!
    this.#waiting.delete(turn)
    for (const { json } of entries) this.#units -= json.length
    this.#write(entries)
  }

  #write(entries: readonly JournalEntry[]): void {
    if (this.#unresolved === 0) this.#append(entries)
    else this.#later(() => this.#store.appendEvents(entries))
  }

  /** A store that answers at once has written when this returns. */
  #append(entries: readonly JournalEntry[]): void {
    try {
      const written = this.#store.appendEvents(entries)
      if (written) this.#later(() => written)
    } catch (error) {
      this.#failed(error)
    }
  }

  #later(write: () => Awaitable<void>): void {
    this.#unresolved += 1
    this.#writing = this.#writing
      .then(write)
      .catch(this.#failed)
      .finally(() => {
        this.#unresolved -= 1
      })
  }
}
