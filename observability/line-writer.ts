import { write, writeSync } from 'node:fs'

/** A write that takes longer has a reader that stalls, in milliseconds. */
const STALLED_MS = 100

/** The interval of attempts when the descriptor takes nothing (EAGAIN), in milliseconds. */
const AGAIN_MS = 100

/**
 * Writes text to a descriptor without waiting for its reader: one write at a time, each with all that has come meanwhile.
 * When the reader stalls, up to `most` bytes wait, and further text is dropped; when it has gone, nothing is written any
 * more. pino's own destination does the same, but never ends when its reader has gone before it flushes at exit.
 */
export class LineWriter {
  readonly #fd: number
  readonly #most: number
  #waiting: string[] = []
  /** The bytes that wait or are being written. */
  #size = 0
  #writing: Buffer | undefined
  /** The time when the write in the thread pool began; it cannot be taken back. */
  #busySince: number | undefined
  #gone = false
  /** Called when nothing waits any more. */
  #idle: (() => void)[] = []

  constructor(fd: number, most: number) {
    this.#fd = fd
    this.#most = most
  }

  write(text: string): void {
    const size = Buffer.byteLength(text)
    if (this.#gone || this.#size + size > this.#most) return
    this.#size += size
    this.#waiting.push(text)
    if (!this.#writing) this.#next()
  }

  /**
   * Resolves when the reader has all that was written, or has gone, and at the latest after `ms` milliseconds. Keeps the
   * process alive for that time, because nothing else does between two attempts to write.
   */
  async drained(ms: number): Promise<void> {
    if (!this.#writing) return
    await new Promise<void>((resolve) => {
      const limit = setTimeout(resolve, ms)
      this.#idle.push(() => {
        clearTimeout(limit)
        resolve()
      })
    })
  }

  /** Writes what waits at once, for a process that ends; what the reader does not take is lost. */
  flush(): void {
    const isBusy = this.#busySince !== undefined
    // Behind a write that the reader does not take, the next one would wait for it too.
    if (this.#gone || (isBusy && performance.now() - this.#busySince! > STALLED_MS)) return
    const begun = isBusy || !this.#writing ? Buffer.alloc(0) : this.#writing
    let bytes = Buffer.concat([begun, Buffer.from(this.#waiting.join(''))])
    try {
      while (bytes.length > 0) bytes = bytes.subarray(writeSync(this.#fd, bytes))
    } catch {
      // Nobody reads it.
    }
    this.#forget()
  }

  #next(): void {
    this.#writing ??= Buffer.from(this.#waiting.splice(0).join(''))
    if (this.#writing.length === 0) {
      this.#forget()
      return
    }
    this.#busySince = performance.now()
    write(this.#fd, this.#writing, (error, written) => {
      this.#busySince = undefined
      if (error?.code === 'EAGAIN') setTimeout(() => this.#again(), AGAIN_MS).unref()
      else if (error) this.#lost()
      else this.#wrote(written)
    })
  }

  #wrote(bytes: number): void {
    this.#size -= bytes
    const rest = this.#writing?.subarray(bytes)
    this.#writing = rest && rest.length > 0 ? rest : undefined
    this.#next()
  }

  #again(): void {
    if (this.#writing) this.#next()
  }

  #lost(): void {
    this.#gone = true
    this.#forget()
  }

  #forget(): void {
    this.#writing = undefined
    this.#waiting = []
    this.#size = 0
    for (const resolve of this.#idle.splice(0)) resolve()
  }
}
