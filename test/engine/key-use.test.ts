import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Store } from '../../src/contract/index.ts'
import type { TurnLimits } from '../../src/engine/common/index.ts'
import { dayOf } from '../../src/engine/record/spent.ts'
import { openStore } from '../../src/store/index.ts'
import { engineParts, settingsOf } from '../kit/engine-parts.ts'
import { plainTurn } from '../kit/plain.ts'
import { storeFailure } from '../kit/store-failure.ts'

const NOW = Date.UTC(2026, 10, 29, 12)

let store: Store
const broken = { now: false }
/** The methods of the store that were called. */
const calls: string[] = []

beforeEach(() => {
  broken.now = false
  calls.length = 0
  const real = openStore({ kind: 'sqlite', path: ':memory:' })
  // The real store, which cannot be used for a while.
  store = new Proxy(real, {
    get(of, name: keyof Store) {
      const method = of[name] as (...args: unknown[]) => unknown
      return (...args: unknown[]) => {
        calls.push(name)
        if (broken.now && name !== 'close') throw storeFailure('disk full')
        return method.apply(of, args)
      }
    },
  })
})
afterEach(() => store.close())

/** The limits of the tenant `local` in a process of its own. */
function limited(limits: TurnLimits) {
  const turnLimits = new Map([['local', limits]])
  const parts = engineParts(store, settingsOf([], { turnLimits }), { now: () => NOW })
  const codes = async (...turns: string[]): Promise<(string | undefined)[]> => {
    const faults: (string | undefined)[] = []
    for (const turn of turns) faults.push((await parts.use.take('local', turn))?.code)
    return faults
  }
  return { ...parts, codes }
}

/** A turn that has ended. */
function endedTurn(id = 't') {
  const { turn } = plainTurn({ now: () => NOW })
  Object.defineProperty(turn, 'id', { value: id })
  turn.take({ type: 'usage', turn: id, scope: 'turn', usage: { total: 6, costUsd: 1 } })
  turn.take({ type: 'turn-end', turn: id, outcome: 'completed' })
  return turn
}

describe('a tenant', () => {
  test('without limits has any number of turns, and asks no store', () => {
    const { use } = limited({ turns: 1 })
    broken.now = true
    expect(use.take('other', 't')).toBeUndefined()
    expect(use.ended(plainTurn().turn)).toBeUndefined()
  })

  test('has its turns in all processes that share the store', async () => {
    const [one, other] = [limited({ turns: 2 }), limited({ turns: 2 })]
    expect(await one.codes('a')).toEqual([undefined])
    expect(await other.codes('b', 'c')).toEqual([undefined, 'overloaded'])
    one.use.give('a')
    await Promise.resolve()
    expect(await other.codes('d', 'e')).toEqual([undefined, 'overloaded'])
  })

  test.each([
    [1, 'This key has a turn under way, which is all that it may; send this one when one ends.'],
    [3, 'This key has 3 turns under way, which is all that it may; send this one when one ends.'],
  ])('that may have %i turns is told so', async (most, message) => {
    const { use, codes } = limited({ turns: most })
    await codes(...Array.from({ length: most }, (_, n) => `t${n}`))
    expect(await use.take('local', 'more')).toMatchObject({ code: 'overloaded', message })
  })

  test('gets back the place of a turn that has ended, also when its limit is gone by then', async () => {
    const { use, codes } = limited({ turns: 1 })
    expect(await codes('t', 'u')).toEqual([undefined, 'overloaded'])
    use.ended(endedTurn())
    await Promise.resolve()
    expect(await codes('u')).toEqual([undefined])
  })

  test('gets back a place that the store could not take back, once it can', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const { use, codes, watch } = limited({ turns: 1 })
    await codes('t')
    broken.now = true
    use.give('t')
    await Promise.resolve()
    broken.now = false
    expect(await codes('u')).toEqual(['overloaded'])
    await vi.advanceTimersByTimeAsync(1000)
    expect(await codes('u')).toEqual([undefined])
    vi.useRealTimers()
    watch.close()
  })

  test('gets back a place of which the store could not say that it was taken', async () => {
    const { use, codes, watch } = limited({ turns: 1 })
    const take = vi.spyOn(store, 'takePlace').mockImplementationOnce(async (...place) => {
      take.mockRestore()
      await store.takePlace(...place)
      throw storeFailure('connection lost')
    })
    expect(await codes('t', 'u')).toEqual([undefined, 'overloaded'])
    use.give('t')
    await Promise.resolve()
    expect(await codes('u')).toEqual([undefined])
    watch.close()
  })

  test('has what its turns use counted if it has a limit of that', async () => {
    expect(limited({ turns: 1 }).use.ended(endedTurn())).toBeUndefined()
    const spent = { day: dayOf(NOW), tokens: 6, estimated: 0, costUsd: 1 }
    expect(limited({ tokensPerDay: 9 }).use.ended(endedTurn())).toEqual(spent)
    expect(limited({ usdPerDay: 9 }).use.ended(endedTurn())).toEqual(spent)
  })

  test('takes no place when it has used what it may', async () => {
    const { use, codes } = limited({ turns: 1, tokensPerDay: 6 })
    expect(await codes('t')).toEqual([undefined])
    use.ended(endedTurn())
    const fault = await use.take('local', 'u')
    expect(fault?.message).toContain('may use 6 tokens in a day and has used 6')
    expect(await store.takePlace({ turn: 'v', tenant: 'local', owner: 'x', epoch: 1 }, 1)).toBe(true)
  })

  test('has as many turns in this process as it may while the store cannot be used', async () => {
    const { codes, turns, watch, use } = limited({ turns: 1, usdPerDay: 1 })
    expect(await codes('t')).toEqual([undefined])
    broken.now = true
    expect(await codes('a')).toEqual([undefined])
    const { turn } = plainTurn()
    turns.add(turn)
    expect(await codes('b')).toEqual(['overloaded'])
    expect(watch.writable).toBe(false)
    use.give('t')
    await new Promise(setImmediate)
    expect(watch.failures).toBe(3)
    watch.close()
  })

  test('has a place given back once, however often its turn ends', async () => {
    const { use, codes } = limited({ turns: 1 })
    await codes('t')
    calls.length = 0
    use.give('unknown')
    use.give('t')
    use.give('t')
    await new Promise(setImmediate)
    expect(await codes('u')).toEqual([undefined])
    use.give('u')
    await new Promise(setImmediate)
    expect(calls.filter((name) => name === 'givePlace')).toHaveLength(2)
  })

  test('has its use of the day read only where that is limited', async () => {
    await limited({ turns: 2 }).codes('a')
    expect(calls).not.toContain('spentOf')
    await limited({ tokensPerDay: 9 }).codes('b')
    expect(calls).toContain('spentOf')
    expect(calls.filter((name) => name === 'takePlace')).toHaveLength(1)
  })

  test('that was refused a place gives none back', async () => {
    const { use, codes } = limited({ turns: 1 })
    expect(await codes('t', 'u')).toEqual([undefined, 'overloaded'])
    use.give('u')
    await new Promise(setImmediate)
    expect(await codes('v')).toEqual(['overloaded'])
  })

  test('without a limit of turns is not refused for turns while the store cannot be used', async () => {
    const { codes, turns, watch } = limited({ tokensPerDay: 9 })
    turns.add(plainTurn().turn)
    broken.now = true
    expect(await codes('a')).toEqual([undefined])
    expect(watch.failures).toBe(1)
    watch.close()
  })
})
