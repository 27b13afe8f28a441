import type { ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context, Hono } from 'hono'
import type { Carrier, ClientSink } from '../src/contract/index.ts'
import { StandIn } from '../src/engine/index.ts'
import { frameDecoder } from '../src/framing/index.ts'
import { isRecord, parse } from '../src/model/index.ts'
import { watchHalfClose } from './half-close.ts'
import { accessOf, type Caller, frontRefusal } from './keys.ts'
import type { HttpEnv, HttpParts } from './parts.ts'
import { watchBody } from './patience.ts'
import { admitted, refused } from './refuse.ts'

/** The longest time until a program closes the connection after its exit code, in milliseconds. */
const LINGER_MS = 2000

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const

/** The first line of a stand-in's request: the start of the program. */
interface About {
  argv: string[]
  env: Record<string, string>
  agent?: string
  interactive: boolean
}

/**
 * Mounts the endpoint of thin stand-ins: JSON lines both ways in one exchange. The first line of the request is
 * `{"argv","env","agent"?,"interactive"?}`, then `{"in"}`, `{"eof"}`, `{"signal"}`; the answer is `{"link"}` (the id of
 * the client's wire), `{"out"}`, `{"err"}`, `{"closed"}` when no output follows, and at last `{"exit"}`. The program
 * answers `{"ask"}` with `{"read"}` when its reader has all earlier output.
 */
export function mountStdio(app: Hono<HttpEnv>, parts: HttpParts): void {
  app.post(
    '/v1/stdio/:protocol',
    admitted(parts, (c, caller) => serveStandIn(c, parts, caller)),
  )
}

function serveStandIn(c: Context<HttpEnv>, parts: HttpParts, caller: Caller): Response {
  const codec = parts.codecs.find(({ name }) => name === c.req.param('protocol'))
  if (!codec)
    return c.json({ error: { code: 'not_found', message: 'The protocol is unknown; GET / lists the endpoints.' } }, 404)
  const barred = frontRefusal(caller, codec.name)
  if (barred) return refused(c, { fault: barred, headers: {} })
  const { incoming, outgoing } = c.env
  const sink = new LinesSink(outgoing)
  let standIn: StandIn | undefined
  const begin = ({ argv, env, agent, interactive }: About): StandIn =>
    new StandIn(parts.engine, sink, {
      codec,
      started: { argv, env },
      carrier: carrierOf(env),
      access: accessOf(caller, agent),
      interactive,
      connected: (link) => sink.tell({ link }),
    })
  const decoder = frameDecoder('ndjson', 2 * parts.engine.lineLimit, {
    frame: (frame) => {
      const line = parse(String(frame))
      if (!isRecord(line)) outgoing.destroy()
      else if (!standIn) standIn = begin(aboutOf(line))
      else if (typeof line['in'] === 'string') standIn.push(line['in'])
      else if (typeof line['read'] === 'number') sink.read(line['read'])
      else if ('eof' in line) standIn.end('eof')
      else if ('signal' in line)
        standIn.end(
          'signal',
          SIGNALS.find((signal) => signal === line['signal']),
        )
    },
    fault: () => outgoing.destroy(),
  })
  outgoing.writeHead(200, { 'content-type': 'application/x-ndjson; charset=utf-8' })
  outgoing.flushHeaders()
  outgoing.on('drain', () => standIn?.drained())
  // An empty line is skipped; what is between the two would cut a wire that is silent for long.
  const stayAlive = (): void => void (outgoing.destroyed || outgoing.writableEnded || outgoing.write('\n'))
  const heartbeat = setInterval(stayAlive, parts.engine.keepAliveMs)
  watchHalfClose(incoming, outgoing, parts.engine.keepAliveMs, stayAlive)
  outgoing.on('close', () => {
    clearInterval(heartbeat)
    standIn?.disconnect()
  })
  incoming.setEncoding('utf8')
  watchBody(incoming, parts.patience(), true, () => outgoing.destroy())
  incoming.on('data', (text: string) => decoder.push(text))
  incoming.on('end', () => {
    decoder.end()
    if (!standIn) outgoing.destroy()
    standIn?.end('eof')
    sink.deaf()
  })
  incoming.on('error', () => standIn?.disconnect())
  return RESPONSE_ALREADY_SENT
}

function aboutOf(line: Record<string, unknown>): About {
  const { argv, env, agent, interactive } = line
  return {
    argv: Array.isArray(argv) ? argv.map(String) : [],
    env: isRecord(env) ? Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)])) : {},
    ...(typeof agent === 'string' && { agent }),
    interactive: interactive === true,
  }
}

function carrierOf({ TRACEPARENT, TRACESTATE, BAGGAGE }: Record<string, string>): Carrier {
  return {
    ...(TRACEPARENT && { traceparent: TRACEPARENT }),
    ...(TRACESTATE && { tracestate: TRACESTATE }),
    ...(BAGGAGE && { baggage: BAGGAGE }),
  }
}

/** Writes the output of the program, as JSON lines. */
class LinesSink implements ClientSink {
  readonly #response: ServerResponse
  readonly #waiting = new Map<number, () => void>()
  #asked = 0
  #deaf = false
  #exitCode: number | undefined
  #lingering: NodeJS.Timeout | undefined

  constructor(response: ServerResponse) {
    this.#response = response
    response.on('error', () => {})
  }

  head(): void {}

  write(text: string): boolean {
    return this.#response.destroyed || this.#response.write(`${JSON.stringify({ out: text })}\n`)
  }

  whenRead(callback: () => void): void {
    if (this.#deaf) return
    this.#asked += 1
    this.#waiting.set(this.#asked, callback)
    this.tell({ ask: this.#asked })
  }

  /** A line for the program itself. */
  tell(line: { link: string } | { ask: number } | { err: string } | { closed: number }): void {
    if (!this.#response.destroyed) this.#response.write(`${JSON.stringify(line)}\n`)
  }

  /** The program's reader has all output from before question number `asked`. */
  read(asked: number): void {
    this.#waiting.get(asked)?.()
    this.#waiting.delete(asked)
    this.#maybeExit()
  }

  /** The program has gone, so it answers no question. */
  deaf(): void {
    this.#deaf = true
    this.#waiting.clear()
    this.#maybeExit()
  }

  warn(text: string): void {
    this.tell({ err: text })
  }

  /** Sends the exit code, which ends the exchange, after the open questions. */
  end(exitCode: number): void {
    this.#exitCode = exitCode
    // In the same write as the last output: if the gateway dies from here on, the program has its answer.
    if (this.#waiting.size > 0) this.tell({ closed: exitCode })
    this.#maybeExit()
  }

  #maybeExit(): void {
    if (this.#exitCode === undefined || this.#waiting.size > 0 || this.#lingering || this.#response.destroyed) return
    this.#response.write(`${JSON.stringify({ exit: this.#exitCode })}\n`)
    // The program closes the connection after reading this. If we closed it while the program writes, unread output would be lost.
    this.#lingering = setTimeout(() => this.#response.end(), LINGER_MS)
    this.#response.once('close', () => clearTimeout(this.#lingering))
  }

  abort(): void {
    this.#response.destroy()
  }
}
