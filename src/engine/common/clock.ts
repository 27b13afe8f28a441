/** Milliseconds on a clock that is never set. The first use of `performance` would load its module. */
export function elapsed(): number {
  const read = process.hrtime()
  return read[0] * 1e3 + read[1] / 1e6
}

/** The time of the step that runs. */
let time: number | undefined

/** Runs a step: what one read brings. It has one time, because reading a clock costs a tenth of what an event does. */
export function inStep(step: () => void): void {
  const outer = time
  time ??= elapsed()
  try {
    step()
  } finally {
    time = outer
  }
}

/** The time of the step that runs, else now, as `elapsed`. */
export function stepTime(): number {
  return time ?? elapsed()
}

/**
 * A clock that begins at `at` (milliseconds since the epoch) and is never set: what is measured between two of its
 * readings is right, however the machine's clock is set meanwhile.
 */
export function steadyFrom(at: number): () => number {
  const began = stepTime()
  return () => at + Math.floor(stepTime() - began)
}
