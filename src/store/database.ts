import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { storeError } from './errors.ts'
import { LEASES_VERSION, migrate, versionOf } from './schema.ts'
import { withoutSqliteWarning } from './sqlite-warning.ts'

/**
 * The longest wait for another process's lock, in milliseconds: while opening, and for a statement afterwards. The wait
 * blocks this process.
 */
const BUSY_MS = 5000
export const RUNNING_BUSY_MS = 1000

/**
 * Pages (of 4 KiB) in the log before a checkpoint. A checkpoint waits for the disk and blocks this process, so it is
 * rarer than SQLite's default of 1,000.
 */
const CHECKPOINT_PAGES = 4000

/**
 * Opens the database at `path` (or `:memory:`), creates missing file and folder, and migrates it. Write-ahead log with
 * `synchronous = NORMAL`: commits survive any end of the process; only a power cut may lose the last moments. `busyMs`
 * limits the wait for another process's lock while opening, `runningBusyMs` that of each statement afterwards. Throws a
 * `StoreError`.
 */
export function openDatabase(path: string, { busyMs = BUSY_MS, runningBusyMs = RUNNING_BUSY_MS } = {}): DatabaseSync {
  let db: DatabaseSync | undefined
  try {
    if (path !== ':memory:') createPrivately(path)
    db = open(path)
    // The statements keep the tables consistent themselves; a check for each row costs more than they do.
    db.exec(`PRAGMA busy_timeout = ${busyMs}; PRAGMA foreign_keys = OFF`)
    // Before the first write, so that another program's database is not changed.
    versionOf(db, path)
    enableWriteAheadLog(db, busyMs)
    db.exec(`PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
    migrate(db, path)
    db.exec(`PRAGMA busy_timeout = ${runningBusyMs}`)
    return db
  } catch (error) {
    db?.close()
    throw storeError(error, path)
  }
}

/** The version of the tables in the file, 0 for none. Changes nothing. Throws a `StoreError`. */
export function fileVersion(path: string): number {
  return reading(path, 0, (db) => versionOf(db, path))
}

/** The owners of leases in the file that have not expired at `now`. Changes nothing. Throws a `StoreError`. */
export function fileOwners(path: string, now: number): string[] {
  return reading(path, [], (db) => {
    if (versionOf(db, path) < LEASES_VERSION) return []
    const owners = db.prepare('SELECT owner FROM leases WHERE expires_at > ? ORDER BY owner').all(now)
    return owners.map(({ owner }) => String(owner))
  })
}

/** The result of `read` for the file, or `none` when there is no file. */
function reading<T>(path: string, none: T, read: (db: DatabaseSync) => T): T {
  if (path === ':memory:' || !existsSync(path)) return none
  let db: DatabaseSync | undefined
  try {
    db = open(path, { readOnly: true })
    return read(db)
  } catch (error) {
    throw storeError(error, path)
  } finally {
    db?.close()
  }
}

function open(path: string, options: { readOnly?: boolean } = {}): DatabaseSync {
  const { DatabaseSync } = withoutSqliteWarning(() => process.getBuiltinModule('node:sqlite'))
  return new DatabaseSync(path, options)
}

/**
 * Creates the file with its mode before SQLite opens it: whatever the umask, only the owner may read transcripts.
 * SQLite gives `-wal` and `-shm` the mode of the file itself.
 */
function createPrivately(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  closeSync(openSync(path, 'a+', 0o600))
}

/** Retries: while another process switches a new file to the log, SQLite answers busy at once instead of waiting. */
function enableWriteAheadLog(db: DatabaseSync, busyMs: number): void {
  const deadline = process.hrtime.bigint() + BigInt(busyMs) * 1_000_000n
  for (;;) {
    try {
      db.exec('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== 5 || process.hrtime.bigint() >= deadline) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1 + 20 * Math.random())
    }
  }
}
