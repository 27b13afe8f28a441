import type { PostgresLocation, SqliteLocation, Store, StoreLocation } from '../contract/index.ts'
import { fileVersion } from './database.ts'
import { SCHEMA_VERSION } from './schema.ts'
import { openSqliteStore, type SqliteOptions } from './sqlite.ts'

export { fileOwners } from './database.ts'
export { openSqliteStore } from './sqlite.ts'

/**
 * Opens the configured store, and migrates its tables. Throws or rejects with a `StoreError` that names the file or the
 * server, and the remedy. The options are those of a file.
 */
export function openStore(at: SqliteLocation, options?: SqliteOptions): Store
export function openStore(at: StoreLocation, options?: SqliteOptions): Store | Promise<Store>
export function openStore(at: StoreLocation, options: SqliteOptions = {}): Store | Promise<Store> {
  return at.kind === 'sqlite' ? openSqliteStore(at.path, options) : openPostgres(at)
}

/** The version of a store's tables, 0 for none, and the one that this program migrates them to. */
export interface StoreVersion {
  /** Names the store, without user and password. */
  place: string
  version: number
  latest: number
}

/** Reads the version of a store, and changes nothing. Rejects as `openStore` does. */
export async function storeVersion(at: StoreLocation): Promise<StoreVersion> {
  if (at.kind === 'sqlite') return { place: at.path, version: fileVersion(at.path), latest: SCHEMA_VERSION }
  const { postgresVersion } = await import('./postgres/index.ts')
  return postgresVersion(at)
}

async function openPostgres(at: PostgresLocation): Promise<Store> {
  const { openPostgresStore } = await import('./postgres/index.ts')
  return openPostgresStore(at)
}
