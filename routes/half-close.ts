import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * The delays of further writes, in milliseconds: a reset only shows at the next write, and where another replica is between,
 * its own one at the next but one.
 */
const AGAIN_MS = [50, 150, 300, 500, 2000]

/**
 * Detects clients that have disconnected. A client may close its sending side after a whole request and wait for the
 * answer. A disconnected one looks the same until something is written to it, which its system answers with a reset. So
 * this writes at once, soon again, and every `everyMs` milliseconds: `probe` writes on a streamed answer; before the
 * head of an answer it is an interim response (RFC 9110, section 15.2). HTTP/1.0 has none: there only the answer shows
 * a disconnect.
 */
export function watchHalfClose(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  everyMs: number,
  probe: () => void,
): void {
  const { socket } = incoming
  const timers: NodeJS.Timeout[] = []
  const ask = (): void => {
    if (outgoing.headersSent) probe()
    else if (incoming.httpVersion !== '1.0') outgoing.writeProcessing()
  }
  const halfClosed = (): void => {
    ask()
    timers.push(...AGAIN_MS.map((ms) => setTimeout(ask, ms)), setInterval(ask, everyMs))
  }
  if (socket.readableEnded) halfClosed()
  else socket.once('end', halfClosed)
  outgoing.once('close', () => {
    socket.off('end', halfClosed)
    for (const timer of timers) clearTimeout(timer)
  })
}
