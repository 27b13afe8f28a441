import type {
  Backend,
  Call,
  CallEnd,
  CallHandle,
  CallHead,
  CallScope,
  CallSink,
  Frame,
  Framing,
  RunningProcess,
  WireText,
} from '../../contract/index.ts'
import { encodeFrame, type FrameDecoder, type FrameSink, frameDecoder } from '../../framing/index.ts'
import type { Fault } from '../../model/index.ts'
import { type AgentSettings, inStep } from '../common/index.ts'

/** The time that an agent has to exit by itself after its last output, in milliseconds; then it is stopped. */
export const LINGER_MS = 1000

/** Listener for the output of a call. */
interface OutputListener {
  head(head: CallHead, call: LiveCall): void
  /** A read begins, whose frames follow, and is over. */
  readBegins(call: LiveCall): void
  readEnds(call: LiveCall): void
  frame(frame: Frame, call: LiveCall): void
  /** Frames may follow that are pieces of text. */
  texts(wire: WireText, call: LiveCall): void
  /** No more output comes, although its process may still run. */
  outputEnded(call: LiveCall): void
}

/** Listener for a call. */
export interface CallListener extends OutputListener {
  /** It failed, and not because it was stopped: for the log. */
  failed(end: CallEnd): void
  /** Its end, exactly once: no output is read after that. */
  ended(end: CallEnd): void
  /** Its process has exited, or its connection is closed. */
  gone(call: LiveCall): void
}

/** One process or HTTP call of an agent while it runs: frames of its output, frames for its input, its end. */
export class LiveCall implements CallSink, FrameSink {
  readonly call: Call
  readonly scope: CallScope
  readonly #agent: AgentSettings
  readonly #listener: CallListener
  #handle: CallHandle | undefined
  #decoder: FrameDecoder | undefined
  #leaving: NodeJS.Timeout | undefined
  /** The answer is a stream of events. */
  streams = false
  /** Its end was reported; whatever comes later is ignored. */
  over = false
  /** It was asked to end: its exit code is no failure then. */
  #stopped = false

  constructor(call: Call, scope: CallScope, agent: AgentSettings, listener: CallListener) {
    this.call = call
    this.scope = scope
    this.#agent = agent
    this.#listener = listener
  }

  /** The process, for the observers of turns that did not start it. */
  get process(): RunningProcess {
    const pid = this.#handle?.pid
    return { scope: this.scope, ...(pid !== undefined && { pid }) }
  }

  /** Starts it. */
  open(backend: Backend, paused: boolean): void {
    const { call } = this
    if (call.kind === 'process') this.#read(this.#agent.dialect.framing)
    this.#handle = backend.open(call, this, this.scope.carrier)
    if (paused) this.#handle.pause()
    // The frames of this step are its input.
    if (call.kind === 'process' && call.stdin === 'end') queueMicrotask(() => this.endInput())
  }

  write(frame: Frame): void {
    this.#handle?.write(encodeFrame(this.#agent.dialect.framing, frame))
  }

  endInput(): void {
    this.#handle?.endInput()
  }

  pause(paused: boolean): void {
    if (paused) this.#handle?.pause()
    else this.#handle?.resume()
  }

  stop(why: 'timeout' | 'cancelled' | 'closed', graceMs: number): void {
    this.#stopped = true
    this.#handle?.stop(why, graceMs)
  }

  /** Only its end is still expected: it is stopped when it does not come soon. */
  leave(): void {
    this.#leaving ??= setTimeout(() => this.stop('closed', this.#agent.limits.grace), LINGER_MS)
  }

  /** Reads what is in hand as if the output ended here, with this end. */
  cut(end: CallEnd): void {
    if (this.over) return
    this.#decoder?.end()
    this.#tellEnd(end)
  }

  started(info: { pid?: number }): void {
    this.scope.started(info)
  }

  head(head: CallHead): void {
    this.scope.head(head)
    this.streams = (head.headers['content-type'] ?? '').startsWith('text/event-stream')
    this.#read(this.streams ? 'sse' : this.call.kind === 'http' ? this.call.answer : 'body')
    this.#listener.head(head, this)
  }

  data(text: string): void {
    if (this.over) return
    inStep(() => {
      this.#listener.readBegins(this)
      this.#decoder?.push(text)
      this.#listener.readEnds(this)
    })
  }

  /** The last line may lack its end. */
  dataEnd(): void {
    if (this.over) return
    this.#decoder?.end()
    this.#listener.outputEnded(this)
  }

  end(end: CallEnd): void {
    if (end.why === 'closed' && !this.over) this.#decoder?.end()
    this.scope.end(end)
    const bad = end.why === 'failed' || (end.why === 'closed' && (end.exitCode || end.signal))
    if (bad && !this.#stopped) this.#listener.failed(end)
    this.#tellEnd(end)
    clearTimeout(this.#leaving)
    this.#listener.gone(this)
  }

  frame(frame: Frame): void {
    if (!this.over) this.#listener.frame(named(frame, this.call.call), this)
  }

  texts(wire: WireText): void {
    wire.call = this.call.call
    if (!this.over) this.#listener.texts(wire, this)
  }

  /** The frame boundary is lost: later output of this call cannot be read. */
  fault(broken: Fault): void {
    this.#handle?.stop('closed', this.#agent.limits.grace)
    this.#tellEnd({ why: 'failed', fault: { ...broken, code: 'protocol-violation' }, unreadable: true })
  }

  #read(framing: Framing): void {
    const { line, body } = this.#agent.limits
    this.#decoder = frameDecoder(framing, framing === 'body' ? Math.max(line, body) : line, this)
  }

  #tellEnd(end: CallEnd): void {
    if (this.over) return
    this.over = true
    const { call } = this.call
    this.#listener.ended(call === undefined ? end : { ...end, call })
  }
}

/** A frame that says which call it came from, if the link has named its calls. */
function named(frame: Frame, call: string | undefined): Frame {
  if (call === undefined) return frame
  if (typeof frame === 'string') return { data: frame, call }
  // The decoder has made it for this.
  frame.call = call
  return frame
}
