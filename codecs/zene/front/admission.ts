import { type Fault, fault, type Once } from '../../../src/model/index.ts'
import { wholeNumber } from './args.ts'
import type { Run } from './run.ts'

/**
 * The memory that a `zene host` process has of its runs: which may start at the same time, and which answers may be given
 * again. A one-shot (and a request over HTTP) joins the same run elsewhere and is given again only what no client got;
 * stream mode tells duplicates and replays successes inside the time to live, as the original does.
 */
export class Admission {
  readonly #single: boolean
  readonly #max: number
  readonly #ttlMs: number
  readonly #maxKeys: number
  /** Keys of finished runs, the oldest first. */
  readonly #finished = new Set<string>()
  /** True when a replay is marked as one. */
  readonly marksReplays: boolean

  /** Reads the limits from the environment. A variable that is not a whole number counts as the original's default. */
  constructor(env: Readonly<Record<string, string>>, single: boolean) {
    this.#single = single
    this.#max = wholeNumber(env['ZENE_MAX_CONCURRENCY']) || 8
    this.#ttlMs = (wholeNumber(env['ZENE_IDEMPOTENCY_TTL_SEC']) ?? 600) * 1000
    this.#maxKeys = wholeNumber(env['ZENE_IDEMPOTENCY_MAX_KEYS']) || 50_000
    this.marksReplays = /^\s*(1|true|yes)\s*$/i.test(env['ZENE_IDEMPOTENCY_REPLAY_MARKER'] ?? '1')
  }

  /** Decides whether a run may start: the fault that refuses it, or whether it is free of the cap. */
  admit(request: string, unit: string | undefined, runs: readonly Run[]): Fault | { free: boolean } {
    if (this.#single) return { free: true }
    const same = runs.find((run) => run.ids.request === request)
    if (same && (unit === undefined || same.unit !== unit)) {
      return fault('invalid-request', 'request_id is already in progress')
    }
    const free = unit !== undefined && (this.#finished.has(unit) || runs.some((run) => run.unit === unit))
    const full = runs.filter((run) => !run.free).length >= this.#max
    return full && !free ? fault('overloaded', 'server is overloaded; retry later') : { free }
  }

  /** The engine's treatment of a run's key. */
  once(key: string, unit: string): Once {
    if (this.#single) return { key, duplicate: 'join', replay: 'undelivered' }
    // With the table full, a key that is not in it may have been forgotten: the original runs it again.
    const forgotten = this.#finished.size >= this.#maxKeys && !this.#finished.has(unit)
    return { key, duplicate: 'tell', replay: forgotten ? 'never' : 'success', ttlMs: this.#ttlMs }
  }

  /** A run with this key has ended. */
  remember(unit: string): void {
    this.#finished.delete(unit)
    this.#finished.add(unit)
    const [oldest] = this.#finished
    if (this.#finished.size > this.#maxKeys) this.#finished.delete(oldest!)
  }
}
