import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Replica, Store } from '../../src/contract/index.ts'
import { type Replication, replicationOf } from '../../src/engine/replication.ts'
import { openStore } from '../../src/store/index.ts'
import { engineParts, settingsOf } from '../kit/engine-parts.ts'
import { plainAgent, SILENT_LOG } from '../kit/plain.ts'
import { POSTGRES_BIN, type PostgresServer, startPostgres } from '../kit/postgres.ts'
import { leaseOf, openShared } from '../kit/shared-store.ts'
import { KEY } from '../store/contract.ts'

const SETTINGS = settingsOf([plainAgent(''), { ...plainAgent(''), name: 'away', away: true }])
const gone: string[] = []
const CLUSTER = {
  leaseMs: 8000,
  handOver: async () => 'kept' as const,
  check: async () => undefined,
  gone: ({ owner }: Replica) => void gone.push(owner),
}

function replication(store: Store, lease: Awaited<ReturnType<typeof leaseOf>>): Replication | undefined {
  const { turns, sessions, watches } = engineParts(store, SETTINGS)
  const parts = {
    store,
    lease,
    turns,
    sessions,
    watches,
    settings: { current: SETTINGS },
    log: SILENT_LOG,
    now: Date.now,
  }
  return replicationOf(CLUSTER, parts)
}

test('a file has no replicas', async () => {
  const store = openStore({ kind: 'sqlite', path: ':memory:' })
  const { lease } = engineParts(store, SETTINGS)
  expect(replication(store, lease)).toBeUndefined()
  await store.close()
})

describe.skipIf(POSTGRES_BIN === undefined)('a replica', () => {
  let server: PostgresServer

  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())

  test('announces what it can run, that it drains, and gives up what it has', async () => {
    const store = await openShared(server)
    const [one, two] = [await leaseOf(store, 'one', Date.now), await leaseOf(store, 'two', Date.now)]
    const of = replication(store, one)!
    const other = replication(store, two)!
    await of.join('http://one', '7')
    await other.replicas.refresh()
    const [seen] = other.replicas.others
    expect(seen).toMatchObject({ address: 'http://one', version: '7', agents: { plain: 1 }, draining: false })
    expect(Object.keys(seen!.agents)).toEqual(['plain'])
    expect(other.isThere(seen!)).toBe(true)
    const { id } = await of.replicas.take(KEY)
    expect(await of.giveUp(id)).toBe(true)
    await of.drain()
    await other.replicas.refresh()
    expect([of.draining, other.replicas.others[0]!.draining]).toEqual([true, true])
    of.close()
    await one.drop()
    await other.replicas.refresh()
    expect([gone, other.isThere(seen!)]).toEqual([['one'], false])
    await two.drop()
    await store.close()
  })
})
