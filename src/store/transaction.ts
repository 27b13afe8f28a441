import type { DatabaseSync } from 'node:sqlite'

/**
 * Runs `work` so that all of it is committed or, when it throws, nothing; what it threw is thrown on.
 * The write lock is taken at the start: taken later, a second writer would fail instead of waiting.
 */
export function inTransaction(db: DatabaseSync, work: () => void): void {
  db.exec('BEGIN IMMEDIATE')
  try {
    work()
    db.exec('COMMIT')
  } catch (error) {
    rollBack(db)
    throw error
  }
}

/** SQLite has rolled back by itself after some errors (a full disk); there is nothing left to undo then. */
function rollBack(db: DatabaseSync): void {
  try {
    db.exec('ROLLBACK')
  } catch {}
}
