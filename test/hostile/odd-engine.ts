/** An engine over bare sockets, so that it can say what no HTTP server would: its paths are behaviours. */

import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket } from 'node:net'
import { ANSWER } from './kit.ts'
import { BEHAVIOURS } from './odd-engine-answers.ts'
import { reply } from './odd-engine-wire.ts'

/** How an engine is asked for its answer. */
export type Form = 'whole' | 'streamed'
/** Both, for tables. */
export const forms: readonly Form[] = ['whole', 'streamed']

/** Engines that listen, and what they have seen. */
export interface OddEngine {
  /** Where a behaviour is. */
  url(behaviour: string): string
  /** How many requests came to where the others only point. */
  strays(): number
  close(): void
}

/** Of connections, not of answers: each is a port of its own. `reused` counts the requests on the connection before. */
const CONNECTIONS: Readonly<Record<string, { connect?: (socket: Socket) => void; reused?: (socket: Socket) => void }>> =
  {
    'reset-at-connect': { connect: (socket) => socket.resetAndDestroy() },
    'closed-at-connect': { connect: (socket) => socket.destroy() },
    'reset-as-it-is-used-again': { reused: (socket) => socket.resetAndDestroy() },
    'closed-as-it-is-used-again': { reused: (socket) => socket.destroy() },
  }

/** Addresses at which nobody is. */
const NOWHERE: Readonly<Record<string, string>> = {
  'name-not-found': 'http://no-such-host.invalid/',
  'name-never-resolved': 'http://never-resolved.invalid/',
}

/** Those that need a turn before them, which leaves them a connection. */
export const REUSED: readonly string[] = [
  'closes-after-its-answer',
  ...Object.keys(CONNECTIONS).filter((name) => CONNECTIONS[name]!.reused),
]
/** Those whose every request fails. */
export const LASTING: readonly string[] = [
  'refused',
  ...Object.keys(NOWHERE),
  ...Object.keys(CONNECTIONS).filter((name) => CONNECTIONS[name]!.connect),
]
/** All behaviours with the forms that they are tried in. */
export const CELLS: readonly { behaviour: string; form: Form }[] = [
  ...Object.entries(BEHAVIOURS).flatMap(([behaviour, { only }]) =>
    forms.filter((form) => only === undefined || only === form).map((form) => ({ behaviour, form })),
  ),
  ...[...Object.keys(CONNECTIONS), 'refused', ...Object.keys(NOWHERE)].flatMap((behaviour) =>
    forms.map((form) => ({ behaviour, form })),
  ),
]

interface Request {
  path: string
  accept: string
  json: { request_id?: string; request?: { context?: { user_intent?: string } } }
}

/** The first request that a text holds to its end, and what is left of the text. */
function readRequest(text: string): { request: Request; rest: string } | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = text.slice(0, end)
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
  if (text.length < end + 4 + length) return undefined
  const body = text.slice(end + 4, end + 4 + length)
  const json = JSON.parse(Buffer.from(body, 'latin1').toString('utf8')) as Request['json']
  const path = / (\/\S*) /.exec(head)![1]!
  const accept = /accept: (.*)/i.exec(head)![1]!
  return { request: { path, accept, json }, rest: text.slice(end + 4 + length) }
}

/** Starts them on free ports. A request whose text begins with `behave` is answered well wherever it gets through. */
export async function startOddEngine(): Promise<OddEngine> {
  const sockets = new Set<Socket>()
  const servers: Server[] = []
  let strays = 0
  const listen = async (onRequest: (socket: Socket, request: Request, before: number) => void): Promise<Server> => {
    const server = createServer({ noDelay: true }, (socket) => {
      sockets.add(socket.on('error', () => {}))
      let text = ''
      let before = 0
      socket.setEncoding('latin1').on('data', (chunk) => {
        text += String(chunk)
        for (let found = readRequest(text); found; found = readRequest(text)) {
          text = found.rest
          onRequest(socket, found.request, before++)
        }
      })
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return server
  }
  const portOf = (server: Server): number => (server.address() as AddressInfo).port
  const elsewhere = portOf(
    await listen((socket, { json }) => {
      strays += 1
      reply({ socket, ...soundAnswer('whole', json.request_id!) })
    }),
  )
  const main = await listen((socket, { path, accept, json }) => {
    const form = accept.includes('text/event-stream') ? 'streamed' : 'whole'
    const asked = { socket, elsewhere, ...soundAnswer(form, json.request_id!) }
    const behaves = json.request?.context?.user_intent?.startsWith('behave') === true
    if (behaves && path !== '/closes-after-its-answer') reply(asked)
    else BEHAVIOURS[path.slice(1)]!.answer(asked)
  })
  const ports: Record<string, number> = {}
  for (const [behaviour, { connect, reused }] of Object.entries(CONNECTIONS)) {
    const server = await listen((socket, { accept, json }, before) => {
      const form = accept.includes('text/event-stream') ? 'streamed' : 'whole'
      if (before > 0 && reused) reused(socket)
      // It says that it keeps the connection, and does not.
      else reply({ socket, ...soundAnswer(form, json.request_id!) }, { headers: ['keep-alive: timeout=60'] })
    })
    if (connect) server.on('connection', connect)
    ports[behaviour] = portOf(server)
  }
  const gone = await listen(() => {})
  ports['refused'] = portOf(gone)
  await new Promise<void>((resolve) => gone.close(() => resolve()))
  return {
    url: (behaviour) => NOWHERE[behaviour] ?? `http://127.0.0.1:${ports[behaviour] ?? portOf(main)}/${behaviour}`,
    strays: () => strays,
    close() {
      for (const server of servers) server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** A sound answer in the form that was asked for. */
function soundAnswer(form: Form, requestId: string): { form: Form; type: string; body: string } {
  const directive = { action_type: 'render_message', priority: 'normal', payload: { text: ANSWER } }
  const envelope = JSON.stringify({
    protocol_version: '1.0.0',
    request_id: requestId,
    response: { status: 'success', action_directives: [directive] },
  })
  if (form === 'whole') return { form, type: 'application/json', body: envelope }
  const events = [
    ['message_start', '{"message":"m","role":"assistant"}'],
    ['text_delta', '{"message":"m","text":"One "}'],
    ['text_delta', '{"message":"m","text":"two three."}'],
    ['message_end', '{"message":"m"}'],
    ['response', envelope],
  ]
  const body = events.map(([name, data]) => `event: ${name}\ndata: ${data}\n\n`).join('')
  return { form, type: 'text/event-stream', body }
}
