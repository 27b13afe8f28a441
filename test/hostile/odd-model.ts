/** A server of a model over bare sockets: the first part of its paths is a behaviour, or the bytes after which it stops. */
import type { AddressInfo, Socket } from 'node:net'
import { createServer } from 'node:net'
import type { Json, ModelProtocol, Script } from '../kit/models/index.ts'
import { reply } from './odd-engine-wire.ts'
import { type AskedModel, MODEL_BEHAVIOURS, SOUND } from './odd-model-answers.ts'

/** A server that listens, and what it has seen. */
export interface OddModel {
  /** Where a behaviour is. */
  url(behaviour: string): string
  /** The requests that came to where others only point. */
  strays(): number
  close(): void
}

interface Request {
  path: string
  body: Json
}

/** The first request that a text holds to its end, and what is left of the text. */
function readRequest(text: string): { request: Request; rest: string } | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = text.slice(0, end)
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
  if (text.length < end + 4 + length) return undefined
  const raw = Buffer.from(text.slice(end + 4, end + 4 + length), 'latin1').toString('utf8')
  const path = / (\/\S*) /.exec(head)![1]!
  return { request: { path, body: raw === '' ? {} : (JSON.parse(raw) as Json) }, rest: text.slice(end + 4 + length) }
}

/** Starts it. A request whose last message begins with `behave` is answered well; `answer` answers the others. */
export async function startOddModel(
  protocol: ModelProtocol,
  answer = (asked: AskedModel, behaviour: string, _said: string): void => MODEL_BEHAVIOURS[behaviour]!(asked),
  script: Script = SOUND,
): Promise<OddModel> {
  const sockets = new Set<Socket>()
  let strays = 0
  const frames = protocol.frames(script)
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket.on('error', () => {}))
    let text = ''
    socket.setEncoding('latin1').on('data', (chunk) => {
      text += String(chunk)
      for (let found = readRequest(text); found; found = readRequest(text)) {
        text = found.rest
        take(socket, found.request)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  function take(socket: Socket, { path, body }: Request): void {
    const type = 'text/event-stream'
    const asked = { socket, form: 'streamed', type, body: frames.join(''), elsewhere: port, protocol, frames } as const
    const behaviour = path.split('/')[1]!
    // Redirects point to the root.
    if (behaviour === '') {
      strays += 1
      reply(asked)
      return
    }
    const said = protocol.readRequest(body).messages.at(-1)?.text ?? ''
    if (said.startsWith('behave')) reply(asked)
    else answer(asked, behaviour, said)
  }

  return {
    url: (behaviour) => `http://127.0.0.1:${port}/${behaviour}`,
    strays: () => strays,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
