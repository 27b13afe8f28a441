import type { Answer, Capabilities, Frame, FrontLink, Hooks, InputFate, RequestScope } from '../../contract/index.ts'
import { type FrameDecoder, frameDecoder } from '../../framing/index.ts'
import type { Command, Fault, Id, LinkEvent, Target, TurnEvent } from '../../model/index.ts'
import { type CurrentSettings, newId } from '../common/index.ts'
import type { LiveView } from '../events/index.ts'
import type { ClientOptions } from './client-options.ts'
import { ClientOutput } from './client-output.ts'
import { Exchange, type ExchangeHost } from './exchange.ts'
import type { Outbox } from './outbox.ts'
import { codeOfEnd, type StopSignal, TERMINATED } from './stop-signal.ts'

/** Hears what clients want and have got. */
export interface ClientListener {
  /** A client gives a command; `exchange` waits for the answer, if one is wanted. */
  command(client: ClientLink, command: Command, exchange: Exchange | undefined): void
  /** A client holds the answer of a recorded turn. */
  delivered(turn: Id): void
  /** The codec of a client threw something: for the log. */
  broken(client: ClientLink, error: unknown): void
}

/** The parts of the gateway that every client's wire works with. */
export interface ClientPeers {
  listener: ClientListener
  /** Output for clients goes through it. */
  outbox: Outbox
  hooks: Hooks
  settings: CurrentSettings
  /** The time that a streamed answer may be silent before its wire is kept alive, in milliseconds. */
  keepAliveMs: number
  /** Milliseconds since the epoch. */
  now(): number
}

/** One client's wire while it lasts: hosts the codec's `FrontLink`, frames its bytes, owns its exchanges. */
export class ClientLink implements ExchangeHost {
  readonly options: ClientOptions
  readonly scope: RequestScope
  /** The ids that its front is given begin with it. */
  readonly id: string
  readonly #peers: ClientPeers
  readonly #link: FrontLink
  readonly #decoder: FrameDecoder
  readonly #output: ClientOutput
  readonly #exchanges = new Map<Id, Exchange>()
  #ids = 0
  #idle: NodeJS.Timeout | undefined
  #keepAlive: NodeJS.Timeout | undefined
  #inputEnded = false
  #exitCode: number | undefined
  #signal: StopSignal = 'SIGTERM'
  #finished = false
  gone = false

