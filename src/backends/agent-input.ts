import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs'
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
  /** The descriptor of the stream, if that is a pipe. */
  #pipe: number | undefined
  /** The size of what was written last, in bytes. */
  #last = 0
  /** Input was written after the agent had closed its end. */
  #refused = false

  /**
   * True when nothing was read of what was written last: the agent had closed its input, or has ended with all of it in
   * the pipe. Asked once, of an agent that has ended. False for an input that has ended itself.
   */
  get unread(): boolean {
    if (this.#ends) return false
    return this.#refused || (this.#pipe !== undefined && this.#last > 0 && bytesIn(this.#pipe) >= this.#last)
  }

  /** Writes to the agent. Returns the amount that still waits for it, in UTF-16 units or bytes. */
  write(piece: string | Uint8Array): number {
    if (this.#ends) return 0
    if (!this.#stream) {
      this.#pieces.push(piece)
      this.#waiting += piece.length
      return this.#waiting
    }
    if (!this.#stream.writable) {
      this.#refused = true
      return 0
    }
    this.#last = Buffer.byteLength(piece)
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
      this.#refused = true
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
    this.#pipe = fd
    this.attach(new Socket({ fd, readable: false, writable: true }))
  }

  destroy(): void {
    this.#ends = true
    this.#pieces = []
    this.#pipe = undefined
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

/** Takes what nobody has read out of a pipe, whose writing end is given, and returns its size in bytes. */
function bytesIn(pipe: number): number {
  const buffer = Buffer.allocUnsafe(65_536)
  let size = 0
  let fd: number | undefined
  try {
    fd = openSync(`/proc/self/fd/${pipe}`, constants.O_RDONLY | constants.O_NONBLOCK)
    for (let read = -1; read !== 0; size += read) read = readSync(fd, buffer)
  } catch {
    // The pipe is empty; or there is no /proc, and this is unknown.
  }
  if (fd !== undefined) closeSync(fd)
  return size
}
