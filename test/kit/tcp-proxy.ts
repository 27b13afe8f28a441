import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A way for TCP connections that can be cut. */
export interface TcpProxy {
  port: number
  /** Cuts what is connected, and lets nothing through until `heal`. */
  cut(): void
  heal(): Promise<void>
  /** What goes through comes so many milliseconds later from now on. */
  delay(ms: number): void
  close(): Promise<void>
}

/** Starts a proxy on a free port of loopback, to another one. */
export async function startProxy(to: () => number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let lateMs = 0
  const pass = (from: Socket, into: Socket): void => {
    from.on('data', (piece) => {
      if (lateMs === 0) into.write(piece)
      else setTimeout(() => into.write(piece), lateMs)
    })
    from.on('error', () => {})
    from.on('close', () => {
      sockets.delete(from)
      into.destroy()
    })
  }
  const server = createServer((one) => {
    const other = connect(to(), '127.0.0.1')
    for (const socket of [one, other]) sockets.add(socket.setNoDelay(true))
    pass(one, other)
    pass(other, one)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const cut = (): void => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return {
    port,
    cut,
    async heal() {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
    delay(ms) {
      lateMs = ms
    },
    close: async () => cut(),
  }
}
