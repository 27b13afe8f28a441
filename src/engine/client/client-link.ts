import type { FrontContext, Hooks, Replica, RequestScope } from '../../contract/index.ts'
import { type FrameDecoder, frameDecoder } from '../../framing/index.ts'
import type { Command, Fault, Id, Target } from '../../model/index.ts'
import { type CurrentSettings, type EngineSettings, inStep, newId } from '../common/index.ts'
import type { ClientOptions } from './client-options.ts'
import { ClientOutput } from './client-output.ts'
import { ClientTap } from './client-tap.ts'
import { Crossing } from './crossing.ts'
import type { Exchange } from './exchange.ts'
import { FrontHost } from './front-host.ts'
import type { FrontOpening } from './front-wire.ts'
import type { Outbox } from './outbox.ts'
import { codeOfEnd, type StopSignal, TERMINATED } from './stop-signal.ts'

/** Listener for commands of clients, and for what they hold. */
export interface ClientListener {
  /** A client gives a command; `exchange` waits for the answer, if one is wanted. */
  command(client: ClientLink, command: Command, exchange: Exchange | undefined): void
  /** A client holds the answer of a recorded turn. */
  delivered(turn: Id): void
  /** The codec of a client threw an exception: for the log. */
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

/** One client's wire while it lasts: a `FrontHost` with the bytes and the timers of its wire. */
export class ClientLink {
  readonly options: ClientOptions
  readonly scope: RequestScope
  /** The ids that its front is given begin with it. */
  readonly id: string
  readonly #peers: ClientPeers
  readonly #host: FrontHost
  readonly #decoder: FrameDecoder
  readonly #output: ClientOutput
  #idle: NodeJS.Timeout | undefined
  #keepAlive: NodeJS.Timeout | undefined
  /** The last text of the wire. */
  readonly #exit: { code?: number | undefined; signal: StopSignal } = { signal: 'SIGTERM' }
  /** Present where there are other replicas: the one that answers the client. */
  readonly #crossing: Crossing | undefined
  gone = false

  constructor(peers: ClientPeers, options: ClientOptions) {
    this.options = options
    const { detour } = options.sink
    this.#crossing = detour && new Crossing(detour)
    this.scope = requestOf(peers.hooks, options)
    this.id = options.sink.begun?.link ?? newId()
    this.#peers = peers
    this.#host = this.#newHost()
    this.#output = this.#newOutput()
    this.#decoder = this.#newDecoder()
  }

