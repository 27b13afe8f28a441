import {
  codeOfProviderStatus,
  codeOfProviderText,
  errorTable,
  NOT_REPEATED,
  type WrongMember,
  wordsOfError,
  wordTable,
} from '../../src/codec-kit/index.ts'
import type { Codec } from '../../src/contract/index.ts'
import {
  beginningOf,
  ERROR_CODES,
  type ErrorCode,
  type EventOf,
  type Fault,
  fault,
  type Id,
  isRecord,
  type JsonText,
  object,
  parseObject,
  quote,
} from '../../src/model/index.ts'

/** The `error.type` of every error: the API has a closed list of them. */
const TYPES: Readonly<Record<ErrorCode, string>> = {
  'invalid-request': 'invalid_request_error',
  'payload-too-large': 'request_too_large',
  'unsupported-version': 'invalid_request_error',
  unauthenticated: 'authentication_error',
  forbidden: 'permission_error',
  'agent-not-found': 'not_found_error',
  'session-not-found': 'not_found_error',
  'session-busy': 'conflict_error',
  overloaded: 'rate_limit_error',
  timeout: 'timeout_error',
  cancelled: 'api_error',
  'agent-unavailable': 'overloaded_error',
  'agent-crashed': 'api_error',
  'protocol-violation': 'api_error',
  'provider-auth': 'api_error',
  'provider-rate-limit': 'rate_limit_error',
  'provider-down': 'overloaded_error',
  'provider-error': 'api_error',
  'lossy-refused': 'invalid_request_error',
  'idempotency-conflict': 'invalid_request_error',
  internal: 'api_error',
}

/** The `error.type` of every error, and the HTTP status of an answer that fails before it has begun. */
export const errors: Codec['errors'] = errorTable((code) => TYPES[code], NOT_REPEATED)

/** The error of a type that a provider answers with in a stream, where there is no status. */
const OF_TYPES = wordTable<ErrorCode>({
  authentication_error: 'provider-auth',
  billing_error: 'provider-auth',
  permission_error: 'provider-auth',
  request_too_large: 'payload-too-large',
  rate_limit_error: 'provider-rate-limit',
  timeout_error: 'provider-down',
  api_error: 'provider-down',
  overloaded_error: 'provider-down',
})

/** Codes of another gateway, which it adds to the type: they keep their meaning. */
const OF_GATEWAYS: ReadonlyMap<string, ErrorCode> = new Map(ERROR_CODES.map((code) => [wireCode(code), code]))

/** The longest text of a provider's error that is passed on, in UTF-16 units. */
const MAX_SAID = 2000

function wireCode(code: ErrorCode): string {
  return code.replaceAll('-', '_')
}

/**
 * An error as the API has it, in a body and in a stream. `code` is the gateway's own, which says more than the type.
 * `request` is the id of the request.
 */
export function errorJson(found: Fault, request: Id): JsonText {
  const error = object([
    ['type', quote(errors[found.code].code)],
    ['message', quote(found.message)],
    ['code', quote(wireCode(found.code))],
  ])
  return object([
    ['type', '"error"'],
    ['error', error],
    ['request_id', quote(request)],
  ])
}

/** The fault of a turn that has not completed. */
export function faultOfTurn({ fault: found, outcome }: EventOf<'turn-end'>): Fault {
  return found ?? fault(outcome === 'cancelled' ? 'cancelled' : 'agent-crashed', 'The turn ended without saying why.')
}

/** A refusal of a request. */
export function invalidRequest(message: string): Fault {
  return fault('invalid-request', message)
}

/** A refusal of a request for a member that is not as it must be. */
export function wrongRequest({ param, wrong }: WrongMember): Fault {
  return invalidRequest(`${param} ${wrong}.`)
}

/**
 * The fault of a provider's error: the body of a failing status, or an `error` event (its status is then undefined). Its
 * words are passed on, cut where they are long; the engine takes secrets of the agent out of them.
 */
export function faultOfError(json: JsonText, status: number | undefined): Fault {
  const body = parseObject(json)
  const { type, code } = isRecord(body?.['error']) ? body['error'] : {}
  const name = typeof type === 'string' ? type : ''
  const words = wordsOfError(json)
  const own = typeof code === 'string' ? OF_GATEWAYS.get(code) : undefined
  const byText = codeOfProviderText(`${name}: ${words}`)
  const byStatus = status === undefined ? undefined : codeOfProviderStatus(status)
  // The words say what a refused request was refused for.
  const refused = byStatus === undefined || byStatus === 'provider-error'
  const known = own ?? (refused ? (OF_TYPES.get(name) ?? byText ?? byStatus) : byStatus)
  const where = status === undefined ? 'in its stream' : `with HTTP status ${status}`
  const said = words === '' ? '.' : `: ${beginningOf(words, MAX_SAID)}`
  return fault(known ?? 'provider-error', `The model provider answered ${where}${name && ` (${name})`}${said}`)
}
