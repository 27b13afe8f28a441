import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * The pauses after the writes of one look, in milliseconds: a reset only shows at the next write, and where another replica
 * is between, its own one at the next but one. The last pause is the interval.
 */
const PAUSES_MS = [50, 100, 150, 200, 1500, Number.POSITIVE_INFINITY]

/**
 * Detects clients that have disconnected. A client may close its sending side after a whole request and wait for the
 * answer. A disconnected one looks the same until something is written to it, which its system answers with a reset. So
 * this looks at once and every `everyMs` milliseconds: it writes, and again soon after that. `probe` writes on a streamed
 * answer; before the head of an answer it is an interim response (RFC 9110, section 15.2). HTTP/1.0 has none: there only the
 * answer shows a disconnect.
 */
export function watchHalfClose(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  everyMs: number,
  probe: () => void,
): void {
  const { socket } = incoming
  if (outgoing.destroyed) return
  let timer: NodeJS.Timeout | undefined
  // Input that arrives between two writes is read before the second one, even when timers are late.
  const ask = (at: number): void => {
    timer = setTimeout(ask, Math.min(PAUSES_MS[at]!, everyMs), (at + 1) % PAUSES_MS.length)
    if (outgoing.headersSent) probe()
    else if (incoming.httpVersion !== '1.0') outgoing.writeProcessing()
  }
  const halfClosed = (): void => ask(0)
  if (socket.readableEnded) halfClosed()
  else socket.once('end', halfClosed)
  outgoing.once('close', () => {
    socket.off('end', halfClosed)
    clearTimeout(timer)
  })
}
