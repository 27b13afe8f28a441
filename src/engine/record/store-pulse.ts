import type { Store } from '../../contract/index.ts'
import { elapsed } from '../common/index.ts'

/** The state of the store: whether it can be written, and the time that a small write takes now, in milliseconds. */
export interface StoreHealth {
  writable: boolean
  writeMs: number
}

/** The time for which a measurement counts, and the longest that is waited for one, in milliseconds. */
const FRESH_MS = 2000
const PATIENCE_MS = 2000

/** Measures the store when somebody looks, with one write at a time and at most one every two seconds. */
export class StorePulse {
  readonly #store: Store
  #measured: { at: number; health: Promise<StoreHealth> } | undefined

  constructor(store: Store) {
    this.#store = store
  }

  /** The state of the store now, or not long ago. It never rejects. */
  look(): Promise<StoreHealth> {
    if (this.#measured && elapsed() - this.#measured.at < FRESH_MS) return this.#measured.health
    const at = elapsed()
    const health = this.#measure(at)
    this.#measured = { at, health }
    return health
  }

  #measure(began: number): Promise<StoreHealth> {
    return new Promise((resolve) => {
      const done = (writable: boolean): void => {
        clearTimeout(timer)
        resolve({ writable, writeMs: Math.round(elapsed() - began) })
      }
      const timer = setTimeout(done, PATIENCE_MS, false).unref()
      const probe = async (): Promise<void> => this.#store.probe()
      probe().then(
        () => done(true),
        () => done(false),
      )
    })
  }
}
