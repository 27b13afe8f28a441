/** Buckets for each doubling of a duration: a percentile is within a tenth of the true one. */
const PER_DOUBLING = 4
/** From 1 ms to longer than the longest turn: two weeks. */
const BUCKETS = 30 * PER_DOUBLING + 1

/** Counts of durations in milliseconds, in buckets whose width grows with them. Of constant size. */
export type Histogram = Uint32Array

/** The middle and the upper end of durations, in milliseconds. */
export interface Percentiles {
  p50: number
  p95: number
}

/** An empty histogram. */
export function newHistogram(): Histogram {
  return new Uint32Array(BUCKETS)
}

/** Counts a duration. */
export function count(histogram: Histogram, ms: number): void {
  const bucket = ms < 1 ? 0 : Math.min(BUCKETS - 1, 1 + Math.floor(PER_DOUBLING * Math.log2(ms)))
  histogram[bucket]! += 1
}

/** Adds the counts of another one. */
export function addHistogram(histogram: Histogram, other: Histogram): void {
  for (let bucket = 0; bucket < BUCKETS; bucket++) histogram[bucket]! += other[bucket]!
}

/** The percentiles of what was counted; undefined when nothing was. */
export function percentilesOf(histogram: Histogram): Percentiles | undefined {
  const total = histogram.reduce((sum, of) => sum + of, 0)
  return total === 0 ? undefined : { p50: at(histogram, total / 2), p95: at(histogram, 0.95 * total) }
}

/** The duration that this many are below, as the middle of its bucket. */
function at(histogram: Histogram, below: number): number {
  let sum = 0
  const bucket = histogram.findIndex((of) => {
    sum += of
    return sum >= below
  })
  return bucket === 0 ? 0 : Math.round(2 ** ((bucket - 0.5) / PER_DOUBLING))
}
