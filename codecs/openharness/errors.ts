import { codeOfProviderText, errorTable } from '../../src/codec-kit/index.ts'
import { type ErrorCode, type Fault, fault, type JsonText, object, parseObject, quote } from '../../src/model/index.ts'
import { at, entriesExt, otherMembers, ownExt } from './wire.ts'

/** The codes of section 13 that are not the model's own with underscores. */
const CODES: Readonly<Partial<Record<ErrorCode, string>>> = {
  'unsupported-version': 'protocol_version_unsupported',
  'agent-not-found': 'not_found',
  'session-not-found': 'not_found',
  timeout: 'engine_timeout',
  'agent-unavailable': 'engine_unavailable',
  'agent-crashed': 'engine_failed',
  'lossy-refused': 'translation_lossy',
  'idempotency-conflict': 'invalid_request',
}

/** OpenHarness's code of every error. */
export const errors = errorTable((code) => CODES[code] ?? code.replaceAll('-', '_'))

/** The canonical error of every wire code; of those that share one, the first. */
const CANONICAL = new Map<string, ErrorCode>()
for (const [code, wire] of Object.entries(errors)) {
  if (!CANONICAL.has(wire.code)) CANONICAL.set(wire.code, code as ErrorCode)
}

/** An engine's error about a key concerns the gateway's key, not its client's. */
const ABOUT_OUR_KEY: ReadonlySet<ErrorCode | undefined> = new Set<ErrorCode | undefined>([
  'unauthenticated',
  'forbidden',
])

/** The HTTP statuses that stand for each error where an engine's own code says nothing. */
const STATUSES: Readonly<Partial<Record<ErrorCode, readonly number[]>>> = {
  'invalid-request': [400, 415, 422],
  'provider-auth': [401, 403],
  'agent-unavailable': [404, 405, 502, 503],
  timeout: [408, 504],
  'session-busy': [409],
  'payload-too-large': [413],
  overloaded: [429],
  cancelled: [499],
  'agent-crashed': [500],
}
const BY_STATUS = new Map<number, ErrorCode>()
for (const [code, all] of Object.entries(STATUSES)) for (const status of all) BY_STATUS.set(status, code as ErrorCode)

/** Statuses that are not about the turn when no envelope comes with them: their sender has not read the request. */
const ABOUT_THE_TURN: ReadonlySet<number> = new Set([400, 409, 415, 422, 499])

/** The fault of a failing status without an envelope, as a proxy or an engine that fails early sends it. */
export function codeOfStatus(status: number): ErrorCode {
  const known = ABOUT_THE_TURN.has(status) ? undefined : BY_STATUS.get(status)
  return known ?? 'protocol-violation'
}

/** The code under which the public bridge reports every fault; its message may quote its upstream, secrets included. */
const BRIDGE_ERROR = 'bridge_error'

const ERROR_KEYS = new Set(['code', 'message', 'retryable'])

/**
 * The fault of an engine's `response.error` (raw JSON; undefined when it has none) under this HTTP status. The message
 * is the engine's own, which the protocol makes for users; a code that is not in the table and all unknown fields ride
 * in `ext`. Of a `bridge_error` only the code is kept.
 */
export function faultOfError(error: JsonText | undefined, status: number): Fault {
  const wire = error === undefined ? {} : (parseObject(error) ?? {})
  const code = typeof wire['code'] === 'string' && wire['code'] !== '' ? wire['code'] : undefined
  const named = code === undefined ? undefined : CANONICAL.get(code)
  const known = ABOUT_OUR_KEY.has(named) ? 'provider-auth' : named
  const said = typeof wire['message'] === 'string' ? wire['message'] : ''
  const canonical = known ?? codeOfProviderText(`${code ?? ''}: ${said}`) ?? BY_STATUS.get(status) ?? 'agent-crashed'
  const ownCode = errors[canonical].code === code ? undefined : quote(code)
  if (code === BRIDGE_ERROR) {
    const message = 'The engine reported a fault of its own (bridge_error); its log says more.'
    return fault(canonical, message, { ext: entriesExt({ code: ownCode }) })
  }
  const message = typeof wire['message'] === 'string' ? wire['message'] : silentMessage(code, status)
  const ext = entriesExt({ code: ownCode }, otherMembers(error, ERROR_KEYS))
  return fault(canonical, message, {
    ...(typeof wire['retryable'] === 'boolean' && { retryable: wire['retryable'] }),
    ...(ext && { ext }),
  })
}

function silentMessage(code: string | undefined, status: number): string {
  return `The engine answered with the error ${code ?? 'status'} (HTTP ${status}) and no message; its log says more.`
}

/** `response.error` of a fault, always valid by the schema: the code, message and details of an engine's own error are kept. */
export function errorJson(found: Fault): JsonText {
  const own = ownExt(found.ext)
  const code = at(own, 'code')
  const details = at(own, 'details')
  return object(
    {
      code: code !== undefined && /^"[^"]/.test(code) ? code : quote(errors[found.code].code),
      message: quote(found.message),
      retryable: String(found.retryable),
      details: details?.startsWith('{') ? details : undefined,
    },
    otherMembers(own, new Set([...ERROR_KEYS, 'details'])),
  )
}

/** A refusal of a request, naming the field in `error.details.field`. */
export function invalidRequest(message: string, field?: string): Fault {
  const ext = entriesExt({ details: field === undefined ? undefined : object({ field: quote(field) }) })
  return fault('invalid-request', message, ext && { ext })
}
