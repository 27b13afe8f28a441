import { setImmediate as tick } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openDatabase } from '../../src/store/database.ts'
import { prepareAll } from '../../src/store/statements.ts'
import { inTransaction, ShortTransactions, TickTransaction } from '../../src/store/transaction.ts'

/** A database with a table whose constraint fails at the commit and nowhere else, and its transaction. */
function transaction() {
  const db = openDatabase(':memory:')
  db.exec('PRAGMA foreign_keys = ON')
  db.exec('CREATE TABLE parents (id INTEGER PRIMARY KEY)')
  db.exec('CREATE TABLE children (id INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)')
  const failures: unknown[] = []
  const it = new TickTransaction(db, prepareAll(db), (error) => failures.push(String(error)))
  const insert = (table: 'parents' | 'children', id: number): void =>
    it.write(() => void db.prepare(`INSERT INTO ${table} VALUES (?)`).run(id))
  return { db, it, failures, insert, rows: () => db.prepare('SELECT id FROM parents').all() }
}

test('a commit at the end of a tick that fails undoes what was written in it, is told, and later writes are kept', async () => {
  const { failures, insert, rows } = transaction()
  insert('parents', 1)
  insert('children', 7)
  await tick()
  expect(failures).toEqual(['Error: FOREIGN KEY constraint failed'])
  expect(rows()).toEqual([])
  insert('parents', 2)
  await tick()
  expect(rows()).toEqual([{ id: 2 }])
  expect(failures).toHaveLength(1)
})

test('a commit that is asked for throws when it fails, and there is nothing more to commit', async () => {
  const { it, failures, insert, rows, db } = transaction()
  insert('parents', 1)
  insert('children', 7)
  expect(() => it.commit()).toThrow('FOREIGN KEY constraint failed')
  it.commit()
  await tick()
  expect([failures, rows(), db.isTransaction]).toEqual([[], [], false])
})

test('of work that throws nothing is kept, and the rest of its tick is', async () => {
  const { it, insert, rows } = transaction()
  insert('parents', 1)
  const work = (): void => {
    insert('parents', 2)
    throw new Error('half')
  }
  expect(() => it.atomically(work)).toThrow('half')
  await tick()
  expect(rows()).toEqual([{ id: 1 }])
})

test('a short transaction keeps all of its work, or nothing when the work or its commit fails', () => {
  const { db, rows } = transaction()
  const it = new ShortTransactions(db, prepareAll(db))
  const insert = (table: 'parents' | 'children', id: number) => () => db.exec(`INSERT INTO ${table} VALUES (${id})`)
  it.write(insert('parents', 1))
  expect(() => it.write(insert('children', 7))).toThrow('FOREIGN KEY constraint failed')
  const half = (): void => {
    insert('parents', 2)()
    throw new Error('half')
  }
  expect(() => it.atomically(half)).toThrow('half')
  it.commit()
  expect([rows(), db.isTransaction]).toEqual([[{ id: 1 }], false])
})

test('work whose transaction was undone already fails with its own error', () => {
  const { db } = transaction()
  const full = (): void => {
    db.exec('ROLLBACK')
    throw new Error('disk full')
  }
  expect(() => inTransaction(db, full)).toThrow('disk full')
})

test('writes go on in a new transaction when the one before was undone in the middle of its tick', async () => {
  const { db, it, insert, rows } = transaction()
  insert('parents', 1)
  const full = (): void => {
    db.exec('ROLLBACK')
    throw new Error('disk full')
  }
  expect(() => it.atomically(full)).toThrow('disk full')
  insert('parents', 2)
  await tick()
  expect(rows()).toEqual([{ id: 2 }])
})

test('all writes of a tick are one transaction, which is over with it', async () => {
  const { db, insert, rows } = transaction()
  expect(db.isTransaction).toBe(false)
  insert('parents', 1)
  insert('parents', 2)
  expect(db.isTransaction).toBe(true)
  await tick()
  expect([db.isTransaction, rows()]).toEqual([false, [{ id: 1 }, { id: 2 }]])
})

test('a commit that is asked for ends the transaction, and the tick commits nothing more', async () => {
  const { db, it, failures, insert, rows } = transaction()
  it.commit()
  expect(db.isTransaction).toBe(false)
  insert('parents', 1)
  it.commit()
  expect(db.isTransaction).toBe(false)
  insert('parents', 2)
  expect(db.isTransaction).toBe(true)
  await tick()
  expect([rows(), failures, db.isTransaction]).toEqual([[{ id: 1 }, { id: 2 }], [], false])
})

test('work gives its result, and pieces of work in one another are each undone by themselves', async () => {
  const { it, insert, rows } = transaction()
  expect(it.write(() => 'written')).toBe('written')
  const outer = it.atomically(() => {
    insert('parents', 1)
    const inner = (): void => {
      insert('parents', 2)
      throw new Error('inner')
    }
    expect(() => it.atomically(inner)).toThrow('inner')
    insert('parents', 3)
    return 'done'
  })
  await tick()
  expect([outer, rows()]).toEqual(['done', [{ id: 1 }, { id: 3 }]])
})

test('after work that threw the others of its tick are committed together', async () => {
  const { db, it, insert, rows } = transaction()
  const throwing = (): never => {
    throw new Error('no')
  }
  expect(() => it.write(throwing)).toThrow('no')
  expect(db.isTransaction).toBe(true)
  expect(() => it.atomically(throwing)).toThrow('no')
  insert('parents', 4)
  it.atomically(() => insert('parents', 5))
  await tick()
  expect(rows()).toEqual([{ id: 4 }, { id: 5 }])
})

test('a short transaction gives the result of its work, and is over with it', () => {
  const { db } = transaction()
  const it = new ShortTransactions(db, prepareAll(db))
  const during = (): boolean => db.isTransaction
  expect([it.write(during), it.atomically(during), db.isTransaction]).toEqual([true, true, false])
})
