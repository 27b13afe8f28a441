import { randomId } from '../../startup/index.ts'

/** Random bytes of one id: nobody guesses the id of another's turn. */
const BYTES = 9

/**
 * A new id, unique and not to be guessed, in characters that every protocol takes. It begins with the time, so that
 * rows that are made one after the other are neighbours in the store; the time of a process's ids never goes back.
 */
export function newId(now: number = Date.now()): string {
  latest = Math.max(latest, now)
  return `${latest.toString(36)}${randomId(BYTES)}`
}

let latest = 0
