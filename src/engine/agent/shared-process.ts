import type { Call, CallEnd, CallHandle, CallSink, Carrier, Frame, Multiplexer } from '../../contract/index.ts'
import { encodeFrame, type FrameDecoder, type FrameSink, frameDecoder } from '../../framing/index.ts'
import type { Fault } from '../../model/index.ts'
import type { AgentSettings } from '../common/index.ts'
import type { CallHome, SharedCall, StopReason } from './shared-call.ts'

/** The output that calls whose links do not read may keep together, in characters; with more the process waits. */
const KEPT = 1024 * 1024

/** Listener for a process. */
export interface ProcessOwner {
  /** Calls wait for room. */
  readonly crowded: boolean
  /** There may be room for them: a call has left, or the process has less to do. */
  serve(): void
  /** The process has exited. */
  exited(process: SharedProcess): void
}

/** A process that several links share. It ends with the last of them. */
export class SharedProcess implements CallSink, FrameSink, CallHome {
  /** The call that it was started by: those that are equal may share it. */
  readonly key: string
  readonly #agent: AgentSettings
  readonly #owner: ProcessOwner
  readonly #multiplexer: Multiplexer
  readonly #decoder: FrameDecoder
  readonly #calls = new Map<number, SharedCall>()
  /** Calls that were given up and that the agent may still work for, with the timer of its grace. */
  readonly #leaving = new Map<number, { why: StopReason; timer: NodeJS.Timeout }>()
  #handle: CallHandle | undefined
  #started: { pid?: number } | undefined
  #count = 0
  #paused = false
  /** It takes no further calls, and ends as soon as the agent works for none. */
  closed = false

  constructor(agent: AgentSettings, key: string, owner: ProcessOwner) {
    this.#agent = agent
    this.key = key
    this.#owner = owner
    this.#decoder = frameDecoder(agent.dialect.framing, agent.limits.line, this)
    this.#multiplexer = agent.dialect.back.multiplex!({
      toProcess: (frame) => void this.#handle?.write(encodeFrame(agent.dialect.framing, frame)),
      toLink: (number, frame) => this.#calls.get(number)?.data(encodeFrame(agent.dialect.framing, frame)),
    })
  }

  get pid(): number | undefined {
    return this.#handle?.pid
  }

  /** There is room for another call. */
  get hasRoom(): boolean {
    return !this.closed && this.#calls.size < (this.#agent.pool.sessions ?? 1)
  }

  /** The agent works for none of its calls. */
  get isIdle(): boolean {
    return [...this.#calls.keys()].every((number) => !this.#multiplexer.works(number))
  }

  /** Starts it. */
  open(call: Call, trace: Carrier): void {
    this.#handle = this.#agent.backend.open(call, this, trace)
  }

  /** Takes a further call. */
  join(call: SharedCall): void {
    this.#count += 1
    this.#calls.set(this.#count, call)
    if (this.#started) call.started(this.#started)
    call.enter(this, this.#count)
  }

  /** Takes no further calls. Ends those that the agent does not work for, and the others when it has done its work. */
  close(): void {
    this.closed = true
    this.#settle()
  }

  write(number: number, piece: string): boolean {
    this.#multiplexer.fromLink(number, piece.replace(/\n$/, ''))
    return true
  }

  flow(): void {
    const full = [...this.#calls.values()].reduce((sum, { kept }) => sum + kept, 0) > KEPT
    if (full === this.#paused) return
    this.#paused = full
    if (full) this.#handle?.pause()
    else this.#handle?.resume()
  }

  leave(number: number, why: StopReason, graceMs: number): void {
    if (this.#calls.size === 1) {
      this.closed = true
      this.#handle?.stop(why, graceMs)
      return
    }
    this.#multiplexer.leave(number)
    this.#leaving.set(number, { why, timer: setTimeout(() => this.#giveUp(number), graceMs) })
    setImmediate(() => this.#settle())
  }

  started(info: { pid?: number }): void {
    this.#started = info
    for (const call of this.#calls.values()) call.started(info)
  }

  data(text: string): void {
    this.#decoder.push(text)
  }

  dataEnd(): void {
    this.closed = true
    this.#decoder.end()
    for (const call of this.#calls.values()) call.dataEnd()
  }

  frame(frame: Frame): void {
    this.#multiplexer.fromProcess(frame)
    if (this.closed || this.#leaving.size > 0) this.#settle()
    if (this.#owner.crowded) this.#owner.serve()
  }

  /** The frame boundary is lost: nothing can be read from here on. */
  fault(broken: Fault): void {
    this.closed = true
    this.#endAll({ why: 'failed', fault: { ...broken, code: 'protocol-violation' }, unreadable: true })
    this.#handle?.stop('closed', this.#agent.limits.grace)
  }

  end({ unread, ...end }: CallEnd): void {
    this.closed = true
    if (end.why === 'closed') this.#decoder.end()
    // With several calls it is not known which of them was read.
    this.#endAll(unread && this.#count === 1 ? { ...end, unread } : end)
    this.#owner.exited(this)
  }

  #endAll(end: CallEnd): void {
    for (const number of [...this.#calls.keys()]) this.#drop(number, end)
  }

  /** The agent does not stop: what it still says for this session must reach nobody, and its process serves nobody new. */
  #giveUp(number: number): void {
    this.closed = true
    this.#drop(number, { why: this.#leaving.get(number)!.why })
    this.#settle()
  }

  /** Ends the calls that are given up and that the agent does not work for any more. */
  #settle(): void {
    for (const number of [...this.#calls.keys()]) {
      const leaving = this.#leaving.get(number)
      if ((leaving || this.closed) && !this.#multiplexer.works(number)) {
        this.#drop(number, { why: leaving?.why ?? 'closed' })
      }
    }
    if (this.#calls.size > 0) return
    this.closed = true
    this.#handle?.stop('closed', this.#agent.limits.grace)
  }

  #drop(number: number, end: CallEnd): void {
    const call = this.#calls.get(number)!
    clearTimeout(this.#leaving.get(number)?.timer)
    this.#leaving.delete(number)
    this.#calls.delete(number)
    call.finish(end)
    this.flow()
    this.#owner.serve()
  }
}
