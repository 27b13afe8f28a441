import { codeOfProviderText } from '../../src/codec-kit/index.ts'
import { type ErrorCode, type Ext, type Fault, fault } from '../../src/model/index.ts'

/**
 * The protocol has no error codes: a failure is a sentence in an `error` event or in a response. The codes here are the
 * gateway's own words, for its log; the status is that of an HTTP answer that fails before it began.
 */
export const errors: Readonly<Record<ErrorCode, { code: string; http: number }>> = {
  'invalid-request': { code: 'invalid-request', http: 400 },
  'payload-too-large': { code: 'payload-too-large', http: 413 },
  'unsupported-version': { code: 'unsupported-version', http: 400 },
  unauthenticated: { code: 'unauthenticated', http: 401 },
  forbidden: { code: 'forbidden', http: 403 },
  'agent-not-found': { code: 'agent-not-found', http: 404 },
  'session-not-found': { code: 'session-not-found', http: 404 },
  'session-busy': { code: 'session-busy', http: 409 },
  overloaded: { code: 'overloaded', http: 429 },
  timeout: { code: 'timeout', http: 504 },
  cancelled: { code: 'cancelled', http: 499 },
  'agent-unavailable': { code: 'agent-unavailable', http: 503 },
  'agent-crashed': { code: 'agent-crashed', http: 502 },
  'protocol-violation': { code: 'protocol-violation', http: 502 },
  'provider-auth': { code: 'provider-auth', http: 502 },
  'provider-rate-limit': { code: 'provider-rate-limit', http: 429 },
  'provider-down': { code: 'provider-down', http: 503 },
  'provider-error': { code: 'provider-error', http: 502 },
  'lossy-refused': { code: 'lossy-refused', http: 422 },
  'idempotency-conflict': { code: 'idempotency-conflict', http: 422 },
  internal: { code: 'internal', http: 500 },
}

/** The fault of an agent's error text, which the protocol makes for users and which is passed on as it is. */
export function faultOfText(message: string, ext?: Ext): Fault {
  return fault(codeOfProviderText(message) ?? 'internal', message, ext && { ext })
}
