import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { INSTRUMENTS } from '../../observability/instruments.ts'
import { Metric } from '../../observability/meters.ts'
import { ProcessGauges, type ProcessMetrics } from '../../observability/process-gauges.ts'

/** What the histogram of delays has, as nanoseconds between two samples of 20 ms. */
const delays = vi.hoisted(() => ({ count: 0, p50: 0, p99: 0, max: 0, resets: 0, enabled: false, resolution: 0 }))
// Node's own histogram measures real delays, which no test can make exact.
vi.mock('node:perf_hooks', () => ({
  monitorEventLoopDelay: ({ resolution }: { resolution: number }) => {
    delays.resolution = resolution
    return {
      get count() {
        return delays.count
      },
      get max() {
        return delays.max
      },
      percentile: (at: number) => ({ 50: delays.p50, 99: delays.p99 })[at],
      reset: () => Object.assign(delays, { count: 0, resets: delays.resets + 1 }),
      enable: () => Object.assign(delays, { enabled: true }),
      disable: () => Object.assign(delays, { enabled: false }),
    }
  },
}))

const KEYS = ['loopP50', 'loopP99', 'loopMax', 'memory', 'uptime'] as const
let gauges: ProcessGauges
let metrics: ProcessMetrics

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  Object.assign(delays, { count: 0, p50: 0, p99: 0, max: 0, resets: 0, enabled: false })
  metrics = Object.fromEntries(KEYS.map((key) => [key, new Metric(INSTRUMENTS[key])])) as never
  gauges = new ProcessGauges(metrics)
})
afterEach(() => {
  gauges.close()
  vi.useRealTimers()
})

/** Delays as the histogram has them: 20 ms between two samples are no delay. */
const measured = (p50: number, p99: number, max: number): void => {
  const nanoseconds = (ms: number): number => (ms + 20) * 1e6
  Object.assign(delays, { count: 1, p50: nanoseconds(p50), p99: nanoseconds(p99), max: nanoseconds(max) })
}
/** The delays that are read now, in milliseconds. */
const read = (): number[] => {
  gauges.read()
  return [metrics.loopP50, metrics.loopP99, metrics.loopMax].map((metric) => Math.round(metric.of().value * 1e3))
}

test('the loop is sampled every 20 ms, until it is closed', () => {
  expect([delays.resolution, delays.enabled, vi.getTimerCount()]).toEqual([20, true, 1])
  gauges.close()
  expect([delays.enabled, vi.getTimerCount()]).toEqual([false, 0])
})

test('delays are read without the time between two samples', () => {
  expect(read()).toEqual([0, 0, 0])
  measured(1, 5, 9)
  expect(read()).toEqual([1, 5, 9])
  // A sample that came early is no negative delay.
  measured(-3, -2, -1)
  expect(read()).toEqual([0, 0, 0])
})

test('the worse of this half minute and the one before is read, so that no reader misses a delay', () => {
  measured(1, 50, 90)
  vi.advanceTimersByTime(29_999)
  expect(delays.resets).toBe(0)
  vi.advanceTimersByTime(1)
  expect([delays.resets, read()]).toEqual([1, [1, 50, 90]])
  measured(4, 5, 6)
  expect(read()).toEqual([4, 50, 90])
  vi.advanceTimersByTime(30_000)
  expect(read()).toEqual([4, 5, 6])
  vi.advanceTimersByTime(30_000)
  expect(read()).toEqual([0, 0, 0])
})

test('memory and age are those of this process', () => {
  const before = process.uptime()
  gauges.read()
  expect(metrics.memory.of().value).toBeGreaterThan(10_000_000)
  expect(metrics.uptime.of().value).toBeGreaterThanOrEqual(before)
  expect(metrics.uptime.of().value).toBeLessThanOrEqual(process.uptime())
})
