import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** An address of loopback at which connections are neither taken nor refused, as behind a network that drops them. */
export interface BlackHole {
  address: string
  close(): void
}

const LISTEN = `require('node:net').createServer()
  .listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () { console.log(this.address().port) })`

/** The number of connections after which the queue of a process that takes none is full. */
const QUEUE = 4

/** Starts a process that listens, stops it, and fills the queue of its connections. */
export async function startBlackHole(): Promise<BlackHole> {
  const child = spawn(process.execPath, ['-e', LISTEN], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
  const port = Number(line)
  child.kill('SIGSTOP')
  const waiting: Socket[] = []
  for (let at = 0; at < QUEUE; at += 1) waiting.push(connect(port, '127.0.0.1').on('error', () => {}))
  await once(waiting[0]!, 'connect')
  return {
    address: `http://127.0.0.1:${port}`,
    close() {
      for (const socket of waiting) socket.destroy()
      child.kill('SIGKILL')
    },
  }
}
