import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { afterEach } from 'vitest'
import { type HttpConfig, httpBackend } from '../../src/backends/index.ts'
import type { Backend, Call } from '../../src/contract/index.ts'

const cleanups: (() => Promise<void> | void)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Makes a server listen until the test's end; gives host and port. */
export async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A real HTTP server; gives host and port. */
export const serve = (listener: RequestListener) => listen(createServer(listener))

/** A server that answers the first bytes of each connection as it likes. */
export const serveRaw = (answer: (socket: Socket, request: string) => void) =>
  listen(
    createTcpServer((socket) => {
      socket.setEncoding('latin1').on('data', (text) => answer(socket, String(text)))
    }),
  )

/** A backend that is closed at the test's end. */
export function backend(url: string, more: Partial<HttpConfig> = {}): Backend {
  const made = httpBackend({ url, headers: {}, ...more })
  cleanups.push(() => made.close(0))
  return made
}

/** The HTTP form of a call. */
export type HttpCall = Extract<Call, { kind: 'http' }>

/** A POST of `{}` with what a test changes of it. */
export const post = (more: Partial<HttpCall> = {}): Call => ({
  kind: 'http',
  method: 'POST',
  body: '{}',
  answer: 'body',
  ...more,
})

/** The requests that a server got. */
export interface Seen {
  method: string | undefined
  url: string | undefined
  headers: IncomingHttpHeaders
  body: string
}

/** A server that remembers its requests and answers 200 `ok`. */
export async function recording(): Promise<{ at: string; seen: Seen[] }> {
  const seen: Seen[] = []
  const at = await serve((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text) => {
      body += text
    })
    request.on('end', () => {
      seen.push({ method: request.method, url: request.url, headers: request.headers, body })
      response.end('ok')
    })
  })
  return { at, seen }
}
