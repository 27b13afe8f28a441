import type { Call, CallEnd, CallHandle, CallSink, Carrier } from '../../contract/index.ts'

/** The process that a shared call is a part of. */
export interface CallHome {
  readonly pid: number | undefined
  /** Writes for the call of this number. */
  write(number: number, piece: string): boolean
  /** The amount of output that calls keep has changed. */
  flow(): void
  /** Gives up the call of this number; its `finish` follows, later. */
  leave(number: number, why: StopReason, graceMs: number): void
}

/** A reason to stop a call. */
export type StopReason = Parameters<CallHandle['stop']>[0]

/**
 * A link's part of a process that it shares. To the link it is a process of its own, and it begins to run when there is
 * room for it. What comes while the link does not read is kept.
 */
export class SharedCall implements CallHandle {
  readonly call: Call
  readonly trace: Carrier
  readonly #sink: CallSink
  #home: CallHome | undefined
  #number = 0
  /** Written before it had a process. */
  readonly #early: string[] = []
  /** Output that waits to be read, while the link does not. */
  #unread: string[] | undefined
  /** The amount of it, in characters. */
  kept = 0
  #outputEnded = false
  #end: CallEnd | undefined
  #stopped = false
  /** It has its end. */
  over = false

  constructor(call: Call, sink: CallSink, trace: Carrier) {
    this.call = call
    this.trace = trace
    this.#sink = sink
  }

  get pid(): number | undefined {
    return this.#home?.pid
  }

  /** Takes its place in a process, where this is its number. */
  enter(home: CallHome, number: number): void {
    this.#home = home
    this.#number = number
    for (const piece of this.#early.splice(0)) home.write(number, piece)
  }

  write(piece: string | Uint8Array): boolean {
    if (this.#home) return this.#home.write(this.#number, String(piece))
    this.#early.push(String(piece))
    return true
  }

  /** A process that others share keeps its input. */
  endInput(): void {}

  pause(): void {
    if (!this.#stopped) this.#unread ??= []
  }

  resume(): void {
    const unread = this.#unread ?? []
    this.#unread = undefined
    // The link may stop reading again.
    while (unread.length > 0 && !this.#unread) this.#read(unread.shift()!)
    if (unread.length > 0) this.#unread = unread
    this.#home?.flow()
    this.#finish()
  }

  stop(why: StopReason, graceMs: number): void {
    if (this.#stopped || this.over) return
    this.#stopped = true
    this.#unread = undefined
    this.kept = 0
    if (this.#home) this.#home.leave(this.#number, why, graceMs)
    else setImmediate(() => this.finish({ why }))
  }

  /** The process runs. */
  started(info: { pid?: number }): void {
    this.#sink.started?.(info)
  }

  /** Takes output of the process that is for this link. */
  data(text: string): void {
    if (this.#stopped) return
    if (!this.#unread) {
      this.#sink.data(text)
      return
    }
    this.#unread.push(text)
    this.kept += text.length
    this.#home?.flow()
  }

  /** No more output comes. */
  dataEnd(): void {
    this.#outputEnded = true
    this.#finish()
  }

  /** Ends it, once what it keeps is read. */
  finish(end: CallEnd): void {
    this.#end ??= end
    this.#finish()
  }

  #read(text: string): void {
    this.kept -= text.length
    this.#sink.data(text)
  }

  #finish(): void {
    if (this.#unread || this.over) return
    if (this.#outputEnded) this.#sink.dataEnd?.()
    this.#outputEnded = false
    if (!this.#end) return
    this.over = true
    this.#sink.end(this.#end)
  }
}
