import type { WireText } from '../contract/index.ts'
import { BOM, type FrameDecoder, type FrameSink, tooLarge } from './decoder.ts'
import { Pieces } from './pieces.ts'

const CR = 13

/** The difference between the two line framings: true when a line is a frame. */
type Accepts = (line: string) => boolean

/**
 * Splits at LF and nowhere else: a lone CR and U+2028, U+2029 and U+0085 are legal inside a JSON string. One CR before
 * the LF belongs to the line's end. The last line needs no LF. A byte order mark at the start of the stream is not part
 * of the first line.
 */
export class LineDecoder implements FrameDecoder {
  readonly #limit: number
  readonly #sink: FrameSink
  readonly #accepts: Accepts
  readonly #pending = new Pieces()
  #started = false
  #done = false

  /** `limit` is the length of a line without its end, in UTF-16 units. */
  constructor(limit: number, sink: FrameSink, accepts: Accepts) {
    this.#limit = limit
    this.#sink = sink
    this.#accepts = accepts
  }

  push(text: string): void {
    if (this.#done || text === '') return
    let from = 0
    if (!this.#started) {
      this.#started = true
      if (text.charCodeAt(0) === BOM) from = 1
    }
    for (let lf = text.indexOf('\n', from); lf >= 0; lf = text.indexOf('\n', from)) {
      this.#line(text.slice(from, lf))
      if (this.#done) return
      from = this.#texts(text, lf + 1)
    }
    this.#pending.add(text.slice(from))
    // A CR at the very end may belong to the line's end, so it does not count yet.
    const { length, last } = this.#pending
    if (length - (last === CR ? 1 : 0) > this.#limit) this.#fail()
  }

  end(): void {
    if (this.#done) return
    if (this.#pending.length > 0) this.#line('')
    this.#done = true
  }

  /** Has the sink read lines like the last one. Returns where they end. A line in a text within the limit is within it. */
  #texts(text: string, at: number): number {
    if (!this.#sink.texts || text.length > this.#limit) return at
    const wire: WireText = { text, at, before: '', after: '\n', call: undefined }
    this.#sink.texts(wire)
    return wire.at
  }

  /** Completes the pending line with its last piece. */
  #line(tail: string): void {
    let line = tail
    if (this.#pending.length > 0) {
      this.#pending.add(tail)
      line = this.#pending.take()
    }
    if (line.charCodeAt(line.length - 1) === CR) line = line.slice(0, -1)
    if (line.length > this.#limit) this.#fail()
    else if (this.#accepts(line)) this.#sink.frame(line)
  }

  #fail(): void {
    this.#done = true
    this.#pending.clear()
    this.#sink.fault(tooLarge('line', this.#limit, 'limits.line'))
  }
}
