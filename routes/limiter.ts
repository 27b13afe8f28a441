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
  readonly #buckets = new Map<string, Bucket>()

  /** `now` is a clock in milliseconds that never runs backwards. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Takes one request; gives 0, or the seconds (at least 1) until there is room for it again. */
  take(name: string, { perMinute, burst }: Rate): number {
    const now = this.#now()
    const perMs = perMinute / 60_000
    const bucket = this.#buckets.get(name) ?? { tokens: burst, at: now }
    this.#buckets.set(name, bucket)
    bucket.tokens = Math.min(burst, bucket.tokens + (now - bucket.at) * perMs)
    bucket.at = now
    if (bucket.tokens < 1) return Math.max(1, Math.ceil((1 - bucket.tokens) / perMs / 1000))
    bucket.tokens -= 1
    return 0
  }

  /** Forgets the names that are not among these. */
  keep(names: readonly string[]): void {
    for (const name of this.#buckets.keys()) if (!names.includes(name)) this.#buckets.delete(name)
  }
}
