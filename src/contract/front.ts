import type { Command, Fault, Id, LinkEvent, Loss, TurnEvent, TurnView } from '../model/index.ts'
import type { Frame, Framing } from './frame.ts'

/** How an exchange is answered. */
export interface Answer {
  /** `whole`: only `turn-*` events reach `encode`, which reads the view. `accepted`: the exchange ends with `turn-accepted`. */
  form: 'whole' | 'stream' | 'accepted'
  framing: Framing
  /** HTTP status of an answer that is no failure; 200 when absent. */
  status?: number
  /** Extra HTTP headers of the answer, lower-case names. */
  headers?: Readonly<Record<string, string>>
  /** What becomes of the turn when the client goes away. */
  onDisconnect: 'cancel' | 'drain'
  /**
   * Whether the client can be asked. `inline`: on this wire, as long as its input lasts (over HTTP, where another request
   * answers: as long as the turn does). `always`: likewise, and the link itself answers what its client cannot.
   * `next-request`: only by parking the turn until then.
   */
  asks: 'inline' | 'always' | 'next-request' | 'never'
}

/** What a front link calls. None of these throws; all are synchronous. */
export interface FrontPorts {
  /** A command of the client. `answer` opens the command's exchange; without one the link waits for no answer. */
  command(command: Command, answer?: Answer): void
  /** Writes a frame to the client. A plain string under an SSE answer is a whole body as long as nothing was written. */
  send(frame: Frame): void
  /** One line on stderr of a stand-in; nothing over HTTP. */
  warn(text: string): void
  /**
   * A failure that no turn owns, found by the link itself. The engine records it and calls `encodeFault` with the same
   * arguments before this returns. `http` overrides the status that the codec's error table gives.
   */
  fault(fault: Fault, exchange?: Id, http?: number): void
  /** Something of an exchange's request or answer did not survive. */
  report(loss: Loss, exchange: Id): void
  /** The losses of an exchange so far. */
  losses(exchange: Id): readonly Loss[]
  /** A new id, unique in the gateway; counts from the link, so that a replay gives the same ones. */
  newId(): Id
  /** The time of the chunk in hand, in milliseconds since the epoch: for wires that stamp lines which no turn owns. */
  now?(): number
  /** The link is done: what was sent is flushed, then the wire closes (stdio: with this exit code). Turns that still run are cancelled. */
  close(exitCode: number): void
}

/** One client's wire while it lasts: an HTTP request, a stdio process, a socket. No method throws. */
export interface FrontLink {
  /** Without a frame within this many milliseconds of opening, `decodeEnd('idle')` is called. */
  readonly idleMs?: number
  /** Called once, first. The request that comes without a frame is issued here (argv, environment, GET). */
  open?(): void
  /** One frame of the client. After `ports.close` no more frames come. */
  decode(frame: Frame): void
  /** The input ended: end of stdin or body, no frame in time, or a signal told us to stop. When nothing is open then, the wire closes with exit code 0. */
  decodeEnd?(why: 'eof' | 'idle' | 'signal'): void
  /** An event of the exchange's turn. */
  encode(event: TurnEvent, exchange: Id, turn: TurnView): void
  /** An event without a turn; `command-reply` ends its exchange. */
  encodeLink?(event: LinkEvent): void
  /** A failure that no turn owns: of this exchange, or of the wire when it has none. `fault.fatal`: no more frames can be read; `decodeEnd` follows. */
  encodeFault(fault: Fault, exchange: Id | undefined): void
  /**
   * Called when the wire has been silent for a while: sends the protocol's heartbeat, or else what its readers skip, where
   * the answer is a stream over HTTP. What is between the two cuts it otherwise.
   */
  keepAlive?(): void
}

/** What a front link is opened with. Header names are lower-case; `env` holds only the variables the dialect asked for. */
export interface FrontContext {
  transport: 'stdio' | 'http' | 'socket'
  method: string
  path: string
  query: string
  /** What stands in the path where the endpoint's path has `:name`, decoded. */
  params?: Readonly<Record<string, string>>
  headers: Readonly<Record<string, string>>
  argv: readonly string[]
  env: Readonly<Record<string, string>>
  /** The name of the key that authenticated the client. */
  principal?: string
}
