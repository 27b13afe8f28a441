import { closeSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { AgentInput } from './agent-input.ts'
import { type AgentOutput, PipeOutput, StreamOutput } from './agent-output.ts'
import type { AgentEvents, AgentProcess } from './agent-process.ts'
import type { AgentPipes, PipeSupply, Taken } from './pipes.ts'
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

/** A process and this side of its pipes. */
export class PipedProcess implements AgentProcess {
  readonly #events: AgentEvents
  readonly #launcher: Launcher
  readonly #input = new AgentInput()
  #output: { stdout: AgentOutput; stderr: AgentOutput } | undefined
  #ends: AgentEnds | undefined
  #pid: number | undefined
  /** It has ended, or never ran. */
  #isOver = false
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

  get unread(): boolean {
    return this.#input.unread
  }

  write(piece: string | Uint8Array): number {
    return this.#input.write(piece)
  }

  endInput(): void {
    this.#input.end()
  }

  pauseOutput(): void {
    this.#paused = true
    // A stream that is paused before anything listens to it would stay so.
    if (this.#pid !== undefined) this.#output?.stdout.pause()
  }

  resumeOutput(): void {
    this.#paused = false
    if (this.#pid !== undefined) this.#output?.stdout.resume()
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    if (this.#pid !== undefined) signalGroup(this.#pid, 'SIGKILL')
    this.#destroy()
    if (this.#isOver) this.#launcher.over()
  }

  /** Takes this side of streams that are no pipes, of which nothing was read yet. */
  adopt(stdin: Writable, stdout: Readable, stderr: Readable): void {
    this.#input.attach(stdin)
    this.#output = { stdout: new StreamOutput(stdout), stderr: new StreamOutput(stderr) }
  }

  /** It runs. */
  started(pid: number): void {
    this.#pid = pid
    this.#releaseEnds()
    if (this.#closed) {
      signalGroup(pid, 'SIGKILL')
      return
    }
    this.#input.open()
    this.#events.started()
    if (!this.#output) return
    const { stdout, stderr } = this.#output
    stdout.read(this.#events.output, this.#events.outputEnded)
    // Never paused: an agent must not block on a full stderr.
    stderr.read(this.#events.log, () => {})
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
    if (taken) this.#ends = [taken[0].read, taken[1].write, taken[2].write]
    if (!this.#closed && !this.#isOver) this.#launcher.launch(this, this.#ends)
    // The agent is being started while its streams are made.
    if (taken) this.#read(taken)
    if (this.#closed || this.#isOver) {
      this.#releaseEnds()
      this.#destroy()
      if (this.#closed) this.#launcher.over()
    }
  }

  /** Takes this side of the pipes. */
  #read([stdin, stdout, stderr]: AgentPipes): void {
    this.#input.take(stdin.write)
    this.#output = { stdout: new PipeOutput(stdout.read), stderr: new PipeOutput(stderr.read) }
  }

  /** Closes this process's copies: with them open, the end of the agent would not be seen. */
  #releaseEnds(): void {
    for (const fd of this.#ends ?? []) closeSync(fd)
    this.#ends = undefined
  }

  #destroy(): void {
    this.#input.destroy()
    this.#output?.stdout.destroy()
    this.#output?.stderr.destroy()
  }
}
