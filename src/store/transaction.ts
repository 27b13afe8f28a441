import type { DatabaseSync } from 'node:sqlite'
import type { Statements } from './statements.ts'

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

/**
 * The one transaction of everything that is written in a turn of the event loop: a commit costs more than most of what
 * is written, and one does for all turns that have something to say at the time. The lock is held for so long only.
 */
export class WriteTransaction {
  readonly #db: DatabaseSync
  readonly #sql: Statements
  readonly #failed: (error: unknown) => void
  #soon: NodeJS.Immediate | undefined

  /** `failed` hears of a commit that nobody called for. */
  constructor(db: DatabaseSync, sql: Statements, failed: (error: unknown) => void) {
    this.#db = db
    this.#sql = sql
    this.#failed = failed
  }

  /** What is written next is part of it. */
  begin(): void {
    // SQLite may have ended it by itself: a full disk undoes a whole transaction.
    if (this.#soon && this.#db.isTransaction) return
    this.#sql.begin.run()
    this.#soon ??= setImmediate(() => {
      try {
        this.commit()
      } catch (error) {
        this.#failed(error)
      }
    })
  }

  /** Runs work of which all is done, or, when it throws, nothing; what it threw is thrown on. */
  together(work: () => void): void {
    this.#sql.savepoint.run()
    try {
      work()
      this.#sql.release.run()
    } catch (error) {
      this.#undo('ROLLBACK TO work; RELEASE work')
      throw error
    }
  }

  /** Commits what was written since the last time. When that fails nothing of it is kept. */
  commit(): void {
    if (!this.#soon) return
    clearImmediate(this.#soon)
    this.#soon = undefined
    if (!this.#db.isTransaction) return
    try {
      this.#sql.commit.run()
    } catch (error) {
      this.#undo('ROLLBACK')
      throw error
    }
  }

  #undo(how: string): void {
    if (this.#db.isTransaction) this.#db.exec(how)
  }
}
