import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Fault } from '../src/model/index.ts'
import { fault } from '../src/model/index.ts'
import type { Gate } from './gate.ts'

/** The request's headers with lower-case names; repeated ones are joined by a comma. */
export function headersOf(incoming: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const name in incoming.headers) {
    const value = incoming.headers[name]
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return headers
}

/** The headers of every answer: it is data for the requester alone, not a page that a browser runs or embeds. */
const SAFE_HEADERS: readonly (readonly [name: string, value: string])[] = [
  ['x-content-type-options', 'nosniff'],
  ['cache-control', 'no-store'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['referrer-policy', 'no-referrer'],
]

const EXPOSED =
  'Turnpike-Turn, Turnpike-Agent, Turnpike-Loss, Idempotent-Replayed, X-Request-ID, Request-ID, X-Should-Retry, Retry-After, Location'

/**
 * Writes the headers of every answer and, for a web page of a configured origin, those that let its browser read the
 * answer (CORS, Fetch standard). True when the request was a preflight request, which is then answered.
 */
export function writeHeaders(gate: Gate, incoming: IncomingMessage, outgoing: ServerResponse): boolean {
  for (const [name, value] of SAFE_HEADERS) outgoing.setHeader(name, value)
  const { origin, 'access-control-request-method': method } = incoming.headers
  if (origin === undefined || !gate.allowsOrigin(origin)) return false
  outgoing.setHeader('access-control-allow-origin', origin)
  outgoing.setHeader('access-control-expose-headers', EXPOSED)
  outgoing.setHeader('vary', 'Origin')
  if (incoming.method !== 'OPTIONS' || method === undefined) return false
  outgoing.setHeader('access-control-allow-methods', 'GET, POST, DELETE')
  const asked = incoming.headers['access-control-request-headers']
  if (asked !== undefined) outgoing.setHeader('access-control-allow-headers', asked)
  outgoing.setHeader('access-control-max-age', '600')
  outgoing.writeHead(204).end()
  return true
}

/** The fault of an unsupported body: it is compressed (a small one could expand to a large one), or not in UTF-8. */
export function unreadableBody(headers: Readonly<Record<string, string>>): Fault | undefined {
  const coding = headers['content-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    return fault('invalid-request', 'Compressed bodies are not supported; send the body without Content-Encoding.')
  }
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(headers['content-type'] ?? '')?.[1]
  if (charset === undefined || /^(utf-?8|us-ascii)$/i.test(charset)) return undefined
  return fault(
    'invalid-request',
    'Only UTF-8 bodies are supported; encode the body in UTF-8 and set charset=utf-8 or no charset.',
  )
}
