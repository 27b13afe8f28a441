/** A client's rate limit: `perMinute` requests on average, `burst` at once. */
export interface Rate {
  perMinute: number
  burst: number
}

interface Bucket {
  tokens: number
  /** The time of the last update of `tokens`, in milliseconds of the clock. */
  at: number
}

/** Token buckets, one for each name. They survive a reload of the configuration. */
export class Limiter {
  readonly #now: () => number
  readonly #most: number
  readonly #buckets = new Map<string, Bucket>()
  readonly #taken = new Map<string, number>()

  /** `now` is a clock in milliseconds that never runs backwards. Only the newest `most` names are kept. */
  constructor(now: () => number, most = Number.POSITIVE_INFINITY) {
    this.#now = now
    this.#most = most
  }

  /** The number of names. */
  get size(): number {
    return this.#buckets.size
  }

  /** Takes one token. Gives 0, or the seconds (at least 1) until a token is available. */
  take(name: string, rate: Rate): number {
    const bucket = this.#bucket(name, rate)
    const wait = waitFor(bucket, rate)
    if (wait === 0) {
      bucket.tokens -= 1
      this.#taken.set(name, (this.#taken.get(name) ?? 0) + 1)
    }
    this.#buckets.set(name, bucket)
    if (this.#buckets.size > this.#most) this.#forgetOldest()
    return wait
  }

  /** The result that `take` would give, without taking a token. */
  wait(name: string, rate: Rate): number {
    return waitFor(this.#bucket(name, rate), rate)
  }

  /** The number of tokens taken here, by name. */
  get taken(): ReadonlyMap<string, number> {
    return this.#taken
  }

  /** Takes tokens that others have taken elsewhere. The bucket may owe some then, which it earns before it has one. */
  charge(name: string, rate: Rate, tokens: number): void {
    const bucket = this.#bucket(name, rate)
    bucket.tokens -= tokens
    this.#buckets.set(name, bucket)
  }

  /** Removes all other names. */
  keep(names: readonly string[]): void {
    for (const name of this.#buckets.keys()) if (!names.includes(name)) this.#forget(name)
  }

  /** The current bucket of a name. */
  #bucket(name: string, { perMinute, burst }: Rate): Bucket {
    const now = this.#now()
    const { tokens, at } = this.#buckets.get(name) ?? { tokens: burst, at: now }
    return { tokens: Math.min(burst, tokens + ((now - at) * perMinute) / 60_000), at: now }
  }

  #forgetOldest(): void {
    const [oldest] = this.#buckets.keys()
    if (oldest !== undefined) this.#forget(oldest)
  }

  #forget(name: string): void {
    this.#buckets.delete(name)
    this.#taken.delete(name)
  }
}

function waitFor({ tokens }: Bucket, { perMinute }: Rate): number {
  return tokens >= 1 ? 0 : Math.max(1, Math.ceil(((1 - tokens) * 60) / perMinute))
}
