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
  const headers: Record<string, string> = { 'content-type': CONTENT_TYPE[framing] }
  if (exchange) addTurn(headers, exchange)
  if (wait !== undefined) headers['retry-after'] = String(Math.ceil(wait / 1000))
  return Object.assign(headers, exchange?.answer.headers)
}

/** The HTTP trailers of a stream; undefined when nothing was lost. */
export function lossTrailers(exchange: Exchange | undefined): Record<string, string> | undefined {
  const summary = exchange && lossSummary(exchange.losses)
  return summary === undefined ? undefined : { 'turnpike-loss': summary }
}

/** Adds the `Turnpike-*` headers of an exchange's answer. */
function addTurn(headers: Record<string, string>, exchange: Exchange): void {
  const { turn, past } = exchange
  const id = past?.turn ?? turn?.id
  const agent = past?.agent ?? turn?.agent.name
  if (id === undefined || agent === undefined) return
  headers['turnpike-turn'] = id
  headers['turnpike-agent'] = agent
  if (exchange.replays) headers['idempotent-replayed'] = 'true'
  Object.assign(headers, lossTrailers(exchange))
}
