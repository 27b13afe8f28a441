import type { Socket } from 'node:net'
import { StringDecoder } from 'node:string_decoder'

/** The longest head of an answer, in bytes. */
const MAX_HEAD = 64 * 1024
/** The longest line with a chunk's length and extensions. */
const MAX_SIZE_LINE = 1024

/** The request's head; its body follows in chunks. */
export interface RequestHead {
  path: string
  headers: Readonly<Record<string, string>>
}

/** Receives an answer, in order: status, text, one end. */
export interface AnswerSink {
  status(code: number): void
  data(text: string): void
  /** The answer is complete, or the connection failed or was malformed; also called when nothing came. */
  end(): void
}

/**
 * The part of the answer that is read next: its head, the line with a chunk's length, the chunk, its line end, or
 * everything up to the end.
 */
type Reading = 'head' | 'size' | 'chunk' | 'chunk-end' | 'rest' | 'nothing'

/**
 * One POST over a connection of its own, both bodies in pieces at the same time (HTTP/1.1, RFC 9112, sections 2 to 7).
 */
export class HttpExchange {
  readonly #socket: Socket
  readonly #sink: AnswerSink
  readonly #text = new StringDecoder('utf8')
  #reading: Reading = 'head'
  #pending: Buffer = Buffer.alloc(0)
  /** Bytes of the chunk that are still to come. */
  #left = 0
  #over = false

  constructor(socket: Socket, { path, headers }: RequestHead, sink: AnswerSink) {
    this.#socket = socket
    this.#sink = sink
    // No `Connection: close`: the server would close during our writes, and the error of a write would discard its answer.
    const lines = Object.entries({ ...headers, 'Transfer-Encoding': 'chunked' })
    socket.write(`POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
    socket.on('data', (bytes: Buffer) => this.#push(bytes))
    socket.on('error', () => {})
    socket.on('close', () => this.#finish())
  }

  /** Writes a piece of the body. False when the caller should wait for the socket's `drain`. */
  write(text: string): boolean {
    return text === '' || this.#socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`)
  }

  #push(bytes: Buffer): void {
    this.#pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes])
    while (this.#pending.length > 0 && this.#step()) {}
  }

  /** Reads the next part. False when it is incomplete. */
  #step(): boolean {
    switch (this.#reading) {
      case 'head':
        return this.#head()
      case 'size':
        return this.#size()
      case 'chunk':
        this.#left -= this.#take(this.#left)
        if (this.#left === 0) this.#reading = 'chunk-end'
        return true
      case 'chunk-end':
        if (this.#pending.length < 2) return false
        this.#pending = this.#pending.subarray(2)
        this.#reading = 'size'
        return true
      case 'rest':
        this.#take(this.#pending.length)
        return true
      case 'nothing':
        this.#pending = Buffer.alloc(0)
        return false
    }
  }

  #head(): boolean {
    const end = this.#pending.indexOf('\r\n\r\n')
    if (end < 0) return this.#tooLong(MAX_HEAD)
    const head = this.#pending.subarray(0, end).toString('latin1')
    this.#pending = this.#pending.subarray(end + 4)
    const status = Number(/^HTTP\/1\.\d (\d{3})/.exec(head)?.[1])
    if (Number.isNaN(status)) return this.#break()
    // An interim answer is not the answer.
    if (status < 200) return true
    this.#reading = /^transfer-encoding:\s*chunked\s*$/im.test(head) ? 'size' : 'rest'
    this.#sink.status(status)
    return true
  }

  #size(): boolean {
    const end = this.#pending.indexOf('\r\n')
    if (end < 0) return this.#tooLong(MAX_SIZE_LINE)
    const line = this.#pending.subarray(0, end).toString('latin1')
    this.#pending = this.#pending.subarray(end + 2)
    const size = /^[0-9a-f]{1,8}(?=[;\s]|$)/i.exec(line)?.[0]
    if (size === undefined) return this.#break()
    this.#left = Number.parseInt(size, 16)
    this.#reading = 'chunk'
    if (this.#left === 0) this.#finish()
    return true
  }

  /** Passes on up to `most` available bytes; returns their number. */
  #take(most: number): number {
    const piece = this.#pending.subarray(0, most)
    this.#pending = this.#pending.subarray(piece.length)
    const text = this.#text.write(piece)
    if (text !== '') this.#sink.data(text)
    return piece.length
  }

  #tooLong(limit: number): false {
    if (this.#pending.length > limit) this.#break()
    return false
  }

  #break(): false {
    this.#finish()
    this.#socket.destroy()
    return false
  }

  #finish(): void {
    if (this.#over) return
    this.#over = true
    this.#reading = 'nothing'
    this.#sink.end()
  }
}
