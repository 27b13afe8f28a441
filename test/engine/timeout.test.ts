import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { timeoutUntil } from '../../src/engine/common/timeout.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A timeout, with its signal, and the times of its calls. */
function waiting(ms: number) {
  const life = new AbortController()
  const calls: number[] = []
  const began = Date.now()
  return { life, calls, stop: timeoutUntil(life.signal, ms, () => calls.push(Date.now() - began)) }
}

test('calls back once, after the time', () => {
  const { calls, life } = waiting(100)
  vi.advanceTimersByTime(1000)
  life.abort('over')
  expect(calls).toEqual([100])
})

test.each([
  ['the signal is aborted', ({ life }: ReturnType<typeof waiting>) => life.abort('over')],
  ['it is called off', ({ stop }: ReturnType<typeof waiting>) => stop()],
])('does not when %s before, and leaves no timer', (_when, act) => {
  const it = waiting(100)
  vi.advanceTimersByTime(99)
  act(it)
  expect(vi.getTimerCount()).toBe(0)
  vi.advanceTimersByTime(1000)
  expect(it.calls).toEqual([])
})

test('never begins to wait for a signal that is aborted already', () => {
  const calls: number[] = []
  timeoutUntil(AbortSignal.abort('over'), 0, () => calls.push(1))()
  expect(vi.getTimerCount()).toBe(0)
  vi.advanceTimersByTime(1000)
  expect(calls).toEqual([])
})

test('a time that is longer than a timer takes is not over at once', () => {
  const { calls } = waiting(2 ** 40)
  vi.advanceTimersByTime(10_000)
  expect(calls).toEqual([])
})
