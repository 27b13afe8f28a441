import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Asked, Json, ModelProtocol, Script } from './protocol.ts'

/** A scripted server of a model. */
export interface ModelServer {
  /** Where it listens; the protocol says what follows. */
  url: string
  /** The requests so far. */
  readonly requests: readonly { path: string; headers: Readonly<Record<string, unknown>>; body: Json; asked: Asked }[]
  /** The number of answers that are not over yet. */
  open(): number
  close(): Promise<void>
}

/** Starts a server that answers each request as the script says; `at` counts the requests from 0. */
export async function startModel(
  protocol: ModelProtocol,
  scriptOf: (asked: Asked, at: number) => Script,
): Promise<ModelServer> {
  const requests: ModelServer['requests'][number][] = []
  let open = 0
  const server = createServer(async (incoming, response) => {
    open += 1
    response.on('close', () => {
      open -= 1
    })
    let raw = ''
    for await (const chunk of incoming.setEncoding('utf8')) raw += chunk
    const body = JSON.parse(raw) as Json
    const asked = protocol.readRequest(body)
    const script = scriptOf(asked, requests.length)
    requests.push({ path: incoming.url!, headers: incoming.headers, body, asked })
    answer(protocol, script, body['stream'] === true, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    open: () => open,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function answer(protocol: ModelProtocol, script: Script, streams: boolean, response: ServerResponse): void {
  const { error, pieces, only } = script
  if (error && !pieces) {
    response.writeHead(error.status, { 'content-type': 'application/json', ...error.headers })
    response.end(JSON.stringify(protocol.errorBody(error)))
  } else if (!streams) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(protocol.whole(script)))
  } else {
    if (only?.frames !== 0) response.writeHead(200, { 'content-type': 'text/event-stream' })
    const text = protocol.frames(script).slice(0, only?.frames).join('')
    if (only?.end === 'cut') response.write(text, () => response.destroy())
    else if (only) response.write(text)
    else response.end(text)
  }
}
