import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { Utf8Reader } from './utf8-reader.ts'

/** The most bytes that one read takes: what a pipe of Linux holds. */
const READ_BYTES = 64 * 1024

/** One output stream of an agent: its stdout or stderr. Nothing is read before `read`. */
export interface AgentOutput {
  /** Gives its text from now on, in whole characters only, and then its end: no process holds the stream any more. */
  read(text: (text: string) => void, end: () => void): void
  pause(): void
  resume(): void
  destroy(): void
}

/**
 * The buffer of all pipes: a read fills it and its text is taken before the next one. Without it Node.js allocates
 * 64 KB for each read, which takes 3 µs and nearly half of a short read.
 */
let readBuffer: Buffer | undefined

/** The output that comes through a pipe of ours; `fd` is its end for reading. */
export class PipeOutput implements AgentOutput {
  readonly #socket: Socket
  readonly #reader = new Utf8Reader()
  #text: ((text: string) => void) | undefined

  constructor(fd: number) {
    readBuffer ??= Buffer.allocUnsafeSlow(READ_BYTES)
    const onread = { buffer: readBuffer, callback: (length: number, bytes: Uint8Array) => this.#take(bytes, length) }
    this.#socket = new Socket({ fd, readable: true, writable: false, manualStart: true, onread } as object)
    this.#socket.on('error', () => {})
  }

  read(text: (text: string) => void, end: () => void): void {
    this.#text = text
    this.#socket.on('end', () => this.#give(this.#reader.end()))
    this.#socket.on('close', end)
    this.#socket.resume()
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #take(bytes: Uint8Array, length: number): boolean {
    this.#give(this.#reader.read(bytes as Buffer, length))
    return true
  }

  #give(text: string): void {
    if (text !== '') this.#text!(text)
  }
}

/** The output that comes through a stream which Node.js made. */
export class StreamOutput implements AgentOutput {
  readonly #stream: Readable

  constructor(stream: Readable) {
    this.#stream = stream
    stream.on('error', () => {})
  }

  read(text: (text: string) => void, end: () => void): void {
    this.#stream.setEncoding('utf8').on('data', text).on('close', end)
  }

  pause(): void {
    this.#stream.pause()
  }

  resume(): void {
    this.#stream.resume()
  }

  destroy(): void {
    this.#stream.destroy()
  }
}
