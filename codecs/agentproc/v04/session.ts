import { toWireSession } from '../session.ts'
import { isSessionId } from './schema.ts'

/**
 * The gateway's session ids as this wire takes them: as they are when nobody could read them otherwise, else in the
 * narrow alphabet of wire 0.1.
 */
export function wireSession(id: string): string {
  if (isSessionId(id) && !id.includes('=')) return id
  return toWireSession(id).replaceAll('.', '=002e')
}
