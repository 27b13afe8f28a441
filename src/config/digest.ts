/**
 * 64 bits that tell what a file holds from what it held before, with its length. They keep nobody from making another
 * file that has the same: who can write the configuration has no need to. Loading Node's cryptography takes 9 ms.
 */
export function digestOf(bytes: Uint8Array): string {
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
