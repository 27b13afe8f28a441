/**
 * Writes of a process that was given up, which were still on their way: none of them changes what the new owner of its
 * sessions relies on.
 */
import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Awaitable, LeaseRef, ReplicaInfo, ReplicaStore, SharedStore, Store } from '../../src/contract/index.ts'
import { openStore } from '../../src/store/index.ts'
import { POSTGRES_BIN, type PostgresServer, startPostgres } from '../kit/postgres.ts'
import { KEY, TURN } from './contract.ts'

const INFO: ReplicaInfo = { address: 'http://a:1', version: '1', agents: { coder: 3 }, draining: false }
const SAID = { role: 'assistant', parts: [{ type: 'text', text: 'late' }], at: 7 } as const
const SPENT = { day: 0, tokens: 1, estimated: 0, costUsd: 0 }

type Read =
  | 'replicas'
  | 'findSession'
  | 'readSession'
  | 'heardBy'
  | 'listSessions'
  | 'usageOf'
  | 'readMessages'
  | 'findKnown'
  | 'readTurn'
  | 'readTurnMessages'
  | 'readWire'
  | 'listTurns'
  | 'unfinishedTurns'
  | 'lostTurns'
  | 'hasOtherLease'
  | 'version'
  | 'readEvents'
  | 'spentOf'
  | 'close'
type Write = Exclude<keyof Store, Read> | Exclude<keyof ReplicaStore, 'replicas' | 'runningTurn' | 'time'>

/** A write as the process does it that had the session under the lease `by`. */
interface Late {
  write(store: SharedStore, by: LeaseRef): Awaitable<unknown>
  /** What it may change, because nobody relies on it: tables, or columns of one. */
  may?: readonly string[]
}

const turn = (by: LeaseRef) => ({ ...TURN, ...by })
const ended = (by: LeaseRef) => ({ ...turn(by), endedAt: 300, outcome: 'completed' }) as const
const additions = (by: LeaseRef) => ({
  by,
  messages: [SAID],
  known: 'late',
  spent: SPENT,
  events: { turn: 't1', seq: 2, lines: '"late"' },
})

const WRITES: Readonly<Record<Write, Late>> = {
  commit: { write: (store) => store.commit() },
  probe: { write: (store) => store.probe(), may: ['claims probe'] },
  openSession: { write: (store) => store.openSession(KEY, 'S9', 999), may: ['sessions.used_at'] },
  bindSession: { write: (store, by) => store.bindSession('S1', 'late', by) },
  setSession: { write: (store, by) => store.setSession('S1', { mode: 'auto' }, by) },
  clearSession: { write: (store, by) => store.clearSession('S1', 999, by) },
  touchSession: { write: (store) => store.touchSession('S1', 999), may: ['sessions.used_at'] },
  deleteSession: { write: (store, by) => store.deleteSession('S1', by) },
  appendMessage: { write: (store, by) => store.appendMessage('S1', SAID, by) },
  beginTurn: {
    write: async (store, by) => {
      await store.beginTurn(turn(by), 'key')
      await store.beginTurn({ ...turn(by), turn: 't3' })
    },
  },
  endTurn: {
    write: async (store, by) => {
      await store.endTurn(ended(by), additions(by))
      await store.endTurn({ ...ended(by), turn: 't3' }, additions(by))
    },
  },
  // An answer that its client has is no other one's.
  markDelivered: { write: (store) => store.markDelivered('t1'), may: ['turns.delivered'] },
  // Any process may forget a turn.
  deleteTurn: { write: (store) => store.deleteTurn('t0'), may: ['turns t0'] },
  takeLease: { write: (store) => store.takeLease('a again', 1, 2), may: ['leases a again'] },
  renewLease: { write: (store, by) => store.renewLease(by, 9e15) },
  lapseLease: { write: (store, by) => store.lapseLease(by, 9e15, 1) },
  dropLease: { write: (store, by) => store.dropLease(by) },
  appendEvents: { write: (store) => store.appendEvents([{ turn: 't1', seq: 2, lines: '"late"' }]) },
  claim: { write: (store) => store.claim('key', 't1', 'body', 1, 999) },
  reclaim: { write: (store) => store.reclaim('key', 't1', 'body', 1, { turn: 't1', ended: true }) },
  release: { write: (store) => store.release('key', 't1') },
  prune: { write: (store) => store.prune(0, 9), may: ['claims probe'] },
  // A place counts as long as its lease.
  takePlace: { write: (store, by) => store.takePlace({ turn: 't9', tenant: 'acme', ...by }, 99), may: ['places t9'] },
  givePlace: { write: (store) => store.givePlace('t1') },
  shareCounts: { write: (store) => store.shareCounts('process a', new Map([['x', 1]]), 1), may: ['requests'] },
  announce: { write: (store, by) => store.replicas.announce(by, { ...INFO, address: 'http://late' }, 1) },
  takeSession: { write: (store, by) => store.replicas.takeSession(KEY, 'S9', by, 999), may: ['sessions.used_at'] },
  giveUpSession: { write: (store, by) => store.replicas.giveUpSession('S1', by) },
  secret: { write: (store) => store.replicas.secret('late') },
}

