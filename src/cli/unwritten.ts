import type { StandInFacts } from '../contract/index.ts'

/**
 * The exit code of a stand-in whose standard output cannot be written; reports the error on standard error. A reader
 * that has gone away needs no report; one that was cut off for being too slow has no error.
 */
export function unwritten({ exit }: StandInFacts, error?: NodeJS.ErrnoException): number {
  if (error && error.code !== 'EPIPE') {
    process.stderr.write(`turnpike: the answer could not be written to standard output (${error.code})\n`)
  }
  return exit?.unwritten ?? 1
}
