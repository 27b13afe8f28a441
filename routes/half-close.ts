import type { IncomingMessage, ServerResponse } from 'node:http'

/** When something more is written after the first time, in milliseconds: a reset shows by the next write alone. */
const AGAIN_MS = [50, 500, 2000]

/**
 * A client may close its sending side after a whole request and wait for the answer. One that has left looks the same
 * until something is written to it, which its system then answers with a reset. So something is written at once, soon
 * again, and every `everyMs` milliseconds: `probe` says something on an answer that streams; before the head of an answer
 * an interim response does (RFC 9110, section 15.2). HTTP/1.0 has none: who left there is noticed by the answer.
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
