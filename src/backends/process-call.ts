import type { CallEnd, CallHandle, CallSink } from '../contract/index.ts'
import type { AgentEvents, AgentProcess } from './agent-process.ts'
import { DrainClock } from './drain.ts'
import { Excerpt } from './excerpt.ts'
import { type Launch, spawnFault } from './spawn-fault.ts'
import { giveUpLater, KILLED_MS, terminateGroup } from './terminate.ts'

/** High-water mark of input that the agent has not read, in UTF-16 units or bytes: above it `write` returns false. */
const WRITE_MARK = 1024 * 1024

type StopWhy = Parameters<CallHandle['stop']>[0]

/** The start of a call's process, and the receivers of its events. */
export interface CallStart {
  start(events: AgentEvents): AgentProcess
  launch: Launch
  call: string | undefined
  sink: CallSink
  /** Called once, after the sink's `end`. `doubtful` when processes of it may be left outside of its group. */
  onEnd(call: ProcessCall, doubtful: boolean): void
}

/**
 * One process from its start to its one `end`. The end comes when the process has exited and its readable output is
 * read, not when its pipes close: a grandchild may hold them for ever. The rest of its group is killed with it.
 */
export class ProcessCall implements CallHandle {
  readonly #start: CallStart
  readonly #process: AgentProcess
  readonly #stderr = new Excerpt()
  readonly #drain = new DrainClock(() => this.#finish({ why: 'closed' }))
  #exit: Pick<CallEnd, 'exitCode' | 'signal'> | undefined
  #outputEnded = false
  #paused = false
  #stop: StopWhy | undefined
  #graceMs = 0
  /** It was stopped before there was a process group to signal. */
  #stopWaits = false
  #cancelTermination: (() => void) | undefined
  #ended = false

  constructor(start: CallStart) {
    this.#start = start
    this.#process = start.start(this.#events(start.sink))
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  write(piece: string | Uint8Array): boolean {
    return this.#process.write(piece) <= WRITE_MARK
  }

  endInput(): void {
    this.#process.endInput()
  }

  pause(): void {
    this.#paused = true
    this.#process.pauseOutput()
    this.#drain.pause()
    if (this.#stop && this.#exit) this.#finishSoon()
  }

  resume(): void {
    if (this.#ended) return
    this.#paused = false
    this.#drain.resume()
    this.#process.resumeOutput()
  }

  stop(why: StopWhy, graceMs: number): void {
    if (this.#ended) return
    this.#stop ??= why
    this.#graceMs = graceMs
    if (this.#exit) {
      if (this.#paused) this.#finishSoon()
      return
    }
    this.#terminate()
  }

  #events(sink: CallSink): AgentEvents {
    return {
      started: () => {
        sink.started?.({ pid: this.pid })
        if (this.#stopWaits) this.#terminate()
      },
      failed: (error) => this.#finish({ why: 'failed', fault: spawnFault(error, this.#start.launch) }),
      exited: (code, signal) => this.#exited(code, signal),
      output: (text) => {
        if (this.#ended) return
        this.#drain.touch()
        sink.data(text)
      },
      outputEnded: () => {
        this.#outputEnded = true
        if (!this.#ended) sink.dataEnd?.()
        if (this.#exit) this.#finishSoon()
      },
      log: (text) => {
        if (this.#ended) return
        this.#stderr.add(text)
        sink.log?.(text)
      },
    }
  }

  /** Ends the group. While there is none yet, waits for it as long as for one that has to be killed. */
  #terminate(): void {
    this.#cancelTermination?.()
    this.#stopWaits = this.pid === undefined
    const giveUp = (): void => this.#finish({ why: 'closed' })
    this.#cancelTermination =
      this.pid === undefined
        ? giveUpLater(this.#graceMs + KILLED_MS, giveUp)
        : terminateGroup(this.pid, this.#graceMs, giveUp)
  }

  #exited(code: number | null, signal: string | null): void {
    if (this.#ended) return
    this.#exit = {}
    if (code !== null) this.#exit.exitCode = code
    if (signal !== null) this.#exit.signal = signal
    this.#cancelTermination?.()
    // The output of a stopped, paused process is not needed, and it would never end.
    if (this.#outputEnded || (this.#stop && this.#paused)) this.#finishSoon()
    else this.#drain.start()
  }

  /**
   * Finishes after one more tick, in which stderr from before the exit is read; so never from inside `stop` or `pause`.
   */
  #finishSoon(): void {
    setImmediate(() => this.#finish({ why: 'closed' }))
  }

  #finish(end: CallEnd): void {
    if (this.#ended) return
    this.#ended = true
    this.#drain.cancel()
    this.#cancelTermination?.()
    const { unread } = this.#process
    this.#process.close()
    const { call, sink, onEnd } = this.#start
    const stderr = this.#stderr.text()
    sink.end({
      ...(call === undefined ? {} : { call }),
      ...(this.#stop ? { why: this.#stop } : end),
      ...this.#exit,
      ...(unread && { unread: true as const }),
      ...(stderr === '' ? {} : { stderr }),
    })
    // Another process still holds its output.
    const held = this.#exit !== undefined && !this.#outputEnded
    // One that crashed has ended none of the processes that it gave groups of their own, as agents do with their tools.
    const crashed = this.#exit?.exitCode !== 0
    onEnd(this, this.#stop !== undefined || this.pid === undefined || held || crashed)
  }
}
