import type { Reaction } from './kit/index.ts'

/** Stands for a byte that is no UTF-8 in a text of hostile tests. */
export const BAD_BYTE = '\ue000'
const BAD_BYTES = Buffer.from(BAD_BYTE)

/** JSON that is right and that some programs stumble on: equal keys, `__proto__`, numbers that no double holds. */
export const ODD_JSON = '{"a":1,"a":2,"__proto__":{"x":1},"big":1234567890123456789,"huge":1e400,"zero":-0}'
const DEPTH = 10_000
/** Lists in lists. */
export const DEEP_JSON = '['.repeat(DEPTH) + ']'.repeat(DEPTH)

/** One mebibyte. */
export const MIB = 1024 * 1024

/** A JSON object with one member more, in front of the others. */
export function withMember(json: string, name: string, value: string): string {
  return json.replace(/^\{/, () => `{"${name}":${value},`)
}

/** The text with every `BAD_BYTE` as the byte 0xff. */
export function withBadBytes(text: string): { bytes: Uint8Array } {
  const bytes = Buffer.from(text).toString('latin1').replaceAll(BAD_BYTES.toString('latin1'), '\xff')
  return { bytes: Buffer.from(bytes, 'latin1') }
}

/** How long a reader has to take one piece before the next one comes, so that it sees them as pieces. */
const APART_MS = 20

/** The text in pieces, so that every character of several bytes comes in several writes. */
export function splitCharacters(text: string): ({ bytes: Uint8Array } | { pause: number })[] {
  const pieces: Buffer[] = []
  for (const run of text.split(/([^\x00-\x7f])/u)) {
    const bytes = Buffer.from(run)
    if (/^[\x00-\x7f]*$/.test(run)) pieces.push(bytes)
    else for (const byte of bytes) pieces.push(Buffer.of(byte))
  }
  return pieces.filter(({ length }) => length > 0).flatMap((bytes) => [{ bytes }, { pause: APART_MS }])
}

/** Whether it is something written. */
export function isWrite(reaction: Reaction): reaction is { readonly write: string } {
  return 'write' in reaction
}
