import type { ServerResponse } from 'node:http'
import type { Begun, ClientSink, Detour } from '../src/contract/index.ts'

/** The characters of a header value: printable ASCII. Others (above all line feeds) are left out, not escaped. */
const HEADER_VALUE = /^[\t\x20-\x7e]*$/
const MAX_HEADER = 1024

/** The most UTF-16 units of a text that are copied into a chunk: from there on a copy costs more than two more writes. */
const COPIED_UNITS = 8192

/** Writes a client's answer straight to Node's response: one write per tick, without stream objects between. */
export class HttpSink implements ClientSink {
  readonly #response: ServerResponse
  /** The callbacks that wait until the answer is read. They share one listener, because a wire may bring many turns. */
  readonly #unread: (() => void)[] = []
  /** An answer to HEAD ends with its head. */
  readonly #headOnly: boolean
  #body = ''
  #streaming = false

  readonly detour: Detour | undefined
  readonly begun: Begun | undefined

  /** `drained` is called whenever the client has caught up; `wire` is its way to other replicas, and from one. */
  constructor(response: ServerResponse, drained: () => void, wire: Pick<ClientSink, 'detour' | 'begun'> = {}) {
    this.detour = wire.detour
    this.begun = wire.begun
    this.#response = response
    this.#headOnly = response.req.method === 'HEAD'
    response.on('drain', drained)
    response.on('finish', () => {
      for (const callback of this.#unread) callback()
    })
    // A reset connection is handled at 'close'; without a listener its error would end the process.
    response.on('error', () => {})
  }

  head(status: number, headers: Record<string, string>): void {
    if (this.#response.headersSent) return
    this.#response.statusCode = status
    this.#streaming = !headers['content-type']?.startsWith('application/json')
    if (status === 429 && !this.#response.hasHeader('retry-after')) this.#response.setHeader('retry-after', '1')
    for (const name in headers) {
      const value = headers[name]!
      if (value.length <= MAX_HEADER && HEADER_VALUE.test(value)) this.#response.setHeader(name, value)
    }
    if (this.#headOnly) {
      this.#response.end()
      return
    }
    // Without content, or over HTTP/1.0, there are no chunks for trailers, and Node throws when one is announced.
    if (this.#streaming && status !== 204 && this.#response.req.httpVersion !== '1.0')
      this.#response.setHeader('trailer', 'turnpike-loss')
  }

  write(text: string): boolean {
    if (this.#response.destroyed || this.#headOnly) return true
    if (this.#streaming) return this.#writeChunk(text)
    // A whole answer is written at the end in one piece, with its length.
    this.#body += text
    return true
  }

  /**
   * Writes a chunk (RFC 9112, section 7.1). Node.js writes one in four pieces, which costs nearly twice as much: it is
   * given a whole one, unless it is long, the head has to be written first, or the connection knows no chunks. What was
   * written in the same tick may still be with Node.js, which would send it after a whole chunk.
   */
  #writeChunk(text: string): boolean {
    const response = this.#response
    const isPlain = !response.chunkedEncoding || text === '' || response.writableCorked > 0
    if (isPlain || text.length > COPIED_UNITS) return response.write(text)
    response.chunkedEncoding = false
    const ready = response.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`)
    response.chunkedEncoding = true
    return ready
  }

  /** Calls back when the response is finished: only then the client has the whole answer. */
  whenRead(callback: () => void): void {
    this.#unread.push(callback)
  }

  warn(): void {}

  end(_exitCode: number, trailers?: Record<string, string>): void {
    if (this.#response.destroyed || this.#headOnly) return
    if (trailers && this.#streaming) this.#response.addTrailers(trailers)
    if (this.#streaming) this.#response.end()
    else this.#response.end(this.#body)
  }

  abort(): void {
    this.#response.destroy()
  }
}
