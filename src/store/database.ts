import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { storeError } from './errors.ts'
import { migrate, versionOf } from './schema.ts'
import { withoutSqliteWarning } from './sqlite-warning.ts'

/**
 * How long opening waits for another process's lock, and how long a statement does afterwards, in milliseconds: nothing
 * else happens in this process meanwhile.
 */
const BUSY_MS = 5000
export const RUNNING_BUSY_MS = 1000

/**
 * Pages in the log (of 4 KiB) before it is moved into the file: that waits for the disk and holds everything meanwhile,
 * so it is rarer than SQLite's own 1,000.
 */
const CHECKPOINT_PAGES = 4000

/**
 * Opens the database at `path` (or `:memory:`), makes file and folder where there are none, and migrates it.
 * Write-ahead log with `synchronous = NORMAL`: what was committed survives the end of the process, however it ends;
 * only a power cut may take the last moments. `busyMs` is how long to wait for another process's lock, `runningBusyMs` how
 * long each statement does afterwards. Throws a `StoreError`.
 */
export function openDatabase(path: string, { busyMs = BUSY_MS, runningBusyMs = RUNNING_BUSY_MS } = {}): DatabaseSync {
  let db: DatabaseSync | undefined
  try {
    if (path !== ':memory:') createPrivately(path)
    const { DatabaseSync } = withoutSqliteWarning(() => process.getBuiltinModule('node:sqlite'))
    db = new DatabaseSync(path)
    db.exec(`PRAGMA busy_timeout = ${busyMs}; PRAGMA foreign_keys = ON`)
    // Before the first write: another program's database stays as it is.
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

/**
 * The file is there with its mode before SQLite opens it: whatever the umask, transcripts are for their owner only.
 * SQLite gives `-wal` and `-shm` the mode of the file itself.
 */
function createPrivately(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  closeSync(openSync(path, 'a+', 0o600))
}

/** While another process switches a new file to the log, SQLite answers busy at once instead of waiting: so we wait. */
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