  /** Begins: the request that comes without a frame is issued here. */
  open(): void {
    if (this.#host.closed) return
    this.#safely(() => this.#host.open())
    const { idleMs } = this.#host
    if (idleMs !== undefined && !this.#host.closed) this.#idle = setTimeout(() => this.end('idle'), idleMs)
  }

  /** Answers the client with a failure before a request was read; the wire closes. `http` overrides the status. */
  refuse(found: Fault, http?: number): void {
    this.#host.fault(found, 'continues', undefined, http)
    this.#host.close(1)
  }

  /** Bytes of the client, as text. */
  push(text: string): void {
    this.scope.received?.(text)
    if (!this.#host.inputEnded) this.#safely(() => this.#decoder.push(text))
  }

  /** The client's input ended, nothing came in time, or the gateway stops. */
  end(why: 'eof' | 'idle' | 'signal', signal: StopSignal = 'SIGTERM'): void {
    if (this.#host.closed) return
    if (why === 'signal') {
      this.#exit.signal = signal
      this.#exit.code ??= TERMINATED
      for (const exchange of this.#host.exchanges) exchange.stop()
    }
    this.#safely(() => {
      if (why === 'eof' && !this.#host.inputEnded) this.#decoder.end()
      if (this.#host.inputEnded) this.#maybeFinish()
      else this.#host.decodeEnd(why)
    })
  }

  /** The client is gone: what runs for it is cancelled or drained, as its answers say. */
  disconnect(): void {
    if (this.#output.closed) return
    this.gone = true
    for (const exchange of this.#host.exchanges) {
      exchange.turn?.leave(exchange)
      exchange.drop()
    }
    this.#finish(1)
  }

  /** Another replica may still answer the whole wire. */
  get mayLeave(): boolean {
    return this.#crossing?.open === true && !this.#output.closed
  }

  /** Another replica has sent it on to this one. */
  get forwarded(): boolean {
    return this.#crossing?.forwarded === true
  }

  /** This replica answers the wire. */
  settle(): void {
    this.#crossing?.settle()
  }

  /** Another replica answers the wire, of which this one has answered no command. False when it has, or the client is gone. */
  leaveFor(replica: Replica, repeatable: boolean): boolean {
    if (!this.mayLeave) return false
    this.#host.closed = true
    this.#host.inputEnded = true
    this.#stopTimers()
    this.#output.leave()
    for (const exchange of this.#host.exchanges) exchange.drop()
    this.scope.end({})
    this.#crossing!.leave(replica, repeatable, { link: this.id, told: this.#output.told })
    return true
  }

  /** The client has caught up with what was written. */
  drained(): void {
    this.#output.drained()
  }

  /** Keeps what its wire carries, in a gateway that keeps wires. */
  get tap(): ClientTap | undefined {
    return this.#output.tap
  }

  /** The exchange of this wire whose turn a target means. */
  exchangeOf(target: Target): Exchange | undefined {
    return this.#host.exchangeOf(target)
  }

  /** Writes to a streamed wire, which shows whether its client is still there. */
  probe(): void {
    if (!this.#output.closed && (this.#output.begun || this.#host.exchanges.length > 0)) this.#host.keepAlive()
  }

  #newHost(): FrontHost {
    const { front, context, sink } = this.options
    const opening: FrontOpening = {
      dialect: front.dialect,
      context,
      idPrefix: `${this.id}-`,
      now: this.#peers.now,
      warn: (text) => sink.warn(text),
      statusOf: ({ code }) => front.codec.errors[code].http,
    }
    return new FrontHost(opening, {
      command: (command, exchange) => this.#command(command, exchange),
      send: (frame) => this.#output.send(frame),
      sendRun: (run) => this.#output.sendRun(run),
      fault: (found) => this.scope.fault(found),
      ended: (exchange) => this.#ended(exchange),
      inputEnded: (exitCode) => this.#onInputEnded(exitCode),
    })
  }

  #newOutput(): ClientOutput {
    const { context, sink } = this.options
    return new ClientOutput(this.#host, {
      outbox: this.#peers.outbox,
      sink,
      scope: this.scope,
      tap: tapOf(context, this.#peers.settings.current),
      stallLimit: this.#peers.settings.current.limits.idle,
      stalled: () => this.disconnect(),
    })
  }

  #newDecoder(): FrameDecoder {
    const { input } = this.options
    const { limits } = this.#peers.settings.current
    return frameDecoder(input, input === 'body' ? limits.body : limits.line, {
      frame: (frame) => {
        clearTimeout(this.#idle)
        this.#output.tap?.received(frame)
        this.#host.decode(frame)
      },
      fault: (broken) => this.#host.fault(broken, 'ends'),
    })
  }

  #command(command: Command, exchange: Exchange | undefined): void {
    // The timer runs at half that interval, so that no silence lasts longer than it may.
    if (exchange && this.#host.canKeepAlive)
      this.#keepAlive ??= setInterval(() => this.#stayAlive(), this.#peers.keepAliveMs / 2)
    const { listener } = this.#peers
    if (this.#crossing) this.#crossing.step(() => listener.command(this, command, exchange))
    else listener.command(this, command, exchange)
  }

  /** The client holds the answer once it has read all of it; duplicates depend on that. */
  #ended(exchange: Exchange): void {
    const { turn, past, follows } = exchange
    if (!this.gone && !follows) {
      if (turn) this.#output.whenFlushed(() => turn.delivered(exchange))
      else if (past) this.#output.whenFlushed(() => this.#peers.listener.delivered(past.turn))
    }
    this.#maybeFinish()
  }

  #onInputEnded(exitCode: number | undefined): void {
    clearTimeout(this.#idle)
    this.#exit.code = exitCode ?? this.#exit.code
    if (exitCode === undefined && this.options.context.transport !== 'http') this.#host.inputClosed()
    this.#maybeFinish()
  }

  #maybeFinish(): void {
    if (this.#host.inputEnded && this.#host.exchanges.length === 0) this.#finish(this.#exit.code ?? 0)
  }

  #finish(exitCode: number): void {
    if (this.#output.closed) return
    this.#host.closed = true
    this.#stopTimers()
    const code = codeOfEnd(exitCode, this.#exit.signal)
    if (this.gone) this.#output.abort()
    else this.#output.finish(code)
    this.scope.end({ status: this.#output.status, exitCode: code })
  }

  #stopTimers(): void {
    clearTimeout(this.#idle)
    clearInterval(this.#keepAlive)
  }

  /** Proxies between the gateway and the client may cut a wire that is silent for long. */
  #stayAlive(): void {
    if (this.#output.wasSilent()) this.probe()
  }

  /** Codecs must not throw; one that does ends its own client's wire and not the gateway. */
  #safely(work: () => void): void {
    try {
      inStep(work)
    } catch (error) {
      this.#peers.listener.broken(this, error)
      this.disconnect()
    }
  }
}

/** A tap, where a route keeps wires: which turns this client will begin is not known yet. */
function tapOf({ method, path, argv }: FrontContext, { routes }: EngineSettings): ClientTap | undefined {
  if (!routes.some(({ journal }) => journal === 'wire')) return undefined
  return new ClientTap(method === '' ? JSON.stringify(argv) : `${method} ${path}`)
}

function requestOf(hooks: Hooks, { context, front, carrier }: ClientOptions): RequestScope {
  const { transport, method, path } = context
  return hooks.request({ transport, front: front.name, method, path, carrier })
}
