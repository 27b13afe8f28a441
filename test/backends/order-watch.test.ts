import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { OrderWatch } from '../../src/backends/order-watch.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A watch with a patience of 100 ms, and how often it has told of a silence. */
function watch() {
  const told = { silences: 0 }
  const it = new OrderWatch(100, () => {
    told.silences += 1
  })
  return { it, told }
}

test('a starter with an open order is silent once its patience is over without a report', () => {
  const { it, told } = watch()
  it.ordered()
  vi.advanceTimersByTime(99)
  it.ordered()
  expect(told.silences).toBe(0)
  vi.advanceTimersByTime(2)
  expect(told.silences).toBe(1)
})

test('a report of any kind renews the patience, and one that was waiting to be read counts', () => {
  const { it, told } = watch()
  it.ordered()
  vi.advanceTimersByTime(99)
  it.reported()
  vi.advanceTimersByTime(99)
  expect(told.silences).toBe(0)
  // The time is over, and then the report is read that came meanwhile.
  vi.advanceTimersToNextTimer()
  it.reported()
  vi.advanceTimersByTime(1)
  expect(told.silences).toBe(0)
})

test('nothing is expected of a starter without open orders', () => {
  const { it, told } = watch()
  it.ordered()
  it.ordered()
  it.answered()
  it.answered()
  vi.advanceTimersByTime(1000)
  expect(told.silences).toBe(0)
  it.ordered()
  it.close()
  vi.advanceTimersByTime(1000)
  expect(told.silences).toBe(0)
  it.answered()
  it.ordered()
  vi.advanceTimersByTime(101)
  expect(told.silences).toBe(1)
})

test('a starter that answers one of two orders is still watched', () => {
  const { it, told } = watch()
  it.ordered()
  it.ordered()
  it.answered()
  vi.advanceTimersByTime(101)
  expect(told.silences).toBe(1)
})

test('an order after the last answer has a patience of its own', () => {
  const { it, told } = watch()
  it.ordered()
  vi.advanceTimersByTime(90)
  it.reported()
  it.answered()
  it.ordered()
  vi.advanceTimersByTime(99)
  expect(told.silences).toBe(0)
  vi.advanceTimersByTime(2)
  expect(told.silences).toBe(1)
})

test('reports without an order do not begin to watch', () => {
  const { it, told } = watch()
  it.reported()
  vi.advanceTimersByTime(1000)
  expect([told.silences, vi.getTimerCount()]).toEqual([0, 0])
})
