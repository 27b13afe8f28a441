import { type CallEnd, faultOfEnd } from '../../../src/contract/index.ts'
import { type ErrorCode, type Fault, fault, type Stop } from '../../../src/model/index.ts'

/** How the CLI begins the text of a failed model call, in the answer and in the result. */
export const API_ERROR = '[API Error: '

/** Longest error text that is passed on, in UTF-16 units. */
const LIMIT = 2000

/** What tells the code of an error text, first match first: the CLI gives neither a code nor a status. */
const PATTERNS: readonly (readonly [RegExp, ErrorCode])[] = [
  [/^(?:401|403)\b/, 'provider-auth'],
  [/^429\b/, 'provider-rate-limit'],
  [/^(?:408|5\d\d)\b/, 'provider-down'],
  [/^(?:Connection error|terminated|fetch failed|Request timed out)/, 'provider-down'],
  [/^Model stream ended/, 'provider-down'],
  [/^Context is too large/, 'payload-too-large'],
  [/^No auth type is selected/, 'agent-unavailable'],
]

/**
 * The fault of the error text of a `result`, which the CLI makes for its user. The frame `[API Error: …]` is taken off.
 */
export function faultOfText(said: string | undefined): Fault {
  const framed = said?.startsWith(API_ERROR) && said.endsWith(']') ? said.slice(API_ERROR.length, -1) : said
  const text = framed || 'The agent ended the turn with an error and did not say which.'
  const code = PATTERNS.find(([pattern]) => pattern.test(text))?.[1] ?? 'internal'
  const message = text.length > LIMIT ? `${text.slice(0, LIMIT)}…` : text
  return fault(code, message, code === 'agent-unavailable' ? { retryable: false } : undefined)
}

/** Exit codes of limits that the CLI was started with; it writes no `result` then. */
const LIMITS: ReadonlyMap<number, string> = new Map([
  [53, 'its limit of model calls (--max-session-turns): raise it, or ask for less'],
  [55, 'its limit of tool calls or of time (--max-tool-calls, --max-wall-time): raise it, or ask for less'],
])

/** Why the end of the process leaves its turn unanswered, and what stopped the turn. */
export function reasonOfExit(end: CallEnd): { reason: Fault; stop: Stop } {
  const limit = end.why === 'closed' && end.exitCode !== undefined ? LIMITS.get(end.exitCode) : undefined
  if (limit === undefined) return { reason: faultOfEnd(end), stop: 'error' }
  return { reason: fault('internal', `The agent stopped at ${limit}.`), stop: 'max-turns' }
}
