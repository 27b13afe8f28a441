import type { Codec } from '../../src/contract/index.ts'
import type { ErrorCode, Fault } from '../../src/model/index.ts'

/** Zene's code of every error, and the HTTP status of `POST /v1/zene`. Several errors share a code: the list of the text is short. */
export const errors: Codec['errors'] = {
  'invalid-request': { code: 'INVALID_REQUEST', http: 400 },
  'payload-too-large': { code: 'INVALID_REQUEST', http: 413 },
  'unsupported-version': { code: 'INVALID_REQUEST', http: 400 },
  unauthenticated: { code: 'INVALID_REQUEST', http: 401 },
  forbidden: { code: 'INVALID_REQUEST', http: 403 },
  'agent-not-found': { code: 'INVALID_REQUEST', http: 404 },
  'session-not-found': { code: 'INVALID_REQUEST', http: 404 },
  'session-busy': { code: 'BUSY', http: 409 },
  overloaded: { code: 'BUSY', http: 429 },
  timeout: { code: 'TIMEOUT', http: 504 },
  cancelled: { code: 'CANCELED', http: 499 },
  'agent-unavailable': { code: 'PROVIDER_DOWN', http: 503 },
  'agent-crashed': { code: 'INTERNAL', http: 502 },
  'protocol-violation': { code: 'INTERNAL', http: 502 },
  'provider-auth': { code: 'PROVIDER_AUTH', http: 502 },
  'provider-rate-limit': { code: 'PROVIDER_RATE_LIMIT', http: 429 },
  'provider-down': { code: 'PROVIDER_DOWN', http: 503 },
  'provider-error': { code: 'INTERNAL', http: 502 },
  'lossy-refused': { code: 'INVALID_REQUEST', http: 422 },
  'idempotency-conflict': { code: 'INVALID_REQUEST', http: 422 },
  internal: { code: 'INTERNAL', http: 500 },
}

const CANONICAL: ReadonlyMap<string, ErrorCode> = new Map([
  ['INVALID_REQUEST', 'invalid-request'],
  ['TIMEOUT', 'timeout'],
  ['PROVIDER_AUTH', 'provider-auth'],
  ['PROVIDER_RATE_LIMIT', 'provider-rate-limit'],
  ['PROVIDER_DOWN', 'provider-down'],
  ['INTERNAL', 'internal'],
  ['BUSY', 'overloaded'],
  ['CANCELED', 'cancelled'],
])

/** The canonical error of a code that an agent gave, or undefined for one that the protocol does not name. */
export function canonicalCode(code: string): ErrorCode | undefined {
  return CANONICAL.get(code)
}

/** Words that clawbridge reads as "try again", in a message or on stderr, with their replacements outside of TIMEOUT. */
const RETRY_WORDS: readonly (readonly [RegExp, string])[] = [
  [/timed out/gi, 'ran out of time'],
  [/placeholder text/gi, 'stand-in text'],
  [/suspicious success/gi, 'doubtful success'],
]

/**
 * A fault's message as it may stand in an answer and on stderr: one line, well-formed, and, unless the fault is a
 * timeout, without the words that make a client start the same turn again.
 */
export function safeMessage({ code, message }: Fault): string {
  const line = message.toWellFormed().replace(/[\r\n\u0085\u2028\u2029]+/g, ' ')
  if (code === 'timeout') return line
  return RETRY_WORDS.reduce((text, [words, instead]) => text.replace(words, instead), line)
}
