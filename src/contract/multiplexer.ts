import type { Frame } from './frame.ts'

/** The functions that a multiplexer calls. None of them throws; all are synchronous. */
export interface MultiplexerPorts {
  /** Writes a frame to the process. */
  toProcess(frame: Frame): void
  /** Gives a link a frame, as if the process were its own. */
  toLink(link: number, frame: Frame): void
}

/**
 * The wires of several links on one process. A link gets what belongs to its session, and nothing else: what cannot be
 * told apart reaches no link. Links know nothing of each other: each does its handshake, and numbers its requests, as if
 * the process were its own. No method throws.
 */
export interface Multiplexer {
  /** Takes a frame that a link writes. */
  fromLink(link: number, frame: Frame): void
  /** Takes a frame that the process wrote. */
  fromProcess(frame: Frame): void
  /** Gives up a link: the agent is asked to end what it does for it, and nothing reaches it any more. */
  leave(link: number): void
  /** True while the agent owes an answer to a request of the link, or to one that `leave` made for it. */
  works(link: number): boolean
}
