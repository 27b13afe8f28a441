import { type Frame, frameText } from '../contract/index.ts'
import { BOM, type FrameDecoder, type FrameSink, tooLarge } from './decoder.ts'
import { Pieces } from './pieces.ts'

/** Gives all text as one frame at the end, also when it is empty; a byte order mark before it is dropped. */
class BodyDecoder implements FrameDecoder {
  readonly #limit: number
  readonly #sink: FrameSink
  readonly #pieces = new Pieces()
  #started = false
  #done = false

  constructor(limit: number, sink: FrameSink) {
    this.#limit = limit
    this.#sink = sink
  }

  push(text: string): void {
    if (this.#done || text === '') return
    this.#pieces.add(!this.#started && text.charCodeAt(0) === BOM ? text.slice(1) : text)
    this.#started = true
    if (this.#pieces.length <= this.#limit) return
    this.#done = true
    this.#pieces.clear()
    this.#sink.fault(tooLarge('body', this.#limit, 'limits.body'))
  }

  end(): void {
    if (this.#done) return
    this.#done = true
    this.#sink.frame(this.#pieces.take())
  }
}

/** All the text as one frame. `limit` is its length in UTF-16 units. */
export function bodyDecoder(limit: number, sink: FrameSink): FrameDecoder {
  return new BodyDecoder(limit, sink)
}

/** The text of a body, unchanged. */
export function encodeBody(frame: Frame): string {
  return frameText(frame)
}
