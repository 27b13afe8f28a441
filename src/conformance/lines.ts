import { parseObject } from '../model/index.ts'
import type { SeenLine } from './kit/index.ts'

/** The kept part of an output, in UTF-16 units; the rest is not judged. */
export const OUTPUT_LIMIT = 16 * 1024 * 1024

/**
 * Splits the output of a program, at LF only. Unlike the gateway's framing it keeps mistakes: blank lines, carriage
 * returns, byte order marks, a last line without its end.
 */
export class LineReader {
  readonly #framing: 'lines' | 'body'
  readonly #take: (line: SeenLine) => void
  readonly #step: () => number
  #pending = ''
  output = ''

  /** `step` gives the number of finished steps. */
  constructor(framing: 'lines' | 'body', step: () => number, take: (line: SeenLine) => void) {
    this.#framing = framing
    this.#step = step
    this.#take = take
  }

  /** The next piece. */
  push(text: string): void {
    if (this.output.length >= OUTPUT_LIMIT) return
    this.output += text
    if (this.#framing === 'body') return
    const parts = (this.#pending + text).split('\n')
    this.#pending = parts.pop()!
    for (const part of parts) this.#take(seenLine(part, true, this.#step()))
  }

  /** The end: the rest is a line without its end, or the body. */
  end(): void {
    const rest = this.#framing === 'body' ? this.output : this.#pending
    this.#pending = ''
    if (rest !== '') this.#take(seenLine(rest, this.#framing === 'body', this.#step()))
  }
}

/** A line for judges. */
export function seenLine(text: string, ended: boolean, step: number): SeenLine {
  const object = parseObject(text)
  return { text, ended, step, ...(object && { object }) }
}

/** The written text. */
export function textOf(piece: string | Uint8Array): string {
  return typeof piece === 'string' ? piece : Buffer.from(piece).toString()
}
