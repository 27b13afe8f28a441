/** Longest text that is read from stdin, in UTF-16 units. */
const LIMIT = 8 * 1024 * 1024

/** A prompt on stdin as text: its lines as they came, blank ones included. */
export class StdinText {
  readonly #lines: string[] = []
  #size = 0

  /** Takes a line; true when it is the first that was cut. */
  add(line: string): boolean {
    const room = LIMIT - this.#size
    this.#size += line.length + 1
    if (room > 0) this.#lines.push(line.slice(0, room))
    return room > 0 && this.#size > LIMIT
  }

  /** The text, followed by the prompt of the arguments. */
  withPrompt(prompt: string | undefined): string {
    const text = this.#lines.join('\n')
    if (prompt === undefined) return text
    return text.trim() === '' ? prompt : `${text}\n\n${prompt}`
  }
}
