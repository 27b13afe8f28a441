/** A silence this long after the exit means that only a grandchild still holds the output. */
const QUIET_MS = 100
/** The longest that output is read after the exit, however much a grandchild writes. */
const TOTAL_MS = 1_000

/**
 * Decides when the output of an exited process counts as complete although another process holds it open. The clock
 * stops while paused. Output that is already readable is always read first: the event loop polls once more after a
 * timer fired, so that a busy gateway does not lose an answer.
 */
export class DrainClock {
  readonly #done: () => void
  #running = false
  #paused = false
  #left = TOTAL_MS
  #since = 0
  #quiet: NodeJS.Timeout | undefined
  #total: NodeJS.Timeout | undefined
  #last: NodeJS.Immediate | undefined

  /** `done` is called at most once after a start, never after `cancel`. */
  constructor(done: () => void) {
    this.#done = done
  }

  /** The process has exited. */
  start(): void {
    this.#running = true
    if (!this.#paused) this.#arm()
  }

  /** There was output. */
  touch(): void {
    if (!this.#running || this.#paused) return
    if (this.#left > 0) clearImmediate(this.#last)
    this.#quiet?.refresh()
  }

  pause(): void {
    if (this.#paused) return
    this.#paused = true
    if (!this.#running) return
    this.#clear()
    this.#left -= clock() - this.#since
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    if (this.#running) this.#arm()
  }

  cancel(): void {
    this.#running = false
    this.#clear()
  }

  #arm(): void {
    this.#since = clock()
    this.#quiet = setTimeout(() => this.#finish(), QUIET_MS)
    this.#total = setTimeout(() => {
      this.#left = 0
      this.#finish()
    }, this.#left)
  }

  #finish(): void {
    clearImmediate(this.#last)
    this.#last = setImmediate(this.#done)
  }

  #clear(): void {
    clearTimeout(this.#quiet)
    clearTimeout(this.#total)
    clearImmediate(this.#last)
  }
}

/** Milliseconds on a clock that is never set. The first use of `performance` would load its module. */
function clock(): number {
  const [seconds, nanos] = process.hrtime()
  return seconds * 1e3 + nanos / 1e6
}
