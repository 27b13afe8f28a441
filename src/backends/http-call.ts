import type { Dispatcher } from 'undici'
import type { CallEnd, CallHandle, CallSink } from '../contract/index.ts'
import { httpFault } from './http-fault.ts'
import { Utf8Reader } from './utf8-reader.ts'

type StopWhy = Parameters<CallHandle['stop']>[0]

/** The destination of an HTTP call and the receivers of its events. */
export interface HttpCallOptions {
  call: string | undefined
  /** Host and port, for messages. */
  where: string
  sink: CallSink
  /** Called with the headers of the answer, names in lower case. */
  onHead(headers: Readonly<Record<string, string>>): void
  /** True when the connection may have been used before. */
  mayBeKept(): boolean
  /** Called once, after the sink's `end`. */
  onEnd(call: HttpCall): void
}

/**
 * One request and its answer, as the handler that the HTTP client calls. The request's body is complete from the start.
 */
export class HttpCall implements CallHandle, Dispatcher.DispatchHandler {
  readonly #options: HttpCallOptions
  readonly #text = new Utf8Reader()
  /** Chunks since the last step: a server that writes each event by itself gives many small ones in one read. */
  readonly #chunks: Buffer[] = []
  #controller: Dispatcher.DispatchController | undefined
  #paused = false
  #answered = false
  #settled = false

  constructor(options: HttpCallOptions) {
    this.#options = options
  }

  /** True once the rest of the wire is ignored. */
  get settled(): boolean {
    return this.#settled
  }

  write(): boolean {
    return true
  }

  endInput(): void {}

  /** At most the current chunk still comes. */
  pause(): void {
    this.#paused = true
    this.#controller?.pause()
  }

  resume(): void {
    this.#paused = false
    this.#controller?.resume()
  }

  stop(why: StopWhy): void {
    if (this.#settled) return
    this.#settle({ why })
    this.#controller?.abort(new Error('The call was stopped.'))
  }

  /** The request could not be passed to the HTTP client. */
  fail(error: unknown): void {
    this.onResponseError(undefined, error)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#settled) {
      controller.abort(new Error('The call was stopped.'))
      return
    }
    this.#controller = controller
    this.#options.sink.started?.({})
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // An interim answer (1xx, RFC 9110 section 15.2) is not the answer.
    if (this.#settled || status < 200) return
    this.#answered = true
    if (this.#paused) controller.pause()
    const head = joined(headers)
    this.#options.onHead(head)
    this.#options.sink.head?.({ ...this.#name(), status, headers: head })
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#chunks.push(chunk) === 1) queueMicrotask(() => this.#read())
  }

  onResponseEnd(): void {
    this.#read()
    if (this.#settled) return
    const rest = this.#text.end()
    if (rest !== '') this.#options.sink.data(rest)
    this.#settle({ why: 'closed' })
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: unknown): void {
    this.#read()
    if (this.#settled) return
    const { where, mayBeKept } = this.#options
    this.#settle({ why: 'failed', fault: httpFault(error, where, this.#answered, mayBeKept()) })
  }

  /** Gives all that has come as one text. */
  #read(): void {
    const { length } = this.#chunks
    if (length === 0) return
    const chunks = this.#chunks.splice(0)
    if (this.#settled) return
    const text = this.#text.read(length === 1 ? chunks[0]! : Buffer.concat(chunks))
    if (text !== '') this.#options.sink.data(text)
  }

  /** The end comes a step later, so that it never comes from inside `open` or `stop`. */
  #settle(end: CallEnd): void {
    this.#settled = true
    queueMicrotask(() => {
      this.#options.sink.end({ ...this.#name(), ...end })
      this.#options.onEnd(this)
    })
  }

  #name(): { call?: string } {
    return this.#options.call === undefined ? {} : { call: this.#options.call }
  }
}

/** One value per name; the client gives the names in lower case. */
function joined(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const one: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined) one[name] = typeof value === 'string' ? value : value.join(', ')
  }
  return one
}
