import type { IncomingMessage, ServerResponse } from 'node:http'

/** How long a client may take over what holds a connection, in milliseconds. */
export interface Patience {
  /** For the body of a request; of one in lines, for its first line. */
  body: number
  /** For reading the rest of an answer that is over. */
  read: number
}

/** How long the rest of a body is still taken whose answer is over already, so that its sender gets to reading that. */
const LINGER_MS = 1000

/** Calls back when the body has not come in time, or its first line where it comes in lines. */
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
 * Cuts the connection of a client that does not read the end of its answer, or goes on with a body that nobody reads any
 * more: either would hold memory or a connection for as long as it likes.
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
