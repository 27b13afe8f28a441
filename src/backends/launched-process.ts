import type { Socket } from 'node:net'
import { type AgentEvents, type AgentProcess, tellLog, tellOutput } from './agent-process.ts'
import { StarterError } from './spawn-fault.ts'
import type { Channel } from './starter-wire.ts'
import { signalGroup } from './terminate.ts'

/**
 * How long the streams of a process that runs may be on their way, in milliseconds; twice, because the first time may
 * have passed while this process was held up. They were connected before it was started: one that does not come was
 * closed by the system when it was to be accepted, for want of descriptors.
 */
const STREAMS_MS = 1000

/** What a launched process tells the one that runs the starter. */
export interface LaunchOwner {
  /** Has it started, with an input or without. */
  order(input: boolean): void
  /** Nothing more will come of it. */
  over(): void
}

/**
 * A process that the starter starts and watches. Its streams and the news of it come on ways of their own, in any
 * order: what is written before there is a stdin waits, and nothing of the output is told before the start, nor the
 * exit before all streams are there. One whose input is short is ordered when it is known whether it has any.
 */
export class LaunchedProcess implements AgentProcess {
  readonly #events: AgentEvents
  readonly #streams = new Map<Channel, Socket>()
  readonly #owner: LaunchOwner
  #ordered = false
  /** How many streams it will have, unknown before it is ordered. */
  #expected = 0
  #pid: number | undefined
  #exit: readonly [number | null, string | null] | undefined
  #input = ''
  #inputEnds = false
  #paused = false
  #closed = false
  #patience: NodeJS.Timeout | undefined

  constructor(events: AgentEvents, shortInput: boolean, owner: LaunchOwner) {
    this.#events = events
    this.#owner = owner
    if (!shortInput) this.#send(true)
  }

  get pid(): number | undefined {
    return this.#pid
  }

  write(text: string): number {
    const stdin = this.#streams.get('in')
    if (!stdin) {
      if (!this.#inputEnds) this.#input += text
      this.#send(true)
      return this.#input.length
    }
    if (!stdin.writable) return 0
    stdin.write(text)
    return stdin.writableLength
  }

  endInput(): void {
    this.#inputEnds = true
    this.#send(false)
    const stdin = this.#streams.get('in')
    if (stdin?.writable) stdin.end()
  }

  pauseOutput(): void {
    this.#paused = true
    this.#streams.get('out')?.pause()
  }

  resumeOutput(): void {
    this.#paused = false
    if (this.#pid !== undefined) this.#streams.get('out')?.resume()
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#patience)
    if (this.#pid !== undefined) signalGroup(this.#pid, 'SIGKILL')
    for (const stream of this.#streams.values()) stream.destroy()
    if (this.#exit || !this.#ordered) this.#owner.over()
  }

  /** One of its streams is there, paused. */
  connected(channel: Channel, stream: Socket): void {
    if (this.#closed || this.#streams.has(channel)) {
      stream.destroy()
      return
    }
    this.#streams.set(channel, stream)
    if (channel === 'in') this.#openInput(stream)
    else if (this.#pid !== undefined) this.#openOutput(channel, stream)
    if (!this.#isComplete) return
    clearTimeout(this.#patience)
    // One more turn of the event loop, in which what came on it is read.
    if (this.#exit) setImmediate(() => this.#tellExit())
  }

  /** It runs. */
  started(pid: number): void {
    this.#pid = pid
    if (this.#closed) {
      signalGroup(pid, 'SIGKILL')
      return
    }
    this.#events.started()
    for (const [channel, stream] of this.#streams) if (channel !== 'in') this.#openOutput(channel, stream)
    if (!this.#isComplete) this.#patience = setTimeout(() => this.#wait(), STREAMS_MS)
  }

  /** It could not be started. */
  failed(error: Error): void {
    if (!this.#closed) this.#events.failed(error)
  }

  /** It has ended. */
  exited(code: number | null, signal: string | null): void {
    this.#exit = [code, signal]
    if (this.#closed) this.#owner.over()
    else if (this.#isComplete) this.#tellExit()
  }

  /** The starter is gone, and nobody can tell any more how this process ends: it is ended. */
  abandoned(error: Error): void {
    if (this.#closed) return
    if (this.#pid === undefined) {
      this.#events.failed(error)
      return
    }
    signalGroup(this.#pid, 'SIGKILL')
    this.#events.exited(...(this.#exit ?? [null, 'SIGKILL']))
  }

  get #isComplete(): boolean {
    return this.#streams.size === this.#expected
  }

  #send(input: boolean): void {
    if (this.#ordered || this.#closed) return
    this.#ordered = true
    this.#expected = input ? 3 : 2
    this.#owner.order(input)
  }

  #tellExit(): void {
    // Whoever is told closes it, which is the end of it here.
    if (!this.#closed) this.#events.exited(...this.#exit!)
  }

  #wait(): void {
    this.#patience = setTimeout(() => this.#events.failed(new StarterError('EMFILE')), STREAMS_MS)
  }

  #openInput(stdin: Socket): void {
    // An agent that ends without reading its input breaks the pipe; that is its right.
    stdin.on('error', () => {})
    if (this.#input !== '') stdin.write(this.#input)
    this.#input = ''
    if (this.#inputEnds) stdin.end()
  }

  #openOutput(channel: 'out' | 'err', stream: Socket): void {
    if (channel === 'out') tellOutput(stream, this.#events)
    else tellLog(stream, this.#events)
    stream.on('end', () => stream.destroy())
    if (channel === 'err' || !this.#paused) stream.resume()
  }
}
