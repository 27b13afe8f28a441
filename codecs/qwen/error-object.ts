import { codeOfProviderText, wordTable } from '../../src/codec-kit/index.ts'
import {
  append,
  type ErrorCode,
  type Fault,
  fault,
  type JsonText,
  member,
  members,
  object,
  parseObject,
  quote,
  rest,
} from '../../src/model/index.ts'
import { errors } from '../qwen-code/index.ts'
import { entriesExt, ownExt, ownMember } from './wire.ts'

/** The members of an error object. */
const MEMBERS: ReadonlySet<string> = new Set(['message', 'type', 'param', 'code', 'retryable'])

/** `error.type` of every error, in the words of the OpenAI error object. */
const TYPES: Readonly<Record<ErrorCode, string>> = {
  'invalid-request': 'invalid_request_error',
  'payload-too-large': 'invalid_request_error',
  'unsupported-version': 'invalid_request_error',
  unauthenticated: 'authentication_error',
  forbidden: 'permission_error',
  'agent-not-found': 'not_found_error',
  'session-not-found': 'not_found_error',
  'session-busy': 'conflict_error',
  overloaded: 'overloaded_error',
  timeout: 'timeout_error',
  cancelled: 'cancelled_error',
  'agent-unavailable': 'service_unavailable_error',
  'agent-crashed': 'server_error',
  'protocol-violation': 'server_error',
  'provider-auth': 'authentication_error',
  'provider-rate-limit': 'rate_limit_error',
  'provider-down': 'service_unavailable_error',
  'provider-error': 'server_error',
  'lossy-refused': 'invalid_request_error',
  'idempotency-conflict': 'invalid_request_error',
  internal: 'server_error',
}

const BY_CODE: ReadonlyMap<string, ErrorCode> = new Map(
  Object.entries(errors).map(([canonical, { code }]) => [code, canonical as ErrorCode]),
)

/** The canonical code of an error with a code of the agent's own, by its type. Authentication is that of its provider. */
const BY_TYPE = wordTable<ErrorCode>({
  invalid_request_error: 'invalid-request',
  authentication_error: 'provider-auth',
  permission_error: 'provider-auth',
  rate_limit_error: 'provider-rate-limit',
  insufficient_quota: 'provider-rate-limit',
  overloaded_error: 'overloaded',
  service_unavailable_error: 'provider-down',
  timeout_error: 'timeout',
  not_found_error: 'session-not-found',
  conflict_error: 'session-busy',
})

/**
 * The error object of a fault. What the agent said itself in this dialect (`code`, `type`, `param`) is kept; a failure
 * that leaves the process healthy says whether the same request may succeed later.
 */
export function errorJson(found: Fault, healthy: boolean): JsonText {
  const own = object({
    message: quote(found.message),
    type: ownMember(found.ext, 'type') ?? quote(TYPES[found.code]),
    param: ownMember(found.ext, 'param') ?? 'null',
    code: ownMember(found.ext, 'code') ?? quote(errors[found.code].code),
    retryable: healthy ? String(found.retryable) : undefined,
  })
  const further = ownExt(found.ext)
  return further === undefined ? own : append(own, rest(further, MEMBERS))
}

/** The fault of an error object (raw JSON), whose message the protocol makes for users. */
export function faultOfError(json: JsonText): Fault {
  const error = parseObject(json) ?? {}
  const { message, code, type, retryable } = error
  const text = typeof message === 'string' && message !== '' ? message : 'The agent failed without saying why.'
  const known = typeof code === 'string' ? BY_CODE.get(code) : undefined
  const byType = typeof type === 'string' ? BY_TYPE.get(type) : undefined
  const canonical = known ?? byType ?? codeOfProviderText(`${code ?? type ?? ''}: ${text}`) ?? 'internal'
  const param = member(json, 'param')
  const ext = entriesExt(members(rest(json, MEMBERS) ?? '{}'), {
    code: known === undefined ? member(json, 'code') : undefined,
    type: type === TYPES[canonical] ? undefined : member(json, 'type'),
    param: param === 'null' ? undefined : param,
  })
  return fault(canonical, text, {
    ...(typeof retryable === 'boolean' && { retryable }),
    ...(ext && { ext }),
  })
}
