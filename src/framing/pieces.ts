/**
 * Text that arrives in pieces and is read once, when it is complete. Adding a piece copies nothing, so that a long line
 * in small chunks is copied once and never scanned again.
 */
export class Pieces {
  #parts: string[] = []
  #length = 0

  /** UTF-16 units held. */
  get length(): number {
    return this.#length
  }

  /** The last unit held, NaN when there is none. */
  get last(): number {
    const part = this.#parts.at(-1) ?? ''
    return part.charCodeAt(part.length - 1)
  }

  /** Adds a piece. */
  add(text: string): void {
    if (text === '') return
    this.#parts.push(text)
    this.#length += text.length
  }

  /** Gives everything, in order, and forgets it. */
  take(): string {
    const text = this.#parts.length === 1 ? this.#parts[0]! : this.#parts.join('')
    this.clear()
    return text
  }

  /** Forgets everything. */
  clear(): void {
    this.#parts = []
    this.#length = 0
  }
}
