import { afterEach, expect, test, vi } from 'vitest'
import { elapsed, inStep, steadyFrom, stepTime } from '../../src/engine/common/clock.ts'

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

test('a step has one time, and steps in it have that of the first', () => {
  vi.useFakeTimers()
  const before = stepTime()
  inStep(() => {
    vi.advanceTimersByTime(40)
    expect(stepTime()).toBe(before)
    inStep(() => vi.advanceTimersByTime(40))
    expect(stepTime()).toBe(before)
  })
  expect(stepTime() - before).toBeCloseTo(80, 3)
})

test('a step that throws is over', () => {
  vi.useFakeTimers()
  const before = stepTime()
  const broken = (): void => {
    vi.advanceTimersByTime(40)
    throw new Error('broken')
  }
  expect(() => inStep(broken)).toThrow('broken')
  expect(stepTime() - before).toBeCloseTo(40, 3)
})
