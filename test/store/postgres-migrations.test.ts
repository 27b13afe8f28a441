/** Tables that a newer program migrates while replicas of the version before run on them. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect } from '../../src/store/postgres/connection.ts'
import { openPostgresStore } from '../../src/store/postgres/index.ts'
import { MIGRATIONS, migrate, SCHEMA_VERSION } from '../../src/store/postgres/schema.ts'
import { POSTGRES_BIN, type PostgresServer, startPostgres } from '../kit/postgres.ts'
import { TURN } from './contract.ts'

interface Column {
  table: string
  name: string
  type: string
  given: boolean
}

describe.skipIf(POSTGRES_BIN === undefined)('tables of the version before', () => {
  let server: PostgresServer
  let admin: pg.Client

  beforeAll(async () => {
    server = await startPostgres()
    admin = new pg.Client({ connectionString: server.url })
    await admin.connect()
  })
  afterAll(async () => {
    await admin.end()
    await server.close()
  })

  const rows = async <R = Record<string, unknown>>(text: string): Promise<R[]> => (await admin.query(text)).rows as R[]

  /** Makes the tables of a version, as a program of that version does. */
  async function tablesOf(version: number): Promise<string> {
    const schema = `version_${version}`
    await admin.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE; CREATE SCHEMA ${schema}; SET search_path TO ${schema}`)
    await admin.query('CREATE TABLE turnpike_versions (version INT PRIMARY KEY, oldest INT NOT NULL)')
    for (const [at, { script, oldest }] of MIGRATIONS.slice(0, version).entries()) {
      await admin.query(`${script}; INSERT INTO turnpike_versions VALUES (${at + 1}, ${oldest})`)
    }
    return schema
  }

  const columnsOf = (schema: string): Promise<Column[]> =>
    rows(`
      SELECT table_name AS table, column_name AS name, data_type AS type, is_identity = 'NO' AS given
      FROM information_schema.columns WHERE table_schema = '${schema}' AND table_name <> 'turnpike_versions'
      ORDER BY table_name, ordinal_position`)

  /** Writes a row with every column that a program of the version knows into each table. */
  async function fill(schema: string, columns: readonly Column[], value: number): Promise<void> {
    const given = columns.filter((column) => column.given)
    for (const [table, known] of Map.groupBy(given, (column) => column.table)) {
      const values = known.map(({ type }) => (type === 'text' ? `'${value}'` : String(value)))
      const names = known.map(({ name }) => name)
      await admin.query(`INSERT INTO ${schema}.${table} (${names.join()}) VALUES (${values.join()})`)
    }
  }
  const contentOf = async (schema: string, columns: readonly Column[]): Promise<unknown[]> => {
    const all: unknown[] = []
    for (const [table, known] of Map.groupBy(columns, (column) => column.table)) {
      const names = known.map(({ name }) => name)
      all.push([table, await rows(`SELECT ${names.join()} FROM ${schema}.${table} ORDER BY 1`)])
    }
    return all
  }

  const versions = MIGRATIONS.slice(1).map(({ oldest }, at) => ({ before: at + 1, oldest }))

  it.each(versions.filter(({ before, oldest }) => oldest <= before))(
    'version $before: what its programs know stays as it is, and they can go on to write it',
    async ({ before }) => {
      const schema = await tablesOf(before)
      const columns = await columnsOf(schema)
      await fill(schema, columns, 1)
      const written = await contentOf(schema, columns)
      const connection = await connect(server.url, schema)
      expect(await migrate(connection, schema, 'here')).toBe(before)
      await connection.end()
      expect(await contentOf(schema, columns)).toEqual(written)
      await fill(schema, columns, 2)
      expect((await contentOf(schema, columns)).map((of) => (of as [string, unknown[]])[1].length)).toEqual(
        written.map(() => 2),
      )
    },
  )

  it('are migrated by one of many, while those that run write to them', async () => {
    const schema = await tablesOf(SCHEMA_VERSION - 1)
    const older = new pg.Client({ connectionString: server.url })
    await older.connect()
    await older.query(`SET search_path TO ${schema}`)
    let written = 0
    let over = false
    // As a program of the version before opens sessions.
    const goesOn = (async () => {
      while (!over || written === 0) {
        written += 1
        await older.query(`INSERT INTO sessions (id, key, tenant, agent, session, conversation, created_at, used_at, epoch)
          VALUES ('old-${written}', 'key-${written}', 'acme', 'coder', 's-${written}', '', 1, 1, 0)`)
      }
    })()
    const at = { kind: 'postgres', url: server.url, schema } as const
    const stores = await Promise.all([1, 2, 3].map(() => openPostgresStore(at)))
    over = true
    await goesOn
    await older.end()
    expect(await rows(`SELECT max(version) AS version FROM ${schema}.turnpike_versions`)).toEqual([
      { version: SCHEMA_VERSION },
    ])
    // Its sessions are known, and may be run by those of the newer version.
    const [store] = stores
    expect((await store!.readSession('old-1'))?.session).toBe('s-1')
    expect(await store!.beginTurn({ ...TURN, session: 'old-1' })).toBe(true)
    await Promise.all(stores.map((one) => one.close()))
  })

  /** The compression of each column that is set: `l` for LZ4. */
  const compressed = async (schema: string): Promise<string[]> => {
    const found = await rows<{ name: string }>(`
      SELECT relname || '.' || attname || ' ' || attcompression::text AS name
      FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
      WHERE relnamespace = '${schema}'::regnamespace AND attcompression <> '' ORDER BY 1`)
    return found.map(({ name }) => name)
  }

  it('have their large columns compressed with LZ4 where the server can', async () => {
    const [able] = await rows<{ able: boolean }>(
      "SELECT 'lz4' = ANY (enumvals) AS able FROM pg_settings WHERE name = 'default_toast_compression'",
    )
    const columns = ['events.json l', 'messages.json l', 'turns.events l', 'turns.messages l', 'turns.wire l']
    expect(await compressed(await tablesOf(5))).toEqual(able?.able ? columns : [])
    // A server without it, as far as the script can see.
    const schema = await tablesOf(4)
    await admin.query(
      `CREATE VIEW pg_settings AS SELECT 'default_toast_compression' AS name, '{pglz}'::text[] AS enumvals`,
    )
    await admin.query(`SET search_path TO ${schema}, pg_catalog; ${MIGRATIONS[4]!.script}`)
    expect(await compressed(schema)).toEqual([])
  })
})
