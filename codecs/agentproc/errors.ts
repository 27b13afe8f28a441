import type { ErrorCode } from '../../src/model/index.ts'

/** The exit code of every error on stdio (as text) and the HTTP status of its endpoints. */
export const errors: Readonly<Record<ErrorCode, { code: string; http: number }>> = {
  'invalid-request': { code: '1', http: 400 },
  'payload-too-large': { code: '1', http: 413 },
  'unsupported-version': { code: '1', http: 400 },
  unauthenticated: { code: '1', http: 401 },
  forbidden: { code: '1', http: 403 },
  'agent-not-found': { code: '1', http: 404 },
  'session-not-found': { code: '1', http: 404 },
  'session-busy': { code: '1', http: 409 },
  overloaded: { code: '1', http: 429 },
  timeout: { code: '124', http: 504 },
  cancelled: { code: '143', http: 499 },
  'agent-unavailable': { code: '1', http: 503 },
  'agent-crashed': { code: '1', http: 502 },
  'protocol-violation': { code: '1', http: 502 },
  'provider-auth': { code: '1', http: 502 },
  'provider-rate-limit': { code: '1', http: 429 },
  'provider-down': { code: '1', http: 503 },
  'provider-error': { code: '1', http: 502 },
  'lossy-refused': { code: '1', http: 422 },
  'idempotency-conflict': { code: '1', http: 422 },
  internal: { code: '1', http: 500 },
}
