import * as v from 'valibot'
import {
  codeOfProviderStatus,
  codeOfProviderText,
  type Ending,
  errorTable,
  scalarText,
} from '../../src/codec-kit/index.ts'
import { type ErrorCode, type Fault, fault, isRecord, type Stop } from '../../src/model/index.ts'

/** The codes of this protocol's errors are those of the model: only agents speak it here. */
export const errors = errorTable()

/** The error of a turn. `codexErrorInfo` is a word, or an object whose one key is the word. */
export const TurnError = v.looseObject({ message: v.string(), codexErrorInfo: v.optional(v.unknown()) })

/** The canonical error of each word of `codexErrorInfo`, with the stop where it says more than `error`. */
const KINDS: Readonly<Record<string, readonly [code: ErrorCode, stop?: Stop]>> = {
  contextWindowExceeded: ['payload-too-large', 'context-window'],
  sessionBudgetExceeded: ['provider-rate-limit', 'max-budget'],
  usageLimitExceeded: ['provider-rate-limit'],
  rateLimitExceeded: ['provider-rate-limit'],
  flexUnavailable: ['provider-down'],
  policyCapacityUnavailable: ['provider-down'],
  serverOverloaded: ['provider-down'],
  internalServerError: ['provider-down'],
  httpConnectionFailed: ['provider-down'],
  responseStreamConnectionFailed: ['provider-down'],
  responseStreamDisconnected: ['provider-down'],
  responseTooManyFailedAttempts: ['provider-down'],
  unauthorized: ['provider-auth'],
  modelNotFound: ['provider-error'],
  badRequest: ['provider-error'],
  inferenceHookDenied: ['provider-error', 'content-filter'],
  cyberPolicy: ['provider-error', 'content-filter'],
  bioPolicy: ['provider-error', 'content-filter'],
  misalignmentPolicyViolation: ['provider-error', 'content-filter'],
  tooManyDenials: ['forbidden'],
  threadRollbackFailed: ['internal'],
  sandboxError: ['internal'],
}

/** The end of a turn that failed with this error; an error that cannot be read is one of the provider. */
export function failureOf(error: unknown): Ending {
  const read = v.safeParse(TurnError, error)
  const message = read.success && read.output.message !== '' ? read.output.message : 'The agent gave no reason.'
  const { word, status } = kindOf(read.success ? read.output.codexErrorInfo : undefined)
  const [code, stop = 'error'] = Object.hasOwn(KINDS, word) ? KINDS[word]! : [codeOfText(message)]
  const reason = fault(status === undefined ? code : codeOfProviderStatus(status), message)
  return { outcome: 'failed', stop, fault: reason }
}

/** The error that a text of the agent names. What goes wrong in a turn is nearly always the model's provider. */
export function codeOfText(message: string): ErrorCode {
  return codeOfProviderText(message) ?? 'provider-error'
}

function kindOf(info: unknown): { word: string; status?: number } {
  if (!isRecord(info)) return { word: scalarText(info) }
  const [word = '', details] = Object.entries(info)[0] ?? []
  const status = isRecord(details) ? details['httpStatusCode'] : undefined
  return typeof status === 'number' && status >= 400 ? { word, status } : { word }
}

/** The codes of JSON-RPC errors of the agent that are not the caller's fault. */
const RPC: ReadonlyMap<number | undefined, ErrorCode> = new Map([
  [-32001, 'overloaded'],
  [-32603, 'internal'],
])

/** The fault of a request that the agent refused. */
export function refusalOf({ code, message }: { code: number | undefined; message: string }): Fault {
  return fault(RPC.get(code) ?? 'invalid-request', message || 'The agent refused the request.')
}
