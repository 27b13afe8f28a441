import type { Reaction } from './kit/index.ts'

/** A placeholder for a byte that is not UTF-8 in texts of hostile tests. */
export const BAD_BYTE = '\ue000'
const BAD_BYTES = Buffer.from(BAD_BYTE)

/** Valid JSON that some programs mishandle: equal keys, `__proto__`, numbers outside of doubles. */
export const ODD_JSON = '{"a":1,"a":2,"__proto__":{"x":1},"big":1234567890123456789,"huge":1e400,"zero":-0}'
const DEPTH = 10_000
/** Nested arrays. */
export const DEEP_JSON = '['.repeat(DEPTH) + ']'.repeat(DEPTH)

/** One mebibyte. */
export const MIB = 1024 * 1024

/** A JSON object with an additional first member. */
export function withMember(json: string, name: string, value: string): string {
  return json.replace(/^\{/, () => `{"${name}":${value},`)
}

/** The text with every `BAD_BYTE` as the byte 0xff. */
export function withBadBytes(text: string): { bytes: Uint8Array } {
  const bytes = Buffer.from(text).toString('latin1').replaceAll(BAD_BYTES.toString('latin1'), '\xff')
  return { bytes: Buffer.from(bytes, 'latin1') }
}

/** The pause between pieces in milliseconds, so that a reader sees them separately. */
const APART_MS = 20

/** The text in pieces that split every multi-byte character. */
export function splitCharacters(text: string): ({ bytes: Uint8Array } | { pause: number })[] {
  const pieces: Buffer[] = []
  for (const run of text.split(/([^\x00-\x7f])/u)) {
    const bytes = Buffer.from(run)
    if (/^[\x00-\x7f]*$/.test(run)) pieces.push(bytes)
    else for (const byte of bytes) pieces.push(Buffer.of(byte))
  }
  return pieces.filter(({ length }) => length > 0).flatMap((bytes) => [{ bytes }, { pause: APART_MS }])
}

/** True for a reaction that writes. */
export function isWrite(reaction: Reaction): reaction is { readonly write: string } {
  return 'write' in reaction
}
