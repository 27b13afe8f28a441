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
  /** Less than none while more are taken than there are. */
  #free: number
  readonly #line: ((granted: boolean) => void)[] = []

  constructor(max: number) {
    this.#max = max
    this.#free = max
  }

  get max(): number {
    return this.#max
  }

  /** Changes the number of places. Of fewer ones those that are taken stay so until they are given back. */
  resize(max: number): void {
    this.#free += max - this.#max
    this.#max = max
    this.#serve()
  }

  /** The number of free places. */
  get free(): number {
    return Math.max(0, this.#free)
  }

  /** The number of places that are taken beyond those that there are. */
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
