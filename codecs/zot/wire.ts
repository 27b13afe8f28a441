import { extensions } from '../../src/codec-kit/index.ts'
import type { JsonText } from '../../src/model/index.ts'

/** The name under which unknown fields (`ext`) and unknown messages (`foreign`) of this protocol travel. */
export const PROTOCOL = 'zot'

/** The protocol's major version, as `hello` names it. */
export const PROTOCOL_VERSION = 1

/** Environment variable that makes an agent demand a token in `hello`; empty is as good as unset. */
export const TOKEN_VARIABLE = 'ZOTCORE_RPC_TOKEN'

/** The time of a message that has none, as the original writes it. */
export const NO_TIME = '0001-01-01T00:00:00Z'

export const { ownExt, ownMember, toExt, unknownExt } = extensions(PROTOCOL)

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

/** The number of bytes of a base64 text. */
export function base64Bytes(text: string): number {
  return Math.floor((text.replace(/[\r\n=]/g, '').length * 3) / 4)
}
