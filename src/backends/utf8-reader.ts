import { StringDecoder } from 'node:string_decoder'

const ASCII_END = 0x80

/** Decodes a stream of UTF-8 whose pieces may end within a character. Invalid bytes become U+FFFD. */
export class Utf8Reader {
  #decoder: StringDecoder | undefined
  /** The last piece did not end with an ASCII character: the decoder may hold the beginning of one. */
  #isOpen = false

  /** The whole characters of a piece, the first `length` bytes of `bytes`, with what came before it. */
  read(bytes: Buffer, length = bytes.length): string {
    if (length === 0) return ''
    const endsOpen = bytes[length - 1]! >= ASCII_END
    // Most pieces are whole lines, which need no decoder.
    if (!endsOpen && !this.#isOpen) return bytes.toString('utf8', 0, length)
    this.#isOpen = endsOpen
    this.#decoder ??= new StringDecoder('utf8')
    return this.#decoder.write(bytes.subarray(0, length))
  }

  /** Ends the stream; returns U+FFFD where it ends within a character. */
  end(): string {
    return this.#isOpen ? this.#decoder!.end() : ''
  }
}
