/** Watches whether the starter reports while it has orders to answer. */
export class OrderWatch {
  readonly #silentMs: number
  readonly #onSilence: () => void
  /** Orders without an answer. */
  #open = 0
  /** The number of reports so far. */
  #reports = 0
  #patience: NodeJS.Timeout | undefined

  /** `onSilence` is called when there was no report for `silentMs` milliseconds while an order was open. */
  constructor(silentMs: number, onSilence: () => void) {
    this.#silentMs = silentMs
    this.#onSilence = onSilence
  }

  /** An order was sent. */
  ordered(): void {
    this.#open += 1
    this.#patience ??= setTimeout(() => this.#checkSilence(), this.#silentMs).unref()
  }

  /** A report came, of whatever kind. */
  reported(): void {
    this.#reports += 1
    this.#patience?.refresh()
  }

  /** An order was answered. */
  answered(): void {
    this.#open -= 1
    if (this.#open === 0) this.close()
  }

  close(): void {
    clearTimeout(this.#patience)
    this.#patience = undefined
  }

  /** Reads what came while this process was busy before it calls the starter silent. */
  #checkSilence(): void {
    const before = this.#reports
    setImmediate(() => {
      if (this.#reports === before) this.#onSilence()
    })
  }
}
