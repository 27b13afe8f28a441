/** Milliseconds on a clock that is never set. The first use of `performance` would load its module. */
export function elapsed(): number {
  const [seconds, nanos] = process.hrtime()
  return seconds * 1e3 + nanos / 1e6
}

/**
 * A clock that begins at `at` (milliseconds since the epoch) and is never set: what is measured between two of its
 * readings is right, however the machine's clock is set meanwhile.
 */
export function steadyFrom(at: number): () => number {
  const began = elapsed()
  return () => at + Math.floor(elapsed() - began)
}
