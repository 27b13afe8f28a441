import { afterEach, expect, test, vi } from 'vitest'
import { elapsed, steadyFrom } from '../../src/engine/common/clock.ts'

afterEach(() => void vi.useRealTimers())

test('a steady clock begins at its time and goes on, however the machine’s clock is set', () => {
  vi.useFakeTimers()
  const now = steadyFrom(1000)
  expect(now()).toBe(1000)
  vi.setSystemTime(0)
  vi.advanceTimersByTime(250)
  expect(now()).toBe(1250)
})

test('what has elapsed is in milliseconds', () => {
  vi.useFakeTimers()
  const before = elapsed()
  vi.advanceTimersByTime(40)
  expect(elapsed() - before).toBeCloseTo(40, 3)
})
