import { once } from 'node:events'
import { type AddressInfo, connect as connectTo, createServer } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type SharedStore, type Store, StoreError } from '../../src/contract/index.ts'
import type { Message } from '../../src/model/index.ts'
import { openStore, storeVersion } from '../../src/store/index.ts'
import { connect } from '../../src/store/postgres/connection.ts'
import { openPostgresStore } from '../../src/store/postgres/index.ts'
import { Lane } from '../../src/store/postgres/lane.ts'
import { PREPARATION } from '../../src/store/postgres/preparation.ts'
import { SCHEMA_VERSION } from '../../src/store/postgres/schema.ts'
import { sql } from '../../src/store/postgres/sql.ts'
import { endTurn } from '../../src/store/postgres/turn-writes.ts'
import { POSTGRES_BIN, type PostgresServer, startPostgres } from '../kit/postgres.ts'
import { KEY, storeContract, TURN } from './contract.ts'
import { storeFollowsModel } from './steps.ts'

const message = (text: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text }], at: 1 })

describe.skipIf(POSTGRES_BIN === undefined)('a store in PostgreSQL', () => {
  let server: PostgresServer
  let admin: pg.Client
  let schemas = 0
  const newSchema = (): string => `store_${++schemas}`
  const at = (schema: string) => ({ kind: 'postgres', url: server.url, schema }) as const
  const open = async (schema = newSchema()): Promise<Store> => openStore(at(schema))
  /** What an administrator is told. */
  const asked = async (text: string): Promise<Record<string, unknown>[]> => (await admin.query(text)).rows
  const errorOf = async (work: Promise<unknown> | unknown): Promise<StoreError> => {
    const error = await Promise.resolve(work).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(StoreError)
    return error as StoreError
  }
  const untilIt = async (holds: () => Promise<boolean>): Promise<void> => {
    while (!(await holds())) await new Promise(setImmediate)
  }
  const login = async (): Promise<void> => {
    admin = new pg.Client({ connectionString: server.url })
    admin.on('error', () => {})
    await admin.connect()
  }

  beforeAll(async () => {
    server = await startPostgres()
    await login()
  })
  afterAll(async () => {
    await admin.end()
    await server.close()
  })

  storeContract('PostgreSQL', open)

  it('ends a connection that cannot be made ready', async () => {
    const said = (type: string, text: string): Buffer => {
      const length = Buffer.alloc(4)
      length.writeInt32BE(4 + text.length)
      return Buffer.concat([Buffer.from(type), length, Buffer.from(text)])
    }
    const ready = said('Z', 'I')
    const ended = Promise.withResolvers<void>()
    const stopping = createServer((client) => {
      client.once('data', () => {
        client.write(Buffer.concat([said('R', '\0\0\0\0'), ready]))
        client.once('data', () => client.write(Buffer.concat([said('E', 'SERROR\0C53200\0Mout of memory\0\0'), ready])))
      })
      client.once('close', ended.resolve)
    }).listen(0, '127.0.0.1')
    await once(stopping, 'listening')
    const { port } = stopping.address() as AddressInfo
    await expect(connect(`postgres://turnpike@127.0.0.1:${port}/postgres`, 's')).rejects.toThrow('out of memory')
    await ended.promise
    stopping.close()
  })

  it('waits for a server that starts, and for no other one that cannot be reached', async () => {
    const { port } = new URL(server.url)
    let refusals = 2
    const message = 'SFATAL\0C57P03\0Mthe database system is starting up\0\0'
    const starting = createServer((client) => {
      client.on('error', () => {})
      // At first it ends the connection without a word.
      if (refusals === 2) client.once('data', () => client.destroy())
      if (refusals-- === 2) return
      if (refusals < 0) {
        const to = connectTo(Number(port), '127.0.0.1')
        client.pipe(to).pipe(client)
        return
      }
      const length = Buffer.alloc(4)
      length.writeInt32BE(4 + message.length)
      client.once('data', () => client.end(Buffer.concat([Buffer.from('E'), length, Buffer.from(message)])))
    }).listen(0, '127.0.0.1')
    await once(starting, 'listening')
    const url = server.url.replace(port, String((starting.address() as AddressInfo).port))
    const store = await openPostgresStore({ kind: 'postgres', url, schema: newSchema() })
    expect(refusals).toBeLessThan(0)
    await store.close()
    refusals = 2
    expect((await errorOf(openPostgresStore({ kind: 'postgres', url, schema: 's' }, 0))).code).toBe('unreachable')
    expect(refusals).toBe(1)
    starting.close()
    await once(starting, 'close')
    expect((await errorOf(openPostgresStore({ kind: 'postgres', url, schema: 's' }))).code).toBe('unreachable')
  })

  it('finds a turn and lists it once, also when it ends while it is read', async () => {
    const schema = newSchema()
    const store = await open(schema)
    await store.openSession(KEY, 'S1', 1)
    await store.beginTurn(TURN)
    const ended = { ...TURN, endedAt: 200, outcome: 'completed' } as const
    // Who reads what runs waits until the end is committed.
    await asked(`BEGIN; SET LOCAL search_path TO ${schema}; LOCK TABLE running IN ACCESS EXCLUSIVE MODE`)
    await asked(PREPARATION)
    await asked(endTurn(ended, {}))
    await asked('DEALLOCATE ALL')
    const found = Promise.all([store.readTurn('t1'), store.listTurns({ tenant: 'acme', limit: 9 })])
    await untilIt(async () => (await asked('SELECT 1 FROM pg_locks WHERE NOT granted')).length === 1)
    await asked('COMMIT')
    const [turn, list] = await found
    expect([turn?.outcome, list?.rows.map((row) => row.turn)]).toEqual(['completed', ['t1']])
    await store.close()
  })
  storeFollowsModel(
    async () => {
      const store = await open('model')
      const tables = await asked(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'model' AND tablename <> 'turnpike_versions'",
      )
      await asked(`TRUNCATE ${tables.map(({ tablename }) => `model.${tablename}`).join()}`)
      return store
    },
    { numRuns: 4 },
  )

  describe('its writes', () => {
    it('go to the server together when they are ready together', async () => {
      const schema = newSchema()
      const store = await open(schema)
      const sessions = ['a', 'b', 'c', 'd', 'e']
      await Promise.all(sessions.map((session) => store.openSession({ ...KEY, session }, session, 1)))
      expect(await asked(`SELECT DISTINCT xmin FROM ${schema}.sessions`)).toHaveLength(1)
      await store.close()
    })

    it('go in several messages when there are very many, in their order', async () => {
      const schema = newSchema()
      const store = await open(schema)
      const ids = Array.from({ length: 600 }, (_, n) => `S${n}`)
      await Promise.all(ids.map((id, n) => store.openSession({ ...KEY, session: id }, id, n)))
      expect(await asked(`SELECT DISTINCT xmin FROM ${schema}.sessions`)).toHaveLength(2)
      expect((await store.listSessions({ tenant: 'acme', limit: 600 }))!.rows.map(({ id }) => id)).toEqual(
        ids.reverse(),
      )
      await store.close()
    })

    it('are done all the same when one that goes with them cannot be', async () => {
      const store = await open()
      const opened = store.openSession(KEY, 'S1', 1)
      const wrong = store.openSession({ ...KEY, session: 'other' }, 'S2', 1e30)
      const bound = store.bindSession('S1', 'agent-7')
      expect((await errorOf(wrong)).code).toBe('failed')
      await Promise.all([opened, bound])
      expect((await store.readSession('S1'))?.bound).toBe('agent-7')
      expect(await store.readSession('S2')).toBeUndefined()
      await store.close()
    })

    it('are done once when the server ends their connection', async () => {
      const store = await open()
      await store.openSession(KEY, 'S1', 1)
      const names = Array.from({ length: 40 }, (_, n) => `m${n}`)
      for (const [n, name] of names.entries()) {
        const written = store.appendMessage('S1', message(name))
        if (n % 10 === 0) {
          await asked(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'turnpike'`)
        }
        await written
      }
      expect(await store.readMessages('S1')).toEqual(names.map(message))
      await store.close()
    })

    it('count what a turn has used once when the server ends their connection', async () => {
      const store = await open()
      await store.openSession(KEY, 'S1', 1)
      const spent = { day: 0, tokens: 1, estimated: 0, costUsd: 0.5 }
      for (let n = 0; n < 40; n++) {
        const ended = store.endTurn({ ...TURN, turn: `t${n}`, endedAt: 2, outcome: 'completed' }, { spent })
        if (n % 10 === 0) {
          await asked(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'turnpike'`)
        }
        await ended
      }
      expect(await store.spentOf(TURN.tenant, 0)).toEqual({ tokens: 40, estimated: 0, costUsd: 20 })
      await store.close()
    })

    it('are done once when the server is killed and starts again under them', async () => {
      // A machine that is busy takes its time to start a server that was killed.
      const store = await openPostgresStore(at(newSchema()), 50_000)
      await store.openSession(KEY, 'S1', 1)
      const names = Array.from({ length: 200 }, (_, n) => `m${n}`)
      const written = names.map((name) => store.appendMessage('S1', message(name)))
      const ended = store.endTurn({ ...TURN, endedAt: 2, outcome: 'completed' }, { messages: [message('last')] })
      const claimed = store.claim('k', 't1', 'd', 1, 50)
      await server.stop('immediate')
      await server.start()
      await Promise.all([...written, ended])
      expect(await claimed).toEqual({ state: 'new' })
      expect(await store.readMessages('S1')).toEqual([...names, 'last'].map(message))
      await store.close()
      await login()
    })

    it('fail at once while the server stays away, and are done again when it is back', async () => {
      const schema = newSchema()
      const connector = () => connect(server.url, schema)
      const lane = new Lane(connector, await connector(), 50)
      await lane.run([`CREATE SCHEMA ${schema}`, 'CREATE TABLE kept (n INT PRIMARY KEY)'])
      await server.stop('fast')
      const insert = (n: number) => lane.run([sql`INSERT INTO kept (n) VALUES (${n})`])
      await expect(insert(1)).rejects.toThrow()
      await expect(lane.run(['SELECT 1'], { once: true })).rejects.toThrow('ECONNREFUSED')
      await expect(insert(2)).rejects.toThrow('ECONNREFUSED')
      await server.start()
      await insert(3)
      expect(await lane.run(['SELECT n FROM kept'])).toEqual([[{ n: 3 }]])
      await lane.close()
      await login()
    })

    it.each([
      ['0', '16s'],
      ['1min', '16s'],
      ['3s', '3s'],
    ])('are stopped by the server once nobody waits for them: a user with %s has %s', async (own, has) => {
      const { port } = new URL(server.url)
      const role = `user_${newSchema()}`
      await asked(`CREATE ROLE ${role} LOGIN; ALTER ROLE ${role} SET statement_timeout = '${own}'`)
      const connection = await connect(`postgres://${role}@127.0.0.1:${port}/postgres`, newSchema())
      expect(await connection.query('SHOW statement_timeout')).toEqual([[{ statement_timeout: has }]])
      await connection.end()
    })

    /** A lane whose row 1 another client has locked, with ways to cancel what waits for that, and to give the row back. */
    const laneWith = async (patienceMs: number) => {
      const schema = newSchema()
      const connector = () => connect(server.url, schema)
      const lane = new Lane(connector, await connector(), patienceMs)
      await lane.run([`CREATE SCHEMA ${schema}`, 'CREATE TABLE kept (n INT PRIMARY KEY, by TEXT)'])
      await lane.run(["INSERT INTO kept VALUES (1, ''), (2, '')"])
      const update = (n: number) => lane.run([sql`UPDATE kept SET by = by || 'lane' WHERE n = ${n}`])
      const kept = async (): Promise<unknown[]> =>
        (await lane.run(['SELECT by FROM kept ORDER BY n']))[0]!.map(({ by }) => by)
      const holder = new pg.Client({ connectionString: server.url })
      await holder.connect()
      await holder.query(`BEGIN; SELECT 1 FROM ${schema}.kept WHERE n = 1 FOR UPDATE`)
      const waiting = `
        SELECT pid, query_start::text AS since FROM pg_stat_activity
        WHERE application_name = 'turnpike' AND wait_event_type = 'Lock'`
      // Returns when the statement has ended, so that the next one is another one.
      const cancel = async (): Promise<void> => {
        await untilIt(async () => (await asked(waiting)).length === 1)
        const [cancelled] = await asked(`SELECT pg_cancel_backend(pid), since FROM (${waiting}) AS waiting`)
        await untilIt(async () => (await asked(waiting)).every(({ since }) => since !== cancelled?.['since']))
      }
      return { lane, update, kept, cancel, letGo: () => holder.end() }
    }

    it('are done again when the server cancels their statement', async () => {
      const { lane, update, kept, cancel, letGo } = await laneWith(50_000)
      const both = Promise.all([update(1), update(2)])
      await cancel()
      await cancel()
      await letGo()
      await both
      expect(await kept()).toEqual(['lane', 'lane'])
      await lane.close()
    })

    it('are done by themselves when one that goes with them is cancelled for too long', async () => {
      const { lane, update, kept, cancel, letGo } = await laneWith(0)
      const one = update(1).catch(({ code }: { code: string }) => code)
      const other = update(2)
      // Together with the other one, then alone.
      await cancel()
      await cancel()
      expect(await one).toBe('57014')
      await other
      await letGo()
      expect(await kept()).toEqual(['', 'lane'])
      await lane.close()
    })

    it('go to the server that has taken the place of one which only reads now', async () => {
      const schema = newSchema()
      const store = await open(schema)
      await store.openSession(KEY, 'S1', 1)
      await asked('ALTER DATABASE postgres SET default_transaction_read_only = on')
      await asked(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'turnpike'`)
      const written = store.appendMessage('S1', message('a'))
      await untilIt(
        async () => (await asked(`SELECT 1 FROM pg_stat_activity WHERE application_name = 'turnpike'`)).length > 0,
      )
      await asked('ALTER DATABASE postgres RESET default_transaction_read_only')
      await written
      expect(await store.readMessages('S1')).toEqual([message('a')])
      await store.close()
    })

    it('of two gateways about the same rows never wait for each other, in whatever order each has them', async () => {
      const schema = newSchema()
      const stores = (await Promise.all([open(schema), open(schema)])) as SharedStore[]
      const deadlocks = `SELECT pg_stat_force_next_flush(), deadlocks FROM pg_stat_database WHERE datname = 'postgres'`
      const before = (await asked(deadlocks))[0]!['deadlocks']
      const names = Array.from({ length: 30 }, (_, n) => `n${n}`)
      await Promise.all(
        stores.map(async (store, at) => {
          const by = { owner: `own ${at}`, epoch: await store.takeLease(`own ${at}`, 1, 1e13) }
          await Promise.all(
            names.map((_, n) => {
              const name = names[at === 0 ? n : names.length - 1 - n]!
              return Promise.all([
                store.claim(name, `${name} of ${at}`, 'd', 1, 1e13),
                store.replicas.takeSession({ ...KEY, session: name }, `${name} of ${at}`, by, 1),
                store.takePlace({ turn: `${name} of ${at}`, tenant: name, ...by }, 1),
              ])
            }),
          )
        }),
      )
      expect((await asked(deadlocks))[0]!['deadlocks']).toBe(before)
      await Promise.all(stores.map((store) => store.close()))
    })

    it('wait for the other transaction of a deadlock', async () => {
      const schema = newSchema()
      const connector = () => connect(server.url, schema)
      const lane = new Lane(connector, await connector(), 50_000)
      await lane.run([`CREATE SCHEMA ${schema}`, 'CREATE TABLE kept (n INT PRIMARY KEY, by TEXT)'])
      await lane.run(["INSERT INTO kept VALUES (1, ''), (2, '')"])
      // The lane finds the deadlock first, and gives up its part of it.
      await admin.query(`SET deadlock_timeout = 10000; BEGIN; UPDATE ${schema}.kept SET by = 'admin' WHERE n = 2`)
      const update = (n: number) => sql`UPDATE kept SET by = by || 'lane' WHERE n = ${n}`
      const both = lane.run([update(1), update(2)])
      const waits = `SELECT 1 FROM pg_stat_activity WHERE application_name = 'turnpike' AND wait_event_type = 'Lock'`
      await untilIt(async () => (await asked(waits)).length === 1)
      await admin.query(`UPDATE ${schema}.kept SET by = '1' WHERE n = 1; COMMIT; RESET deadlock_timeout`)
      await both
      const [rows] = await lane.run(['SELECT by FROM kept ORDER BY n'])
      expect(rows).toEqual([{ by: '1lane' }, { by: 'adminlane' }])
      await lane.close()
    })
  })

  describe('several gateways on it', () => {
    it('give a key to one of them, in the same moment', async () => {
      const schema = newSchema()
      const stores = await Promise.all([open(schema), open(schema), open(schema)])
      for (let round = 0; round < 20; round++) {
        const claims = await Promise.all(stores.map((store, n) => store.claim(`k${round}`, `t${n}`, 'd', 1, 50)))
        expect(claims.filter(({ state }) => state === 'new')).toHaveLength(1)
        const held = claims.flatMap((claim) => (claim.state === 'held' ? [claim.turn] : []))
        expect(new Set(held).size).toBe(1)
      }
      await Promise.all(stores.map((store) => store.close()))
    })

    it('make one session of one key, and keep what each of them sets for it', async () => {
      const schema = newSchema()
      const stores = await Promise.all([open(schema), open(schema)])
      const opened = await Promise.all(stores.map((store, n) => store.openSession(KEY, `S${n}`, 1)))
      expect(new Set(opened.map(({ id }) => id)).size).toBe(1)
      const { id } = opened[0]!
      await Promise.all([stores[0]!.setSession(id, { model: 'big' }), stores[1]!.setSession(id, { mode: 'plan' })])
      expect((await stores[0]!.readSession(id))?.settings).toEqual({ model: 'big', mode: 'plan' })
      await Promise.all(stores.map((store) => store.close()))
    })

    it('know the clock of the server, when their own are minutes off', async () => {
      const schema = newSchema()
      const right = (await open(schema)) as SharedStore
      for (const off of [-120_000, 120_000]) {
        vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + off })
        const wrong = (await open(schema)) as SharedStore
        const owner = `off by ${off}`
        const now = wrong.replicas.time(Date.now())
        vi.setSystemTime(Date.now() - 2 * off)
        const epoch = await wrong.takeLease(owner, now, now + 5000)
        const afterTaking = wrong.replicas.time(Date.now())
        vi.setSystemTime(Date.now() + 2 * off)
        expect(await wrong.renewLease({ owner, epoch }, now + 9000)).toBe(true)
        const afterRenewing = wrong.replicas.time(Date.now())
        vi.useRealTimers()
        for (const time of [now, afterTaking, afterRenewing]) expect(Math.abs(time - Date.now())).toBeLessThan(60_000)
        expect(epoch).toBe(now)
        expect(await right.hasOtherLease('right', now + 8999)).toBe(true)
        expect(await right.hasOtherLease('right', now + 9000)).toBe(false)
        await right.dropLease({ owner, epoch })
        await wrong.close()
      }
      await right.close()
    })

    it('give a tenant no more places than it may have, however many take them at once', async () => {
      const schema = newSchema()
      const stores = await Promise.all([open(schema), open(schema), open(schema)])
      const take = async (store: Store, n: number): Promise<boolean[]> => {
        const owner = `host:${n}`
        const epoch = await store.takeLease(owner, Date.now(), Date.now() + 9000)
        const turns = Array.from({ length: 20 }, (_, place) => `${owner} ${place}`)
        return Promise.all(turns.map((turn) => store.takePlace({ turn, tenant: 'acme', owner, epoch }, 7)))
      }
      const taken = await Promise.all(stores.map(take))
      expect(taken.flat().filter(Boolean)).toHaveLength(7)
      await Promise.all(stores.map((store) => store.close()))
    })

    it('delete each old turn once, and add up its usage once', async () => {
      const schema = newSchema()
      const stores = await Promise.all([open(schema), open(schema)])
      await stores[0]!.openSession(KEY, 'S1', 1)
      const measures = { back: 'zot', timings: {}, usage: { input: 1 } }
      for (let n = 0; n < 30; n++) {
        await stores[0]!.endTurn({ ...TURN, turn: `t${n}`, endedAt: 5, outcome: 'completed', measures })
      }
      const deleted = await Promise.all(Array.from({ length: 8 }, (_, n) => stores[n % 2]!.prune(9, 5)))
      const left = await stores[1]!.prune(9, 99)
      expect(deleted.reduce((sum, count) => sum + count, left)).toBe(30)
      expect(await stores[1]!.usageOf('S1')).toEqual({ input: 30 })
      await Promise.all(stores.map((store) => store.close()))
    })

    it('delete no turn of a session that another one changes now, and do not wait for it', async () => {
      const schema = newSchema()
      const [store, other] = await Promise.all([open(schema), open(schema)])
      const messages = [message('said')]
      const measures = { back: 'zot', timings: {}, usage: { input: 1 } }
      for (const id of ['S1', 'S2', 'S3']) {
        await store.openSession({ ...KEY, session: id }, id, 1)
        const record = { ...TURN, session: id, turn: `t${id}`, endedAt: 5, outcome: 'completed' } as const
        await store.endTurn(id === 'S2' ? record : { ...record, measures }, { messages })
      }
      await asked(`BEGIN; SELECT 1 FROM ${schema}.sessions WHERE id IN ('S1', 'S2') FOR UPDATE`)
      const cleared = other.clearSession('S1', 9)
      expect(await store.prune(9, 99)).toBe(1)
      expect(await store.readMessages('S3')).toEqual(messages)
      await asked('ROLLBACK')
      await cleared
      expect(await store.prune(9, 99)).toBe(2)
      expect(await store.readMessages('S1')).toEqual([])
      expect(await store.readMessages('S2')).toEqual(messages)
      await Promise.all([store, other].map((one) => one.close()))
    })
  })

  describe('its tables', () => {
    it('are made by whoever is first, however many open the store at once', async () => {
      const schema = newSchema()
      expect(await storeVersion(at(schema))).toMatchObject({ version: 0, latest: SCHEMA_VERSION })
      const stores = await Promise.all(Array.from({ length: 6 }, () => open(schema)))
      expect(await storeVersion(at(schema))).toMatchObject({ version: SCHEMA_VERSION })
      expect(await asked(`SELECT version FROM ${schema}.turnpike_versions`)).toHaveLength(SCHEMA_VERSION)
      await Promise.all(stores.map((store) => store.close()))
    })

    it('may be of a newer version that this program can work with, and no other', async () => {
      const schema = newSchema()
      await (await open(schema)).close()
      const next = SCHEMA_VERSION + 1
      await asked(`INSERT INTO ${schema}.turnpike_versions VALUES (${next}, 1)`)
      await (await open(schema)).close()
      await asked(`UPDATE ${schema}.turnpike_versions SET oldest = ${next} WHERE version = ${next}`)
      const told = `its tables have version ${next}, this program knows up to ${SCHEMA_VERSION}`
      for (const work of [open, (name: string) => storeVersion(at(name))]) {
        const { code, message } = await errorOf(work(schema))
        expect(code).toBe('newer')
        expect(message).toContain(told)
      }
    })

    it('may get columns from a newer program while they are used', async () => {
      const schema = newSchema()
      const store = (await open(schema)) as SharedStore
      const owner = TURN.owner
      const by = { owner, epoch: await store.takeLease(owner, 1, 1e15) }
      const spent = { day: 1, tokens: 1, estimated: 0, costUsd: 0.5 }
      const turns = async (from: number): Promise<void> => {
        // More often than the server makes a plan for each use.
        for (let n = from; n < from + 8; n++) {
          const { id, owner: taken } = await store.replicas.takeSession(KEY, 'S1', by, n)
          expect([id, taken]).toEqual(['S1', by])
          const turn = { ...TURN, turn: `t${n}`, epoch: by.epoch }
          expect(await store.beginTurn(turn)).toBe(true)
          await store.appendEvents([{ turn: turn.turn, seq: 1, lines: '{}' }])
          expect(await store.endTurn({ ...turn, endedAt: n, outcome: 'completed' }, { by, spent })).toBe(true)
        }
      }
      await turns(1)
      for (const table of ['sessions', 'running', 'turns', 'events', 'claims', 'leases', 'spent', 'forgotten'])
        await asked(`ALTER TABLE ${schema}.${table} ADD COLUMN newer TEXT`)
      await turns(9)
      expect(await store.spentOf(TURN.tenant, 1)).toEqual({ tokens: 16, estimated: 0, costUsd: 8 })
      await store.close()
    })

    it('that a newer program has migrated are left alone by one that is too old for them and runs', async () => {
      const schema = newSchema()
      const store = await open(schema)
      const epoch = await store.takeLease('a', 1, 5000)
      const next = SCHEMA_VERSION + 1
      await asked(`INSERT INTO ${schema}.turnpike_versions VALUES (${next}, 1)`)
      expect(await store.renewLease({ owner: 'a', epoch }, 6000)).toBe(true)
      await asked(`UPDATE ${schema}.turnpike_versions SET oldest = ${next} WHERE version = ${next}`)
      expect(await store.renewLease({ owner: 'a', epoch }, 7000)).toBe(false)
      const { code, message } = await errorOf(store.takeLease('a', 2, 8000))
      expect(code).toBe('newer')
      expect(message).toContain(`its tables have version ${next}, this program knows up to ${SCHEMA_VERSION}`)
      await store.close()
    })

    it('take keys of any length', async () => {
      const store = await open()
      const long = Array.from({ length: 20_000 }, (_, n) => String.fromCodePoint(0x4e00 + (n % 5000))).join('')
      const { id } = await store.openSession({ ...KEY, session: long }, 'S1', 1)
      expect((await store.findSession({ ...KEY, session: long }))?.id).toBe(id)
      expect(await store.claim(long, 't1', 'd', 1, 50)).toEqual({ state: 'new' })
      expect(await store.claim(long, 't2', 'd', 2, 50)).toEqual({ state: 'held', turn: 't1', body: 'd' })
      await store.close()
    })

    it('are in a schema of any name', async () => {
      const schema = 'Odd "name"; DROP'
      const store = await open(schema)
      await store.openSession(KEY, 'S1', 1)
      expect(await asked(`SELECT id FROM "Odd ""name""; DROP".sessions`)).toEqual([{ id: 'S1' }])
      await store.close()
    })
  })

  describe('that cannot be used', () => {
    const url = (change: (url: URL) => void): string => {
      const parsed = new URL(server.url)
      change(parsed)
      return parsed.href
    }

    it.each<[name: string, change: (url: URL) => void, code: string, told: RegExp]>([
      ['no server', (to) => Object.assign(to, { port: '1' }), 'unreachable', /ECONNREFUSED.*Start the server/],
      ['no database', (to) => Object.assign(to, { pathname: '/gone' }), 'foreign', /database "gone" does not exist/],
      ['no such user', (to) => Object.assign(to, { username: 'nobody' }), 'refused', /role "nobody" does not exist/],
      ['no TLS there', (to) => Object.assign(to, { search: '?sslmode=require' }), 'refused', /SSL/],
    ])('says why and what to do, without the password: %s', async (_name, change, code, told) => {
      const secret = url((to) => {
        to.password = 'hunter2'
        change(to)
      })
      const location = { kind: 'postgres', url: secret, schema: 's' } as const
      for (const work of [openStore, storeVersion]) {
        const error = await errorOf(work(location))
        expect(error.code).toBe(code)
        expect(error.message).toMatch(told)
        expect(error.message).not.toContain('hunter2')
      }
    })

    it('may not be written by its user', async () => {
      await asked('CREATE ROLE reader LOGIN')
      const reader = url((to) => Object.assign(to, { username: 'reader' }))
      const { code, message } = await errorOf(openStore({ kind: 'postgres', url: reader, schema: newSchema() }))
      expect([code, /Grant the user/.test(message)]).toEqual(['unwritable', true])
    })

    it('takes no text with a NUL where there can be none', async () => {
      const store = await open()
      await expect(Promise.resolve().then(() => store.listTurns({ tenant: 'a\0', limit: 1 }))).rejects.toThrow(
        'has a NUL',
      )
      await store.close()
    })

    it('is closed', async () => {
      const store = await open()
      await store.close()
      expect((await errorOf(store.readSession('S1'))).code).toBe('closed')
    })
  })
})
