import type { AnyCodec, Carrier, ClientSink, Dialect, Frame, FrontContext } from '../contract/index.ts'
import { type FrameDecoder, frameDecoder } from '../framing/index.ts'
import type { ClientLink } from './client-link.ts'
import type { Engine } from './engine.ts'

/** A client that talks to us as if we were its agent's program: which protocol, how it was started, where it reads. */
export interface StandInOptions {
  engine: Engine
  codec: AnyCodec
  argv: readonly string[]
  env: Readonly<Record<string, string | undefined>>
  carrier: Carrier
  tenant: string
  /** The agent that `--agent` names. */
  agent?: string
  /** The agents that the client's key may use. */
  allowed?: readonly string[]
  sink: ClientSink
}

/** The dialect of a codec under its name. */
type Named = readonly [name: string, dialect: Dialect]

/**
 * A program's standard input and output as a client's wire. The dialect that takes the client is asked without a frame
 * first (its arguments and environment may say enough), then with the first frame; what came before is kept for it.
 */
export class StandIn {
  readonly #options: StandInOptions
  readonly #fronts: readonly Named[]
  #client: ClientLink | undefined
  #first: FrameDecoder | undefined
  #waiting = ''

  constructor(options: StandInOptions) {
    this.#options = options
    this.#fronts = Object.entries(options.codec.dialects).filter(([, dialect]) => dialect.front)
    const taken = this.#takenBy(undefined)
    if (taken) {
      this.#connect(taken)
      return
    }
    const [, { framing }] = this.#fronts[0]!
    this.#first = frameDecoder(framing, options.engine.lineLimit, {
      frame: (frame) => this.#decide(frame),
      fault: () => this.#decide(undefined),
    })
  }

  /** Text of standard input. */
  push(text: string): void {
    if (this.#client) {
      this.#client.push(text)
      return
    }
    this.#waiting += text
    this.#first?.push(text)
  }

  /** Standard input ended, or the program was told to stop. */
  end(why: 'eof' | 'signal'): void {
    if (!this.#client) this.#first?.end()
    if (!this.#client) this.#decide(undefined)
    this.#client?.end(why)
  }

  /** Nobody reads standard output any more. */
  disconnect(): void {
    if (!this.#client) this.#decide(undefined)
    this.#client?.disconnect()
  }

  /** The reader of standard output has caught up. */
  drained(): void {
    this.#client?.drained()
  }

  #takenBy(frame: Frame | undefined): Named | undefined {
    return this.#fronts.find(([, dialect]) => dialect.front!.accepts?.(frame, this.#context(dialect)) ?? true)
  }

  #decide(frame: Frame | undefined): void {
    if (this.#client) return
    this.#first = undefined
    // Nothing came: whichever takes an empty first line.
    this.#connect(this.#takenBy(frame ?? '') ?? this.#fronts[0]!)
  }

  #connect([name, dialect]: Named): void {
    const { engine, codec, carrier, tenant, agent, allowed, sink } = this.#options
    const isDefault = name === Object.keys(codec.dialects)[0]
    this.#client = engine.client({
      codec,
      front: isDefault ? codec.name : `${codec.name}@${name}`,
      dialect,
      input: dialect.framing,
      context: this.#context(dialect),
      sink,
      carrier,
      tenant,
      ...(agent !== undefined && { agent }),
      ...(allowed && { allowed }),
    })
    this.#client.open()
    this.#client.push(this.#waiting)
    this.#waiting = ''
  }

  #context(dialect: Dialect): FrontContext {
    const { argv, env } = this.#options
    const known: Record<string, string> = {}
    for (const name of dialect.front!.env) {
      const value = env[name]
      if (value !== undefined) known[name] = value
    }
    return { transport: 'stdio', method: '', path: argv[0] ?? '', query: '', headers: {}, argv, env: known }
  }
}
