import { availableParallelism } from 'node:os'
import { report } from './processes.ts'

/** How long the processors are watched, in milliseconds. */
const WATCH_MS = 250

/**
 * Which share of the processors' time others take just now, 0 to 1: as many programs as there are processors want one
 * for themselves for a moment, and what they did not get was somebody else's.
 */
export async function lostShare(): Promise<number> {
  const burn = (): Promise<{ had: number }> => report('programs/burn.ts', [String(WATCH_MS)])
  const had = await Promise.all(Array.from({ length: availableParallelism() }, burn))
  return Math.max(0, 1 - had.reduce((sum, one) => sum + one.had, 0) / had.length)
}
