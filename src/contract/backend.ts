import type { Fault } from '../model/index.ts'
import type { Call, CallEnd, CallHead, FileRequest, FileResult } from './back.ts'
import type { Carrier } from './carrier.ts'
import type { Begun, Detour } from './replicas.ts'

/** Receives the results of a call, in order: head (HTTP only), data, then exactly one end. */
export interface CallSink {
  /** The process runs, or the request is on the wire. `pid` for processes. */
  started?(info: { pid?: number }): void
  head?(head: CallHead): void
  /** Decoded text of stdout or of the body; a character is never split. */
  data(text: string): void
  /** No more data comes, although a process may still run. If it is not called, `end` says so. */
  dataEnd?(): void
  /** Text of stderr, as it comes. */
  log?(text: string): void
  end(end: CallEnd): void
}

/** A running call. No method throws. */
export interface CallHandle {
  readonly pid?: number
  /**
   * Writes to the input, text as UTF-8; false when more than the backend's high-water mark is waiting (the piece is
   * kept all the same).
   */
  write(piece: string | Uint8Array): boolean
  /** Ends the input. */
  endInput(): void
  /** Stops and resumes reading the output, for backpressure. */
  pause(): void
  resume(): void
  /**
   * Ends it: SIGTERM to its process group, SIGKILL after `graceMs`; an HTTP call is aborted. `end` follows with this
   * reason.
   */
  stop(why: 'timeout' | 'cancelled' | 'closed', graceMs: number): void
}

/** A way to reach an agent. */
export interface Backend {
  /** `trace` holds the W3C context to pass on: environment variables for a process, headers for HTTP. */
  open(call: Call, sink: CallSink, trace: Carrier): CallHandle
  /** Reads or writes a file for an agent on this machine; absent for agents elsewhere. Never rejects. */
  file?(request: FileRequest): Promise<FileResult>
  /**
   * True for a path that is one of these folders or below one, once symbolic links are resolved, and for one that does
   * not exist; absent for agents elsewhere.
   */
  isWithin?(path: string, roots: readonly string[]): boolean
  /** Stops all running calls. Resolves when all have ended. */
  close(graceMs: number): Promise<void>
}

/** The destination of a client's answer. */
export interface ClientSink {
  /** Present where there are other replicas: the way of the wire to one of them. */
  readonly detour?: Detour | undefined
  /** The output that another replica has already written to the client. */
  readonly begun?: Begun | undefined
  /** HTTP: status and headers, before the first write. Stdio ignores it. */
  head(status: number, headers: Record<string, string>): void
  /** Writes text; false when the client does not keep up (`drained` is called when it has caught up). */
  write(text: string): boolean
  /** Calls back once everything written so far has reached the reader; never when the reader is gone. */
  whenRead(callback: () => void): void
  /** One line for the person who runs a stand-in. */
  warn(text: string): void
  /** Ends the wire after everything is written. `exitCode` for stdio, `trailers` for HTTP. */
  end(exitCode: number, trailers?: Record<string, string>): void
  /** Cuts the wire: the client was too slow for too long. */
  abort(): void
}

/** The end of a call that never started. */
export function failedEnd(fault: Fault): CallEnd {
  return { why: 'failed', fault }
}
