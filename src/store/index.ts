import type { Store } from '../contract/index.ts'
import { openSqliteStore } from './sqlite.ts'

export { StoreError, type StoreErrorCode } from './errors.ts'
export { openSqliteStore } from './sqlite.ts'

/**
 * The driver and location of the store. `path` is an absolute file name, or `:memory:` for a store that ends with the
 * process.
 */
export interface StoreConfig {
  kind: 'sqlite'
  path: string
  /** The process ends when it closes the store (see `SqliteOptions`). */
  shortLived?: boolean
}

/**
 * Opens the configured store. Throws a `StoreError` that names the file and the remedy. `failed` is called with the
 * error of a commit at the end of a tick, for which no caller waits.
 */
export function openStore({ path, shortLived }: StoreConfig, failed?: (error: unknown) => void): Store {
  return openSqliteStore(path, { ...(failed && { failed }), ...(shortLived && { shortLived }) })
}
