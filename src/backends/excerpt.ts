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

  /** The first and last 4096 characters, with a line between them that says how many are missing. */
  text(): string {
    this.#trim()
    if (this.#omitted === 0) return this.#head + this.#tail
    const gap = `\n[${this.#omitted} characters left out]\n`
    return this.#head.toWellFormed() + gap + this.#tail.toWellFormed()
  }

  #trim(): void {
    const surplus = this.#tail.length - KEPT
    if (surplus <= 0) return
    this.#omitted += surplus
    this.#tail = this.#tail.slice(surplus)
  }
}
