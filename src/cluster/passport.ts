import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** The headers by which a replica authenticates itself to another one and names the client that it asks for. */
export const PROOF_HEADER = 'turnpike-replica'
export const CALLER_HEADER = 'turnpike-caller'

/**
 * The greatest difference between the times of two replicas, in milliseconds: the error of the store's clock, and the
 * time that a message takes.
 */
const FRESH_MS = 30_000

/** The parts of a forwarded request that are signed. */
export interface Passage {
  method: string
  /** The path with its query. */
  path: string
  /** The client, as JSON; empty for a request of the replica itself. */
  caller: string
}

/** The dependencies of a passport. */
export interface PassportParts {
  /** The first secret signs; all of them are accepted, so that a secret can be replaced. */
  secrets: readonly string[]
  /** The time that all replicas agree on, in milliseconds since the epoch. */
  time(): number
}

/**
 * Signs and checks requests between replicas: an HMAC (SHA-256) of a shared secret over the time, a nonce, and the
 * request line and client. It does not cover the body, which only TLS protects.
 */
export class Passport {
  readonly #parts: PassportParts
  /** The nonces of this window, and of the one before. */
  #used = new Set<string>()
  #before = new Set<string>()
  #since = 0

  constructor(parts: PassportParts) {
    this.#parts = parts
  }

  /** The headers of a request to another replica. */
  sign(passage: Passage): Record<string, string> {
    const { secrets, time } = this.#parts
    const at = String(time())
    const once = randomBytes(12).toString('base64url')
    return {
      [PROOF_HEADER]: `${at} ${once} ${digest(secrets[0]!, at, once, passage)}`,
      [CALLER_HEADER]: Buffer.from(passage.caller).toString('base64url'),
    }
  }

  /**
   * The client that a replica asks for, as JSON; empty where it asks for itself. Undefined when the request is not from a
   * replica: its proof is wrong, old, or was used before.
   */
  check(headers: Readonly<Record<string, string | undefined>>, method: string, path: string): string | undefined {
    const { secrets, time } = this.#parts
    const [at = '', once = '', proof = ''] = (headers[PROOF_HEADER] ?? '').split(' ')
    const caller = Buffer.from(headers[CALLER_HEADER] ?? '', 'base64url').toString()
    const now = time()
    if (!(Math.abs(now - Number(at)) <= FRESH_MS)) return undefined
    if (!secrets.some((secret) => equal(proof, digest(secret, at, once, { method, path, caller })))) return undefined
    return this.#isFirst(once, now) ? caller : undefined
  }

  /** Nonces are remembered for as long as a signature is valid. */
  #isFirst(once: string, now: number): boolean {
    if (Math.abs(now - this.#since) > 2 * FRESH_MS) {
      this.#before = this.#used
      this.#used = new Set()
      this.#since = now
    }
    if (this.#used.has(once) || this.#before.has(once)) return false
    this.#used.add(once)
    return true
  }
}

function digest(secret: string, at: string, once: string, { method, path, caller }: Passage): string {
  return createHmac('sha256', secret)
    .update(JSON.stringify([at, once, method, path, caller]))
    .digest('base64url')
}

function equal(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
