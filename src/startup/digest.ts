import { sha256 } from './sha256.ts'

/** Longer texts are worth loading Node's own cryptography. */
const SHORT = 4096
/** Digests that a stand-in of one turn needs: its session, its request, its session's name. */
const FEW = 3

let made = 0
let hash: typeof import('node:crypto').hash | undefined

/**
 * The SHA-256 of a text as hexadecimal digits: by Node's own cryptography, but for the first short texts of a process.
 */
export function digestOf(text: string): string {
  if (made < FEW && text.length <= SHORT) {
    made += 1
    return sha256(text)
  }
  hash ??= process.getBuiltinModule('node:crypto').hash
  return hash('sha256', text)
}
