import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DrainClock } from '../../src/backends/drain.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function clock() {
  const done = vi.fn()
  return { clock: new DrainClock(done), done }
}

test('100 ms of silence after the start end it', () => {
  const { clock: drain, done } = clock()
  drain.touch()
  vi.advanceTimersByTime(5_000)
  drain.start()
  vi.advanceTimersByTime(99)
  expect(done).not.toHaveBeenCalled()
  vi.advanceTimersByTime(2)
  expect(done).toHaveBeenCalledTimes(1)
})

test('output puts the end off, up to a second', () => {
  const { clock: drain, done } = clock()
  drain.start()
  for (let ms = 0; ms < 990; ms += 90) {
    vi.advanceTimersByTime(90)
    drain.touch()
  }
  expect(done).not.toHaveBeenCalled()
  vi.advanceTimersByTime(11)
  expect(done).toHaveBeenCalledTimes(1)
})

test('output that was waiting when the silence was over counts', () => {
  const { clock: drain, done } = clock()
  drain.start()
  setTimeout(() => drain.touch(), 100)
  vi.advanceTimersByTime(100)
  vi.advanceTimersByTime(99)
  expect(done).not.toHaveBeenCalled()
  vi.advanceTimersByTime(2)
  expect(done).toHaveBeenCalledTimes(1)
})

test('the clock stands still while paused', () => {
  const { clock: drain, done } = clock()
  drain.start()
  vi.advanceTimersByTime(50)
  drain.pause()
  drain.pause()
  vi.advanceTimersByTime(60_000)
  expect(done).not.toHaveBeenCalled()
  drain.resume()
  drain.resume()
  vi.advanceTimersByTime(99)
  expect(done).not.toHaveBeenCalled()
  vi.advanceTimersByTime(2)
  expect(done).toHaveBeenCalledTimes(1)
})

test('a pause before the start holds it too, and the second that is left goes on after one', () => {
  const { clock: drain, done } = clock()
  drain.pause()
  drain.start()
  vi.advanceTimersByTime(60_000)
  drain.resume()
  for (let ms = 0; ms < 900; ms += 90) {
    vi.advanceTimersByTime(90)
    drain.touch()
  }
  drain.pause()
  vi.advanceTimersByTime(60_000)
  drain.resume()
  vi.advanceTimersByTime(90)
  drain.touch()
  vi.advanceTimersByTime(9)
  expect(done).not.toHaveBeenCalled()
  vi.advanceTimersByTime(3)
  expect(done).toHaveBeenCalledTimes(1)
})

test('cancelled, it never ends', () => {
  const { clock: drain, done } = clock()
  drain.start()
  vi.advanceTimersByTime(100)
  drain.cancel()
  drain.touch()
  vi.advanceTimersByTime(60_000)
  expect(done).not.toHaveBeenCalled()
})

test('the second is one of reading: what passes in pauses does not count, and what passed before them does', () => {
  const { clock: drain, done } = clock()
  drain.start()
  const busyFor = (ms: number): void => {
    for (let passed = 0; passed < ms; passed += 50) {
      vi.advanceTimersByTime(50)
      drain.touch()
    }
  }
  for (let round = 0; round < 4; round += 1) {
    busyFor(200)
    drain.pause()
    vi.advanceTimersByTime(10_000)
    drain.resume()
  }
  busyFor(150)
  expect(done).not.toHaveBeenCalled()
  vi.advanceTimersByTime(51)
  expect(done).toHaveBeenCalledTimes(1)
})

test('output does not put off the end that the second brings', () => {
  const { clock: drain, done } = clock()
  drain.start()
  for (let ms = 0; ms < 1000; ms += 50) {
    vi.advanceTimersByTime(50)
    drain.touch()
  }
  vi.advanceTimersByTime(0)
  drain.touch()
  vi.advanceTimersByTime(1)
  expect(done).toHaveBeenCalledTimes(1)
})

test('output in a pause does not count, nor does a pause bring an end that had begun', () => {
  const { clock: drain, done } = clock()
  drain.start()
  setTimeout(() => drain.pause(), 100)
  vi.advanceTimersByTime(100)
  drain.touch()
  vi.advanceTimersByTime(60_000)
  expect(done).not.toHaveBeenCalled()
  drain.resume()
  vi.advanceTimersByTime(101)
  expect(done).toHaveBeenCalledTimes(1)
})

test('cancelled in a pause, it does not go on after it', () => {
  const { clock: drain, done } = clock()
  drain.start()
  drain.pause()
  drain.cancel()
  drain.resume()
  vi.advanceTimersByTime(60_000)
  expect([done.mock.calls.length, vi.getTimerCount()]).toEqual([0, 0])
})

test('a pause before the start takes nothing from the second', () => {
  const { clock: drain, done } = clock()
  drain.pause()
  vi.advanceTimersByTime(60_000)
  drain.resume()
  expect(vi.getTimerCount()).toBe(0)
  drain.start()
  for (let ms = 0; ms < 950; ms += 50) {
    vi.advanceTimersByTime(50)
    drain.touch()
  }
  expect(done).not.toHaveBeenCalled()
  vi.advanceTimersByTime(51)
  expect(done).toHaveBeenCalledTimes(1)
})
