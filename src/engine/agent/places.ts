/** A wait in line for a place. */
export interface Waiting {
  /** Resolves when the wait is over: true with a place, false without one, after `leave`. */
  readonly over: Promise<boolean>
  /** Gives the wait up. Does nothing once a place was given. */
  leave(): void
}

/** A bounded number of places, and the line of those who wait for one: first come, first served. */
export class Places {
  #max: number
  /** Negative while more are taken than there are. */
  #free: number
  readonly #line: ((granted: boolean) => void)[] = []

  constructor(max: number) {
    this.#max = max
    this.#free = max
  }

  get max(): number {
    return this.#max
  }

  /** Changes the number of places. Places that are taken stay taken until they are given back. */
  resize(max: number): void {
    this.#free += max - this.#max
    this.#max = max
    this.#serve()
  }

  /** The number of free places. */
  get free(): number {
    return Math.max(0, this.#free)
  }

  /** The number of taken places beyond the current number of places. */
  get over(): number {
    return Math.max(0, -this.#free)
  }

  /** The number of those who wait. */
  get waiting(): number {
    return this.#line.length
  }

  /** Takes a place; false when none is free. Places are free only while nobody waits. */
  take(): boolean {
    if (this.#free <= 0) return false
    this.#free--
    return true
  }

  /** Waits at the end of the line; to be called only after `take` gave false. */
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
    this.#free++
    this.#serve()
  }

  #serve(): void {
    while (this.#free > 0 && this.#line.length > 0) {
      this.#free--
      this.#line.shift()!(true)
    }
  }
}
