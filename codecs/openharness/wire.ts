import { extensions } from '../../src/codec-kit/index.ts'
import { oneLine as escaped, hasLineEnd, type JsonText, type Member, member, members } from '../../src/model/index.ts'

/** The protocol's name in `ext` and `foreign`. */
export const PROTOCOL = 'openharness'

/** The wire version that is written, and the one line of versions that is read (section 3). */
export const VERSION = '1.0.0'

/** Key of what the gateway adds to an answer: `response.extensions[…]`. */
export const TURN_EXTENSION = 'urn:turnpike:turn'

/** Key of a client's answer to an approval: `request.context.extensions[…]`. */
export const APPROVAL_EXTENSION = 'urn:turnpike:approval'

/** The capability that, together with `Accept: text/event-stream`, asks for the streaming profile (section 15). */
export const STREAMING = 'openharness.streaming'

/** Marks the continuation tokens of parked turns, to distinguish them from those of an engine. */
const CONTINUATION_MARK = 'turnpike.'

/** The token that a client sends back to go on with a parked turn. */
export function markContinuation(continuation: string): string {
  return CONTINUATION_MARK + continuation
}

/** The gateway's own continuation in a client's token, or undefined when the token is from elsewhere. */
export function ownContinuation(token: string | undefined): string | undefined {
  return token?.startsWith(CONTINUATION_MARK) ? token.slice(CONTINUATION_MARK.length) : undefined
}

const SEMVER = /^(\d+)\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/

/** Members of an engine's message (section 5.2), and of its `response`. */
export const ENVELOPE: ReadonlySet<string> = new Set([
  'protocol_version',
  'request_id',
  'correlation_id',
  'supported_protocol_versions',
  'supported_capabilities',
  'capability_denials',
  'response',
])
export const RESPONSE: ReadonlySet<string> = new Set([
  'status',
  'engine_latency_ms',
  'action_directives',
  'error',
  'extensions',
])

/** Compares a `protocol_version` with ours: `same` major line, `other` major line, or `invalid` (not three numbers). */
export function versionLine(version: unknown): 'same' | 'other' | 'invalid' {
  const major = typeof version === 'string' ? SEMVER.exec(version)?.[1] : undefined
  if (major === undefined) return 'invalid'
  return Number(major) === 1 ? 'same' : 'other'
}

export const { ownExt, entriesExt } = extensions(PROTOCOL)

/** A raw JSON object: its text, or its members where several are looked for. */
export type Raw = JsonText | readonly Member[]

/** The raw value at a path of keys, or undefined when there is none. */
export function at(json: Raw | undefined, first: string, ...further: readonly string[]): JsonText | undefined {
  let value = rawValue(json, first)
  for (const key of further) value = rawValue(value, key)
  return value
}

function rawValue(json: Raw | undefined, key: string): JsonText | undefined {
  if (typeof json === 'object') return json.findLast(([name]) => name === key)?.[1]
  return json === undefined ? undefined : member(json, key)
}

/** Raw JSON of an object, or undefined when it has no members. */
export function unlessEmpty(json: JsonText | undefined): JsonText | undefined {
  return json === undefined || /^\s*\{\s*\}\s*$/.test(json) ? undefined : json
}

/** JSON on one line, whatever was spliced into it; a run of line ends between tokens is one space. */
export function oneLine(json: JsonText): JsonText {
  return escaped(hasLineEnd(json) ? json.replace(/[\r\n]+/g, ' ') : json)
}

/** True when an id can be mirrored in an HTTP header as it is. */
export function headerSafe(value: string): boolean {
  return value.length <= 256 && /^[\x21-\x7e]+$/.test(value)
}

/** Headers that mirror the ids of a message (HTTP profile); an id that no header can hold is left out. */
export function idHeaders(ids: { request?: string; correlation?: string }): Record<string, string> {
  const headers: Record<string, string> = {}
  if (ids.request !== undefined && headerSafe(ids.request)) headers['x-request-id'] = ids.request
  if (ids.correlation !== undefined && headerSafe(ids.correlation)) headers['x-correlation-id'] = ids.correlation
  return headers
}

/** The members of a raw JSON object whose keys are not `known`; none for undefined. */
export function otherMembers(json: Raw | undefined, known: ReadonlySet<string>): Member[] {
  const all = typeof json === 'object' ? json : members(json ?? '')
  return all.filter(([key]) => !known.has(key))
}
