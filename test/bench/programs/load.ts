/**
 * A load of HTTP turns from a process of its own. argv: a `LoadJob` as JSON. stdout: a `LoadResult` as JSON. It reads
 * answers by hand, so that both servers that are compared are asked by something that costs less than they do.
 */
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { CHUNKED_END, REQUESTS } from '../answers.ts'
import type { LoadJob, LoadResult } from '../load.ts'

const job = JSON.parse(process.argv[2]!) as LoadJob
const { kind, headers = {} } = job
/** The beginning of the ids of its requests: a client never gives an id to two of them. */
const RUN = `${job.sessions}-${process.pid}`
const firsts: number[] = []
const lasts: number[] = []
let turns = 0
let broken = 0
let sent = 0
let begin = 0

class Connection {
  readonly #session: string
  #socket: Socket
  readonly #events: Socket | undefined
  #head = ''
  #left: number | undefined
  #tail = ''
  #seen = false
  #at = 0
  #done: (() => void) | undefined

  constructor(at: number) {
    this.#session = job.freshSessions ? '' : `${job.sessions}-${at}`
    this.#socket = this.#connect()
    this.#events = job.follow === undefined ? undefined : this.#follow(job.follow)
  }

  #connect(): Socket {
    const socket = connect(job.port, '127.0.0.1')
    socket.setNoDelay(true)
    socket.setEncoding('latin1')
    socket.on('data', (text) => this.#data(String(text)))
    socket.on('close', () => this.#cut())
    return socket
  }

  #follow(path: string): Socket {
    const socket = connect(job.port, '127.0.0.1')
    const head = `GET ${path.replace('{session}', this.#session)} HTTP/1.1\r\nhost: localhost\r\n`
    socket.write(`${head}accept: text/event-stream\r\n\r\n`)
    return socket.resume()
  }

  ask(): Promise<void> {
    const session = this.#session || `${job.sessions}-${sent}`
    const body = REQUESTS[kind](session, job.text, `${RUN}-r${sent}`)
    sent += 1
    const fields = { host: 'localhost', 'content-type': 'application/json', ...headers }
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
    this.#head = ''
    this.#left = undefined
    this.#tail = ''
    this.#seen = false
    // A server closes a connection that has waited for some seconds for the others' first turns.
    if (this.#socket.destroyed) this.#socket = this.#connect()
    this.#at = performance.now()
    const length = `content-length: ${Buffer.byteLength(body)}\r\n`
    this.#socket.write(
      `POST ${job.path.replace('{session}', session)} HTTP/1.1\r\n${lines.join('')}${length}\r\n${body}`,
    )
    return new Promise((resolve) => {
      this.#done = resolve
    })
  }

  end(): void {
    this.#socket.destroy()
    this.#events?.destroy()
  }

  #data(text: string): void {
    let body = text
    if (this.#left === undefined) {
      this.#head += text
      const end = this.#head.indexOf('\r\n\r\n')
      if (end < 0) return
      const head = this.#head.slice(0, end)
      body = this.#head.slice(end + 4)
      if (!head.startsWith('HTTP/1.1 200')) broken += 1
      const length = /\ncontent-length: (\d+)/i.exec(head)?.[1]
      this.#left = length === undefined ? -1 : Number(length)
      this.#tail = '\r\n'
    }
    if (!this.#seen && body.includes(job.mark)) {
      this.#seen = true
      firsts.push(performance.now() - this.#at)
    }
    this.#tail = (this.#tail + body).slice(-4096)
    if (this.#left >= 0) this.#left -= body.length
    if (this.#left === 0 || (this.#left < 0 && CHUNKED_END.test(this.#tail))) this.#over()
  }

  /** The server has closed the connection: a turn that waits for its answer gets none. */
  #cut(): void {
    if (!this.#done) return
    this.#seen = false
    this.#over()
  }

  #over(): void {
    turns += 1
    if (!this.#seen) broken += 1
    lasts.push(performance.now() - this.#at)
    this.#left = 0
    const done = this.#done
    this.#done = undefined
    done?.()
  }
}

/** True while the load goes on. */
function goesOn(): boolean {
  const { ms, turns, leastTurns = 0, mostMs = 0 } = job
  if (turns !== undefined) return sent < turns
  return performance.now() - begin < (sent < leastTurns ? Math.max(ms, mostMs) : ms)
}

async function work(connection: Connection): Promise<void> {
  while (goesOn()) {
    if (job.restMs !== undefined && sent + 1 === job.turns) await pause(job.restMs)
    const next = performance.now() + (job.everyMs ?? 0)
    await connection.ask()
    if (job.everyMs !== undefined) await pause(Math.max(0, next - performance.now()))
  }
}

const connections = Array.from({ length: job.width }, (_, at) => new Connection(at))
if (!job.freshSessions) await Promise.all(connections.map((connection) => connection.ask()))
firsts.length = 0
lasts.length = 0
turns = 0
broken = 0
sent = 0
// Whoever measures the server reads its clock at this line and at the last one.
process.stdout.write('ready\n')
await new Promise((resolve) => process.stdin.once('data', resolve))
begin = performance.now()
await Promise.all(connections.map(work))
const result: LoadResult = { turns, broken, seconds: (performance.now() - begin) / 1000, firsts, lasts }
process.stdout.write(`${JSON.stringify(result)}\n`)
for (const connection of connections) connection.end()
process.stdin.destroy()
