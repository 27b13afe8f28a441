import type { Readable } from 'node:stream'

/** What is to be run: an argument list, never a shell's line. */
export interface AgentStart {
  command: string
  args: readonly string[]
  /** Absolute. */
  cwd: string
  /** The whole environment. */
  env: Readonly<Record<string, string>>
}

/**
 * What becomes of an agent's process. Nothing is said before `start` has returned, and only one of two things first:
 * `started` or, as the only one, `failed`.
 */
export interface AgentEvents {
  started(): void
  /** It never ran: what `spawn` threw or emitted, or an error with such a code. */
  failed(error: unknown): void
  /** One of the two is null. Output of before may still come. */
  exited(exitCode: number | null, signal: string | null): void
  /** Decoded text of stdout. */
  output(text: string): void
  /** Nobody holds stdout any more. */
  outputEnded(): void
  /** Decoded text of stderr. */
  log(text: string): void
}

/** A process that leads a group of its own, and its three streams, however it was started. No method throws. */
export interface AgentProcess {
  /** Its process id, which is that of its group. Undefined until it runs. */
  readonly pid: number | undefined
  /** Writes to stdin; how much of all that was written waits for the agent, in units of the text or bytes. */
  write(piece: string | Uint8Array): number
  endInput(): void
  pauseOutput(): void
  resumeOutput(): void
  /** Kills what is left of its group and lets go of the streams. */
  close(): void
}

/** A way to start processes. Never throws. */
export type StartAgent = (start: AgentStart, events: AgentEvents) => AgentProcess

/** Tells the events of what is read from stdout, whole characters only. */
export function tellOutput(stdout: Readable, events: AgentEvents): void {
  readText(stdout)
  stdout.on('data', (text: string) => events.output(text))
  stdout.on('error', () => {})
  stdout.on('close', () => events.outputEnded())
}

/** Tells the events of what is read from stderr. It is read for ever: an agent must not hang on a full one. */
export function tellLog(stderr: Readable, events: AgentEvents): void {
  readText(stderr)
  stderr.on('data', (text: string) => events.log(text))
  stderr.on('error', () => {})
}

/** Once: a second decoder would not know of the half of a character that the first one has read. */
function readText(stream: Readable): void {
  if (stream.readableEncoding === null) stream.setEncoding('utf8')
}
