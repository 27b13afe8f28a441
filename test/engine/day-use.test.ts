import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Awaitable, Spent } from '../../src/contract/index.ts'
import { DayUse } from '../../src/engine/record/day-use.ts'

const DAY = 86_400_000
const NOON = Date.UTC(2026, 10, 29, 12)
const TODAY = NOON - DAY / 2

beforeEach(() => void vi.useFakeTimers({ toFake: ['hrtime'] }))
afterEach(() => void vi.useRealTimers())

const tokens = (count: number, estimated = 0): Spent => ({ tokens: count, estimated, costUsd: 0 })
const used = (count: number, day = TODAY) => ({ ...tokens(count), day })

/** The use of tenants, by what `read` gives for each read of the store. */
function using(read: () => Awaitable<Spent>) {
  const clock = { now: NOON }
  const reads: string[] = []
  const store = {
    spentOf: (tenant: string, day: number) => {
      reads.push(`${tenant} ${new Date(day).toISOString().slice(0, 10)}`)
      return read()
    },
  }
  const use = new DayUse(store, () => clock.now)
  const messageOf = async (limits = { tokensPerDay: 10 }): Promise<string | undefined> =>
    (await use.refusal('acme', limits))?.message
  return { use, reads, clock, messageOf }
}

describe('a tenant that has used what it may', () => {
  test('is refused until the day ends', async () => {
    const { use } = using(() => tokens(10))
    expect(await use.refusal('acme', { tokensPerDay: 10 })).toEqual({
      code: 'overloaded',
      message: 'This key may use 10 tokens in a day and has used 10; send this again after 2026-11-30T00:00:00Z.',
      retryable: true,
      retryAfterMs: DAY / 2,
    })
  })

  test('is told how much of it is estimated', async () => {
    const { messageOf } = using(() => tokens(12, 5))
    expect(await messageOf()).toMatch(/^This key may use 10 tokens in a day and has used 12 \(5 of them estimated\); /)
  })

  test('is told the cost', async () => {
    const { use } = using(() => ({ tokens: 99, estimated: 9, costUsd: 2.506 }))
    expect((await use.refusal('acme', { usdPerDay: 2.5 }))?.message).toMatch(
      /^This key may use turns for 2.5 US dollars in a day and has used 2.51; /,
    )
    expect(await use.refusal('acme', { usdPerDay: 2.51 })).toBeUndefined()
  })

  test('is refused at its limit of cost, and not below it', async () => {
    const { use } = using(() => ({ ...tokens(0), costUsd: 2 }))
    expect((await use.refusal('acme', { usdPerDay: 2 }))?.code).toBe('overloaded')
    expect(await use.refusal('acme', { usdPerDay: 2.000001 })).toBeUndefined()
  })

  test('is told its tokens first where it has used all of both', async () => {
    const { use } = using(() => ({ tokens: 9, estimated: 0, costUsd: 9 }))
    expect((await use.refusal('acme', { tokensPerDay: 9, usdPerDay: 9 }))?.message).toContain('9 tokens in a day')
  })

  test('may use more on the next day', async () => {
    const sums = [tokens(10), tokens(9)]
    const { messageOf, clock, reads } = using(() => sums.shift()!)
    expect(await messageOf()).toContain('has used 10')
    clock.now = TODAY + DAY
    expect(await messageOf()).toBeUndefined()
    expect(reads).toEqual(['acme 2026-11-29', 'acme 2026-11-30'])
  })
})

describe('what is read', () => {
  test('stands for a second, with what turns of this process add', async () => {
    const { use, messageOf, reads } = using(() => tokens(7))
    expect(await messageOf()).toBeUndefined()
    use.add('acme', used(2))
    use.add('acme', used(99, TODAY - DAY))
    use.add('other', used(99))
    expect(await messageOf()).toBeUndefined()
    use.add('acme', used(1))
    expect(await messageOf()).toContain('has used 10;')
    vi.advanceTimersByTime(999)
    expect([await messageOf(), reads.length]).toEqual([expect.stringContaining('has used 10;'), 1])
    vi.advanceTimersByTime(1)
    expect([await messageOf(), reads.length]).toEqual([undefined, 2])
  })

  test('has what was added before, and not what is added while it is read', async () => {
    let read = (_sum: Spent): void => {}
    const { use, messageOf, reads } = using(() => new Promise((resolve) => (read = resolve)))
    const first = messageOf()
    await Promise.resolve()
    read(tokens(5))
    expect(await first).toBeUndefined()
    use.add('acme', used(3))
    vi.advanceTimersByTime(1000)
    const [second, third] = [messageOf(), messageOf()]
    use.add('acme', used(2))
    read(tokens(8))
    expect([await second, await third]).toEqual(Array(2).fill(expect.stringContaining('has used 10;')))
    expect(reads).toHaveLength(2)
  })

  test('is read again after it could not be, and nothing of what was added is lost', async () => {
    const sums: (Spent | Error)[] = [tokens(1), new Error('gone'), new Error('gone')]
    const { use, messageOf } = using(() => {
      const sum = sums.shift() ?? tokens(9)
      if (sum instanceof Error) throw sum
      return sum
    })
    await messageOf()
    use.add('acme', used(9))
    vi.advanceTimersByTime(1000)
    await expect(messageOf()).rejects.toThrow('gone')
    await expect(messageOf()).rejects.toThrow('gone')
    expect(await messageOf()).toBeUndefined()
  })
})

test('law: a tenant is refused when what all its turns have used reaches its limit, however reads and turns mix', async () => {
  const step = fc.oneof(
    fc.integer({ min: 1, max: 9 }).map((count) => ({ own: count })),
    fc.integer({ min: 1, max: 9 }).map((count) => ({ other: count })),
    fc.constant({ read: true } as const),
    fc.integer({ min: 1, max: 1500 }).map((ms) => ({ pass: ms })),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      // What is in the store, of which this process may know what was there at its last read.
      let stored = 0
      let seen = 0
      let age = Number.POSITIVE_INFINITY
      const use = new DayUse({ spentOf: () => tokens(stored) }, () => NOON)
      for (const one of steps) {
        if ('own' in one) {
          use.add('acme', used(one.own))
          stored += one.own
          seen += one.own
        } else if ('other' in one) stored += one.other
        else if ('pass' in one) {
          vi.advanceTimersByTime(one.pass)
          age += one.pass
        } else {
          if (age >= 1000) {
            seen = stored
            age = 0
          }
          expect((await use.refusal('acme', { tokensPerDay: seen }))?.code).toBe('overloaded')
          expect(await use.refusal('acme', { tokensPerDay: seen + 1 })).toBeUndefined()
        }
      }
    }),
  )
})
