import { randomFillSync } from 'node:crypto'

/** Random bytes of one id: nobody guesses the id of another's turn. */
const BYTES = 9
const POOL = Buffer.alloc(BYTES * 256)
let at = POOL.length

/**
 * A new id, unique and not to be guessed, in characters that every protocol takes. It begins with the time, so that
 * rows that are made one after the other lie beside each other in the store.
 */
export function newId(now: number = Date.now()): string {
  if (at === POOL.length) {
    randomFillSync(POOL)
    at = 0
  }
  const random = POOL.toString('base64url', at, at + BYTES)
  at += BYTES
  return `${now.toString(36)}${random}`
}
