/** What an engine over a bare socket writes. */
import type { Socket } from 'node:net'

/** A request that waits for its answer, with a sound one. */
export interface Asked {
  socket: Socket
  form: 'whole' | 'streamed'
  /** Content type and body of the sound answer. */
  type: string
  body: string
  /** A port that only others point to. */
  elsewhere?: number
}

/** What is told otherwise than in a sound answer. */
export interface Changes {
  status?: string
  version?: string
  type?: string
  body?: string | Buffer
  headers?: readonly string[]
  /** The `Content-Length`; by the body when absent, none when null. */
  length?: number | null
}

/** The head and the body of an answer, on the connection that stays open. */
export function reply({ socket, type, body }: Asked, changes: Changes = {}): void {
  const content = changes.body ?? body
  const { length = Buffer.byteLength(content), headers = [], status = '200 OK', version = '1.1' } = changes
  const framing = length === null ? [] : [`content-length: ${length}`]
  const lines = [`HTTP/${version} ${status}`, `content-type: ${changes.type ?? type}`, ...framing, ...headers]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  socket.write(content)
}

/** The same, and the connection is closed behind it. */
export function replyAndClose(asked: Asked, changes: Changes = {}): void {
  reply(asked, changes)
  asked.socket.end()
}

/** An answer in chunks, and their end where it is given. */
export function replyChunked(asked: Asked, chunks: readonly (string | Buffer)[], end = '0\r\n\r\n'): void {
  reply(asked, { body: '', length: null, headers: ['transfer-encoding: chunked'] })
  for (const chunk of chunks) {
    asked.socket.write(`${Buffer.byteLength(chunk).toString(16)}\r\n`)
    asked.socket.write(chunk)
    asked.socket.write('\r\n')
  }
  asked.socket.write(end)
}

/** A part of an answer, and a reset as soon as it is out. */
export function writeAndReset({ socket }: Asked, text: string): void {
  socket.write(text, () => socket.resetAndDestroy())
}
