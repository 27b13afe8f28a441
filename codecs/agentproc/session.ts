import { isSessionId } from './v04/schema.ts'

/** The notice of an id that an agent may not announce. */
export const INVALID_SESSION = 'The agent announced a session id that is not valid; ignored.'

/**
 * The gateway's session ids in the narrow alphabet of AGENT_SESSION: whatever is not a letter, a digit or one of
 * `._~-` becomes `=` and the four hexadecimal digits of its UTF-16 unit.
 */
export function toWireSession(id: string): string {
  return id.replace(/[^A-Za-z0-9._~-]/g, (unit) => `=${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The reverse of `toWireSession`; an id of another agent stays unchanged. */
export function fromWireSession(id: string): string {
  return id.replace(/=([0-9a-f]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/**
 * The gateway's session ids as wires of JSON lines take them: unchanged where they are unambiguous, else in the narrow
 * alphabet of wire 0.1.
 */
export function wireSession(id: string): string {
  if (isSessionId(id) && !id.includes('=')) return id
  return toWireSession(id).replaceAll('.', '=002e')
}
