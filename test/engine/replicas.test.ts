import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Replica, ReplicaInfo, SharedStore } from '../../src/contract/index.ts'
import type { Lease } from '../../src/engine/record/lease.ts'
import { Replicas } from '../../src/engine/record/replicas.ts'
import { POSTGRES_BIN, type PostgresServer, startPostgres } from '../kit/postgres.ts'
import { until } from '../kit/processes.ts'
import { leaseOf, openShared } from '../kit/shared-store.ts'
import { KEY, TURN } from '../store/contract.ts'

describe.skipIf(POSTGRES_BIN === undefined)('replicas', () => {
  let server: PostgresServer
  let store: SharedStore
  let now: number
  const leases: Lease[] = []
  const gone: string[] = []
  const heard: string[] = []

  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())
  beforeEach(async () => {
    gone.length = 0
    store = await openShared(server)
    now = Date.now()
  })
  afterEach(async () => {
    for (const lease of leases.splice(0)) await lease.drop()
    await store.close()
  })

  /** A replica that announces this. */
  const start = async (
    name: string,
    more: Partial<ReplicaInfo> = {},
  ): Promise<{ replicas: Replicas; lease: Lease }> => {
    const lease = await leaseOf(store, name, () => now)
    leases.push(lease)
    const replicas = new Replicas({
      store,
      lease,
      gone: ({ owner }) => void gone.push(owner),
      heard: (others) => void heard.push(`${name}: ${names(others)}`),
      now: () => now,
    })
    const info = { address: `http://${name}`, version: '1', agents: { coder: 1 }, draining: false, ...more }
    await replicas.join(() => info)
    replicas.close()
    return { replicas, lease }
  }
  const names = (replicas: readonly Replica[]): string[] => replicas.map(({ owner }) => owner)

  test('hear of each other', async () => {
    const one = await start('one')
    const two = await start('two')
    expect(heard.splice(0)).toEqual(['one: ', 'two: one'])
    expect([names(one.replicas.others), names(two.replicas.others)]).toEqual([[], ['one']])
    expect(await one.replicas.find(two.lease.held!)).toMatchObject({ address: 'http://two', expired: false })
    expect(names(one.replicas.others)).toEqual(['two'])
    expect(await one.replicas.find({ owner: 'two', epoch: 1 })).toBeUndefined()
    expect([one.replicas.isOwn(one.lease.held!), one.replicas.isOwn(two.lease.held!)]).toEqual([true, false])
    expect(one.replicas.safe).toBe(true)
  })

  test('give each other up when a lease is over', async () => {
    const one = await start('one')
    const two = await start('two')
    // The first look finds it expired and gives it a last call, the next one ends it.
    now += 6000
    await store.renewLease(two.lease.held!, now + 60_000)
    await two.replicas.refresh()
    expect([names(two.replicas.others), gone]).toEqual([['one'], []])
    now += 4000
    await two.replicas.refresh()
    expect(await store.lapseLease(one.lease.held!, now, 1)).toBe(true)
    await two.replicas.refresh()
    expect([names(two.replicas.others), gone]).toEqual([[], ['one']])
  })

  test('are not others to themselves after they have lost a lease that is still there', async () => {
    vi.useFakeTimers({ toFake: ['hrtime'] })
    const one = await start('one')
    const before = one.lease.held!
    vi.advanceTimersByTime(7000)
    expect(one.lease.confirm()).toBe(false)
    await until(() => one.lease.held !== undefined)
    vi.useRealTimers()
    await one.replicas.refresh()
    expect([names(one.replicas.others), await one.replicas.find(before)]).toEqual([[], undefined])
    // It ends that lease as it does those of others.
    now += 6000
    await one.replicas.refresh()
    now += 4000
    await one.replicas.refresh()
    expect(await store.lapseLease(before, now, 1)).toBe(true)
    expect(gone).not.toContain('one')
  })

  test('know who has room', async () => {
    await start('little', { agents: { coder: 2, writer: 0 } })
    await start('much', { agents: { coder: 5 } })
    await start('draining', { agents: { coder: 9, gone: 9 }, draining: true })
    const { replicas } = await start('self')
    await replicas.refresh()
    expect(replicas.withMostRoom('coder')?.owner).toBe('much')
    expect(replicas.withMostRoom('writer')?.owner).toBe('little')
    expect([replicas.withMostRoom('other'), replicas.withMostRoom('gone')]).toEqual([undefined, undefined])
  })

  test('take sessions, and give them up', async () => {
    const one = await start('one')
    const two = await start('two')
    const { id, owner } = await one.replicas.take(KEY)
    expect(owner).toEqual(one.lease.held)
    expect(await two.replicas.take(KEY)).toMatchObject({ id, owner: one.lease.held })
    expect(await one.replicas.giveUp(id)).toBe(true)
    expect(await two.replicas.take(KEY)).toMatchObject({ id, owner: two.lease.held })
    await store.beginTurn({ ...TURN, ...two.lease.held!, session: id, request: 'r' })
    expect(await two.replicas.giveUp(id)).toBe(false)
    expect(await one.replicas.runningTurn('acme', 'r')).toMatchObject({ turn: TURN.turn, owner: 'two' })
  })
})
