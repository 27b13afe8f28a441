import { quote } from '../../../../src/model/index.ts'
import { toWireSession } from '../../session.ts'
import { ERROR, PARTIAL, SESSION } from '../schema.ts'

/** A session line. */
export function sessionLine(id: string): string {
  return SESSION + toWireSession(id)
}

/** A piece of the answer. */
export function partialLine(text: string): string {
  return PARTIAL + quote(text)
}

/** An error, which ends the answer. */
export function errorLine(message: string): string {
  return ERROR + quote(message)
}

/**
 * Text as body lines, which hold no carriage returns: line ends are LF. Lines that would be read as protocol begin with
 * a space.
 */
export function bodyLines(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/^(?=AGENT_(?:SESSION|PARTIAL|ERROR):)/gm, ' ')
}
