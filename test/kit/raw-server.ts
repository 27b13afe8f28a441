import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An answer of a server, byte for byte. */
export interface RawAnswer {
  status?: number
  type?: string
  body: string
  /** The connection is cut behind the body, without the end that HTTP has for it. */
  cut?: boolean
}

/** A server that gives these answers, one after the other; the last one to every request that is left. */
export interface RawServer {
  url: string
  readonly requests: readonly {
    method: string
    path: string
    headers: Readonly<Record<string, unknown>>
    body: unknown
  }[]
  /** Gives these answers from now on. */
  answers(...answers: readonly RawAnswer[]): void
  close(): Promise<void>
}

export async function startRawServer(): Promise<RawServer> {
  const requests: RawServer['requests'][number][] = []
  let queue: readonly RawAnswer[] = []
  const server = createServer(async (incoming, response) => {
    let raw = ''
    for await (const chunk of incoming.setEncoding('utf8')) raw += chunk
    requests.push({
      method: incoming.method!,
      path: incoming.url!,
      headers: incoming.headers,
      body: JSON.parse(raw) as unknown,
    })
    const [{ status = 200, type = 'text/event-stream', body, cut = false }, ...rest] = queue as [
      RawAnswer,
      ...RawAnswer[],
    ]
    if (rest.length > 0) queue = rest
    response.writeHead(status, { 'content-type': type })
    if (cut) response.write(body, () => response.destroy())
    else response.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answers(...answers) {
      queue = answers
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
