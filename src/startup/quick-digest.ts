/**
 * A digest of bytes in letters, digits and hyphens: 64 bits and the length. It distinguishes a user's own files and
 * detects their changes, and is not cryptographic: only who can write them could forge it.
 */
export function quickDigest(bytes: Uint8Array): string {
  const words = new Int32Array(Math.ceil(bytes.length / 4))
  new Uint8Array(words.buffer).set(bytes)
  let one = 0x2545f491
  let two = 0x6a09e667
  for (const word of words) {
    one = Math.imul(one ^ word, 0x85ebca6b)
    two = Math.imul(two ^ word, 0xc2b2ae35)
    one ^= one >>> 15
    two ^= two >>> 13
  }
  return `${bytes.length}-${(one >>> 0).toString(36)}-${(two >>> 0).toString(36)}`
}
