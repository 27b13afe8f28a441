import { codeOfProviderText } from '../../../src/codec-kit/index.ts'
import type { CallEnd } from '../../../src/contract/index.ts'
import { beginningOf, type Fault, fault } from '../../../src/model/index.ts'

/** The prefix of a failed model call's text, in the answer and in the result. */
export const API_ERROR = '[API Error: '

/** Longest error text that is passed on, in UTF-16 units. */
const LIMIT = 2000

/** A whole error text: the frame, and lines of advice that the CLI may add to it. */
const FRAMED = /^\[API Error: (.*)\](\s*|\n.*)$/s

/** The CLI's own texts within the frame of a failed model call. */
const OWN: readonly (readonly [RegExp, Fault['code']])[] = [
  [/^No auth type is selected/, 'provider-auth'],
  [/^Chat not initialized/, 'internal'],
]

/** True for a text that is the error of a failed model call, and nothing else. */
export function isErrorText(text: string): boolean {
  return FRAMED.test(text)
}

/** True for a text that is one, or the beginning of one. */
export function mayBeErrorText(text: string): boolean {
  if (text.length <= API_ERROR.length) return text !== '' && API_ERROR.startsWith(text)
  return text.startsWith(API_ERROR) && (!text.includes(']') || isErrorText(text))
}

/**
 * The fault of the error text of a `result`, which the CLI makes for its user and which has neither a code nor a status.
 * The frame `[API Error: …]` is taken off.
 */
export function faultOfText(said: string | undefined): Fault {
  const framed = FRAMED.exec(said ?? '')
  const text =
    (framed ? `${framed[1]}${framed[2]}`.trimEnd() : said) ||
    'The agent ended the turn with an error and did not say which.'
  const message = text.length > LIMIT ? `${beginningOf(text, LIMIT)}…` : text
  const own = OWN.find(([pattern]) => pattern.test(text))
  if (own) return fault(own[1], message)
  return fault(codeOfProviderText(text) ?? (framed ? 'provider-error' : 'internal'), message)
}

/** True when the text at the end of an answer is the error of the result, with or without frame and advice. */
export function isSameError(held: string, said: string | undefined): boolean {
  return held.startsWith(API_ERROR) && (said === undefined || held.includes(said) || said.includes(held))
}

/** True for a version of the CLI that reports a failed turn as a success whose text is the error (0.15 does, 0.24 not). */
export function saysErrorsAsText(version: string | undefined): boolean {
  const minor = /^0\.(\d+)\./.exec(version ?? '0.0.')?.[1]
  return minor !== undefined && Number(minor) < 24
}

/** Exit codes of limits that the CLI was started with; it writes no `result` then. */
const LIMITS: ReadonlyMap<number, string> = new Map([
  [53, 'its limit of model calls (--max-session-turns): raise it, or ask for less'],
  [55, 'its limit of tool calls or of time (--max-tool-calls, --max-wall-time): raise it, or ask for less'],
])

/** The fault of a turn that a limit ended; undefined when the process ended otherwise. */
export function limitOfExit({ why, exitCode = 0 }: CallEnd): Fault | undefined {
  const limit = why === 'closed' ? LIMITS.get(exitCode) : undefined
  return limit === undefined ? undefined : fault('internal', `The agent stopped at ${limit}.`)
}
