import { type Fault, fault, type Id } from '../../model/index.ts'
import type { TurnPage } from './turn-page.ts'

/** The UTF-16 units that an event takes in memory besides its content, about. */
export const EVENT_SIZE = 40

const NO_ROOM: Fault = fault(
  'overloaded',
  'The turns that run have more content than the gateway has memory for, and this one the most; ask for less, or run fewer at once.',
)

/**
 * Bounds the content of all running turns together: it is in memory until each has its end. When there is too much, the
 * turn with the most of it ends, and no other is refused.
 */
export class Room {
  readonly #most: number
  readonly #pages: Readonly<Record<Id, TurnPage>>
  #held = 0
  #looking = false

  /** `most` is in UTF-16 units; `pages` are those of the turns that run. */
  constructor(most: number, pages: Readonly<Record<Id, TurnPage>>) {
    this.#most = most
    this.#pages = pages
  }

  /** A turn holds one more event, of so many units. */
  take(page: TurnPage, units: number): void {
    const more = EVENT_SIZE + units
    page.held += more
    this.#held += more
    if (this.#held <= this.#most || this.#looking) return
    this.#looking = true
    // Not within the event of a turn, which may be the one that ends.
    queueMicrotask(() => this.#make())
  }

  /** A turn has its end. */
  give(page: TurnPage): void {
    this.#held -= page.held
  }

  #make(): void {
    this.#looking = false
    while (this.#held > this.#most) largest(Object.values(this.#pages)).turn.refuse(NO_ROOM)
  }
}

/** The page of the turn that holds the most. */
function largest(pages: readonly TurnPage[]): TurnPage {
  return pages.reduce((one, other) => (other.held > one.held ? other : one))
}
