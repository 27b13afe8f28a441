/**
 * The SHA-256 of a text's UTF-8 bytes as lower-case hexadecimal digits (FIPS 180-4). For few and short texts:
 * Node's own is faster, but loading it costs a stand-in more time than this saves.
 */
export function sha256(text: string): string {
  const bytes = padded(new TextEncoder().encode(text))
  const view = new DataView(bytes.buffer)
  // Of the square roots of the first 8 primes (section 5.3.3), and the cube roots of the first 64 (section 4.2.2).
  const state = fractions(8, 1 / 2)
  const constants = fractions(64, 1 / 3)
  const words = new Int32Array(64)
  for (let at = 0; at < bytes.length; at += 64) {
    for (let n = 0; n < 16; n += 1) words[n] = view.getInt32(at + 4 * n)
    for (let n = 16; n < 64; n += 1) {
      const a = words[n - 15]!
      const b = words[n - 2]!
      const low = rotated(a, 7) ^ rotated(a, 18) ^ (a >>> 3)
      const high = rotated(b, 17) ^ rotated(b, 19) ^ (b >>> 10)
      words[n] = words[n - 16]! + low + words[n - 7]! + high
    }
    mix(state, words, constants)
  }
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
}

/** One block into the state (section 6.2.2, steps 2 to 4). */
function mix(state: Int32Array, words: Int32Array, constants: Int32Array): void {
  let a = state[0]!
  let b = state[1]!
  let c = state[2]!
  let d = state[3]!
  let e = state[4]!
  let f = state[5]!
  let g = state[6]!
  let h = state[7]!
  for (let n = 0; n < 64; n += 1) {
    const high = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
    const first = (h + high + ((e & f) ^ (~e & g)) + constants[n]! + words[n]!) | 0
    const low = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
    const second = (low + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + second) | 0
  }
  state[0]! += a
  state[1]! += b
  state[2]! += c
  state[3]! += d
  state[4]! += e
  state[5]! += f
  state[6]! += g
  state[7]! += h
}

/** With a 1 bit, zeros, and the length in bits, to a multiple of 64 bytes (section 5.1.1). */
function padded(text: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.ceil((text.length + 9) / 64) * 64)
  bytes.set(text)
  bytes[text.length] = 0x80
  new DataView(bytes.buffer).setBigUint64(bytes.length - 8, BigInt(text.length) * 8n)
  return bytes
}

function rotated(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by))
}

/** The first 32 bits of the fractional parts of the roots of the first primes. */
function fractions(count: number, power: number): Int32Array {
  const primes: number[] = []
  for (let n = 2; primes.length < count; n += 1) if (primes.every((prime) => n % prime !== 0)) primes.push(n)
  return Int32Array.from(primes, (prime) => (prime ** power % 1) * 2 ** 32)
}
