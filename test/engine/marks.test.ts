import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Store } from '../../src/contract/index.ts'
import { Marks } from '../../src/engine/record/marks.ts'
import type { StoreWatch } from '../../src/engine/record/store-watch.ts'
import { WriteQueue } from '../../src/engine/record/write-queue.ts'
import { storeFailure } from '../kit/store-failure.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['hrtime'] }))
afterEach(() => void vi.useRealTimers())

/** Marks, and what their store was told. `answer` is how the store answers each write. */
function marks(answer: (told: string) => void | Promise<void> = () => {}) {
  const told: string[] = []
  const tell = (what: string): void | Promise<void> => {
    told.push(what)
    return answer(what)
  }
  const store: Pick<Store, 'markDelivered' | 'touchSession'> = {
    markDelivered: (turn) => tell(turn),
    touchSession: (session, at) => tell(`${session}@${at}`),
  }
  const watch = { writable: true }
  const failures: unknown[] = []
  const writes = new WriteQueue((error) => failures.push(error))
  return { it: new Marks(store as Store, watch as StoreWatch, writes), told, watch, writes, failures }
}

test('answers are written when they are due, times of use once a second, the last one of each session', () => {
  const { it, told } = marks()
  it.used('s', 1)
  it.delivered('t1')
  it.writeDue()
  expect(told.splice(0)).toEqual(['t1', 's@1'])
  for (const at of [2, 3]) it.used('s', at)
  it.used('r', 3)
  it.delivered('t2')
  vi.advanceTimersByTime(999)
  it.writeDue()
  expect(told.splice(0)).toEqual(['t2'])
  expect(it.waiting).toBe(true)
  vi.advanceTimersByTime(1)
  it.writeDue()
  expect(told).toEqual(['s@3', 'r@3'])
  expect(it.waiting).toBe(false)
})

test('a store that takes its time gets all at once, to do them together', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { it, told, writes } = marks(() => promise)
  for (const turn of ['a', 'b', 'c']) it.delivered(turn)
  it.writeDelivered()
  expect([told, writes.busy]).toEqual([['a', 'b', 'c'], true])
  resolve()
  await writes.settled()
  expect(writes.busy).toBe(false)
})

test('after one that could not be written the others are not tried, nor any while nothing can be written', () => {
  const { it, told, watch, failures } = marks(() => {
    throw storeFailure('locked')
  })
  for (const turn of ['a', 'b']) it.delivered(turn)
  it.writeDelivered()
  expect([told, failures]).toEqual([['a'], [storeFailure('locked')]])
  watch.writable = false
  it.delivered('c')
  it.used('s', 1)
  it.writeDelivered()
  it.writeUsed()
  expect([told, it.waiting]).toEqual([['a'], false])
})
