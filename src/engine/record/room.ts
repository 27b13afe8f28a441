import { type Fault, fault, type Id, type TextRun, type TurnEvent } from '../../model/index.ts'
import type { TurnPage } from './turn-page.ts'

/** The UTF-16 units that an event takes in memory besides its content, about. */
export const EVENT_SIZE = 40

const NO_ROOM: Fault = fault(
  'overloaded',
  'The turns that run have more content than the gateway has memory for, and this one the most; ask for less, or run fewer at once.',
)

/** Events whose content no view of a turn keeps. They are in memory until they are written, or when they are not kept. */
const PASSING: ReadonlySet<TurnEvent['type']> = new Set(['tool-progress', 'terminal-output', 'plan', 'foreign'])

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

  /** A turn has one more event, with so many `units` of its record if it has one. */
  take(page: TurnPage, event: TurnEvent, units?: number): void {
    const { unkept } = page
    if (unkept === undefined && PASSING.has(event.type)) return
    this.#hold(page, EVENT_SIZE + (unkept === undefined ? (units ?? contentOf(event)) : contentOf(event)))
  }

  /** A turn has further pieces of text. */
  takeTexts(page: TurnPage, run: TextRun, units?: number): void {
    const content = page.unkept === undefined ? (units ?? run.text.length) : run.text.length
    this.#hold(page, EVENT_SIZE * run.length + content)
  }

  #hold(page: TurnPage, more: number): void {
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

  /** Ends the largest turns, each once. One that still runs after that is ended again at the next event. */
  #make(): void {
    this.#looking = false
    const largestFirst = Object.values(this.#pages).sort((one, other) => other.held - one.held)
    for (const { turn } of largestFirst) {
      if (this.#held <= this.#most) return
      turn.refuse(NO_ROOM)
    }
  }
}

/** The UTF-16 units of an event. Most are pieces of text, which need not be written for that. */
function contentOf(event: TurnEvent): number {
  if ('text' in event && typeof event.text === 'string' && event.ext === undefined) return event.text.length
  return JSON.stringify(event).length
}
