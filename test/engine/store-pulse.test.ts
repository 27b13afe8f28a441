import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Store } from '../../src/contract/index.ts'
import { StorePulse } from '../../src/engine/record/store-pulse.ts'
import { openStore } from '../../src/store/index.ts'
import { storeFailure } from '../kit/store-failure.ts'

let store: Store
beforeEach(() => {
  vi.useFakeTimers()
  store = openStore({ kind: 'sqlite', path: ':memory:' })
})
afterEach(() => {
  vi.useRealTimers()
  void store.close()
})

/** A store whose small writes take so long, or never end; each is counted. */
function slow(ms: number | undefined, fails = false): { store: Store; writes: () => number } {
  let writes = 0
  const probe = (): Promise<void> => {
    writes += 1
    return new Promise((resolve, reject) => {
      if (ms !== undefined) setTimeout(fails ? reject : resolve, ms)
    })
  }
  return { store: Object.assign(Object.create(store), { probe }) as Store, writes: () => writes }
}

test('a store that answers at once can be written', async () => {
  expect(await new StorePulse(store).look()).toEqual({ writable: true, writeMs: 0 })
})

test.each([
  ['is slow', 700, false, { writable: true, writeMs: 700 }],
  ['fails', 3, true, { writable: false, writeMs: 3 }],
  ['does not answer', undefined, false, { writable: false, writeMs: 2000 }],
])('a store that %s is told so', async (_, ms, fails, expected) => {
  const looked = new StorePulse(slow(ms, fails).store).look()
  await vi.advanceTimersByTimeAsync(2000)
  expect(await looked).toEqual(expected)
})

test('a store that throws at once cannot be written', async () => {
  const probe = (): void => {
    throw storeFailure('closed')
  }
  const pulse = new StorePulse(Object.assign(Object.create(store), { probe }) as Store)
  expect(await pulse.look()).toEqual({ writable: false, writeMs: 0 })
})

test('many who look at the same time cost one write, and another one after two seconds', async () => {
  const { store, writes } = slow(10)
  const pulse = new StorePulse(store)
  const looks = [pulse.look(), pulse.look()]
  await vi.advanceTimersByTimeAsync(1999)
  looks.push(pulse.look())
  expect([writes(), new Set((await Promise.all(looks)).map(({ writeMs }) => writeMs))]).toEqual([1, new Set([10])])
  await vi.advanceTimersByTimeAsync(1)
  void pulse.look()
  expect(writes()).toBe(2)
  await vi.advanceTimersByTimeAsync(10)
})
