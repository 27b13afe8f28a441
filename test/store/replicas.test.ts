/** What replicas share in a store of PostgreSQL: who is there, and whose a session is. */
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { LeaseRef, ReplicaInfo, SharedStore } from '../../src/contract/index.ts'
import { openStore } from '../../src/store/index.ts'
import { POSTGRES_BIN, type PostgresServer, startPostgres } from '../kit/postgres.ts'
import { until } from '../kit/processes.ts'
import { KEY, TURN } from './contract.ts'

const INFO: ReplicaInfo = { address: 'http://a:1', version: '1', agents: { coder: 3 }, draining: false }

describe.skipIf(POSTGRES_BIN === undefined)('replicas', () => {
  let server: PostgresServer
  let store: SharedStore
  let schemas = 0
  let now: number
  let a: LeaseRef
  let b: LeaseRef

  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())
  beforeEach(async () => {
    const at = { kind: 'postgres', url: server.url, schema: `replicas_${++schemas}` } as const
    store = (await openStore(at)) as SharedStore
    now = Date.now()
    a = await leaseOf('a')
    b = await leaseOf('b')
  })
  afterEach(() => store.close())

  const leaseOf = async (owner: string): Promise<LeaseRef> => ({
    owner,
    epoch: await store.takeLease(owner, now, now + 5000),
  })
  /** The lease is over. */
  const end = async (lease: LeaseRef): Promise<void> => {
    await store.lapseLease(lease, now + 6000, 1)
    expect(await store.lapseLease(lease, now + 6002, 1)).toBe(true)
  }
  const take = (by: LeaseRef, id: string) => store.replicas.takeSession(KEY, id, by, now)

  test('hear of the others as long as their leases are not over', async () => {
    expect(await store.replicas.announce(a, INFO, now)).toEqual([])
    const more = { ...INFO, address: 'http://b:2', agents: {}, draining: true }
    const first = { ...INFO, ...a, expired: false }
    expect(await store.replicas.announce(b, more, now)).toEqual([first])
    expect(await store.replicas.replicas(now + 5001)).toEqual([
      { ...first, expired: true },
      { ...more, ...b, expired: true },
    ])
    await end(a)
    expect(await store.replicas.announce(b, INFO, now)).toEqual([])
    expect(await store.replicas.replicas(now)).toEqual([{ ...INFO, ...b, expired: false }])
  })

  test('own a session one at a time', async () => {
    const made = { ...KEY, id: 'S1', createdAt: now, usedAt: now, owner: a }
    const both = await Promise.all([take(a, 'S1'), take(b, 'S2')])
    expect(both).toEqual([made, made])
    expect(await store.findSession(KEY)).toEqual(made)
    await end(a)
    expect(await take(b, 'S3')).toEqual({ ...made, owner: b })
    expect(await take(await leaseOf('a'), 'S3')).toEqual({ ...made, owner: b })
  })

  test('never wait for each other because of sessions that have an owner', async () => {
    const other = (await openStore({ kind: 'postgres', url: server.url, schema: `replicas_${schemas}` })) as SharedStore
    const keys = Array.from({ length: 8 }, (_, number) => ({ ...KEY, session: `s${number}` }))
    for (const key of keys) await store.replicas.takeSession(key, `S-${key.session}`, a, now)
    const before = await store.listSessions({ limit: 8 })
    const admin = new pg.Client({ connectionString: server.url })
    await admin.connect()
    // A transaction that holds all of them, as one does that ends their turns.
    await admin.query(`BEGIN; SET search_path TO replicas_${schemas}; SELECT id FROM sessions FOR UPDATE`)
    const taken = await Promise.all(keys.toReversed().map((key) => other.replicas.takeSession(key, 'new', b, now + 9)))
    await admin.query('COMMIT')
    await admin.end()
    expect(taken.map(({ id, owner }) => [id, owner])).toEqual(
      keys.toReversed().map(({ session }) => [`S-${session}`, a]),
    )
    expect(await store.listSessions({ limit: 8 })).toEqual(before)
    await other.close()
  })

  test('take a session that exists without an owner', async () => {
    await store.openSession(KEY, 'S1', 1)
    expect(await take(b, 'S2')).toMatchObject({ id: 'S1', owner: b })
  })

  test('give a session up unless a turn of it runs', async () => {
    await take(a, 'S1')
    const turn = { ...TURN, ...a, session: 'S1' }
    expect(await store.beginTurn(turn)).toBe(true)
    expect(await store.replicas.giveUpSession('S1', a)).toBe(false)
    await store.endTurn({ ...turn, endedAt: 200, outcome: 'completed' })
    expect(await store.replicas.giveUpSession('S1', b)).toBe(true)
    expect((await store.findSession(KEY))?.owner).toEqual(a)
    expect(await store.replicas.giveUpSession('S1', a)).toBe(true)
    expect((await store.findSession(KEY))?.owner).toBeUndefined()
    expect((await take(b, 'S2')).owner).toEqual(b)
  })

  test('begin no turn in a session of another one', async () => {
    await take(a, 'S1')
    expect(await store.beginTurn({ ...TURN, ...b, session: 'S1' })).toBe(false)
    expect(await store.beginTurn({ ...TURN, ...a, epoch: a.epoch + 1, session: 'S1' })).toBe(false)
    expect(await store.unfinishedTurns()).toEqual([])
    expect(await store.beginTurn({ ...TURN, ...a, session: 'S1' })).toBe(true)
  })

  test('give a turn its first end, also when that is not committed yet when the next one comes', async () => {
    await take(a, 'S1')
    const turn = { ...TURN, ...a, session: 'S1' }
    await store.beginTurn(turn)
    const other = new pg.Client({ connectionString: server.url })
    await other.connect()
    await other.query(`BEGIN; SET search_path TO replicas_${schemas};
      INSERT INTO turns
        (turn, session, position, tenant, agent, front, owner, epoch, started_at, ended_at, outcome, delivered)
      VALUES ('${turn.turn}', 'S1', 1, 'acme', 'coder', 'zene', 'b', 1, 100, 200, 'failed', 0)`)
    const ended = store.endTurn({ ...turn, endedAt: 300, outcome: 'completed' }, { by: a })
    const waits = `SELECT 1 FROM pg_stat_activity WHERE application_name = 'turnpike' AND wait_event_type = 'Lock'`
    await until(async () => (await other.query(waits)).rows.length > 0)
    await other.query('COMMIT')
    await other.end()
    expect(await ended).toBe(false)
    expect([await store.readTurn(turn.turn), await store.unfinishedTurns()]).toMatchObject([{ outcome: 'failed' }, []])
  })

  test('find a running turn by what its client calls it', async () => {
    await store.openSession(KEY, 'S1', 1)
    const turn = { ...TURN, session: 'S1', request: 'r\0' }
    await store.beginTurn(turn)
    expect(await store.replicas.runningTurn('acme', 'r\0')).toEqual(turn)
    expect(await store.replicas.runningTurn('other', 'r\0')).toBeUndefined()
    await store.beginTurn({ ...turn, turn: 't2' })
    expect(await store.replicas.runningTurn('acme', 'r\0')).toBeUndefined()
  })

  test('share the secret that was given first, and the time of the server', async () => {
    expect(await store.replicas.secret('one')).toBe('one')
    expect(await store.replicas.secret('two')).toBe('one')
    expect(store.replicas.time(5)).toBe(5)
  })
})
