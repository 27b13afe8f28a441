import type { TextRun, TurnEvent } from '../../model/index.ts'
import { elapsed } from '../common/index.ts'
import type { Marks } from './marks.ts'
import type { PageWriter } from './page-writer.ts'
import { addEvent, addTexts, type TurnPage } from './turn-page.ts'

/** The interval at which what is due is written, in milliseconds, and the UTF-16 units of events that may wait. */
const INTERVAL_MS = 50
const WAITING_UNITS = 1_048_576

/**
 * The time that events of a turn wait, in milliseconds, when the turn is recorded already: with many turns under way each
 * write costs more than the event that it is for.
 */
const EVENTS_MS = 500

/** The age, in milliseconds, from which a turn that promises its client nothing before its end is recorded as running. */
const BEGIN_MS = 200

/** The parts of the record that wait to be written: pages with new events or without a beginning, and marks. */
export class Backlog {
  readonly #writer: PageWriter
  readonly #marks: Marks
  /** The pages, in any order. */
  readonly #pages: TurnPage[] = []
  /** The UTF-16 units of their events. */
  #units = 0
  #timer: NodeJS.Timeout | undefined

  /** Pages are written by `writer`. The marks are written at the same times. */
  constructor(writer: PageWriter, marks: Marks) {
    this.#writer = writer
    this.#marks = marks
  }

  /** Adds a page, if it is not there. */
  add(page: TurnPage): void {
    if (page.place >= 0) return
    page.place = this.#pages.push(page) - 1
    page.waitsSince = elapsed()
    this.schedule()
  }

  /** Adds the newest event of a page's turn. Gives its UTF-16 units. */
  event(page: TurnPage, event: TurnEvent): number {
    return this.#added(page, addEvent(page, event))
  }

  /** Adds the newest pieces of text of a page's turn. Gives their UTF-16 units. */
  texts(page: TurnPage, run: TextRun): number {
    return this.#added(page, addTexts(page, run))
  }

  #added(page: TurnPage, units: number): number {
    this.#units += units
    this.add(page)
    if (this.#units > WAITING_UNITS) this.#write(() => true)
    return units
  }

  /**
   * Removes a page, if it is there, with its events. A turn that has its end is released at once: its objects would
   * survive until the next write, which makes garbage collection expensive.
   */
  remove(page: TurnPage): void {
    const { place } = page
    if (place < 0) return
    this.#units -= page.lines.text.length
    page.place = -1
    const last = this.#pages.pop()!
    if (last === page) return
    this.#pages[place] = last
    last.place = place
  }

  /** Writes one page now. */
  write(page: TurnPage): void {
    this.remove(page)
    this.#writer.write([page])
  }

  /** Writes everything now. */
  writeAll(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#write(() => true)
    this.#marks.writeDelivered()
    this.#marks.writeUsed()
  }

  /** Sees to it that pages and marks are written when they are due. */
  schedule(): void {
    this.#timer ??= setTimeout(() => this.#writeDue(), INTERVAL_MS)
  }

  #writeDue(): void {
    this.#timer = undefined
    const now = elapsed()
    this.#write((page) => now >= (page.begun ? page.waitsSince + EVENTS_MS : page.since + BEGIN_MS))
    this.#marks.writeDue()
    if (this.#pages.length > 0 || this.#marks.waiting) this.schedule()
  }

  /** Writes the pages for which `due` is true; the others go on waiting. */
  #write(due: (page: TurnPage) => boolean): void {
    const pages = this.#pages.filter(due)
    for (const page of pages) this.remove(page)
    this.#writer.write(pages)
  }
}
