import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SharedCounts } from '../../src/engine/record/shared-counts.ts'
import { openStore } from '../../src/store/index.ts'
import { storeFailure } from '../kit/store-failure.ts'

test('each process hears of every request of the others once, from its beginning on', async () => {
  const step = fc.record({ process: fc.nat(2), name: fc.constantFrom('a', 'b'), requests: fc.nat(5) })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const store = openStore({ kind: 'sqlite', path: ':memory:' })
      const processes = [0, 1, 2].map(() => ({
        shared: new SharedCounts(store, () => 1),
        own: new Map<string, number>(),
        heard: new Map<string, number>(),
      }))
      const exchange = async ({ shared, own, heard }: (typeof processes)[0]): Promise<void> => {
        for (const [name, more] of await shared.exchange(own)) heard.set(name, (heard.get(name) ?? 0) + more)
      }
      for (const process of processes) await exchange(process)
      for (const { process, name, requests } of steps) {
        const one = processes[process]!
        one.own.set(name, (one.own.get(name) ?? 0) + requests)
        await exchange(one)
      }
      for (const process of processes) await exchange(process)
      for (const one of processes) {
        for (const name of ['a', 'b']) {
          const others = processes.filter((other) => other !== one)
          const sum = others.reduce((total, { own }) => total + (own.get(name) ?? 0), 0)
          expect(one.heard.get(name) ?? 0).toBe(sum)
        }
      }
      await store.close()
    }),
    { numRuns: 50 },
  )
})

test('what others took before is not heard of, and what could not be stored is stored later', async () => {
  const store = openStore({ kind: 'sqlite', path: ':memory:' })
  const broken = { now: false }
  const shareCounts: typeof store.shareCounts = (...args) => {
    if (broken.now) throw storeFailure('disk full')
    return store.shareCounts(...args)
  }
  const first = new SharedCounts({ shareCounts }, () => 1)
  await first.exchange(new Map([['a', 3]]))
  const second = new SharedCounts(store, () => 1)
  expect([...(await second.exchange(new Map()))]).toEqual([])
  broken.now = true
  await expect(first.exchange(new Map([['a', 5]]))).rejects.toThrow('disk full')
  broken.now = false
  await first.exchange(new Map([['a', 5]]))
  expect([...(await second.exchange(new Map()))]).toEqual([['a', 2]])
  await store.close()
})

test('what a process has counted stays while it runs, so that one request after days is one for those that began since', async () => {
  const HOUR = 3_600_000
  const store = openStore({ kind: 'sqlite', path: ':memory:' })
  let now = 0
  const first = new SharedCounts(store, () => now)
  const gone = new SharedCounts(store, () => now)
  await gone.exchange(new Map([['a', 9]]))
  for (; now <= 48 * HOUR; now += HOUR / 2) {
    await first.exchange(new Map([['a', 5000]]))
    await store.prune(now, 10)
  }
  const second = new SharedCounts(store, () => now)
  await second.exchange(new Map())
  await first.exchange(new Map([['a', 5001]]))
  expect([...(await second.exchange(new Map()))]).toEqual([['a', 1]])
  expect(await store.shareCounts('other', new Map(), now)).toMatchObject([{ name: 'a', count: 5001 }])
  await store.close()
})
