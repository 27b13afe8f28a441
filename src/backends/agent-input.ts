import { closeSync, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Writable } from 'node:stream'

/** As much as a pipe takes at once, however little room the system gives it (`PIPE_BUF`), in bytes. */
const SMALL = 4096

/**
 * The input of an agent. Nothing is written before the agent runs, except the whole input of a short-lived one: it fits
 * into the pipe, so it needs no stream, which costs more than the write.
 */
export class AgentInput {
  #pieces: (string | Uint8Array)[] = []
  /** The amount of all pieces, in UTF-16 units or bytes. */
  #waiting = 0
  #ends = false
  #fd: number | undefined
  #stream: Writable | undefined
  /** Something was written after the agent had closed its input. */
  unread = false

  /** Writes to the agent. Returns the amount that still waits for it, in UTF-16 units or bytes. */
  write(piece: string | Uint8Array): number {
    if (this.#ends) return 0
    if (!this.#stream) {
      this.#pieces.push(piece)
      this.#waiting += piece.length
      return this.#waiting
    }
    if (!this.#stream.writable) {
      this.unread = true
      return 0
    }
    this.#stream.write(piece)
    return this.#stream.writableLength
  }

  end(): void {
    if (this.#ends) return
    this.#ends = true
    if (this.#stream) this.#stream.end()
    else this.#finish()
  }

  /** Takes the writing end of the agent's pipe, to which nothing was written. */
  take(fd: number): void {
    this.#fd = fd
    if (this.#ends) this.#finish()
  }

  /** Takes a stream to the agent. */
  attach(stream: Writable): void {
    this.#stream = stream
    // An agent that ends without reading its input breaks the pipe, which is allowed.
    stream.on('error', () => {
      this.unread = true
    })
    // Not every pipe can be shut down; all of them can be closed.
    stream.on('finish', () => stream.destroy())
    for (const piece of this.#pieces) stream.write(piece)
    this.#pieces = []
    if (this.#ends) stream.end()
  }

  /** Writes what has waited: the agent runs. */
  open(): void {
    const fd = this.#fd
    if (fd === undefined) return
    this.#fd = undefined
    this.attach(new Socket({ fd, readable: false, writable: true }))
  }

  destroy(): void {
    this.#ends = true
    this.#pieces = []
    this.#stream?.destroy()
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }

  /** Writes an input that has ended. */
  #finish(): void {
    if (this.#fd === undefined) return
    const bytes = this.#waiting > SMALL ? undefined : Buffer.concat(this.#pieces.map((piece) => Buffer.from(piece)))
    if (!bytes || bytes.length > SMALL) {
      this.open()
      return
    }
    if (bytes.length > 0) writeSync(this.#fd, bytes)
    this.destroy()
  }
}
