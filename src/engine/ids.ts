import { randomId } from './random.ts'

/** Random bytes of one id: nobody guesses the id of another's turn. */
const BYTES = 9

/**
 * A new id, unique and not to be guessed, in characters that every protocol takes. It begins with the time, so that
 * rows that are made one after the other lie beside each other in the store.
 */
export function newId(now: number = Date.now()): string {
  return `${now.toString(36)}${randomId(BYTES)}`
}
