import {
  codeOfProviderStatus,
  codeOfProviderText,
  errorTable,
  RPC_CODES,
  type RpcError,
} from '../../src/codec-kit/index.ts'
import { type ErrorCode, type Fault, fault, isRecord } from '../../src/model/index.ts'

/** The codes that the protocol adds to those of JSON-RPC. */
export const ACP_CODES = { authRequired: -32000, resourceNotFound: -32002, cancelled: -32800 } as const

const CODES: Partial<Record<ErrorCode, number>> = {
  'invalid-request': RPC_CODES.invalidParams,
  'unsupported-version': RPC_CODES.invalidParams,
  unauthenticated: ACP_CODES.authRequired,
  'provider-auth': ACP_CODES.authRequired,
  'agent-not-found': ACP_CODES.resourceNotFound,
  'session-not-found': ACP_CODES.resourceNotFound,
  cancelled: ACP_CODES.cancelled,
}

/** The JSON-RPC code of an error. */
export function rpcCodeOf(code: ErrorCode): number {
  return CODES[code] ?? RPC_CODES.internal
}

/** The protocol's own code for every error. */
export const errors = errorTable((code) => String(rpcCodeOf(code)))

const BY_CODE: ReadonlyMap<number | undefined, ErrorCode> = new Map([
  [ACP_CODES.authRequired, 'provider-auth'],
  [ACP_CODES.cancelled, 'cancelled'],
  [RPC_CODES.methodNotFound, 'protocol-violation'],
  [RPC_CODES.invalidParams, 'invalid-request'],
])

/** The fault of an agent's error object: by what it says of its provider, then by its code. Some agents use HTTP statuses as codes. */
export function faultOfError(error: RpcError): Fault {
  const { code } = error
  const text = textOfError(error)
  const isStatus = code !== undefined && code >= 400 && code < 600
  const ofProvider = isStatus ? codeOfProviderStatus(code) : codeOfProviderText(text)
  const known = code === ACP_CODES.authRequired ? undefined : ofProvider
  return fault(known ?? BY_CODE.get(code) ?? 'internal', text)
}

/** The text of an error: its message, and what its data says besides. */
export function textOfError({ message, data }: RpcError): string {
  const more = isRecord(data) ? (data['details'] ?? data['message']) : data
  const details = typeof more === 'string' && !message.includes(more) ? more : ''
  return [message, details].filter((text) => text.trim() !== '').join(': ') || 'The agent gave no reason.'
}
