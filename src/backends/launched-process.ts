import type { Socket } from 'node:net'
import { type AgentEvents, type AgentProcess, tellLog, tellOutput } from './agent-process.ts'
import type { Channel } from './starter-wire.ts'
import { signalGroup } from './terminate.ts'

/** What a launched process tells the one that runs the starter. */
export interface LaunchOwner {
  /** Have its streams connected, with an input or without. */
  order(input: boolean): void
  /** All its streams are here: have it started. */
  go(): void
  /** Nothing more will come of it. */
  over(): void
}

/**
 * A process that the starter starts and watches. Its streams come first, each on a way of its own; it is started when
 * all of them are here, so that there is none whose words would be lost. What is written before it runs waits. One whose
 * input is short is ordered when it is known whether it has any.
 */
export class LaunchedProcess implements AgentProcess {
  readonly #events: AgentEvents
  readonly #owner: LaunchOwner
  readonly #streams = new Map<Channel, Socket>()
  /** How many streams it will have; unknown before it is ordered. */
  #expected: number | undefined
  #pid: number | undefined
  #exit: readonly [number | null, string | null] | undefined
  #stdin: Socket | undefined
  readonly #input: (string | Uint8Array)[] = []
  #inputEnds = false
  #paused = false
  #closed = false

  constructor(events: AgentEvents, shortInput: boolean, owner: LaunchOwner) {
    this.#events = events
    this.#owner = owner
    if (!shortInput) this.#order(true)
  }

  get pid(): number | undefined {
    return this.#pid
  }

  write(piece: string | Uint8Array): number {
    const stdin = this.#stdin
    if (!stdin) {
      if (!this.#inputEnds) this.#input.push(piece)
      this.#order(true)
      return this.#input.reduce((sum, { length }) => sum + length, 0)
    }
    if (!stdin.writable) return 0
    stdin.write(piece)
    return stdin.writableLength
  }

  endInput(): void {
    this.#inputEnds = true
    this.#order(false)
    if (this.#stdin?.writable) this.#stdin.end()
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
    if (this.#pid !== undefined) signalGroup(this.#pid, 'SIGKILL')
    for (const stream of this.#streams.values()) stream.destroy()
    if (this.#exit || this.#expected === undefined) this.#owner.over()
  }

  /** One of its streams is here, paused. */
  connected(channel: Channel, stream: Socket): void {
    if (this.#closed || this.#streams.has(channel)) {
      stream.destroy()
      return
    }
    this.#streams.set(channel, stream)
    if (this.#streams.size === this.#expected) this.#owner.go()
  }

  /** It runs. */
  started(pid: number): void {
    this.#pid = pid
    if (this.#closed) {
      signalGroup(pid, 'SIGKILL')
      return
    }
    this.#events.started()
    for (const [channel, stream] of this.#streams) {
      if (channel === 'in') this.#openInput(stream)
      else this.#openOutput(channel, stream)
    }
  }

  /** It could not be started. */
  failed(error: Error): void {
    if (!this.#closed) this.#events.failed(error)
  }

  /** It has ended. */
  exited(code: number | null, signal: string | null): void {
    this.#exit = [code, signal]
    if (this.#closed) this.#owner.over()
    else this.#events.exited(code, signal)
  }

  /** The starter is gone, and nobody can tell any more how this process ends: it is ended. */
  abandoned(error: Error): void {
    if (this.#closed) return
    if (this.#pid === undefined) {
      this.#events.failed(error)
      return
    }
    signalGroup(this.#pid, 'SIGKILL')
    if (!this.#exit) this.#events.exited(null, 'SIGKILL')
  }

  #order(input: boolean): void {
    if (this.#expected !== undefined || this.#closed) return
    this.#expected = input ? 3 : 2
    this.#owner.order(input)
  }

  #openInput(stdin: Socket): void {
    this.#stdin = stdin
    // An agent that ends without reading its input breaks the pipe; that is its right.
    stdin.on('error', () => {})
    for (const piece of this.#input.splice(0)) stdin.write(piece)
    if (this.#inputEnds) stdin.end()
  }

  #openOutput(channel: 'out' | 'err', stream: Socket): void {
    if (channel === 'out') tellOutput(stream, this.#events)
    else tellLog(stream, this.#events)
    stream.on('end', () => stream.destroy())
    if (channel === 'err' || !this.#paused) stream.resume()
  }
}
