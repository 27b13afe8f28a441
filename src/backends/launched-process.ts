import type { Socket } from 'node:net'
import { type AgentEvents, type AgentProcess, tellLog, tellOutput } from './agent-process.ts'
import type { Channel } from './starter-wire.ts'
import { signalGroup } from './terminate.ts'

/**
 * A process that the starter starts and watches. Its streams and the news of it come on ways of their own, in any
 * order: what is written before there is a stdin waits, and nothing of the output is told before the start, nor the
 * exit before all streams are there. One whose input is short is ordered when it is known whether it has any.
 */
export class LaunchedProcess implements AgentProcess {
  readonly #events: AgentEvents
  readonly #streams = new Map<Channel, Socket>()
  #order: ((input: boolean) => void) | undefined
  /** How many streams it will have, unknown before it is ordered. */
  #expected = 0
  #pid: number | undefined
  #exit: readonly [number | null, string | null] | undefined
  #input = ''
  #inputEnds = false
  #paused = false
  #closed = false

  /** `order` has it started, with an input or without. */
  constructor(events: AgentEvents, shortInput: boolean, order: (input: boolean) => void) {
    this.#events = events
    this.#order = order
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
    this.#closed = true
    if (this.#pid !== undefined) signalGroup(this.#pid, 'SIGKILL')
    for (const stream of this.#streams.values()) stream.destroy()
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
    if (this.#exit && this.#isComplete) {
      // One more turn of the event loop, in which what came on it is read.
      const [code, signal] = this.#exit
      setImmediate(() => this.#events.exited(code, signal))
    }
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
  }

  /** It could not be started. */
  failed(error: Error): void {
    if (!this.#closed) this.#events.failed(error)
  }

  /** It has ended. */
  exited(code: number | null, signal: string | null): void {
    this.#exit = [code, signal]
    if (!this.#closed && this.#isComplete) this.#events.exited(code, signal)
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

  /** Nothing more will come of it. */
  get isOver(): boolean {
    return this.#exit !== undefined && (this.#closed || this.#isComplete)
  }

  get #isComplete(): boolean {
    return this.#streams.size === this.#expected
  }

  #send(input: boolean): void {
    const order = this.#order
    this.#order = undefined
    if (!order || this.#closed) return
    this.#expected = input ? 3 : 2
    order(input)
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
