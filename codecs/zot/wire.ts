import { type Ext, type JsonText, members, object, oneLine } from '../../src/model/index.ts'

/** The name under which unknown fields (`ext`) and unknown messages (`foreign`) of this protocol travel. */
export const PROTOCOL = 'zot'

/** The protocol's major version, as `hello` tells it. */
export const PROTOCOL_VERSION = 1

/** Environment variable that makes an agent demand a token in `hello`; empty is as good as unset. */
export const TOKEN_VARIABLE = 'ZOTCORE_RPC_TOKEN'

/** The time of a message that has none, as the original writes it. */
export const NO_TIME = '0001-01-01T00:00:00Z'

/** One member of a message to write; an undefined value leaves it out. */
export type Entry = readonly [key: string, json: JsonText | undefined]

const NOTHING: ReadonlySet<string> = new Set()

/**
 * A message as one line. Unknown fields of this protocol are added behind the known ones; of the known ones only those
 * in `replaceable` give way to a field of `ext`, so that a client cannot turn one message into another.
 */
export function messageLine(
  entries: readonly Entry[],
  ext?: Ext | undefined,
  replaceable: ReadonlySet<string> = NOTHING,
): string {
  if (ext?.protocol !== PROTOCOL) return oneLine(object(entries))
  const merged = new Map<string, JsonText>()
  for (const [key, json] of entries) if (json !== undefined) merged.set(key, json)
  for (const [key, json] of members(ext.json)) if (!merged.has(key) || replaceable.has(key)) merged.set(key, json)
  return oneLine(object(merged))
}

/** A number as JSON; what JSON cannot say is 0. */
export function numberJson(value: number): JsonText {
  return Number.isFinite(value) ? JSON.stringify(value) : '0'
}

/** Milliseconds since the epoch as the wire's time; the original's zero time when they are unknown. */
export function timeText(at: number | undefined): string {
  const date = new Date(at ?? Number.NaN)
  return Number.isNaN(date.getTime()) ? NO_TIME : date.toISOString()
}

/** The wire's time in milliseconds since the epoch; undefined when it is none, or the zero time. */
export function timeOf(text: unknown): number | undefined {
  const at = typeof text === 'string' ? Date.parse(text) : Number.NaN
  return at >= 0 ? at : undefined
}

/** True for base64 with padding, as the original's decoder takes it (line ends are ignored). */
export function isBase64(text: string): boolean {
  const data = text.replace(/[\r\n]/g, '')
  if (data.length % 4 !== 0 || /[^A-Za-z0-9+/=]/.test(data)) return false
  const padding = data.indexOf('=')
  return padding < 0 || (padding >= data.length - 2 && data.endsWith('='))
}

/** How many bytes a base64 text stands for. */
export function base64Bytes(text: string): number {
  return Math.floor((text.replace(/[\r\n=]/g, '').length * 3) / 4)
}
