import type { Frame, Framing } from '../../contract/index.ts'
import { encodeFrame } from '../../framing/index.ts'
import { lossSummary } from '../../model/index.ts'
import type { ClientOptions } from './client-options.ts'
import type { Exchange } from './exchange.ts'
import type { Outbox } from './outbox.ts'

const CONTENT_TYPE: Readonly<Record<Framing, string>> = {
  body: 'application/json; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  sse: 'text/event-stream; charset=utf-8',
  text: 'text/plain; charset=utf-8',
}

/** The owner of an output, as the output sees it. */
export interface OutputOwner {
  /** Output for clients goes through it. */
  readonly outbox: Outbox
  /** The time that a client may refuse to read, in milliseconds. */
  readonly stallLimit: number
  /** The client refused to read for longer than that. */
  stalled(): void
  /** The client stopped keeping up, or has caught up. */
  valve(): void
  /** Text is written to the client: once a tick. */
  wrote(text: string): void
}

/** The writing half of a client's wire: holds the head until the first frame, writes once per tick, watches the valve. */
export class ClientOutput {
  readonly #options: ClientOptions
  readonly #owner: OutputOwner
  #current: Exchange | undefined
  #framing: Framing | undefined
  #buffer = ''
  #flushing = false
  #flushed: (() => void)[] = []
  #stall: NodeJS.Timeout | undefined
  #trailing: Exchange | undefined
  /** The exit code that it ends with, once everything is written. */
  #ending: number | undefined
  #over = false
  #spoke = false
  /** HTTP status of what is being encoded; fixed by the first frame. */
  status = 200
  clogged = false

  constructor(options: ClientOptions, owner: OutputOwner) {
    this.#options = options
    this.#owner = owner
  }

  /** Runs an encoder of the link: its frames belong to this exchange; the first one of the wire has this status. */
  during(exchange: Exchange | undefined, status: number, encode: () => void): void {
    this.#current = exchange
    if (this.#framing === undefined) this.status = status === 200 ? (exchange?.answer.status ?? 200) : status
    encode()
    this.#current = undefined
  }

  send(frame: Frame): void {
    if (this.#over || this.#ending !== undefined) return
    this.#spoke = true
    this.#framing ??= this.#head(frame)
    this.#buffer += encodeFrame(this.#framing, frame)
    if (this.#framing === 'body' && this.#options.context.transport === 'stdio') this.#buffer += '\n'
    this.#schedule()
  }

  /** Calls back when everything sent so far is with the client; never when it is gone. */
  whenFlushed(callback: () => void): void {
    this.#flushed.push(callback)
    this.#schedule()
  }

  /** True once the head of the answer is decided. */
  get begun(): boolean {
    return this.#framing !== undefined
  }

  /** True when nothing was sent since this was last asked. */
  wasSilent(): boolean {
    const silent = !this.#spoke
    this.#spoke = false
    return silent
  }

  drained(): void {
    if (!this.clogged) return
    clearTimeout(this.#stall)
    this.clogged = false
    this.#owner.valve()
  }

  /** Writes what is left and closes the wire. */
  finish(exitCode: number): void {
    if (this.#framing === undefined) this.#nothing()
    this.#ending ??= exitCode
    this.#schedule()
  }

  /** Nothing can be written any more. */
  abort(): void {
    this.#over = true
    clearTimeout(this.#stall)
    this.#options.sink.abort()
  }

  #head(frame: Frame): Framing {
    const answer = this.#current?.answer
    const wanted = answer?.framing ?? this.#options.dialect.framing
    const framing = wanted === 'sse' && typeof frame === 'string' ? 'body' : wanted
    if (answer?.form === 'stream') this.#trailing = this.#current
    this.#options.sink.head(this.status, {
      'content-type': CONTENT_TYPE[framing],
      ...turnHeaders(this.#current),
      ...answer?.headers,
    })
    return framing
  }

  /** There was nothing to say: over HTTP an answer without content, which also tells an EventSource to stop asking. */
  #nothing(): void {
    if (this.#options.context.transport === 'http' && this.status === 200) this.status = 204
    this.#options.sink.head(this.status, {})
  }

  #schedule(): void {
    if (this.#flushing || this.#over) return
    this.#flushing = true
    this.#owner.outbox.add(() => this.#flush())
  }

  #flush(): void {
    this.#flushing = false
    if (this.#over) return
    const text = this.#buffer
    this.#buffer = ''
    if (text !== '') this.#owner.wrote(text)
    if (text !== '' && !this.#options.sink.write(text)) this.#clog()
    for (const callback of this.#flushed.splice(0)) this.#options.sink.whenRead(callback)
    if (this.#ending !== undefined) this.#end(this.#ending)
  }

  #end(exitCode: number): void {
    this.#over = true
    clearTimeout(this.#stall)
    const summary = this.#trailing && lossSummary(this.#trailing.losses)
    this.#options.sink.end(exitCode, summary ? { 'turnpike-loss': summary } : undefined)
  }

  #clog(): void {
    if (this.clogged) return
    this.clogged = true
    this.#stall = setTimeout(() => this.#owner.stalled(), this.#owner.stallLimit)
    this.#owner.valve()
  }
}

/** The `Turnpike-*` headers of an exchange's answer. */
function turnHeaders(exchange: Exchange | undefined): Record<string, string> {
  const { turn, past } = exchange ?? {}
  const about = past ?? (turn && { turn: turn.id, agent: turn.agent.name })
  if (!exchange || !about) return {}
  const headers: Record<string, string> = { 'turnpike-turn': about.turn, 'turnpike-agent': about.agent }
  if (exchange.replays) headers['idempotent-replayed'] = 'true'
  const summary = lossSummary(exchange.losses)
  if (summary) headers['turnpike-loss'] = summary
  return headers
}
