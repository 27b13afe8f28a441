import type { IncomingMessage, ServerResponse } from 'node:http'

/** How often a half-closed connection is probed by TCP itself, in milliseconds. */
const TCP_PROBE_MS = 1000

/**
 * A client may close its sending side after a whole request and wait for the answer. One that has left looks the same
 * until something is written to it, which its system then answers with a reset. So something is written at once, and
 * every `everyMs` milliseconds: `probe` says something on an answer that streams; before the head of an answer an interim
 * response does (RFC 9110, section 15.2). HTTP/1.0 has none: there only TCP finds out, after a minute or so.
 */
export function watchHalfClose(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  everyMs: number,
  probe: () => void,
): void {
  const { socket } = incoming
  let timer: NodeJS.Timeout | undefined
  const ask = (): void => {
    if (outgoing.headersSent) probe()
    else if (incoming.httpVersion !== '1.0') outgoing.writeProcessing()
  }
  const halfClosed = (): void => {
    socket.setKeepAlive(true, TCP_PROBE_MS)
    ask()
    timer = setInterval(ask, everyMs)
  }
  if (socket.readableEnded) halfClosed()
  else socket.once('end', halfClosed)
  outgoing.once('close', () => {
    socket.off('end', halfClosed)
    clearInterval(timer)
  })
}
