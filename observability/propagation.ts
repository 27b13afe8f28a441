/**
 * W3C Trace Context (Level 1, with the forward compatibility rules of its section 3.2.2) and W3C Baggage, without the
 * OpenTelemetry SDK: a client's values are checked and bounded here before they are passed on.
 */

import type { Carrier } from '../src/contract/index.ts'

/** Headers with lower-case names, environment variables with upper-case ones, or members of a metadata object. */
export type CarrierSource = Readonly<Record<string, string | readonly string[] | undefined>>

/** The fields of a `traceparent`. `version` is the one that was read; `flags` is 0 to 255, bit 0 means sampled. */
export interface TraceParent {
  version: string
  traceId: string
  spanId: string
  flags: number
}

/** Bit 0 of the flags: the caller records this trace. */
export const SAMPLED = 0x01

/** Upper limits of the values passed on. Lengths are characters; all three values are ASCII. */
export const LIMITS = {
  tracestateLength: 512,
  tracestateMembers: 32,
  baggageLength: 8192,
  baggageMembers: 64,
  /** Longer raw values are ignored. */
  rawLength: 32_768,
} as const

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const STATE_KEY = /^(?:[a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})$/
const STATE_VALUE = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/
/** A longer state member is removed first when the whole is too long (section 3.3.1.5). */
const LONG_STATE_MEMBER = 128
const BAGGAGE_ENTRY = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+[ \t]*=[ \t]*[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/
const BAGGAGE_PROPERTY = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:[ \t]*=[ \t]*[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*)?$/

/**
 * The trace context of a request, from its headers, its environment or its metadata. Malformed values are left out.
 * `tracestate` has no meaning without a valid `traceparent` and is left out with it. Baggage may carry one tenant's
 * data to another one's agent, so it is read only on request.
 */
export function readCarrier(source: CarrierSource, options: { baggage?: boolean } = {}): Carrier {
  const carrier: Carrier = {}
  const parent = parseTraceparent(single(lookUp(source, 'traceparent')))
  if (parent) {
    carrier.traceparent = canonical(parent)
    const state = readTracestate(listed(lookUp(source, 'tracestate')))
    if (state !== undefined) carrier.tracestate = state
  }
  if (options.baggage) {
    const baggage = readBaggage(listed(lookUp(source, 'baggage')))
    if (baggage !== undefined) carrier.baggage = baggage
  }
  return carrier
}

/**
 * The fields of a `traceparent`, or undefined when it must be ignored: wrong form, upper-case digits, version `ff`, an
 * id of zeros, or more than four fields in version `00`. Of later versions the first four fields are read.
 */
export function parseTraceparent(text: string | undefined): TraceParent | undefined {
  const match = TRACEPARENT.exec(trim(text ?? ''))
  if (!match) return undefined
  const [, version = '', traceId = '', spanId = '', flags = '', more] = match
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { version, traceId, spanId, flags: Number.parseInt(flags, 16) }
}

/** A version `00` `traceparent`. The ids are lower-case hexadecimal, 32 and 16 digits. */
export function formatTraceparent(parent: Pick<TraceParent, 'traceId' | 'spanId' | 'flags'>): string {
  return `00-${parent.traceId}-${parent.spanId}-${parent.flags.toString(16).padStart(2, '0')}`
}

/** The `traceparent` to pass on, as version `00`: of a later version only the fields that version `00` has. */
function canonical(parent: TraceParent): string {
  return formatTraceparent(parent.version === '00' ? parent : { ...parent, flags: parent.flags & SAMPLED })
}

/**
 * A `tracestate` that may be passed on, or undefined when there is none, when a member is malformed or repeated, or
 * when there are more than 32. One of more than 512 characters loses whole members: long ones first, then the last.
 */
export function readTracestate(text: string | undefined): string | undefined {
  if (text === undefined || text.length > LIMITS.rawLength) return undefined
  let members = text.split(',').map(trim).filter(Boolean)
  const keys = new Set<string>()
  for (const member of members) {
    const at = member.indexOf('=')
    const key = member.slice(0, Math.max(at, 0))
    if (!STATE_KEY.test(key) || !STATE_VALUE.test(member.slice(at + 1)) || keys.has(key)) return undefined
    keys.add(key)
  }
  if (members.length === 0 || members.length > LIMITS.tracestateMembers) return undefined
  const tooLong = (): boolean => members.join(',').length > LIMITS.tracestateLength
  if (tooLong()) members = members.filter((member) => member.length <= LONG_STATE_MEMBER)
  while (tooLong()) members.pop()
  return members.length === 0 ? undefined : members.join(',')
}

/** The well-formed members of a `baggage`, the first that fit the limits; undefined when that leaves none. */
export function readBaggage(text: string | undefined): string | undefined {
  if (text === undefined || text.length > LIMITS.rawLength) return undefined
  const kept: string[] = []
  let length = -1
  for (const member of text.split(',').map(trim)) {
    if (!isBaggageMember(member)) continue
    length += member.length + 1
    if (length > LIMITS.baggageLength || kept.length === LIMITS.baggageMembers) break
    kept.push(member)
  }
  return kept.length === 0 ? undefined : kept.join(',')
}

function isBaggageMember(member: string): boolean {
  const [entry = '', ...properties] = member.split(';').map(trim)
  return BAGGAGE_ENTRY.test(entry) && properties.every((property) => BAGGAGE_PROPERTY.test(property))
}

function lookUp(source: CarrierSource, name: string): string | readonly string[] | undefined {
  return source[name] ?? source[name.toUpperCase()]
}

/** A value that may come once: repeated values are ignored. */
function single(value: string | readonly string[] | undefined): string | undefined {
  if (typeof value === 'string' || value === undefined) return value
  return value.length === 1 ? value[0] : undefined
}

/** A value that is a list: several headers are one list. */
function listed(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' || value === undefined ? value : value.join(',')
}

/** Without the optional whitespace of header lists; other blanks, such as line feeds, stay and are refused. */
function trim(text: string): string {
  let from = 0
  let to = text.length
  while (from < to && isBlank(text.charCodeAt(from))) from += 1
  while (to > from && isBlank(text.charCodeAt(to - 1))) to -= 1
  return text.slice(from, to)
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9
}
