/** A difference of two clocks that is not corrected, in milliseconds: the way of a message may be as long. */
const TOLERATED_MS = 1000

/**
 * The server's clock, by which leases and the record are kept: the clocks of the gateways may differ. Times are milliseconds
 * since the epoch.
 */
export class ServerClock {
  #aheadMs = 0

  /** The server has told its time in the message that was read now. */
  heard(time: number): void {
    const ahead = Math.round(time - Date.now())
    this.#aheadMs = Math.abs(ahead) < TOLERATED_MS ? 0 : ahead
  }

  /** The server's time at a time of this process. */
  at(time: number): number {
    return time + this.#aheadMs
  }
}
