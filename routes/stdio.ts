import type { ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context, Hono } from 'hono'
import type { Carrier, ClientSink } from '../src/contract/index.ts'
import { StandIn } from '../src/engine/index.ts'
import { frameDecoder } from '../src/framing/index.ts'
import { isRecord, parse } from '../src/model/index.ts'
import { type HttpEnv, type HttpParts, headersOf } from './fronts.ts'
import { hostAllowed } from './hosts.ts'
import { authenticate } from './keys.ts'

/** How long a program may take to hang up after its exit code, in milliseconds. */
const LINGER_MS = 2000

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const

/** The first line of a stand-in's request: how the program was started. */
interface About {
  argv: string[]
  env: Record<string, string>
  agent?: string
  interactive: boolean
}

/**
 * Mounts the endpoint of thin stand-ins: JSON lines both ways in one exchange. The first line of the request is
 * `{"argv","env","agent"?,"interactive"?}`, then `{"in"}`, `{"eof"}`, `{"signal"}`;
 * the answer is `{"out"}`, `{"err"}`, at last `{"exit"}`. `{"ask"}` is answered with `{"read"}` once what was written is read.
 */
export function mountStdio(app: Hono<HttpEnv>, parts: HttpParts): void {
  app.post('/v1/stdio/:protocol', (c) => serveStandIn(c, parts))
}

function serveStandIn(c: Context<HttpEnv>, parts: HttpParts): Response {
  const headers = headersOf(c.env.incoming)
  if (!hostAllowed(parts.bound, parts.hosts, headers)) return refuse(c, 403, 'The Host header names another machine.')
  const caller = authenticate(parts.keys, headers)
  if ('code' in caller) return refuse(c, 401, caller.message)
  const codec = parts.codecs.find(({ name }) => name === c.req.param('protocol'))
  if (!codec) return refuse(c, 404, 'There is no such protocol.')
  const { incoming, outgoing } = c.env
  const sink = new LinesSink(outgoing)
  let standIn: StandIn | undefined
  const begin = ({ argv, env, agent, interactive }: About): StandIn =>
    new StandIn({
      engine: parts.engine,
      codec,
      argv,
      env,
      carrier: carrierOf(env),
      tenant: caller.tenant,
      interactive,
      sink,
      ...(agent !== undefined && { agent }),
      ...(caller.allowed && { allowed: caller.allowed }),
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
  outgoing.on('close', () => standIn?.disconnect())
  incoming.setEncoding('utf8')
  incoming.on('data', (text: string) => decoder.push(text))
  incoming.on('error', () => standIn?.disconnect())
  return RESPONSE_ALREADY_SENT
}

function refuse(c: Context<HttpEnv>, status: 401 | 403 | 404, message: string): Response {
  return c.json({ error: { code: 'refused', message } }, status)
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

/** Writes what a program would write, as JSON lines. */
class LinesSink implements ClientSink {
  readonly #response: ServerResponse
  readonly #waiting = new Map<number, () => void>()
  #asked = 0
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
    this.#asked += 1
    this.#waiting.set(this.#asked, callback)
    if (!this.#response.destroyed) this.#response.write(`${JSON.stringify({ ask: this.#asked })}\n`)
  }

  /** The program's reader has everything that was written before question number `asked`. */
  read(asked: number): void {
    this.#waiting.get(asked)?.()
    this.#waiting.delete(asked)
    this.#maybeExit()
  }

  warn(text: string): void {
    if (!this.#response.destroyed) this.#response.write(`${JSON.stringify({ err: text })}\n`)
  }

  /** The program leaves with its exit code, which ends the exchange: what it is still asked comes first. */
  end(exitCode: number): void {
    this.#exitCode = exitCode
    this.#maybeExit()
  }

  #maybeExit(): void {
    if (this.#exitCode === undefined || this.#waiting.size > 0 || this.#lingering || this.#response.destroyed) return
    this.#response.write(`${JSON.stringify({ exit: this.#exitCode })}\n`)
    // The program hangs up when it has read that. Were we to, while it still writes, what it has not read would be lost.
    this.#lingering = setTimeout(() => this.#response.end(), LINGER_MS)
    this.#response.once('close', () => clearTimeout(this.#lingering))
  }

  abort(): void {
    this.#response.destroy()
  }
}
