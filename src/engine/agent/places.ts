/** A wait in line for a place. */
export interface Waiting {
  /** Resolves when the wait is over: true with a place, false without one, after `leave`. */
  readonly over: Promise<boolean>
  /** Gives the wait up. Does nothing once a place was given. */
  leave(): void
}

/** A bounded number of places, and the line of those who wait for one: first come, first served. */
export class Places {
  #free: number
  readonly #line: ((granted: boolean) => void)[] = []

  constructor(max: number) {
    this.#free = max
  }

  /** The number of free places. */
  get free(): number {
    return this.#free
  }

  /** The number of those who wait. */
  get waiting(): number {
    return this.#line.length
  }

  /** Takes a place; false when none is free. Places are free only while nobody waits. */
  take(): boolean {
    if (this.#free === 0) return false
    this.#free--
    return true
  }

  /** Waits behind those who wait already; only after `take` gave nothing. */
  wait(): Waiting {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#line.push(resolve)
    const leave = (): void => {
      const at = this.#line.indexOf(resolve)
      if (at < 0) return
      this.#line.splice(at, 1)
      resolve(false)
    }
    return { over: promise, leave }
  }

  /** Gives a place back: to the first in line, if anybody waits. */
  give(): void {
    const first = this.#line.shift()
    if (first) first(true)
    else this.#free++
  }
}