let server: PostgresServer
let client: pg.Client
let store: SharedStore
/** Its tables, but for that of their versions. */
let tables: string[]

beforeAll(async () => {
  if (POSTGRES_BIN === undefined) return
  server = await startPostgres()
  store = (await openStore({ kind: 'postgres', url: server.url, schema: 'stale' })) as SharedStore
  client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await client.query('SET search_path TO stale')
  const { rows } = await client.query("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'stale' ORDER BY 1")
  tables = (rows as { name: string }[]).map(({ name }) => name).filter((name) => name !== 'turnpike_versions')
})
afterAll(async () => {
  await client?.end()
  await store?.close()
  await server?.close()
})

describe.skipIf(POSTGRES_BIN === undefined).each([
  ['under its own name', 'b'],
  ['under the same name', 'a'],
])('a process that was given up, whose sessions another one has %s,', (_, name) => {
  let now: number
  /** The lease that is over, and the one that followed. */
  let old: LeaseRef
  let own: LeaseRef

  /** The old one has had a turn `t0`, and begun `t1`; the new one has ended that, and begun `t2` for the same key. */
  beforeEach(async () => {
    await client.query(`TRUNCATE ${tables.join()}`)
    now = Date.now()
    old = { owner: 'a', epoch: await store.takeLease('a', now, now + 5000) }
    await store.replicas.announce(old, INFO, now)
    await store.replicas.takeSession(KEY, 'S1', old, now)
    await store.replicas.secret('first')
    await store.endTurn({ ...ended(old), turn: 't0', endedAt: 90 }, { ...additions(old), events: undefined } as never)
    await store.claim('key', 't1', 'body', now, 9e9)
    expect(await store.beginTurn(turn(old), 'key')).toBe(true)
    await store.appendEvents([{ turn: 't1', seq: 1, lines: '"early"' }])
    own = { owner: name, epoch: name === 'a' ? old.epoch + 1 : await store.takeLease(name, now, now + 9e6) }
    if (name === 'a') expect(await store.takeLease('a', now, now + 9e6)).toBe(own.epoch)
    else await store.dropLease(old)
    await store.replicas.announce(own, INFO, now)
    await store.endTurn({ ...turn(old), endedAt: 200, outcome: 'failed', code: 'internal' })
    await store.replicas.takeSession(KEY, 'S2', own, now)
    await store.reclaim('key', 't2', 'body', now, { turn: 't1', ended: true })
    expect(await store.beginTurn({ ...turn(own), turn: 't2' }, 'key')).toBe(true)
    await store.appendEvents([{ turn: 't2', seq: 1, lines: '"new"' }])
    await store.bindSession('S1', 'bound', own)
    await store.setSession('S1', { mode: 'plan' }, own)
    await store.appendMessage('S1', { ...SAID, parts: [{ type: 'text', text: 'own' }] }, own)
    await store.takePlace({ turn: 't2', tenant: 'acme', ...own }, 1)
  })

  /** All rows, but for what may change. */
  async function rows(may: readonly string[] = []): Promise<Record<string, unknown[]>> {
    const all: Record<string, unknown[]> = {}
    for (const name of tables) {
      const found = await client.query(`SELECT * FROM ${name} ORDER BY ${name}::text`)
      all[name] = (found.rows as Record<string, unknown>[])
        .filter((row) => !may.includes(name) && !may.includes(`${name} ${Object.values(row)[0]}`))
        .map((row) => Object.fromEntries(Object.entries(row).filter(([column]) => !may.includes(`${name}.${column}`))))
    }
    return all
  }

  test.each(Object.entries(WRITES))('changes nothing by a late %s', async (_write, { write, may }) => {
    const before = await rows(may)
    await write(store, old)
    expect(await rows(may)).toEqual(before)
  })

  test('changes nothing by all of them, in any order', async () => {
    const may = Object.values(WRITES).flatMap(({ may = [] }) => may)
    const before = await rows(may)
    const all = Object.values(WRITES)
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(all, { minLength: all.length }), async (writes) => {
        await Promise.all(writes.map(({ write }) => write(store, old)))
        expect(await rows(may)).toEqual(before)
      }),
      { numRuns: 10 },
    )
  })

  test('hears that its writes do not count', async () => {
    expect([
      await store.setSession('S1', { mode: 'auto' }, old),
      await store.clearSession('S1', 1, old),
      await store.deleteSession('S1', old),
      await store.beginTurn({ ...turn(old), turn: 't3' }),
      await store.endTurn(ended(old), additions(old)),
      await store.endTurn({ ...ended(old), turn: 't3' }, additions(old)),
    ]).toEqual([false, undefined, false, false, false, false])
  })

  test('records the failure of a turn that had not begun, without what was said', async () => {
    const failed = { ...ended(old), turn: 't3', outcome: 'failed', code: 'session-busy' } as const
    expect(await store.endTurn(failed, additions(old))).toBe(true)
    expect(await store.readTurn('t3')).toMatchObject({ outcome: 'failed', code: 'session-busy' })
    expect(await store.readTurnMessages('t3')).toEqual([])
  })

  /** Writes that are done while the new owner's transaction is not over, and what that does. */
  const CHANGES: readonly [what: string, change: string, write: Late['write'], gives: unknown][] = [
    [
      'binding',
      'UPDATE sessions SET owner = $1, owner_epoch = $2',
      (at, by) => at.bindSession('S1', 'x', by),
      undefined,
    ],
    [
      'message',
      'UPDATE sessions SET owner = $1, owner_epoch = $2',
      (at, by) => at.appendMessage('S1', SAID, by),
      undefined,
    ],
    [
      'clearing',
      'UPDATE sessions SET owner = $1, owner_epoch = $2',
      (at, by) => at.clearSession('S1', 9, by),
      undefined,
    ],
    ['deletion', 'UPDATE sessions SET owner = $1, owner_epoch = $2', (at, by) => at.deleteSession('S1', by), false],
    [
      'beginning',
      'UPDATE sessions SET owner = $1, owner_epoch = $2',
      (at, by) => at.beginTurn({ ...turn(by), turn: 't4' }),
      false,
    ],
    [
      'end',
      'UPDATE sessions SET owner = $1, owner_epoch = $2',
      (at, by) => at.endTurn({ ...ended(by), turn: 't4' }, { by, messages: [SAID] }),
      false,
    ],
    [
      'event',
      'DELETE FROM leases WHERE owner <> $1 OR epoch <> $2',
      (at) => at.appendEvents([{ turn: 't5', seq: 1, lines: '"x"' }]),
      undefined,
    ],
    [
      'beginning under a key',
      `UPDATE claims SET turn = 't2' WHERE $1::text IS NOT NULL AND $2::bigint IS NOT NULL`,
      (at, by) => at.beginTurn({ ...turn(by), turn: 't4' }, 'other key'),
      false,
    ],
    [
      'takeover of a key whose turn begins',
      `WITH claimed AS (SELECT turn FROM claims WHERE turn = 't4' FOR SHARE)
        INSERT INTO running (turn, session, tenant, agent, front, owner, epoch, started_at)
        SELECT turn, 'S1', 'acme', 'coder', 'zene', $1::text, $2::bigint, 1 FROM claimed`,
      (at) => at.reclaim('other key', 't6', 'body', 9, { turn: 't4', ended: false }),
      { state: 'held', turn: 't4', body: 'body' },
    ],
  ]
  test.each(CHANGES)('waits with a late %s for what the new owner does', async (_what, change, write, gives) => {
    // As if it had all of that a moment ago.
    await store.claim('other key', 't4', 'body', 1, 9e9)
    if (name !== 'a') expect(await store.takeLease('a', old.epoch, now + 9e6)).toBe(old.epoch)
    else await client.query('UPDATE leases SET epoch = $1', [old.epoch])
    await client.query('UPDATE sessions SET owner = $1, owner_epoch = $2', [old.owner, old.epoch])
    expect(await store.beginTurn({ ...turn(old), turn: 't5' })).toBe(true)
    await client.query('BEGIN')
    await client.query(change, [own.owner, own.epoch])
    if (name === 'a') await client.query('UPDATE leases SET epoch = $1', [own.epoch])
    const may = ['running t4']
    const before = await rows(may)
    let over = false
    const written = Promise.resolve(write(store, old)).finally(() => {
      over = true
    })
    const waiting = `SELECT count(*) AS waits FROM pg_locks WHERE NOT granted`
    while (!over && Number((await client.query(waiting)).rows[0].waits) === 0);
    await client.query('COMMIT')
    expect(await written).toEqual(gives)
    expect(await rows(may)).toEqual(before)
  })
})
