import { sha256 } from '../../model/index.ts'

/** Longer texts are worth the time that it takes to load Node's own cryptography (about 9 ms). */
const SHORT = 4096

let first = true

/**
 * The SHA-256 of a text as hexadecimal digits: by Node's own cryptography, but for the first short text of a process.
 * A stand-in that runs one turn needs no other.
 */
export function digestOf(text: string): string {
  if (first && text.length <= SHORT) {
    first = false
    return sha256(text)
  }
  return process.getBuiltinModule('node:crypto').hash('sha256', text)
}
