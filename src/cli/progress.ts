/** Clears the line of a terminal and returns to its beginning (ECMA-48, EL). */
const CLEAR = '\r\u001b[K'

/** A stream that may be a terminal. */
type Stream = Pick<NodeJS.WriteStream, 'isTTY' | 'write'>

/**
 * One line on a terminal that says what takes its time, replaced by the next and cleared by `end`. Where stderr is no
 * terminal nothing is written.
 */
export class Progress {
  readonly #stream: Stream

  constructor(stream: Stream = process.stderr) {
    this.#stream = stream
  }

  /** Shows a text instead of the last one. */
  readonly show = (text: string): void => {
    if (this.#stream.isTTY) this.#stream.write(`${CLEAR}${text}`)
  }

  /** Shows the step that begins: its number from 1, the number of them all, and what it is. */
  readonly step = (what: string, at: number, of: number): void => this.show(`${at}/${of} ${what}`)

  /** Clears the line, for other output. */
  end(): void {
    this.show('')
  }
}
