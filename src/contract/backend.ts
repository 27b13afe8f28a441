import type { Fault } from '../model/index.ts'
import type { Call, CallEnd, CallHead } from './back.ts'

/** Receives what a call gives back, in order: head (HTTP only), data, then exactly one end. */
export interface CallSink {
  /** The process runs, or the request is on the wire. `pid` for processes. */
  started?(info: { pid?: number }): void
  head?(head: CallHead): void
  /** Decoded text of stdout or of the body; a character never arrives in halves. */
  data(text: string): void
  /** No more data comes, though a process may go on. Absent or uncalled: with the end. */
  dataEnd?(): void
  /** Text of stderr, as it comes. */
  log?(text: string): void
  end(end: CallEnd): void
}

/** A running call. No method throws. */
export interface CallHandle {
  readonly pid?: number
  /** Writes to the input, text as UTF-8; false when more than the backend's mark is waiting (it is kept all the same). */
  write(piece: string | Uint8Array): boolean
  /** Ends the input. */
  endInput(): void
  /** Stops and goes on reading the output: the valve. */
  pause(): void
  resume(): void
  /** Ends it: SIGTERM to its process group, SIGKILL after `graceMs`; an HTTP call is aborted. `end` follows with this reason. */
  stop(why: 'timeout' | 'cancelled' | 'closed', graceMs: number): void
}

/** How an agent is reached. */
export interface Backend {
  /** `trace` holds the W3C context to hand over: environment variables for a process, headers for HTTP. */
  open(call: Call, sink: CallSink, trace: Carrier): CallHandle
  /** Stops everything that still runs. Resolves when nothing does. */
  close(graceMs: number): Promise<void>
}

/** W3C trace context. */
export interface Carrier {
  traceparent?: string
  tracestate?: string
  baggage?: string
}

/** Where a client's answer goes. */
export interface ClientSink {
  /** HTTP: status and headers, before the first write. Stdio ignores it. */
  head(status: number, headers: Record<string, string>): void
  /** Writes text; false when the client does not keep up (`drained` is called when it has). */
  write(text: string): boolean
  /** Calls back once everything written so far is with the reader; never when the reader is gone. */
  whenRead(callback: () => void): void
  /** One line for the person who runs a stand-in. */
  warn(text: string): void
  /** Everything is written. `exitCode` for stdio, `trailers` for HTTP. */
  end(exitCode: number, trailers?: Record<string, string>): void
  /** Cuts the wire: the client was too slow for too long. */
  abort(): void
}

/** The end of a call that never started. */
export function failedEnd(fault: Fault): CallEnd {
  return { why: 'failed', fault }
}
