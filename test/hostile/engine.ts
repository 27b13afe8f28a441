/** A hostile OpenHarness engine: an HTTP server whose paths are behaviours. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ANSWER } from './kit.ts'

interface Request {
  request_id?: string
  request?: { context?: { user_intent?: string } }
}

type Behaviour = (response: ServerResponse, body: string) => void

const head = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': 'application/json' })

/** What the server does with a request, by its path. The body is the sound answer. */
const BEHAVIOURS: Record<string, Behaviour> = {
  'answers-well': (response, body) => head(response).end(body),
  'exits-0-without-answer': (response) => head(response).end(),
  'exits-1-without-answer': (response) => response.writeHead(500, { 'content-type': 'text/html' }).end('<html>'),
  killed: (response, body) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    response.write(body.slice(0, 40), () => response.destroy())
  },
  'truncates-a-line': (response, body) => head(response).end(body.slice(0, -10)),
  stalls: (response, body) => head(response).write(body.slice(0, 40)),
  'answers-twice': (response, body) => head(response).end(body + body),
  'answers-then-hangs': (response, body) => head(response).write(body),
  'garbage-line': (response, body) => head(response).end(`${body.slice(0, 40)}\ngarbage {{{ ]\n${body.slice(40)}`),
  banner: (response, body) => head(response).end(`Welcome to Agent 1.0\n${body}`),
  'blank-lines-and-crlf': (response, body) => head(response).end(`\r\n\r\n${body}\r\n\r\n`),
}

/** Its behaviours. */
export const engineBehaviours: readonly string[] = Object.keys(BEHAVIOURS)

/** A server that listens. */
export interface HostileEngine {
  url: string
  close(): void
}

/** Starts the server on a free port. A request whose text begins with `behave` is answered well on every path. */
export async function startEngine(): Promise<HostileEngine> {
  const server = createServer((request, response) => {
    let text = ''
    response.on('error', () => {})
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    request.on('end', () => {
      const asked = JSON.parse(text) as Request
      const directive = { action_type: 'render_message', priority: 'normal', payload: { text: ANSWER } }
      const body = JSON.stringify({
        protocol_version: '1.0.0',
        request_id: asked.request_id,
        response: { status: 'success', action_directives: [directive] },
      })
      const behaves = asked.request?.context?.user_intent?.startsWith('behave') === true
      BEHAVIOURS[behaves ? 'answers-well' : request.url!.slice(1)]!(response, body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
