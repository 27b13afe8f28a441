import * as startup from '../../startup/index.ts'

// Their types are written out: the library's types must not lead to the folder's others, which need those of Node.js.

/** The SHA-256 of a text as hexadecimal digits. */
export const digestOf: (text: string) => string = startup.digestOf

/** An id of so many random bytes (at most 1024) that nobody can guess, as base64url. */
export const randomId: (bytes: number) => string = startup.randomId