  constructor(peers: ClientPeers, options: ClientOptions) {
    const { limits } = peers.settings.current
    this.options = options
    this.#peers = peers
    this.id = newId()
    this.scope = requestOf(peers.hooks, options)
    this.#output = new ClientOutput(options, {
      outbox: peers.outbox,
      stallLimit: limits.idle,
      stalled: () => this.disconnect(),
      valve: () => this.#valve(),
      wrote: (text) => this.scope.sent?.(text),
    })
    this.#decoder = frameDecoder(options.input, options.input === 'body' ? limits.body : limits.line, {
      frame: (frame) => this.#decode(frame),
      fault: (broken) => this.#fault(broken, 'ends'),
    })
    this.#link = options.dialect.front.open(options.context, {
      command: (command, answer) => this.#command(command, answer),
      send: (frame) => this.#output.send(frame),
      warn: (text) => options.sink.warn(text),
      fault: (found, input, exchange, http) => this.#fault(found, input, exchange, http),
      report: (loss, exchange) => this.#exchanges.get(exchange)?.lost(loss),
      losses: (exchange) => this.#exchanges.get(exchange)?.losses ?? [],
      newId: () => `${this.id}-${++this.#ids}`,
      now: () => peers.now(),
      close: (exitCode) => this.#close(exitCode),
    })
  }

  get capabilities(): Capabilities {
    return this.options.dialect.front.capabilities
  }

  get clogged(): boolean {
    return this.#output.clogged
  }

  get inputClosed(): boolean {
    return this.#inputEnded && this.options.context.transport !== 'http'
  }

  /** Begins: the request that comes without a frame is issued here. */
  open(): void {
    if (this.#finished) return
    this.#safely(() => this.#link.open?.())
    const { idleMs } = this.#link
    if (idleMs !== undefined && !this.#finished) this.#idle = setTimeout(() => this.end('idle'), idleMs)
  }

  /** Answers the client with a failure before a request was read; the wire closes. `http` overrides the status. */
  refuse(found: Fault, http?: number): void {
    this.#fault(found, 'continues', undefined, http)
    this.#close(1)
  }

  /** Bytes of the client, as text. */
  push(text: string): void {
    this.scope.received?.(text)
    if (!this.#finished && !this.#inputEnded) this.#safely(() => this.#decoder.push(text))
  }

  /** The client's input ended, nothing came in time, or we are told to stop. */
  end(why: 'eof' | 'idle' | 'signal', signal: StopSignal = 'SIGTERM'): void {
    if (this.#finished) return
    if (why === 'signal') {
      this.#signal = signal
      this.#exitCode ??= TERMINATED
      for (const exchange of [...this.#exchanges.values()]) exchange.stop()
    }
    this.#safely(() => {
      if (why === 'eof' && !this.#inputEnded) this.#decoder.end()
      if (this.#inputEnded) this.#maybeFinish()
      else this.#endInput(why)
    })
  }

  /** The client is gone: what runs for it is cancelled or drained, as its answers say. */
  disconnect(): void {
    if (this.#finished || this.gone) return
    this.gone = true
    for (const exchange of [...this.#exchanges.values()]) {
      exchange.turn?.leave(exchange)
      exchange.drop()
    }
    this.#finish(1)
  }

  /** The client has caught up with what was written. */
  drained(): void {
    this.#output.drained()
  }

  encode(event: TurnEvent, exchange: Exchange, view: LiveView): void {
    const status = event.type === 'turn-end' ? this.#statusOf(event.fault) : 200
    this.#output.during(exchange, status, () => this.#link.encode(event, exchange.id, view))
  }

  encodeFault(found: Fault, exchange: Exchange): void {
    this.scope.fault(found)
    this.#output.during(exchange, this.#statusOf(found), () => this.#link.encodeFault(found, exchange.id, 'continues'))
  }

  /** An event without a turn: for this client when it answers one of its commands, or when it shares the session. */
  encodeLink(event: LinkEvent): void {
    if (this.#finished) return
    const exchange = event.type === 'command-reply' ? this.#exchanges.get(event.exchange) : undefined
    const found = event.type === 'command-reply' ? event.fault : undefined
    this.#output.during(exchange, this.#statusOf(found), () => this.#link.encodeLink?.(event))
  }

  /** The exchange of this wire whose turn a target means. */
  exchangeOf(target: Target): Exchange | undefined {
    return [...this.#exchanges.values()].find((exchange) => exchange.isMeantBy(target))
  }

  exchangeEnded(exchange: Exchange): void {
    this.#exchanges.delete(exchange.id)
    if (!this.gone && !exchange.follows) this.#whenRead(exchange)
    this.#maybeFinish()
  }

  /** The client holds what the exchange was to bring: that counts for duplicates. */
  #whenRead({ turn, past }: Exchange): void {
    if (turn) this.#output.whenFlushed(() => turn.delivered())
    else if (past) this.#output.whenFlushed(() => this.#peers.listener.delivered(past.turn))
  }

  #statusOf(found: Fault | undefined): number {
    return found ? this.options.codec.errors[found.code].http : 200
  }

  #decode(frame: Frame): void {
    clearTimeout(this.#idle)
    if (!this.#finished && !this.#inputEnded) this.#link.decode(frame)
  }

  #command(command: Command, answer: Answer | undefined): void {
    if (this.#finished) return
    const exchange = answer && new Exchange(command, answer, this)
    if (exchange) {
      this.#exchanges.set(exchange.id, exchange)
      // Twice as often, so that silence since the last look is at most as long as it may be.
      this.#keepAlive ??= this.#link.keepAlive && setInterval(() => this.#stayAlive(), this.#peers.keepAliveMs / 2)
    }
    this.#peers.listener.command(this, command, exchange)
  }

  /** A failure that the link or its decoder found; its exchange, if any, ends with it, and the input, if that is lost. */
  #fault(found: Fault, input: InputFate, id?: Id, http?: number): void {
    this.scope.fault(found)
    const exchange = id === undefined ? undefined : this.#exchanges.get(id)
    if (exchange) exchange.ended = true
    this.#output.during(exchange, http ?? this.#statusOf(found), () => this.#link.encodeFault(found, id, input))
    if (exchange) {
      // Nobody hears the rest of a turn whose answer has ended.
      if (exchange.turn?.ended === false) exchange.turn.leave(exchange)
      this.exchangeEnded(exchange)
    }
    if (input === 'ends' && !this.#finished && !this.#inputEnded) this.#endInput('eof')
  }

  #endInput(why: 'eof' | 'idle' | 'signal'): void {
    clearTimeout(this.#idle)
    this.#inputEnded = true
    this.#link.decodeEnd?.(why)
    if (this.inputClosed)
      for (const { turn, follows } of [...this.#exchanges.values()]) if (!follows) turn?.onInputClosed()
    this.#maybeFinish()
  }

  #close(exitCode: number): void {
    if (this.#finished) return
    this.#exitCode = exitCode
    this.#inputEnded = true
    for (const exchange of [...this.#exchanges.values()]) {
      exchange.stop()
      exchange.drop()
    }
    this.#maybeFinish()
  }

  #maybeFinish(): void {
    if (this.#inputEnded && this.#exchanges.size === 0) this.#finish(this.#exitCode ?? 0)
  }

  #finish(exitCode: number): void {
    if (this.#finished) return
    this.#finished = true
    clearTimeout(this.#idle)
    clearInterval(this.#keepAlive)
    const code = codeOfEnd(exitCode, this.#signal)
    if (this.gone) this.#output.abort()
    else this.#output.finish(code)
    this.scope.end({ status: this.#output.status, exitCode: code })
  }

  /** Says something on a streamed wire, by which it shows whether its client is still there. */
  probe(): void {
    const [exchange] = this.#exchanges.values()
    if (this.#finished || !(exchange || this.#output.begun)) return
    this.#output.during(exchange, 200, () => this.#link.keepAlive?.())
  }

  /** Proxies between the gateway and the client may cut a wire that is silent for long. */
  #stayAlive(): void {
    if (this.#output.wasSilent()) this.probe()
  }

  /** Codecs throw nothing; one that does all the same takes down its own client's wire, not the gateway. */
  #safely(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#peers.listener.broken(this, error)
      this.disconnect()
    }
  }

  #valve(): void {
    for (const exchange of this.#exchanges.values()) exchange.turn?.valve()
  }
}

function requestOf(hooks: Hooks, { context, front, carrier }: ClientOptions): RequestScope {
  const { transport, method, path } = context
  return hooks.request({ transport, front, method, path, carrier })
}
