import type { Ext } from './parts.ts'

/** The closed list of errors. Each codec maps them to its protocol's own codes in one table. */
export const ERROR_CODES = [
  'invalid-request',
  'payload-too-large',
  'unsupported-version',
  'unauthenticated',
  'forbidden',
  'agent-not-found',
  'session-not-found',
  'session-busy',
  'overloaded',
  'timeout',
  'cancelled',
  'agent-unavailable',
  'agent-crashed',
  'protocol-violation',
  'provider-auth',
  'provider-rate-limit',
  'provider-down',
  'provider-error',
  'lossy-refused',
  'idempotency-conflict',
  'internal',
] as const

/** One of the closed list of errors. */
export type ErrorCode = (typeof ERROR_CODES)[number]

/** An error as a value. Its message says what happened, where, and what to do next, and holds nothing private. */
export interface Fault {
  code: ErrorCode
  message: string
  /** True when the same request may succeed later, unchanged. */
  retryable: boolean
  /** The engine may run the turn again under a fresh agent session, if nothing was shown yet. */
  retry?: 'fresh-session'
  /** The agent's provider asks to be left alone for so many milliseconds. */
  retryAfterMs?: number
  ext?: Ext
}

const RETRYABLE: ReadonlySet<ErrorCode> = new Set([
  'session-busy',
  'overloaded',
  'timeout',
  'agent-unavailable',
  'provider-rate-limit',
  'provider-down',
])

/** True when the same request may succeed later after such an error. */
export function isRetryable(code: ErrorCode): boolean {
  return RETRYABLE.has(code)
}

/** A fault with the usual `retryable` of its code; `more` overrides it or adds the rarer fields. */
export function fault(code: ErrorCode, message: string, more?: Partial<Fault>): Fault {
  return { code, message, retryable: isRetryable(code), ...more }
}
