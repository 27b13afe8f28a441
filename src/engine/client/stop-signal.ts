/** The signals that tell a stand-in to stop, and the exit code of a program that each of them has ended. */
const SIGNAL_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

/** A signal that tells a stand-in to stop. */
export type StopSignal = keyof typeof SIGNAL_CODES

/** The exit code that codecs give for "ended by a signal": they do not know which one. */
export const TERMINATED = SIGNAL_CODES.SIGTERM

/** The exit code in place of a codec's, where this signal has stopped the stand-in. */
export function codeOfEnd(exitCode: number, signal: StopSignal): number {
  return exitCode === TERMINATED ? SIGNAL_CODES[signal] : exitCode
}
