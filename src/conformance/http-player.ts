import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Heard, Reaction, Suite, Visit } from './kit/index.ts'
import { seenLine, textOf } from './lines.ts'

/** An agent that is played over HTTP. */
export interface HttpPlayer {
  readonly url: string
  /** The requests so far, in order. */
  readonly visits: readonly Visit[]
  close(): Promise<void>
}

/** Plays an agent on a free port of loopback, for a client under test: each request is a separate visit. */
export async function playHttp(suite: Suite): Promise<HttpPlayer> {
  const { createServer } = await import('node:http')
  const visits: Visit[] = []
  const server = createServer((request, response) => {
    let body = ''
    const heard: Heard[] = []
    const head = headOf(request)
    visits.push({ transport: 'http', argv: [], env: {}, heard, request: head })
    response.on('close', () => {
      if (!response.writableFinished) heard.push({ is: 'signal', name: 'disconnect' })
    })
    request.setEncoding('utf8')
    request.on('data', (text: string) => {
      body += text
    })
    request.on('error', () => {})
    request.on('end', () => {
      const line = seenLine(body, true, 0)
      heard.push({ is: 'in', line })
      const player = suite.play({ transport: 'http', argv: [], env: {}, request: head })
      answer(response, player.line(line), heard).catch(() => response.destroy())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    visits,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function headOf({ method = '', url = '', headers }: IncomingMessage): NonNullable<Visit['request']> {
  const flat = Object.entries(headers).map(([name, value]) => [name, String(value)])
  return { method, path: url, headers: Object.fromEntries(flat) as Record<string, string> }
}

/** Answers with the reactions; the body's length is sent first. */
async function answer(response: ServerResponse, reactions: readonly Reaction[], heard: Heard[]): Promise<void> {
  response.setHeader('content-type', 'application/json')
  response.setHeader(
    'content-length',
    reactions.map(lengthOf).reduce((sum, length) => sum + length, 0),
  )
  for (const reaction of reactions) {
    if (response.destroyed) return
    if ('pause' in reaction) await new Promise((resolve) => setTimeout(resolve, reaction.pause))
    else if ('status' in reaction) response.statusCode = reaction.status
    else if ('contentType' in reaction) response.setHeader('content-type', reaction.contentType)
    else if ('header' in reaction) response.setHeader(...reaction.header)
    else if ('cut' in reaction) response.destroy()
    else if ('write' in reaction || 'bytes' in reaction) {
      const piece = 'write' in reaction ? reaction.write : reaction.bytes
      heard.push({ is: 'out', text: textOf(piece) })
      await new Promise<void>((resolve) => response.write(piece, () => resolve()))
    }
  }
  if (!response.destroyed) await new Promise<void>((resolve) => response.end(() => resolve()))
}

/** The part of the announced length that a cut connection does not send, in bytes. */
const OWED = 1000

function lengthOf(reaction: Reaction): number {
  if ('bytes' in reaction) return reaction.bytes.length
  if ('cut' in reaction) return OWED
  return 'write' in reaction ? Buffer.byteLength(reaction.write) : 0
}
