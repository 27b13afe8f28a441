import { closeSync, openSync, readSync } from 'node:fs'

/** Bytes that are taken from the system at once. */
const POOL = 1024

let pool: Buffer = Buffer.alloc(0)

/** An id of so many random bytes (at most 1024) that nobody can guess, as base64url. */
export function randomId(bytes: number): string {
  if (pool.length < bytes) pool = fresh()
  const taken = pool.subarray(0, bytes)
  pool = pool.subarray(bytes)
  return taken.toString('base64url')
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
