/** The process to start: an argument list, never a shell command line. */
export interface AgentStart {
  command: string
  args: readonly string[]
  /** Absolute. */
  cwd: string
  /** The whole environment. */
  env: Readonly<Record<string, string>>
}

/**
 * The events of an agent's process. None comes before `start` has returned. The first is `started`, or `failed`, which
 * is then the only one.
 */
export interface AgentEvents {
  started(): void
  /** It never ran; `error` is from `spawn`, or has one of its codes. */
  failed(error: unknown): void
  /** One of the two is null. Earlier output may still come. */
  exited(exitCode: number | null, signal: string | null): void
  /** Decoded text of stdout. */
  output(text: string): void
  /** No process holds stdout any more. */
  outputEnded(): void
  /** Decoded text of stderr. */
  log(text: string): void
}

/** A process that leads a group of its own, and its three streams. No method throws. */
export interface AgentProcess {
  /** Its process id, which is that of its group. Undefined until it runs. */
  readonly pid: number | undefined
  /** Nothing was read of what was written last. Asked once it has ended. */
  readonly unread: boolean
  /** Writes to stdin. Returns the amount that still waits for the agent, in UTF-16 units or bytes. */
  write(piece: string | Uint8Array): number
  endInput(): void
  pauseOutput(): void
  resumeOutput(): void
  /** Kills the rest of its group and destroys the streams. */
  close(): void
}
