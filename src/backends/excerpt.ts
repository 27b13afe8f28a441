import { beginningOf, endOf } from '../model/index.ts'

/** Characters kept of each end. */
const KEPT = 4096

/** The beginning and the end of a text of any length, in bounded memory: an excerpt of stderr for the log. */
export class Excerpt {
  #head = ''
  #tail = ''
  #omitted = 0

  /** Takes the next piece. */
  add(text: string): void {
    const room = KEPT - this.#head.length
    this.#head += text.slice(0, room)
    this.#tail += text.slice(room)
    // Cuts only at twice the size, so that many small pieces are not copied each time.
    if (this.#tail.length > 2 * KEPT) this.#trim()
  }

  /** At most the first and last 4096 characters, in whole words, with a line between them that says how many are missing. */
  text(): string {
    this.#trim()
    const kept = this.#head + this.#tail
    if (this.#omitted === 0) return kept
    const head = beginningOf(kept, KEPT)
    const tail = endOf(kept, KEPT)
    const omitted = this.#omitted + kept.length - head.length - tail.length
    return `${head.toWellFormed()}\n[${omitted} characters left out]\n${tail.toWellFormed()}`
  }

  #trim(): void {
    const surplus = this.#tail.length - KEPT
    if (surplus <= 0) return
    this.#omitted += surplus
    this.#tail = this.#tail.slice(surplus)
  }
}
