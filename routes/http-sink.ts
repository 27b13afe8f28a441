import type { ServerResponse } from 'node:http'
import type { ClientSink } from '../src/contract/index.ts'

/** What a header value may hold: printable ASCII. Anything else (a line feed above all) is left out, not escaped. */
const HEADER_VALUE = /^[\t\x20-\x7e]*$/
const MAX_HEADER = 1024

/** Writes a client's answer straight to Node's response: one write per tick, no stream objects between. */
export class HttpSink implements ClientSink {
  readonly #response: ServerResponse
  /** Who waits for the answer to be read. One listener for all: a wire may bring many turns. */
  readonly #unread: (() => void)[] = []
  /** An answer to HEAD is over with its head, whatever a GET would go on with. */
  readonly #headOnly: boolean
  #body = ''
  #streaming = false

  /** `drained` is called whenever the client has caught up. */
  constructor(response: ServerResponse, drained: () => void) {
    this.#response = response
    this.#headOnly = response.req.method === 'HEAD'
    response.on('drain', drained)
    response.on('finish', () => {
      for (const callback of this.#unread) callback()
    })
    // A client that resets its connection is seen by 'close'; without a listener its error would end the process.
    response.on('error', () => {})
  }

  head(status: number, headers: Record<string, string>): void {
    if (this.#response.headersSent) return
    this.#response.statusCode = status
    this.#streaming = !headers['content-type']?.startsWith('application/json')
    if (status === 429 && !this.#response.hasHeader('retry-after')) this.#response.setHeader('retry-after', '1')
    for (const [name, value] of Object.entries(headers)) {
      if (value.length <= MAX_HEADER && HEADER_VALUE.test(value)) this.#response.setHeader(name, value)
    }
    if (this.#headOnly) {
      this.#response.end()
      return
    }
    // Without content, or over HTTP/1.0, there are no chunks to put one behind, and Node throws where it is announced.
    if (this.#streaming && status !== 204 && this.#response.req.httpVersion !== '1.0')
      this.#response.setHeader('trailer', 'turnpike-loss')
  }

  write(text: string): boolean {
    if (this.#response.destroyed || this.#headOnly) return true
    if (this.#streaming) return this.#response.write(text)
    // A whole answer goes out with its length at the end, in one piece.
    this.#body += text
    return true
  }

  /** An answer is with the client as a whole: an exchange is over when the response is. */
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
