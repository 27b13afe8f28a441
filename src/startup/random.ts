import { closeSync, openSync, readSync } from 'node:fs'

/** Bytes that are taken from the system at once: a multiple of three, so that each character of their text is random. */
const POOL = 1026

let pool = ''
let at = 0

/** An id of so many random bytes (at most 1024) that nobody can guess, as base64url. */
export function randomId(bytes: number): string {
  const length = Math.ceil((bytes * 4) / 3)
  if (at + length > pool.length) {
    pool = fresh().toString('base64url')
    at = 0
  }
  at += length
  return pool.slice(at - length, at)
}

/** From the system's own file where there is one, without Node's cryptography. */
function fresh(): Buffer {
  const buffer = Buffer.alloc(POOL)
  let file: number | undefined
  try {
    file = openSync('/dev/urandom', 'r')
    if (readSync(file, buffer) === buffer.length) return buffer
  } catch {
    // Another system, or a sandbox without devices.
  } finally {
    if (file !== undefined) closeSync(file)
  }
  return process.getBuiltinModule('node:crypto').randomBytes(POOL)
}
