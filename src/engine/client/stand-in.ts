import type { AnyCodec, Carrier, ClientSink, Frame } from '../../contract/index.ts'
import { type FrameDecoder, frameDecoder } from '../../framing/index.ts'
import type { ClientLink } from './client-link.ts'
import type { ClientAccess, ClientOptions } from './client-options.ts'
import { frontsOf, type NamedFront, type Started, stdioContext, takenBy } from './stdio-fronts.ts'
import type { StopSignal } from './stop-signal.ts'

/** Opens the wire of a client. */
export interface ClientOpener {
  /** The longest frame of a line protocol, in characters. */
  readonly lineLimit: number
  client(options: ClientOptions): ClientLink
}

/** A client that talks to us as if we were its agent's program: which protocol, how it was started, where it reads. */
export interface StandInOptions {
  codec: AnyCodec
  started: Started
  carrier: Carrier
  access: ClientAccess
  /** A person is at standard input, who writes nothing before the program does. */
  interactive?: boolean
  /** The client's wire is open, under this id. */
  connected?: (link: string) => void
}

/**
 * A program's standard input and output as a client's wire. The dialect that takes the client is asked without a frame
 * first (its arguments and environment may say enough), then with the first frame; what came before is kept for it. A
 * dialect whose environment may be stale (`peekMs`) takes the client only if no first frame comes within that time.
 */
export class StandIn {
  readonly #engine: ClientOpener
  readonly #sink: ClientSink
  readonly #options: StandInOptions
  readonly #fronts: readonly NamedFront[]
  #client: ClientLink | undefined
  #first: FrameDecoder | undefined
  #waiting = ''
  /** The time that stdin may be silent before the dialect is decided without it; absent when it must speak. */
  #peekMs: number | undefined
  #silence: NodeJS.Timeout | undefined

  constructor(engine: ClientOpener, sink: ClientSink, options: StandInOptions) {
    this.#engine = engine
    this.#sink = sink
    this.#options = options
    this.#fronts = frontsOf(options.codec)
    const taken = this.#takenBy(undefined)
    const peekMs = options.interactive ? undefined : taken?.[1].front?.peekMs
    if (taken && peekMs === undefined) {
      this.#connect(taken)
      return
    }
    const [, { framing }] = this.#fronts[0]!
    this.#first = frameDecoder(framing, engine.lineLimit, {
      frame: (frame) => this.#decide(frame),
      fault: () => this.#decide(undefined),
    })
    this.#peekMs = peekMs
    this.#awaitSilence()
  }

  /** Text of standard input. */
  push(text: string): void {
    if (this.#client) {
      this.#client.push(text)
      return
    }
    this.#waiting += text
    this.#awaitSilence()
    this.#first?.push(text)
  }

  /** Standard input ended, or the program was told to stop. */
  end(why: 'eof' | 'signal', signal?: StopSignal): void {
    if (!this.#client) this.#first?.end()
    if (!this.#client) this.#decide(undefined)
    this.#client?.end(why, signal)
  }

  /** The reader of standard output has left. */
  disconnect(): void {
    if (!this.#client) this.#decide(undefined)
    this.#client?.disconnect()
  }

  /** The reader of standard output has caught up. */
  drained(): void {
    this.#client?.drained()
  }

  #takenBy(frame: Frame | undefined): NamedFront | undefined {
    return takenBy(this.#fronts, frame, this.#options.started)
  }

  /** A long first line comes in pieces, so the timer starts again with each piece. */
  #awaitSilence(): void {
    clearTimeout(this.#silence)
    if (this.#peekMs === undefined) return
    this.#silence = setTimeout(() => this.#decide(undefined), this.#peekMs)
  }

  #decide(frame: Frame | undefined): void {
    if (this.#client) return
    clearTimeout(this.#silence)
    this.#first = undefined
    // Nothing came: the dialect that takes an empty first line.
    this.#connect(this.#takenBy(frame ?? '') ?? this.#fronts[0]!)
  }

  #connect([name, dialect]: NamedFront): void {
    const { codec, started, carrier, access, connected } = this.#options
    const isDefault = name === Object.keys(codec.dialects)[0]
    const context = stdioContext(dialect, started)
    this.#client = this.#engine.client({
      front: { name: isDefault ? codec.name : `${codec.name}@${name}`, codec, dialect },
      input: dialect.front.input?.(context) ?? dialect.framing,
      context,
      sink: this.#sink,
      carrier,
      access,
    })
    connected?.(this.#client.id)
    this.#client.open()
    this.#client.push(this.#waiting)
    this.#waiting = ''
  }
}
