import { randomBytes } from 'node:crypto'

/** The time that a login lasts, in milliseconds. */
const LASTS_MS = 12 * 3600_000
/** The most logins that are remembered; beyond it the oldest ends. */
const MOST = 1_000

interface Login {
  /** The SHA-256 of the key, so that a login ends with its key. */
  sha256: string
  until: number
}

/**
 * Logins of browsers: each is a random id in a cookie, which stands for the key that it was made with. They are kept in
 * memory, so that a restart ends them all.
 */
export class Logins {
  readonly #now: () => number
  readonly #logins = new Map<string, Login>()

  /** `now` is a clock in milliseconds that never runs backwards. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Begins a login with the key of this SHA-256 and gives its id. */
  begin(sha256: string): string {
    const id = randomBytes(32).toString('base64url')
    this.#logins.set(id, { sha256, until: this.#now() + LASTS_MS })
    const [oldest] = this.#logins.keys()
    if (this.#logins.size > MOST) this.#logins.delete(oldest!)
    return id
  }

  /** The SHA-256 of the key that a login stands for; undefined when there is none, or its time is over. */
  keyOf(id: string): string | undefined {
    const login = this.#logins.get(id)
    if (login && login.until > this.#now()) return login.sha256
    this.#logins.delete(id)
    return undefined
  }

  /** Ends a login. */
  end(id: string): void {
    this.#logins.delete(id)
  }
}
