/**
 * A load of live streams from a process of its own. argv: a `LiveJob` as JSON. It opens the streams, then tells each agent
 * through a FIFO when to write its next event, so that one clock knows when an event was written and when it came.
 * stdout: `ready` when each stream has had an event; after a line on stdin a `LiveResult` as JSON; after another one
 * `over` when all streams have ended.
 */
import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { CHUNKED_END, MARK, REQUESTS } from '../answers.ts'
import type { LiveJob, LiveResult } from '../live.ts'

const job = JSON.parse(process.argv[2]!) as LiveJob
const TICK = Buffer.from('\n')
/** How long events may be missing, in milliseconds. */
const PATIENCE_MS = 30_000
const latencies: number[] = []

class Stream {
  /** When the agent was told to write each of its events. */
  readonly #told: number[] = []
  readonly #fifo: number
  readonly #socket: Socket
  #tail = ''
  came = 0
  over = false

  constructor(at: number) {
    this.#fifo = openSync(`${job.ticks}/${at}`, constants.O_RDWR | constants.O_NONBLOCK)
    this.#socket = connect(job.port, '127.0.0.1')
    this.#socket.setNoDelay(true).setEncoding('latin1')
    this.#socket.on('data', (text) => this.#data(String(text)))
    const body = REQUESTS[job.kind](`live-${at}`, String(at), `live-${at}-${Date.now()}`)
    const head = 'host: localhost\r\ncontent-type: application/json\r\naccept: text/event-stream\r\n'
    this.#socket.write(`POST ${job.path} HTTP/1.1\r\n${head}content-length: ${body.length}\r\n\r\n${body}`)
  }

  get told(): number {
    return this.#told.length
  }

  tick(): void {
    this.#told.push(performance.now())
    writeSync(this.#fifo, TICK)
  }

  end(): void {
    closeSync(this.#fifo)
  }

  close(): void {
    this.#socket.destroy()
  }

  #data(text: string): void {
    const now = performance.now()
    // A mark may come in two reads.
    const all = this.#tail + text
    this.#tail = all.slice(1 - MARK.length)
    for (let at = all.indexOf(MARK); at >= 0 && this.came < this.told; at = all.indexOf(MARK, at + 1)) {
      latencies.push(now - this.#told[this.came]!)
      this.came += 1
    }
    this.over ||= CHUNKED_END.test(all)
  }
}

const streams = Array.from({ length: job.width }, (_, at) => new Stream(at))

/** Waits until something holds for every stream. */
async function every(holds: (stream: Stream) => boolean, what: string): Promise<void> {
  const begin = performance.now()
  for (;;) {
    const missing = streams.filter((stream) => !holds(stream)).length
    if (missing === 0) return
    if (performance.now() - begin > PATIENCE_MS) throw new Error(`${missing} of ${job.width} streams ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

const hasCaughtUp = (stream: Stream): boolean => stream.came === stream.told

/** Tells the agents to write, each at its pace, and in turn. */
function play(): Promise<void> {
  const total = Math.max(1, Math.round((job.perSecond * job.ms) / 1000)) * job.width
  const begin = performance.now()
  let told = 0
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(total, ((performance.now() - begin) / 1000) * job.perSecond * job.width)
      for (; told < due; told += 1) streams[told % job.width]!.tick()
      if (told < total) return
      clearInterval(timer)
      resolve()
    }, 1)
  })
}

/** Writes a line, and waits for one. */
async function say(line: string): Promise<void> {
  const answered = new Promise((resolve) => process.stdin.once('data', resolve))
  process.stdout.write(`${line}\n`)
  await answered
}

for (const stream of streams) stream.tick()
await every(hasCaughtUp, 'have no event')
latencies.length = 0
await say('ready')
const own = process.cpuUsage()
const begin = performance.now()
await play()
await every(hasCaughtUp, 'miss events')
const seconds = (performance.now() - begin) / 1000
const { user, system } = process.cpuUsage(own)
const result: LiveResult = { events: latencies.length, seconds, own: user + system, latencies }
await say(JSON.stringify(result))
for (const stream of streams) stream.end()
await every(({ over }) => over, 'do not end')
process.stdout.write('over\n')
for (const stream of streams) stream.close()
process.stdin.destroy()
