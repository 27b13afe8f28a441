/** Gateways on a server that has no connection left. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Store } from '../../src/contract/index.ts'
import { StoreError } from '../../src/contract/index.ts'
import { openPostgresStore } from '../../src/store/postgres/index.ts'
import { POSTGRES_BIN, type PostgresServer, startPostgres } from '../kit/postgres.ts'
import { KEY } from './contract.ts'

describe.skipIf(POSTGRES_BIN === undefined)('a server that takes two connections of gateways', () => {
  let server: PostgresServer
  let admin: pg.Client
  let first: Store
  let second: Store
  const url = (): string => server.url.replace('turnpike@', 'gateway@')
  const open = (patienceMs?: number): Promise<Store> =>
    openPostgresStore({ kind: 'postgres', url: url(), schema: 'gateway' }, patienceMs)

  beforeAll(async () => {
    server = await startPostgres({ settings: ['max_connections = 5', 'superuser_reserved_connections = 2'] })
    admin = new pg.Client({ connectionString: server.url })
    await admin.connect()
    await admin.query('CREATE ROLE gateway LOGIN; GRANT CREATE ON DATABASE postgres TO gateway')
    first = await open(50_000)
    second = await open(0)
  })
  afterAll(async () => {
    await Promise.all([first.close(), second.close()])
    await admin.end()
    await server.close()
  })

  it('refuses a third gateway, which says what is needed', async () => {
    const error = await open().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(StoreError)
    expect((error as StoreError).code).toBe('unreachable')
    expect((error as StoreError).message).toContain(
      'a server that has too many connections needs a higher max_connections',
    )
  })

  it('cannot delete old turns for them, which does not hold up anything else', async () => {
    await expect(first.prune(1, 10)).rejects.toMatchObject({ code: 'unreachable' })
    await first.openSession(KEY, 'S1', 1)
    expect((await first.readSession('S1'))?.id).toBe('S1')
  })

  it('has another program take the connection of one: its writes wait until it gets one again', async () => {
    const { rows } = await admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'turnpike'`,
    )
    expect(rows).toHaveLength(2)
    const others = await Promise.all([login(), login()])
    const waits = first.bindSession('S1', 'agent-7')
    await expect(second.bindSession('S1', 'other')).rejects.toMatchObject({ code: 'unreachable' })
    await others[0]!.end()
    await waits
    expect((await first.readSession('S1'))?.bound).toBe('agent-7')
    await others[1]!.end()
    await second.bindSession('S1', 'agent-8')
    expect((await first.readSession('S1'))?.bound).toBe('agent-8')
  })

  /** Another program's connection, as soon as there is one. */
  async function login(): Promise<pg.Client> {
    for (;;) {
      const client = new pg.Client({ connectionString: url() })
      client.on('error', () => {})
      try {
        await client.connect()
        return client
      } catch {}
    }
  }
})
