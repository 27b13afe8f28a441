import type { DatabaseSync } from 'node:sqlite'
import type { Statements } from './statements.ts'

/**
 * Runs `work` so that all of it is committed or, when it throws, nothing; what it threw is thrown on.
 * The write lock is taken at the start: taken later, a second writer would fail instead of waiting.
 */
export function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE')
  try {
    const done = work()
    db.exec('COMMIT')
    return done
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

/** When what is written is committed. */
export interface Writes {
  /** Runs work that writes. */
  write<T>(work: () => T): T
  /** Runs work of which all is done, or, when it throws, nothing; what it threw is thrown on. */
  together<T>(work: () => T): T
  /** Commits what was written since the last time. When that fails nothing of it is kept. */
  commit(): void
}

/**
 * A transaction for each piece of work, which is committed at once: the write lock is held for no longer than the
 * statements take. For processes of which many share a file: their event loops are busy with starting up, and a lock
 * that is held until the end of a tick keeps all the others waiting for that long.
 */
export class ShortTransactions implements Writes {
  readonly #db: DatabaseSync

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  write<T>(work: () => T): T {
    return inTransaction(this.#db, work)
  }

  together<T>(work: () => T): T {
    return inTransaction(this.#db, work)
  }

  commit(): void {}
}

/**
 * One transaction for everything that is written in a tick of the event loop: a commit costs more than most of what is
 * written, and one does for all turns that have something to say at the time.
 */
export class TickTransaction implements Writes {
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

  write<T>(work: () => T): T {
    this.#begin()
    return work()
  }

  together<T>(work: () => T): T {
    this.#begin()
    this.#sql.savepoint.run()
    try {
      const done = work()
      this.#sql.release.run()
      return done
    } catch (error) {
      this.#undo('ROLLBACK TO work; RELEASE work')
      throw error
    }
  }

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

  #begin(): void {
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

  #undo(how: string): void {
    if (this.#db.isTransaction) this.#db.exec(how)
  }
}
