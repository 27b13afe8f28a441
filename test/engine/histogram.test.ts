import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addHistogram, count, newHistogram, percentilesOf } from '../../src/engine/common/histogram.ts'

test('percentiles are within a tenth of those of the durations, in memory that does not grow', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 1, max: 3_600_000, noNaN: true }), { minLength: 1, maxLength: 200 }),
      (all) => {
        const histogram = newHistogram()
        for (const ms of all) count(histogram, ms)
        const sorted = [...all].sort((a, b) => a - b)
        const true50 = sorted[Math.ceil(all.length / 2) - 1]!
        const true95 = sorted[Math.ceil(0.95 * all.length) - 1]!
        const { p50, p95 } = percentilesOf(histogram)!
        expect(histogram.length).toBe(121)
        // A whole number of milliseconds.
        expect(Math.abs(p50 - true50)).toBeLessThanOrEqual(0.1 * true50 + 0.5)
        expect(Math.abs(p95 - true95)).toBeLessThanOrEqual(0.1 * true95 + 0.5)
      },
    ),
  )
})

test('of nothing there are none, less than a millisecond counts as 0, and endless ones are counted', () => {
  expect(percentilesOf(newHistogram())).toBeUndefined()
  const histogram = newHistogram()
  for (const ms of [0, 0.4, 0.9]) count(histogram, ms)
  expect(percentilesOf(histogram)).toEqual({ p50: 0, p95: 0 })
  count(histogram, 1e15)
  expect(percentilesOf(histogram)?.p95).toBeGreaterThan(600_000_000)
})

test('two are added bucket by bucket', () => {
  const [one, other, both] = [newHistogram(), newHistogram(), newHistogram()]
  for (const ms of [1, 10, 100]) {
    count(one, ms)
    count(other, 2 * ms)
    count(both, ms)
    count(both, 2 * ms)
  }
  addHistogram(one, other)
  expect(one).toEqual(both)
})
