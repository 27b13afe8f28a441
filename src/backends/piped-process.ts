import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { type AgentEvents, type AgentProcess, forwardLog, forwardOutput } from './agent-process.ts'
import type { PipeSupply, Taken } from './pipes.ts'
import { signalGroup } from './terminate.ts'

/** The descriptors of this process that become the agent's standard streams. */
export type AgentEnds = readonly [stdin: number, stdout: number, stderr: number]

/** Starts one process. No method throws. */
export interface Launcher {
  /**
   * Starts it on these streams, which stay open until the process was told the outcome. Without `ends` the launcher
   * makes the streams and passes them to `adopt`.
   */
  launch(process: PipedProcess, ends: AgentEnds | undefined): void
  /** The process has ended and its streams are closed. */
  over(): void
}

/** A process and this side of its pipes. Input that is written before the pipes exist is queued. */
export class PipedProcess implements AgentProcess {
  readonly #events: AgentEvents
  readonly #launcher: Launcher
  #streams: { stdin: Writable; stdout: Readable; stderr: Readable } | undefined
  #ends: AgentEnds | undefined
  #pid: number | undefined
  /** It has ended, or never ran. */
  #isOver = false
  readonly #input: (string | Uint8Array)[] = []
  #inputEnds = false
  #paused = false
  #closed = false

  constructor(events: AgentEvents, launcher: Launcher, supply: PipeSupply) {
    this.#events = events
    this.#launcher = launcher
    supply.take((taken) => this.#launch(taken))
  }

  get pid(): number | undefined {
    return this.#pid
  }

  write(piece: string | Uint8Array): number {
    if (this.#inputEnds) return 0
    const stdin = this.#streams?.stdin
    if (!stdin) {
      this.#input.push(piece)
      return this.#input.reduce((sum, { length }) => sum + length, 0)
    }
    if (!stdin.writable) return 0
    stdin.write(piece)
    return stdin.writableLength
  }

  endInput(): void {
    this.#inputEnds = true
    this.#streams?.stdin.end()
  }

  pauseOutput(): void {
    this.#paused = true
    this.#streams?.stdout.pause()
  }

  resumeOutput(): void {
    this.#paused = false
    if (this.#pid !== undefined) this.#streams?.stdout.resume()
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    if (this.#pid !== undefined) signalGroup(this.#pid, 'SIGKILL')
    this.#destroy()
    if (this.#isOver) this.#launcher.over()
  }

  /** Takes this side of the streams, of which nothing was read yet. */
  adopt(stdin: Writable, stdout: Readable, stderr: Readable): void {
    this.#streams = { stdin, stdout, stderr }
    // An agent that ends without reading its input breaks the pipe, which is allowed.
    for (const stream of [stdin, stdout, stderr]) stream.on('error', () => {})
    // Not every pipe can be shut down; all of them can be closed.
    stdin.on('finish', () => stdin.destroy())
    for (const piece of this.#input.splice(0)) stdin.write(piece)
    if (this.#inputEnds) stdin.end()
  }

  /** It runs. */
  started(pid: number): void {
    this.#pid = pid
    this.#releaseEnds()
    if (this.#closed) {
      signalGroup(pid, 'SIGKILL')
      return
    }
    this.#events.started()
    if (!this.#streams) return
    const { stdout, stderr } = this.#streams
    forwardOutput(stdout, this.#events)
    forwardLog(stderr, this.#events)
    if (this.#paused) stdout.pause()
  }

  /** It could not be started. */
  failed(error: unknown): void {
    this.#releaseEnds()
    this.#isOver = true
    if (this.#closed) this.#launcher.over()
    else this.#events.failed(error)
  }

  /** It has ended. */
  exited(code: number | null, signal: string | null): void {
    this.#isOver = true
    if (this.#closed) this.#launcher.over()
    else this.#events.exited(code, signal)
  }

  /** Its end can no longer be observed, so it is killed. */
  abandoned(error: Error): void {
    const hadEnded = this.#isOver
    this.#releaseEnds()
    this.#isOver = true
    if (this.#closed) return
    if (this.#pid === undefined) {
      if (!hadEnded) this.#events.failed(error)
      return
    }
    signalGroup(this.#pid, 'SIGKILL')
    if (!hadEnded) this.#events.exited(null, 'SIGKILL')
  }

  #launch(taken: Taken): void {
    if (taken instanceof Error) {
      this.failed(taken)
      return
    }
    if (taken) {
      const [stdin, stdout, stderr] = taken
      this.#ends = [stdin.read, stdout.write, stderr.write]
      const reading = { readable: true, writable: false, manualStart: true }
      this.adopt(
        new Socket({ fd: stdin.write, readable: false, writable: true }),
        new Socket({ fd: stdout.read, ...reading }),
        new Socket({ fd: stderr.read, ...reading }),
      )
    }
    if (this.#closed || this.#isOver) {
      this.#releaseEnds()
      this.#destroy()
      if (this.#closed) this.#launcher.over()
      return
    }
    this.#launcher.launch(this, this.#ends)
  }

  /** Closes this process's copies: with them open, the end of the agent would not be seen. */
  #releaseEnds(): void {
    for (const fd of this.#ends ?? []) closeSync(fd)
    this.#ends = undefined
  }

  #destroy(): void {
    const { stdin, stdout, stderr } = this.#streams ?? {}
    for (const stream of [stdin, stdout, stderr]) stream?.destroy()
  }
}
