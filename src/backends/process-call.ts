import type { ChildProcess } from 'node:child_process'
import type { CallEnd, CallHandle, CallSink } from '../contract/index.ts'
import { DrainClock } from './drain.ts'
import { Excerpt } from './excerpt.ts'
import type { Reaper } from './reaper.ts'
import { type Launch, spawnFault } from './spawn-fault.ts'
import { signalGroup, terminateGroup } from './terminate.ts'

/** Units waiting for an agent that does not read its input, above which `write` says so. */
const WRITE_MARK = 1024 * 1024

type StopWhy = Parameters<CallHandle['stop']>[0]

/** A started process and who is interested in it. */
export interface Started {
  child: ChildProcess
  launch: Launch
  call: string | undefined
  cookie: string
  sink: CallSink
  reaper: Reaper
  /** Called once, after the sink's `end`. */
  onEnd(call: ProcessCall): void
}

/**
 * One process from its start to its one `end`, which comes with the exit of the process and what of its output can
 * still be read then, not with the closing of its pipes: a grandchild may hold those for ever. What is left of its
 * group is killed with it.
 */
export class ProcessCall implements CallHandle {
  readonly pid: number | undefined
  readonly #started: Started
  readonly #stderr = new Excerpt()
  readonly #drain = new DrainClock(() => this.#finish({ why: 'closed' }))
  #exit: Pick<CallEnd, 'exitCode' | 'signal'> | undefined
  #outputEnded = false
  #paused = false
  #stop: StopWhy | undefined
  #cancelTermination: (() => void) | undefined
  #ended = false

  constructor(started: Started) {
    this.#started = started
    this.pid = started.child.pid
    if (this.pid !== undefined) started.reaper.watch(this.pid)
    this.#listen(started.child)
  }

  write(text: string): boolean {
    const { stdin } = this.#started.child
    if (!stdin?.writable) return true
    stdin.write(text)
    return stdin.writableLength <= WRITE_MARK
  }

  endInput(): void {
    const { stdin } = this.#started.child
    if (stdin?.writable) stdin.end()
  }

  pause(): void {
    this.#paused = true
    this.#started.child.stdout?.pause()
    this.#drain.pause()
    if (this.#stop && this.#exit) this.#finishSoon()
  }

  resume(): void {
    if (this.#ended) return
    this.#paused = false
    this.#drain.resume()
    this.#started.child.stdout?.resume()
  }

  stop(why: StopWhy, graceMs: number): void {
    if (this.#ended) return
    this.#stop ??= why
    // Without a pid it never started, and the error that says so is on its way.
    if (this.pid === undefined) return
    if (this.#exit) {
      if (this.#paused) this.#finishSoon()
      return
    }
    this.#cancelTermination?.()
    this.#cancelTermination = terminateGroup(this.pid, graceMs, () => this.#finish({ why }))
  }

  #listen(child: ChildProcess): void {
    const { sink, launch } = this.#started
    child.on('spawn', () => sink.started?.({ pid: child.pid }))
    child.on('error', (error) => {
      if (child.pid === undefined) this.#finish({ why: 'failed', fault: spawnFault(error, launch) })
    })
    child.on('exit', (code, signal) => this.#exited(code, signal))
    // An agent that ends without reading its input breaks the pipe; that is its right.
    child.stdin?.on('error', () => {})
    child.stdout?.setEncoding('utf8')
    child.stdout?.on('data', (text: string) => {
      if (this.#ended) return
      this.#drain.touch()
      sink.data(text)
    })
    child.stdout?.on('error', () => {})
    child.stdout?.on('close', () => {
      this.#outputEnded = true
      if (this.#exit) this.#finishSoon()
    })
    // Read for ever, also while the output is paused: an agent must not hang on a full stderr.
    child.stderr?.setEncoding('utf8')
    child.stderr?.on('data', (text: string) => {
      if (this.#ended) return
      this.#stderr.add(text)
      sink.log?.(text)
    })
    child.stderr?.on('error', () => {})
  }

  #exited(code: number | null, signal: string | null): void {
    this.#exit = {}
    if (code !== null) this.#exit.exitCode = code
    if (signal !== null) this.#exit.signal = signal
    this.#cancelTermination?.()
    // Nobody wants the output of a stopped process that is paused, and it would never come to its end.
    if (this.#outputEnded || (this.#stop && this.#paused)) this.#finishSoon()
    else this.#drain.start()
  }

  /**
   * After one more turn of the event loop, in which what the process wrote to stderr before its exit is read, and so
   * never from inside `stop` or `pause`.
   */
  #finishSoon(): void {
    setImmediate(() => this.#finish({ why: 'closed' }))
  }

  #finish(end: CallEnd): void {
    if (this.#ended) return
    this.#ended = true
    this.#drain.cancel()
    this.#cancelTermination?.()
    const { child, call, cookie, sink, reaper, onEnd } = this.#started
    if (this.pid !== undefined) {
      signalGroup(this.pid, 'SIGKILL')
      reaper.forget(this.pid)
      if (this.#stop) reaper.sweep(cookie)
    }
    child.stdin?.destroy()
    child.stdout?.destroy()
    child.stderr?.destroy()
    const stderr = this.#stderr.text()
    sink.end({
      ...(call === undefined ? {} : { call }),
      ...(this.#stop ? { why: this.#stop } : end),
      ...this.#exit,
      ...(stderr === '' ? {} : { stderr }),
    })
    onEnd(this)
  }
}
