import type { Framing } from '../../contract/index.ts'
import { type Fault, lossSummary } from '../../model/index.ts'
import type { Exchange } from './exchange.ts'

const CONTENT_TYPE: Readonly<Record<Framing, string>> = {
  body: 'application/json; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  sse: 'text/event-stream; charset=utf-8',
  text: 'text/plain; charset=utf-8',
}

/**
 * The HTTP headers of an answer in this framing; `exchange` is the one that it answers, `failure` what it reports, if
 * any.
 */
export function answerHead(framing: Framing, exchange: Exchange | undefined, failure?: Fault): Record<string, string> {
  const wait = failure?.retryAfterMs
  return {
    'content-type': CONTENT_TYPE[framing],
    ...turnHeaders(exchange),
    ...(wait !== undefined && { 'retry-after': String(Math.ceil(wait / 1000)) }),
    ...exchange?.answer.headers,
  }
}

/** The HTTP trailers of a stream; undefined when nothing was lost. */
export function lossTrailers(exchange: Exchange | undefined): Record<string, string> | undefined {
  const summary = exchange && lossSummary(exchange.losses)
  return summary === undefined ? undefined : { 'turnpike-loss': summary }
}

/** The `Turnpike-*` headers of an exchange's answer. */
function turnHeaders(exchange: Exchange | undefined): Record<string, string> {
  const { turn, past } = exchange ?? {}
  const about = past ?? (turn && { turn: turn.id, agent: turn.agent.name })
  if (!exchange || !about) return {}
  return {
    'turnpike-turn': about.turn,
    'turnpike-agent': about.agent,
    ...(exchange.replays && { 'idempotent-replayed': 'true' }),
    ...lossTrailers(exchange),
  }
}
