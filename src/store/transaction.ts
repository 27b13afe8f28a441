import type { DatabaseSync } from 'node:sqlite'
import type { Statements } from './statements.ts'

/**
 * Runs `work` in a transaction: all of it is committed or, when it throws, nothing; the error is rethrown. The write
 * lock is taken at the start: if it were taken later, a second writer would fail instead of waiting.
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

/** The commit policy of writes. */
export interface Writes {
  /** Runs work that writes. */
  write<T>(work: () => T): T
  /** Runs work of which all is done or, when it throws, nothing; the error is rethrown. */
  atomically<T>(work: () => T): T
  /** Commits all writes since the last commit. When that fails, none of them is kept. */
  commit(): void
  /** The version of the database, which differs from an earlier one when another process has written since. */
  version(): number
}

function readVersion({ version }: Statements): number {
  return version.get()!['data_version'] as number
}

/**
 * One transaction for each piece of work, committed at once: the write lock is held only while the statements run. For
 * many processes that share a file: while they start up their ticks are long, and a lock held until the end of a tick
 * would block all the others for that time.
 */
export class ShortTransactions implements Writes {
  readonly #db: DatabaseSync
  readonly #sql: Statements

  constructor(db: DatabaseSync, sql: Statements) {
    this.#db = db
    this.#sql = sql
  }

  write<T>(work: () => T): T {
    return inTransaction(this.#db, work)
  }

  atomically<T>(work: () => T): T {
    return inTransaction(this.#db, work)
  }

  commit(): void {}

  version(): number {
    return readVersion(this.#sql)
  }
}

/**
 * One transaction for all writes of a tick: a commit costs more than most writes, and one commit serves all turns that
 * write in the tick.
 */
export class TickTransaction implements Writes {
  readonly #db: DatabaseSync
  readonly #sql: Statements
  readonly #failed: (error: unknown) => void
  #soon: NodeJS.Immediate | undefined
  /** The version, if it was read in the transaction or in this step. */
  #version: number | undefined

  /** `failed` is called with the error of a commit at the end of a tick. */
  constructor(db: DatabaseSync, sql: Statements, failed: (error: unknown) => void) {
    this.#db = db
    this.#sql = sql
    this.#failed = failed
  }

  write<T>(work: () => T): T {
    this.#begin()
    return work()
  }

  atomically<T>(work: () => T): T {
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
    this.#version = undefined
    if (!this.#db.isTransaction) return
    try {
      this.#sql.commit.run()
    } catch (error) {
      this.#undo('ROLLBACK')
      throw error
    }
  }

  /** Read once in a transaction, in which no other process writes, and once in a step outside of one. */
  version(): number {
    const isUndone = this.#soon !== undefined && !this.#db.isTransaction
    if (this.#version !== undefined && !isUndone) return this.#version
    if (!this.#soon) queueMicrotask(() => this.#stepEnds())
    this.#version = readVersion(this.#sql)
    return this.#version
  }

  #stepEnds(): void {
    if (!this.#soon) this.#version = undefined
  }

  #begin(): void {
    // SQLite may have ended it by itself: a full disk undoes a whole transaction.
    if (this.#soon && this.#db.isTransaction) return
    this.#sql.begin.run()
    this.#version = undefined
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
