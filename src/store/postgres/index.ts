import type { PostgresLocation, Store } from '../../contract/index.ts'
import type { StoreVersion } from '../index.ts'
import { type Connection, connect, isLost, isStarting } from './connection.ts'
import { postgresError } from './errors.ts'
import { Lane } from './lane.ts'
import { CLOCK } from './lease-statements.ts'
import { PREPARATION } from './preparation.ts'
import { checkVersions, migrate, readVersions, SCHEMA_VERSION } from './schema.ts'
import { ServerClock } from './server-clock.ts'
import { sql } from './sql.ts'
import { PostgresStore } from './store.ts'

/** The time for which writes are tried again while the server is away, in milliseconds. */
const PATIENCE_MS = 10_000

/** The pause before a server that starts is tried again, in milliseconds. */
const AGAIN_MS = 200

/**
 * Opens the store in a schema of a PostgreSQL database, which any number of gateways may share, and migrates its tables.
 * A write is durable when its promise resolves. While the server is away, writes are tried again for `patienceMs`
 * milliseconds; then they fail at once until it is back. A server that starts or stops is waited for as long. This function
 * and all methods reject with a `StoreError` that
 * names the server, without its password, and the remedy.
 */
export async function openPostgresStore({ url, schema }: PostgresLocation, patienceMs = PATIENCE_MS): Promise<Store> {
  const place = placeOf(url, schema)
  try {
    const connector = () => connect(url, schema)
    const clock = new ServerClock()
    const connection = await whenItRuns(patienceMs, async () => {
      const opened = await connector()
      try {
        await migrate(opened, schema, place)
        const [rows] = await opened.query<{ clock: number }>(sql`SELECT ${CLOCK}`)
        clock.heard(rows![0]!.clock)
      } catch (error) {
        await opened.end()
        throw error
      }
      return opened
    })
    const lane = new Lane(async () => prepared(await connector()), await prepared(connection), patienceMs)
    return new PostgresStore({ connector, place, clock, lane })
  } catch (error) {
    throw postgresError(error, place)
  }
}

/** The connection, which knows the prepared statements from now on. */
async function prepared(connection: Connection): Promise<Connection> {
  try {
    await connection.query(PREPARATION)
    return connection
  } catch (error) {
    await connection.end()
    throw error
  }
}

/**
 * Does work, for at most `ms` milliseconds again while the server starts or stops: one that was there may be gone for a
 * moment then.
 */
async function whenItRuns<T>(ms: number, work: () => Promise<T>): Promise<T> {
  const until = performance.now() + ms
  for (let known = false; ; ) {
    try {
      return await work()
    } catch (error) {
      known ||= isStarting(error)
      if (!(known && isLost(error)) || performance.now() >= until) throw error
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
  }
}

/** Reads the version of the tables, and changes nothing. Rejects with a `StoreError`. */
export async function postgresVersion({ url, schema }: PostgresLocation): Promise<StoreVersion> {
  const place = placeOf(url, schema)
  try {
    const connection = await connect(url, schema)
    const versions = await readVersions(connection).finally(() => connection.end())
    checkVersions(versions, place)
    return { place, version: versions.version, latest: SCHEMA_VERSION }
  } catch (error) {
    throw postgresError(error, place)
  }
}

/** The server and schema, for messages: without user and password. */
function placeOf(url: string, schema: string): string {
  const { host, pathname } = new URL(url)
  return `postgres://${host}${pathname} (schema ${schema})`
}
