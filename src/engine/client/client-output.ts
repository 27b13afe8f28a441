import type { ClientSink, Frame, FrameRun, Framing, RequestScope } from '../../contract/index.ts'
import { encodeFrame, encodeRun } from '../../framing/index.ts'
import { answerHead, lossTrailers } from './answer-head.ts'
import type { ClientTap } from './client-tap.ts'
import type { Exchange } from './exchange.ts'
import type { FrontHost } from './front-host.ts'
import type { Outbox, Outgoing } from './outbox.ts'

/** Dependencies of the output of a client. */
export interface OutputWay {
  outbox: Outbox
  sink: ClientSink
  scope: RequestScope
  /** Keeps what is written, in a gateway that keeps wires. */
  tap: ClientTap | undefined
  /** The time that a client may refuse to read, in milliseconds. */
  stallLimit: number
  /** The client refused to read for longer than that, or must get nothing more. */
  stalled(): void
}

/** The writing half of a client's wire: holds the head until the first frame, writes once per tick, watches the valve. */
export class ClientOutput implements Outgoing {
  readonly #host: FrontHost
  readonly #way: OutputWay
  #head: { framing?: Framing; status: number } | undefined
  #buffer = ''
  /** It waits for a commit that has not begun. */
  #scheduled = false
  /** Callbacks, each for the time when everything up to a place was written. */
  readonly #flushed: { at: number; callback: () => void }[] = []
  #stall: NodeJS.Timeout | undefined
  #trailing: Exchange | undefined
  /** The exit code that it ends with, once everything is written. */
  #ending: number | undefined
  #over = false
  #spoke = false
  /** The UTF-16 units that were written; negative while they repeat what another replica has written. */
  #place: number

  constructor(host: FrontHost, way: OutputWay) {
    this.#host = host
    this.#way = way
    this.#place = -(way.sink.begun?.told ?? 0)
  }

  /** The HTTP status of the answer; the first frame decides it. */
  get status(): number {
    return this.#head?.status ?? this.#host.status
  }

  /** Sends a frame of the answer that is being encoded. */
  send(frame: Frame): void {
    if (this.closed) return
    this.#spoke = true
    const framing = this.#head?.framing ?? this.#begin(frame)
    this.#add(framing, encodeFrame(framing, frame))
  }

  /** Sends frames of the answer that is being encoded. */
  sendRun(run: FrameRun): void {
    if (this.closed) return
    this.#spoke = true
    const framing = this.#head?.framing ?? this.#begin({ data: '' })
    this.#add(framing, encodeRun(framing, run))
  }

  #add(framing: Framing, text: string): void {
    this.#buffer += text
    this.#way.tap?.sent(text, this.#host.answering)
    if (framing === 'body' && this.#host.transport === 'stdio') this.#buffer += '\n'
    this.#schedule()
  }

  /** Keeps what is written, in a gateway that keeps wires. */
  get tap(): ClientTap | undefined {
    return this.#way.tap
  }

  /** Calls back when the client has everything that was sent so far; never when the client has left. */
  whenFlushed(callback: () => void): void {
    this.#flushed.push({ at: this.#last, callback })
    this.#schedule()
  }

  /** True once the head of the answer is decided. */
  get begun(): boolean {
    return this.#head !== undefined
  }

  /** The UTF-16 units that were written to the client. */
  get told(): number {
    return Math.max(0, this.#place)
  }

  /** Nothing more is sent: it ends, or was cut. */
  get closed(): boolean {
    return this.#over || this.#ending !== undefined
  }

  /** True when nothing was sent since this was last asked. */
  wasSilent(): boolean {
    const silent = !this.#spoke
    this.#spoke = false
    return silent
  }

  /** The client has caught up with what was written. */
  drained(): void {
    if (!this.#host.client.clogged) return
    clearTimeout(this.#stall)
    this.#host.flow(false)
  }

  /** A commit begins: gives the place up to which it counts. */
  mark(): number {
    this.#scheduled = false
    return this.#last
  }

  /** Writes the text up to a place, and closes the wire when nothing comes after it. */
  flush(until: number): void {
    if (this.#host.client.refused) this.#refuse()
    if (this.#over) return
    this.#write(until - this.#place)
    while (this.#flushed.length > 0 && this.#flushed[0]!.at <= this.#place)
      this.#way.sink.whenRead(this.#flushed.shift()!.callback)
    if (this.#ending !== undefined && this.#buffer === '' && !this.#scheduled) this.#end(this.#ending)
  }

  /** Writes what is left and closes the wire. */
  finish(exitCode: number): void {
    if (!this.#head) this.#beginEmpty()
    this.#ending ??= exitCode
    this.#schedule()
  }

  /** Somebody else writes from here on. */
  leave(): void {
    this.#over = true
  }

  /** Nothing can be written any more. */
  abort(): void {
    this.#over = true
    clearTimeout(this.#stall)
    this.#way.sink.abort()
  }

  #begin(frame: Frame): Framing {
    const { answering } = this.#host
    const framing = this.#host.framingOf(frame)
    if (answering?.answer.form === 'stream') this.#trailing = answering
    const { status } = this.#host
    this.#head = { framing, status }
    const { headers, failure } = this.#host
    const head = answerHead(framing, answering, failure)
    this.#way.sink.head(status, headers ? { ...headers, ...head } : head)
    return framing
  }

  /**
   * There is nothing to write: over HTTP that is an answer without content, which also tells an EventSource not to
   * reconnect.
   */
  #beginEmpty(): void {
    const { status } = this.#host
    this.#head = { status: this.#host.transport === 'http' && status === 200 ? 204 : status }
    this.#way.sink.head(this.#head.status, {})
  }

  #schedule(): void {
    if (this.#scheduled || this.#over) return
    this.#scheduled = true
    this.#way.outbox.add(this)
  }

  /** The place up to which there is text, as `#place` counts. */
  get #last(): number {
    return this.#place + this.#buffer.length
  }

  /** Writes so many UTF-16 units of the text. */
  #write(units: number): void {
    if (units <= 0) return
    const text = this.#unread(this.#buffer.slice(0, units))
    this.#buffer = this.#buffer.slice(units)
    if (text === '') return
    this.#way.scope.sent?.(text)
    if (!this.#way.sink.write(text)) this.#clog()
  }

  /** The text without what another replica has already written to the client. */
  #unread(text: string): string {
    const from = Math.min(text.length, Math.max(0, -this.#place))
    this.#place += text.length
    return from === 0 ? text : text.slice(from)
  }

  /** Cuts the wire instead of writing what the record refuses. */
  #refuse(): void {
    if (this.#ending === undefined) this.#way.stalled()
    if (!this.#over) this.abort()
  }

  #end(exitCode: number): void {
    this.#over = true
    clearTimeout(this.#stall)
    this.#way.sink.end(exitCode, lossTrailers(this.#trailing))
  }

  #clog(): void {
    if (this.#host.client.clogged) return
    this.#stall = setTimeout(() => this.#way.stalled(), this.#way.stallLimit)
    this.#host.flow(true)
  }
}
