import type { Frame, FrameRun, FrontContext, FrontDialect } from '../../contract/index.ts'
import type { Command, Fault, Loss, LossDirection } from '../../model/index.ts'
import type { Exchange } from './exchange.ts'

/** Sends a client frames, as part of the answer to `FrontHost.answering`. */
interface FrameWriter {
  send(frame: Frame): void
  /** Sends frames that differ in a piece of their data. */
  sendRun(run: FrameRun): void
}

/** The wire of a front link: that of a live client, or that of a recorded one. */
export interface FrontWire extends FrameWriter {
  /** The client gives a command; `exchange` waits for the answer. */
  command(command: Command, exchange: Exchange | undefined): void
  /** A failure that no turn owns is about to be encoded. `request`: the link found it in what the client wrote. */
  fault(found: Fault, direction: LossDirection): void
  /** An exchange has its end. */
  ended(exchange: Exchange): void
  /** Nothing more is read: the input has ended, or the link has closed its wire with this exit code. */
  inputEnded(exitCode: number | undefined): void
  /** A part of a request that no exchange waits for was lost. */
  lost?(loss: Loss): void
}

/** The arguments for opening a front link. */
export interface FrontOpening {
  dialect: FrontDialect
  context: FrontContext
  /** The ids that the link is given begin with it, and count up. */
  idPrefix: string
  /** The time, in milliseconds since the epoch. */
  now(): number
  /** Writes one line for the person who runs a stand-in. */
  warn(text: string): void
  /** The HTTP status of an answer that failed. */
  statusOf(fault: Fault): number
}
