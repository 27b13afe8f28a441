import { errorTable } from '../../src/codec-kit/index.ts'
import type { ErrorCode, Fault } from '../../src/model/index.ts'

/** Zene's codes (section "Error Code Set") with the errors that each stands for: the list is short. */
const CODES: Readonly<Record<string, readonly ErrorCode[]>> = {
  INVALID_REQUEST: [
    'invalid-request',
    'payload-too-large',
    'unsupported-version',
    'unauthenticated',
    'forbidden',
    'agent-not-found',
    'session-not-found',
    'lossy-refused',
    'idempotency-conflict',
  ],
  BUSY: ['overloaded', 'session-busy'],
  TIMEOUT: ['timeout'],
  CANCELED: ['cancelled'],
  PROVIDER_AUTH: ['provider-auth'],
  PROVIDER_RATE_LIMIT: ['provider-rate-limit'],
  PROVIDER_DOWN: ['provider-down', 'agent-unavailable'],
  INTERNAL: ['internal'],
}

/** Zene's code of every error. */
export const errors = errorTable((code) => Object.keys(CODES).find((name) => CODES[name]!.includes(code)) ?? 'INTERNAL')

/** The canonical error of a code that an agent gave, or undefined for one that the protocol does not name. */
export function canonicalCode(code: string): ErrorCode | undefined {
  return Object.hasOwn(CODES, code) ? CODES[code]![0] : undefined
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
