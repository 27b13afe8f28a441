/** How many requests a client may send: `perMinute` in the long run, `burst` at once. */
export interface Rate {
  perMinute: number
  burst: number
}

interface Bucket {
  tokens: number
  /** When `tokens` was right, in milliseconds of the clock. */
  at: number
}

/** Token buckets, one for each name. What is left in them survives a reload of the configuration. */
export class Limiter {
  readonly #now: () => number
  readonly #most: number
  readonly #buckets = new Map<string, Bucket>()

  /** `now` is a clock in milliseconds that never runs backwards. Of more than `most` names the oldest are forgotten. */
  constructor(now: () => number, most = Number.POSITIVE_INFINITY) {
    this.#now = now
    this.#most = most
  }

  /** How many names are remembered. */
  get size(): number {
    return this.#buckets.size
  }

  /** Takes one request; gives 0, or the seconds (at least 1) until there is room for it again. */
  take(name: string, rate: Rate): number {
    const bucket = this.#bucket(name, rate)
    const wait = waitFor(bucket, rate)
    if (wait === 0) bucket.tokens -= 1
    this.#buckets.set(name, bucket)
    if (this.#buckets.size > this.#most) this.#forgetOldest()
    return wait
  }

  /** What `take` would give, without taking anything. */
  wait(name: string, rate: Rate): number {
    return waitFor(this.#bucket(name, rate), rate)
  }

  /** Forgets the names that are not among these. */
  keep(names: readonly string[]): void {
    for (const name of this.#buckets.keys()) if (!names.includes(name)) this.#buckets.delete(name)
  }

  /** The bucket of a name as it is now. */
  #bucket(name: string, { perMinute, burst }: Rate): Bucket {
    const now = this.#now()
    const { tokens, at } = this.#buckets.get(name) ?? { tokens: burst, at: now }
    return { tokens: Math.min(burst, tokens + ((now - at) * perMinute) / 60_000), at: now }
  }

  #forgetOldest(): void {
    for (const name of this.#buckets.keys()) {
      this.#buckets.delete(name)
      return
    }
  }
}

function waitFor({ tokens }: Bucket, { perMinute }: Rate): number {
  return tokens >= 1 ? 0 : Math.max(1, Math.ceil(((1 - tokens) * 60) / perMinute))
}
