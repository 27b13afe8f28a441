import { randomId } from '../../startup/index.ts'

/** Random bytes of one id: nobody guesses the id of another's turn. */
const BYTES = 9

/**
 * A new id, unique and not to be guessed, in characters that every protocol takes. It begins with the time, so that
 * rows that are made one after the other are neighbours in the store; the time of a process's ids never goes back.
 */
export function newId(now: number = Date.now()): string {
  if (now > latest) {
    latest = now
    time = now.toString(36)
  }
  return `${time}${randomId(BYTES)}`
}

let latest = 0
/** `latest` as ids have it: many are made in one millisecond. */
let time = '0'
