import type { Hono } from 'hono'
import type { TurnWire } from '../src/engine/index.ts'
import { fault } from '../src/model/index.ts'
import { type Reencoded, reencode } from '../src/translate/index.ts'
import { observerOf } from './insight.ts'
import type { HttpEnv, HttpParts } from './parts.ts'
import { admitted } from './refuse.ts'

/** A frame of a wire, as the gateway has read it (`in`) or written it (`out`). */
interface WireFrame {
  dir: 'in' | 'out'
  /** Milliseconds since the epoch; absent where it is written again. */
  at?: number
  /** The number of the event that it was read as, or written for. */
  seq?: number
  text: string
  /** Not all of its text is here; without a text: frames are left out here. */
  cut?: true
}

/** The answer of `GET /v1/turns/ID/wire`. */
interface WireReply {
  kept: boolean
  clientProtocol: string
  agentProtocol?: string
  client: readonly WireFrame[]
  agent: readonly WireFrame[]
}

const UNKNOWN = fault('session-not-found', 'There is no such turn; it may have been deleted, or belong to another key.')

const UNKNOWN_PROTOCOL = fault('invalid-request', 'The protocol of "client" is unknown; GET /v1/doors lists them.')

/**
 * Mounts `GET /v1/turns/ID/wire`: the frames of a turn's client and agent, where its route keeps them, else its events as
 * both protocols would write them. With `?client=PROTOCOL` as that protocol would write them for the client.
 */
export function mountWire(app: Hono<HttpEnv>, parts: HttpParts): void {
  app.get(
    '/v1/turns/:turn/wire',
    admitted(parts, async (c, caller) => {
      const client = c.req.query('client') || undefined
      if (client !== undefined && !parts.codecs.some(({ name }) => name === client.split('@')[0]))
        return c.json({ type: 'fault', fault: UNKNOWN_PROTOCOL }, 400)
      const wire = await parts.engine.wire(c.req.param('turn')!, observerOf(caller), client !== undefined)
      if (!wire) return c.json({ type: 'fault', fault: UNKNOWN }, 404)
      return c.json(replyOf(client === undefined ? wire : { ...wire, front: client }, parts))
    }),
  )
}

function replyOf(wire: TurnWire, { codecs }: HttpParts): WireReply {
  const { front, back } = wire
  if (wire.kept) return { kept: true, clientProtocol: front, ...(back && { agentProtocol: back }), ...wire.kept }
  const client = reencode(wire, front, codecs)
  const agent = back === undefined ? undefined : reencode(wire, back, codecs)
  return {
    kept: false,
    clientProtocol: client.protocol,
    ...(agent && { agentProtocol: agent.protocol }),
    client: framesOf(client, 'in'),
    agent: agent ? framesOf(agent, 'out') : [],
  }
}

/** `asked` is the direction of what asks for the turn: in from the client, out to the agent. */
function framesOf({ frames }: Reencoded, asked: 'in' | 'out'): WireFrame[] {
  const answered = asked === 'in' ? 'out' : 'in'
  return frames.map(({ of, ...frame }) => ({ dir: of === 'asked' ? asked : answered, ...frame }))
}
