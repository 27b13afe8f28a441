import type { Backend, Call, CallEnd, CallHandle, CallSink } from '../../src/contract/index.ts'

/** The reason that a call was stopped for. */
type StopReason = Parameters<CallHandle['stop']>[0]

/** A call whose output a test writes. It ends when it is stopped. */
export class ScriptedCall implements CallHandle {
  readonly call: Call
  readonly pid = 7
  readonly written: string[] = []
  /** The reasons that it was stopped for, in order. */
  readonly stops: StopReason[] = []
  readonly #sink: CallSink
  ended = false
  paused = false
  inputEnded = false
  /** It goes on when it is stopped, like a process that cannot be killed. */
  stubborn = false

  constructor(call: Call, sink: CallSink) {
    this.call = call
    this.#sink = sink
  }

  /** The agent writes this. */
  say(text: string): void {
    this.#sink.data(text)
  }

  /** The server answers with this type of content. */
  head(type: string): void {
    this.#sink.head?.({ status: 200, headers: { 'content-type': type } })
  }

  /** The agent closes its output; its process goes on. */
  closeOutput(): void {
    this.#sink.dataEnd?.()
  }

  end(end: CallEnd = { why: 'closed', exitCode: 0 }): void {
    if (this.ended) return
    this.ended = true
    this.#sink.end(end)
  }

  write(piece: string | Uint8Array): boolean {
    this.written.push(String(piece))
    return true
  }

  endInput(): void {
    this.inputEnded = true
  }

  pause(): void {
    this.paused = true
  }

  resume(): void {
    this.paused = false
  }

  stop(why: StopReason): void {
    this.stops.push(why)
    if (!this.stubborn) this.end({ why })
  }
}

/** A backend whose calls a test plays. */
export class ScriptedBackend implements Backend {
  readonly calls: ScriptedCall[] = []

  /** The newest call. */
  get call(): ScriptedCall {
    return this.calls.at(-1)!
  }

  open(call: Call, sink: CallSink): CallHandle {
    const scripted = new ScriptedCall(call, sink)
    this.calls.push(scripted)
    sink.started?.({ pid: scripted.pid })
    return scripted
  }

  async close(): Promise<void> {
    for (const call of this.calls) call.stop('closed')
  }
}
