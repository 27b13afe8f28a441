import {
  codeOfProviderStatus,
  codeOfProviderText,
  errorTable,
  NOT_REPEATED,
  type WrongMember,
  wordsOfError,
} from '../../src/codec-kit/index.ts'
import type { Codec } from '../../src/contract/index.ts'
import {
  beginningOf,
  type ErrorCode,
  type EventOf,
  type Fault,
  fault,
  isRecord,
  type JsonText,
  member,
  object,
  parseObject,
  quote,
} from '../../src/model/index.ts'
import { ownExt, ownMember, toExt } from './wire.ts'

/** Codes that the API has a word of its own for; the others are the model's, with underscores. */
const CODES: Partial<Record<ErrorCode, string>> = {
  unauthenticated: 'invalid_api_key',
  'agent-not-found': 'model_not_found',
  'provider-rate-limit': 'rate_limit_exceeded',
  'lossy-refused': 'translation_lossy',
}

/** The `error.code` of every error, and the HTTP status of an answer that fails before it has begun. */
export const errors: Codec['errors'] = errorTable((code) => CODES[code] ?? code.replaceAll('-', '_'), NOT_REPEATED)

/** Errors that only a gateway reports: the server may be another one. */
const OF_GATEWAYS = new Map(
  (['cancelled', 'timeout', 'session-busy', 'agent-unavailable', 'agent-crashed', 'protocol-violation'] as const).map(
    (code) => [errors[code].code, code],
  ),
)

/** The `error.type` of errors that have one of their own; of a failing request `invalid_request_error`, else `server_error`. */
const TYPES: Partial<Record<ErrorCode, string>> = {
  unauthenticated: 'authentication_error',
  forbidden: 'permission_error',
  overloaded: 'rate_limit_error',
  'provider-rate-limit': 'rate_limit_error',
  'agent-crashed': 'server_error',
  'protocol-violation': 'server_error',
  'provider-auth': 'server_error',
}

/** The longest text of a provider's error that is passed on, in UTF-16 units. */
const MAX_SAID = 2000

/** The `error` object of a fault, as it stands in a body and in a stream. What a provider's own error said is kept. */
export function errorJson(found: Fault): JsonText {
  const { code, http } = errors[found.code]
  const type = TYPES[found.code] ?? (http < 499 ? 'invalid_request_error' : 'server_error')
  const own = ownExt(found.ext)
  return object([
    ['message', quote(found.message)],
    ['type', member(own ?? '', 'type') ?? quote(type)],
    ['code', member(own ?? '', 'code') ?? quote(code)],
    ['param', ownMember(found.ext, 'param') ?? 'null'],
  ])
}

/** The fault of a turn that has not completed. */
export function faultOfTurn({ fault: found, outcome }: EventOf<'turn-end'>): Fault {
  return found ?? fault(outcome === 'cancelled' ? 'cancelled' : 'agent-crashed', 'The turn ended without saying why.')
}

/** A whole answer with only the fault. */
export function errorBody(found: Fault): JsonText {
  return object([['error', errorJson(found)]])
}

/** A refusal of a request that names the member that is wrong. */
export function invalidRequest(message: string, param?: string): Fault {
  const ext = param === undefined ? undefined : toExt(object([['param', quote(param)]]))
  return fault('invalid-request', message, ext && { ext })
}

/** A refusal of a request for a member that is not as it must be. */
export function wrongRequest({ param, wrong }: WrongMember): Fault {
  return invalidRequest(`${param} ${wrong}.`, param)
}

/**
 * The fault of a provider's error: the body of a failing status, or an `error` in a stream (its status is then
 * undefined). Its words are passed on, cut where they are long; the engine takes secrets of the agent out of them.
 */
export function faultOfError(json: JsonText, status: number | undefined): Fault {
  const body = parseObject(json)
  const held = isRecord(body?.['error']) ? body['error'] : body
  const message = wordsOfError(json)
  const code = wordOf(held?.['code']) ?? wordOf(held?.['type'])
  const own = code === undefined ? undefined : OF_GATEWAYS.get(code)
  const known =
    own ??
    (status === undefined ? undefined : codeOfProviderStatus(status)) ??
    codeOfProviderText(`${code ?? ''}: ${message}`)
  const said = message === '' ? '.' : `: ${beginningOf(message, MAX_SAID)}`
  const name = code === undefined ? '' : ` (${code})`
  const where = status === undefined ? 'in its stream' : `with HTTP status ${status}`
  const ext = code === undefined ? undefined : toExt(object([['code', quote(code)]]))
  return fault(known ?? 'provider-error', `The model provider answered ${where}${name}${said}`, ext && { ext })
}

function wordOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}
