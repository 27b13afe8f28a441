import type { Store } from '../contract/index.ts'
import { openSqliteStore } from './sqlite.ts'

export { StoreError, type StoreErrorCode } from './errors.ts'
export { openSqliteStore } from './sqlite.ts'

/** Which driver remembers, and where. `path` is an absolute file name, or `:memory:` for a store that ends with the process. */
export interface StoreConfig {
  kind: 'sqlite'
  path: string
  /** The process ends when it closes the store. */
  brief?: boolean
}

/**
 * Opens the configured store. Throws a `StoreError` that names the file and the remedy. `failed` hears of what could
 * not be committed when nobody called `commit`.
 */
export function openStore({ path, brief }: StoreConfig, failed?: (error: unknown) => void): Store {
  return openSqliteStore(path, { ...(failed && { failed }), ...(brief && { brief }) })
}
