import type { Command, Ext, Fault, Id, LinkEvent, Loss, TextRun, TurnEvent, TurnView } from '../model/index.ts'
import type { Carrier } from './carrier.ts'
import type { Frame, FrameRun, Framing } from './frame.ts'

/** The form of an exchange's answer. */
export interface Answer {
  /**
   * `whole`: only `turn-*` events reach `encode`, which reads the view. `accepted`: the exchange ends with
   * `turn-accepted`, or with the first event of a turn that goes on with an answer.
   */
  form: 'whole' | 'stream' | 'accepted'
  framing: Framing
  /** HTTP status of a successful answer; 200 when absent. */
  status?: number
  /** HTTP status of a failure; that of its error when absent. A link may set it until the answer begins. */
  failureStatus?: number
  /** Extra HTTP headers of the answer, lower-case names. */
  headers?: Readonly<Record<string, string>>
  /** The fate of the turn when the client disconnects. */
  onDisconnect: 'cancel' | 'drain'
  /**
   * The way the client answers questions. `inline`: on this wire, while its input is open (over HTTP, where another
   * request answers, while the turn runs). `always`: likewise, and the link itself answers what its client cannot.
   * `next-request`: only with its next request, until which the turn is parked.
   */
  asks: 'inline' | 'always' | 'next-request' | 'never'
  /** The trace context of the request, where each request of a wire may have its own; absent: that of the wire. */
  trace?: Carrier
  /**
   * Fields of the request that later answers repeat, where they are asked for again: they are the `ext` of the event that
   * says that the request is taken (`turn-accepted`, or the first `ask-settled` of an answer).
   */
  echo?: Ext
  /**
   * The command that is taken in place of an answer to a parked turn that has ended without it. Of clients whose requests
   * have all that such a turn needs.
   */
  otherwise?: () => Command
}

/**
 * The fate of a client's input after a fault: `continues` when later frames are read, `ends` when nothing more of it can
 * be.
 */
export type InputFate = 'continues' | 'ends'

/** The functions that a front link calls. None of them throws; all are synchronous. */
export interface FrontPorts {
  /** A command of the client. `answer` opens the command's exchange; without one the link expects no answer. */
  command(command: Command, answer?: Answer): void
  /**
   * Writes a frame to the client. A plain string under an SSE answer is a whole body as long as nothing was written.
   */
  send(frame: Frame): void
  /** Writes frames that differ in a piece of their data; never the first of an answer. */
  sendRun(run: FrameRun): void
  /** Writes one line to stderr of a stand-in; does nothing over HTTP. */
  warn(text: string): void
  /**
   * A failure outside of any turn, found by the link itself. The engine records it and calls `encodeFault` with the
   * same arguments before this returns. If the input `ends`, the engine reads nothing more and calls `decodeEnd('eof')`
   * then, unless the input has ended before. `http` overrides the status that the codec's error table gives.
   */
  fault(fault: Fault, input: InputFate, exchange?: Id, http?: number): void
  /** Reports a loss of an exchange's request or answer, after the command that opens the exchange. */
  report(loss: Loss, exchange: Id): void
  /** The losses of an exchange so far. */
  losses(exchange: Id): readonly Loss[]
  /** A new id, unique in the gateway. Ids count up from the link's own, so that a replay gives the same ones. */
  newId(): Id
  /**
   * The time of the current chunk, in milliseconds since the epoch: for wires that put a time on lines outside of a
   * turn.
   */
  now?(): number
  /**
   * Closes the wire after everything sent is flushed (stdio: with this exit code). Turns that still run are cancelled.
   */
  close(exitCode: number): void
}

/** One client's wire while it lasts: an HTTP request, a stdio process, a socket. No method throws. */
export interface FrontLink {
  /** Extra HTTP headers of whatever is sent first, lower-case names; those of an `Answer` come on top. */
  readonly headers?: Readonly<Record<string, string>>
  /** The framing of what is sent outside of any exchange; that of the dialect when absent. */
  readonly framing?: Framing
  /** Without a frame within this many milliseconds of opening, `decodeEnd('idle')` is called. */
  readonly idleMs?: number
  /** Called once, first. A request without a frame is issued here (argv, environment, GET). */
  open?(): void
  /** One frame of the client. After `ports.close` no more frames come. */
  decode(frame: Frame): void
  /**
   * The input ended: end of stdin or body, no frame in time, or a signal asked to stop. When nothing is open then, the
   * wire closes with exit code 0.
   */
  decodeEnd?(why: 'eof' | 'idle' | 'signal'): void
  /** An event of the exchange's turn. */
  encode(event: TurnEvent, exchange: Id, turn: TurnView): void
  /**
   * Pieces of text of the exchange's turn, all of which `turn` has already; a link without it gets each as an event.
   */
  encodeTexts?(run: TextRun, exchange: Id, turn: TurnView): void
  /**
   * An event without a turn, in the session of this exchange if it has one; `command-reply` ends its exchange.
   */
  encodeLink?(event: LinkEvent, exchange?: Id): void
  /**
   * A failure outside of any turn: of this exchange, or of the wire when it has none. When the input `ends`, `decodeEnd`
   * follows.
   */
  encodeFault(fault: Fault, exchange: Id | undefined, input: InputFate): void
  /**
   * Called when nothing was sent for a while: sends the protocol's heartbeat, or else a comment if the answer is a stream
   * over HTTP, because proxies close idle connections.
   */
  keepAlive?(): void
}

/**
 * The context that a front link is opened with. Header names are lower-case; `env` holds only the variables the dialect
 * asked for.
 */
export interface FrontContext {
  transport: 'stdio' | 'http' | 'socket'
  method: string
  path: string
  query: string
  /** The decoded path segments for the `:name` segments of the endpoint's path. */
  params?: Readonly<Record<string, string>>
  headers: Readonly<Record<string, string>>
  argv: readonly string[]
  env: Readonly<Record<string, string>>
  /** The name of the key that authenticated the client. */
  principal?: string
}
