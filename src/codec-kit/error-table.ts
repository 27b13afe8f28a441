import type { Codec } from '../contract/index.ts'
import { ERROR_CODES, type ErrorCode } from '../model/index.ts'

/** The HTTP status of every error, on the endpoints of all protocols. */
const STATUS: Readonly<Record<ErrorCode, number>> = {
  'invalid-request': 400,
  'payload-too-large': 413,
  'unsupported-version': 400,
  unauthenticated: 401,
  forbidden: 403,
  'agent-not-found': 404,
  'session-not-found': 404,
  'session-busy': 409,
  overloaded: 429,
  timeout: 504,
  cancelled: 499,
  'agent-unavailable': 503,
  'agent-crashed': 502,
  'protocol-violation': 502,
  'provider-auth': 502,
  'provider-rate-limit': 429,
  'provider-down': 503,
  'provider-error': 502,
  'lossy-refused': 422,
  'idempotency-conflict': 422,
  internal: 500,
}

/**
 * The errors of a protocol: `codeOf` returns its own code of an error; without it the codes are the model's. `own` has
 * the statuses that differ in this protocol.
 */
export function errorTable(
  codeOf: (code: ErrorCode) => string = String,
  own: Partial<Record<ErrorCode, number>> = {},
): Codec['errors'] {
  const rows = ERROR_CODES.map((code) => [code, { code: codeOf(code), http: own[code] ?? STATUS[code] }])
  return Object.fromEntries(rows) as Codec['errors']
}

/**
 * The status of a failure after which no client of models repeats its request; many repeat it after any status from 408
 * on.
 */
export const UNRETRIED = 400

/**
 * The errors for which clients of models must not repeat a request: its agent may have begun, or its provider would
 * refuse it again.
 */
export const NOT_REPEATED: Partial<Record<ErrorCode, number>> = {
  'agent-crashed': UNRETRIED,
  'protocol-violation': UNRETRIED,
  'provider-auth': UNRETRIED,
  'provider-error': UNRETRIED,
}
