import { describe, expect, it } from 'vitest'
import type { SessionKey, Store, TurnRecord } from '../../src/contract/index.ts'

const DAY = 86_400_000

/** What every driver must do for the limits of keys. `of` gives an empty store, `turn` is one of the session of `key`. */
export function keyContract(of: () => Store, key: SessionKey, turn: TurnRecord): void {
  describe('what turns have used', () => {
    const end = (more: Partial<TurnRecord>): TurnRecord => ({ ...turn, endedAt: 200, outcome: 'completed', ...more })
    const spent = { day: 5 * DAY, tokens: 7, estimated: 3, costUsd: 0.25 }

    it('is nothing as long as no turn has brought any', async () => {
      await of().openSession(key, turn.session, 1)
      await of().endTurn(end({}))
      expect(await of().spentOf('acme', 5 * DAY)).toEqual({ tokens: 0, estimated: 0, costUsd: 0 })
    })

    it('adds up by tenant and day, whichever process ran the turn', async () => {
      const store = of()
      await store.openSession(key, turn.session, 1)
      await store.openSession({ ...key, tenant: 'other' }, 'S2', 1)
      await store.beginTurn(turn)
      await store.endTurn(end({}), { spent })
      await store.endTurn(end({ turn: 't2', owner: 'host:2' }), { spent })
      await store.endTurn(end({ turn: 't3' }), { spent: { ...spent, day: 6 * DAY } })
      await store.endTurn(end({ turn: 't4', tenant: 'other', session: 'S2' }), { spent })
      expect(await store.spentOf('acme', 5 * DAY)).toEqual({ tokens: 14, estimated: 6, costUsd: 0.5 })
      expect(await store.spentOf('acme', 6 * DAY)).toEqual({ tokens: 7, estimated: 3, costUsd: 0.25 })
      expect((await store.spentOf('other', 5 * DAY)).tokens).toBe(7)
    })

    it('counts once for a turn: with its first end', async () => {
      const store = of()
      await store.openSession(key, turn.session, 1)
      await store.endTurn(end({}), { spent })
      await store.endTurn(end({ outcome: 'failed' }), { spent })
      await store.endTurn(end({ turn: 'of no session', session: 'gone' }), { spent })
      expect((await store.spentOf('acme', 5 * DAY)).tokens).toBe(7)
    })

    it('stays when the turns are deleted, until its day is long ago', async () => {
      const store = of()
      await store.openSession(key, turn.session, 1)
      await store.endTurn(end({}), { spent })
      await store.deleteSession(turn.session)
      await store.prune(6 * DAY, 99)
      expect((await store.spentOf('acme', 5 * DAY)).tokens).toBe(7)
      await store.prune(6 * DAY + 1, 99)
      expect((await store.spentOf('acme', 5 * DAY)).tokens).toBe(0)
    })
  })

  describe('places of turns', () => {
    const leased = async (owner = 'host:1') => ({ owner, epoch: await of().takeLease(owner, 100, 200) })

    it('are as many as a tenant may have, in all processes, and free again when they are given back', async () => {
      const store = of()
      const [one, other] = [await leased(), await leased('host:2')]
      const take = (name: string, lease = one, tenant = 'acme') => store.takePlace({ turn: name, tenant, ...lease }, 2)
      expect([await take('t1'), await take('t2', other), await take('t3')]).toEqual([true, true, false])
      expect(await take('t4', one, 'other')).toBe(true)
      await store.givePlace('t2')
      await store.givePlace('never taken')
      expect([await take('t5', other), await take('t6', other)]).toEqual([true, false])
    })

    it('are taken by as many as there are of many that want them at once', async () => {
      const lease = await leased()
      const names = Array.from({ length: 20 }, (_, n) => `t${n}`)
      const taken = await Promise.all(names.map((name) => of().takePlace({ turn: name, tenant: 'acme', ...lease }, 6)))
      expect(taken.filter(Boolean)).toHaveLength(6)
    })

    it('are over with their lease', async () => {
      const store = of()
      const lease = await leased()
      const take = (name: string, of = lease) => store.takePlace({ turn: name, tenant: 'acme', ...of }, 1)
      expect([await take('t1'), await take('t2')]).toEqual([true, false])
      const next = await leased()
      expect([await take('t3', next), await take('t4', next)]).toEqual([true, false])
      await store.dropLease(next)
      await store.prune(1, 1)
      const last = await leased('host:3')
      expect([await take('t5', last), await take('t6', last)]).toEqual([true, false])
    })
  })

  describe('counts of requests', () => {
    const counts = (list: Record<string, number>) => new Map(Object.entries(list))

    it('are those of all other processes, as they were stored last', async () => {
      const store = of()
      expect(await store.shareCounts('p1', counts({ a: 1, b: 2 }), 1)).toEqual([])
      expect(await store.shareCounts('p2', counts({ a: 5 }), 1)).toEqual([
        { process: 'p1', name: 'a', count: 1 },
        { process: 'p1', name: 'b', count: 2 },
      ])
      expect(await store.shareCounts('p1', counts({ a: 3 }), 2)).toEqual([{ process: 'p2', name: 'a', count: 5 }])
      expect((await store.shareCounts('p2', counts({}), 3)).map(({ count }) => count)).toEqual([3, 2])
    })

    it('are deleted a day after they were stored', async () => {
      const store = of()
      await store.shareCounts('p1', counts({ a: 1 }), 10)
      await store.prune(10 + DAY, 1)
      expect(await store.shareCounts('p2', counts({}), 3)).toHaveLength(1)
      await store.prune(11 + DAY, 1)
      expect(await store.shareCounts('p2', counts({}), 3)).toEqual([])
    })
  })
}
