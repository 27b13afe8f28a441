import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Fault } from '../src/model/index.ts'
import { fault } from '../src/model/index.ts'
import type { Gate } from './gate.ts'

/** The request's headers with lower-case names; repeated ones are joined by a comma. */
export function headersOf(incoming: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return headers
}

/** Of every answer: it is data, for nobody but who asked, and no page that a browser runs or shows within another. */
const SAFE_HEADERS: readonly (readonly [name: string, value: string])[] = [
  ['x-content-type-options', 'nosniff'],
  ['cache-control', 'no-store'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['referrer-policy', 'no-referrer'],
]

const EXPOSED = 'Turnpike-Turn, Turnpike-Agent, Turnpike-Loss, Idempotent-Replayed, X-Request-ID, Retry-After, Location'

/**
 * Writes the headers that every answer has; for a web page of a configured origin also those by which its browser lets
 * it read the answer (CORS, Fetch standard). True when the request was that browser's question beforehand, which is
 * answered then.
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

/**
 * Why a body is not read: it is compressed (a small one could become a large one here), or in another character
 * encoding than UTF-8.
 */
export function unreadableBody(headers: Readonly<Record<string, string>>): Fault | undefined {
  const coding = headers['content-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    return fault('invalid-request', 'A compressed body is not read here; send it as it is, without Content-Encoding.')
  }
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(headers['content-type'] ?? '')?.[1]
  if (charset === undefined || /^(utf-?8|us-ascii)$/i.test(charset)) return undefined
  return fault('invalid-request', 'Only UTF-8 is read here; send the body in it, and say charset=utf-8 or nothing.')
}
