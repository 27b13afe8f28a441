import type { Codec } from '../../src/contract/index.ts'

/**
 * The code of every error as the `code` of the RFC's error object, and the HTTP status of the endpoints of both
 * dialects. The shipped dialect has no codes on its wire: a failure there is a `result`.
 */
export const errors: Codec['errors'] = {
  'invalid-request': { code: 'QWEN_INVALID_REQUEST', http: 400 },
  'payload-too-large': { code: 'QWEN_PAYLOAD_TOO_LARGE', http: 413 },
  'unsupported-version': { code: 'unsupported_protocol', http: 400 },
  unauthenticated: { code: 'QWEN_UNAUTHENTICATED', http: 401 },
  forbidden: { code: 'QWEN_FORBIDDEN', http: 403 },
  'agent-not-found': { code: 'QWEN_AGENT_NOT_FOUND', http: 404 },
  'session-not-found': { code: 'QWEN_SESSION_NOT_FOUND', http: 404 },
  'session-busy': { code: 'QWEN_SESSION_BUSY', http: 409 },
  overloaded: { code: 'QWEN_OVERLOADED', http: 429 },
  timeout: { code: 'QWEN_TIMEOUT', http: 504 },
  cancelled: { code: 'QWEN_CANCELLED', http: 499 },
  'agent-unavailable': { code: 'QWEN_AGENT_UNAVAILABLE', http: 503 },
  'agent-crashed': { code: 'QWEN_AGENT_CRASHED', http: 502 },
  'protocol-violation': { code: 'QWEN_PROTOCOL_VIOLATION', http: 502 },
  'provider-auth': { code: 'QWEN_PROVIDER_AUTH', http: 502 },
  'provider-rate-limit': { code: 'QWEN_PROVIDER_RATE_LIMIT', http: 429 },
  'provider-down': { code: 'QWEN_PROVIDER_DOWN', http: 503 },
  'provider-error': { code: 'QWEN_PROVIDER_ERROR', http: 502 },
  'lossy-refused': { code: 'QWEN_TRANSLATION_LOSSY', http: 422 },
  'idempotency-conflict': { code: 'QWEN_IDEMPOTENCY_CONFLICT', http: 422 },
  internal: { code: 'QWEN_INTERNAL', http: 500 },
}
