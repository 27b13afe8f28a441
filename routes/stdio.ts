import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context, Hono } from 'hono'
import type { AnyCodec, Begun, Carrier, Detour } from '../src/contract/index.ts'
import { StandIn } from '../src/engine/index.ts'
import { frameDecoder } from '../src/framing/index.ts'
import { type Fault, isRecord, parse } from '../src/model/index.ts'
import { watchHalfClose } from './half-close.ts'
import { accessOf, type Caller, frontRefusal } from './keys.ts'
import { LinesSink } from './lines-sink.ts'
import type { HttpEnv, HttpParts } from './parts.ts'
import { watchBody } from './patience.ts'
import { detourOf, type Peers } from './peers.ts'
import { admitted, refused } from './refuse.ts'
import { RequestBody } from './request-body.ts'

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
    admitted(parts, (c, caller, begun) => serveStandIn(c, parts, caller, begun)),
  )
}

/** The wire of a stand-in. */
interface StandInWire {
  parts: HttpParts
  codec: AnyCodec
  bindings: HttpBindings
  caller: Caller
  body: RequestBody
  sink: LinesSink
  /** True when another replica serves it, and also writes the lines that keep it alive. */
  left: boolean
}

function serveStandIn(c: Context<HttpEnv>, parts: HttpParts, caller: Caller, begun: Begun | undefined): Response {
  const codec = parts.codecs.find(({ name }) => name === c.req.param('protocol'))
  if (!codec)
    return c.json({ error: { code: 'not_found', message: 'The protocol is unknown; GET / lists the endpoints.' } }, 404)
  const barred = frontRefusal(caller, codec.name)
  if (barred) return refused(c, { fault: barred, headers: {} })
  const { incoming, outgoing } = c.env
  const body = new RequestBody(incoming, parts.peers !== undefined && !begun)
  const wire = { parts, codec, bindings: c.env, caller, body, sink: new LinesSink(outgoing), left: false }
  outgoing.writeHead(200, { 'content-type': 'application/x-ndjson; charset=utf-8' })
  outgoing.flushHeaders()
  // An empty line is skipped; what is between the two would cut a wire that is silent for long.
  const stayAlive = (): void => {
    if (!wire.left && !outgoing.destroyed && !outgoing.writableEnded) outgoing.write('\n')
  }
  const heartbeat = setInterval(stayAlive, parts.engine.keepAliveMs)
  outgoing.on('close', () => clearInterval(heartbeat))
  watchHalfClose(incoming, outgoing, parts.engine.keepAliveMs, stayAlive)
  watchBody(incoming, parts.patience(), true, () => outgoing.destroy())
  wire.sink.begun = begun
  begin(wire, begun ? undefined : parts.peers)
  return RESPONSE_ALREADY_SENT
}

/** Begins a stand-in's wire here: the first time, or when another replica could not take it. */
function begin(wire: StandInWire, peers: Peers | undefined): void {
  const { parts, codec, bindings, caller, body, sink } = wire
  const { outgoing } = bindings
  let standIn: StandIn | undefined
  sink.detour = peers && detourFor(wire, peers)
  const start = ({ argv, env, agent, interactive }: About): StandIn =>
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
      else if (!standIn) standIn = start(aboutOf(line))
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
  outgoing.on('drain', () => standIn?.drained())
  outgoing.on('close', () => standIn?.disconnect())
  body.readBy({
    push: (text) => decoder.push(text),
    end() {
      decoder.end()
      if (!standIn) outgoing.destroy()
      standIn?.end('eof')
      sink.closeInput()
    },
    fail: () => standIn?.disconnect(),
  })
}

/** The way of a stand-in's wire to another replica. When no replica takes it, the stand-in ends the wire itself. */
function detourFor(wire: StandInWire, peers: Peers): Detour {
  const { parts, bindings, body, caller } = wire
  const again = (refusal?: Fault): void => {
    wire.left = false
    if (refusal) bindings.outgoing.destroy()
    else begin(wire, peers)
  }
  const detour = detourOf({ engine: parts.engine, peers, bindings, body, from: { caller, forwarded: false }, again })
  return {
    ...detour,
    to(replica, repeatable, told) {
      wire.left = true
      detour.to(replica, repeatable, told)
    },
  }
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
