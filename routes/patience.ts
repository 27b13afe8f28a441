import type { IncomingMessage, ServerResponse } from 'node:http'

/** Time limits of a client on a connection, in milliseconds. */
export interface Patience {
  /** For the body of a request, or the first line of a body in lines. */
  body: number
  /** For reading the rest of a finished answer. */
  read: number
}

/**
 * The time for which the rest of a body is still read after its answer ended, so that its sender can read the answer.
 */
const LINGER_MS = 1000

/** Calls back when the body has not come in time; for a body in lines, its first line. */
export function watchBody(incoming: IncomingMessage, { body }: Patience, lines: boolean, late: () => void): void {
  const timer = setTimeout(late, body)
  const stop = (): void => clearTimeout(timer)
  const look = (text: string): void => {
    if (!text.includes('\n')) return
    stop()
    incoming.off('data', look)
  }
  if (lines) incoming.on('data', look)
  incoming.once('end', stop)
  incoming.once('close', stop)
}

/**
 * Closes the connection of a client that does not read the end of its answer, or that keeps sending a body that is no
 * longer read: both would hold memory or a connection without limit.
 */
export function watchEnd(incoming: IncomingMessage, outgoing: ServerResponse, { read }: Patience): void {
  const { socket } = incoming
  outgoing.once('prefinish', () => {
    if (outgoing.writableLength === 0) return
    const timer = setTimeout(() => socket.destroy(), read)
    outgoing.once('close', () => clearTimeout(timer))
  })
  outgoing.once('finish', () => {
    if (incoming.complete) return
    const timer = setTimeout(() => socket.destroy(), LINGER_MS)
    incoming.once('close', () => clearTimeout(timer))
  })
}
