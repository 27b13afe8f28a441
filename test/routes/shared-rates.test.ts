import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Gate } from '../../routes/index.ts'
import { SharedCounts } from '../../src/engine/record/shared-counts.ts'
import { openStore } from '../../src/store/index.ts'

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex')

/** Gates with one key of this rate, in processes that share a store. */
function sharing(count: number, rate: { perMinute: number; burst: number } | undefined) {
  const store = openStore({ kind: 'sqlite', path: ':memory:' })
  const clock = { now: 0 }
  const key = { name: 'a', role: 'user' as const, sha256: hashOf('a'), ...(rate && { rate }) }
  const gates = Array.from({ length: count }, () => {
    const gate = new Gate({ hosts: [], origins: [], keys: [key], bound: '127.0.0.1' }, () => clock.now)
    const counts = new SharedCounts(store, () => 1)
    return { gate, share: () => gate.shareRates((taken) => counts.exchange(taken)) }
  })
  /** Twice: who stores last is heard of by the others the next time. */
  const share = async (): Promise<void> => {
    for (const one of [...gates, ...gates]) await one.share()
  }
  const admits = (at: number): boolean => !('fault' in gates[at]!.gate.admit({ authorization: 'Bearer a' }, undefined))
  return { store, clock, gates, share, admits }
}

test('a key that has taken its rate from one process has none left at another', async () => {
  const { share, admits, clock, store } = sharing(2, { perMinute: 60, burst: 2 })
  await share()
  expect([admits(0), admits(0), admits(0)]).toEqual([true, true, false])
  await share()
  expect(admits(1)).toBe(false)
  clock.now = 1000
  expect([admits(1), admits(1)]).toEqual([true, false])
  await share()
  expect(admits(0)).toBe(false)
  await store.close()
})

test('whatever processes a key is sent to, it has its rate in all, and a burst more of each at most', async () => {
  const rate = fc.record({ perMinute: fc.integer({ min: 1, max: 600 }), burst: fc.integer({ min: 1, max: 10 }) })
  const request = fc.record({ at: fc.nat(2), after: fc.integer({ min: 0, max: 3000 }), shared: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(rate, fc.array(request, { maxLength: 80 }), async (limit, requests) => {
      const { share, admits, clock, store } = sharing(3, limit)
      await share()
      let taken = 0
      let longest = 0
      let last = 0
      for (const { at, after, shared } of requests) {
        clock.now += after
        longest = Math.max(longest, clock.now - last)
        if (shared) {
          await share()
          last = clock.now
        }
        if (admits(at)) taken += 1
        const earned = ((clock.now + 2 * longest) * limit.perMinute) / 60_000
        expect(taken).toBeLessThanOrEqual(3 * limit.burst + earned + 1e-6)
      }
      await store.close()
    }),
    { numRuns: 50 },
  )
})

test('keys without a rate ask no store', async () => {
  const { gates, store } = sharing(1, undefined)
  await gates[0]!.gate.shareRates(() => Promise.reject(new Error('asked')))
  await store.close()
})
