import { Limiter } from './limiter.ts'

/** The rate of wrong keys that an address may send. */
const RATE = { perMinute: 10, burst: 10 }
/** The number of remembered addresses, and of known keys for each. */
const REMEMBERED = 10_000

/**
 * Rate-limits clients that guess keys: after too many wrong keys from an address, its keys are refused unchecked for a
 * while. Keys that were right from there before still work, so that one client cannot lock out others that use the same
 * proxy.
 */
export class WrongKeys {
  readonly #limiter: Limiter
  readonly #right = new Set<string>()

  /** `now` is a clock in milliseconds that never runs backwards. */
  constructor(now: () => number) {
    this.#limiter = new Limiter(now, REMEMBERED)
  }

  /**
   * Records the check of a key from this address: the name of the key, or undefined for a wrong one. Gives 0 when the
   * result stands, else the seconds (at least 1) until this address may try again.
   */
  tried(address: string, name: string | undefined): number {
    const from = placeOf(address)
    const pair = `${from} ${name}`
    if (name !== undefined && this.#right.has(pair)) return 0
    const wait = name === undefined ? this.#limiter.take(from, RATE) : this.#limiter.wait(from, RATE)
    if (wait === 0 && name !== undefined) this.#remember(pair)
    return wait
  }

  #remember(pair: string): void {
    this.#right.add(pair)
    if (this.#right.size <= REMEMBERED) return
    for (const oldest of this.#right) {
      this.#right.delete(oldest)
      return
    }
  }
}

/** The owner of an address: of IPv6 the first half, because one machine may use all of the second. */
function placeOf(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = '', tail] = address.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  return [...before, ...zeros, ...after].slice(0, 4).join(':')
}
