import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as tick } from 'node:timers/promises'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { openDatabase } from '../../src/store/database.ts'
import { prepareAll } from '../../src/store/statements.ts'
import { TickTransaction } from '../../src/store/transaction.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

/** A database of a file that another connection, as of another process, writes to as well. */
function shared() {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-version-'))
  folders.push(folder)
  const db = openDatabase(join(folder, 'a.db'))
  const other = openDatabase(join(folder, 'a.db'))
  db.exec('CREATE TABLE numbers (n INTEGER)')
  const it = new TickTransaction(db, prepareAll(db), () => {})
  const insert = 'INSERT INTO numbers VALUES (1)'
  return {
    it,
    write: () => it.write(() => db.exec(insert)),
    // As SQLite does when the disk is full.
    undo: () => db.isTransaction && db.exec('ROLLBACK'),
    /** False while this process has the lock. */
    writeElsewhere: () => {
      if (!db.isTransaction) other.exec(insert)
      return !db.isTransaction
    },
    close: () => [db, other].forEach((one) => void one.close()),
  }
}

/** What happens in this process, and between two steps of it in another one. */
const DONE = fc.constantFrom('read', 'read', 'write', 'commit', 'undo', 'elsewhere', 'step', 'tick')

test('a version differs from that of a step before exactly when another process has written since', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(DONE, { maxLength: 25 }), async (all) => {
      const { it, write, undo, writeElsewhere, close } = shared()
      let last: number | undefined
      let changed = false
      for (const done of all) {
        if (done === 'read') {
          const version = it.version()
          if (last !== undefined) expect(version !== last, all.join(' ')).toBe(changed)
          last = version
          changed = false
        } else if (done === 'write') write()
        else if (done === 'commit') it.commit()
        else if (done === 'undo') undo()
        else if (done === 'elsewhere') {
          await null
          changed = writeElsewhere() || changed
        } else await (done === 'step' ? null : tick())
      }
      await tick()
      close()
    }),
    { numRuns: 200 },
  )
})

test('a version is read once in a step, and once in a transaction', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-version-'))
  folders.push(folder)
  const db = openDatabase(join(folder, 'a.db'))
  const sql = prepareAll(db)
  let reads = 0
  const version = { get: () => ({ data_version: ++reads }) }
  const it = new TickTransaction(db, { ...sql, version } as unknown as typeof sql, () => {})
  expect([it.version(), it.version()]).toEqual([1, 1])
  await null
  expect([it.version(), it.version()]).toEqual([2, 2])
  it.write(() => {})
  expect([it.version(), it.version()]).toEqual([3, 3])
  await null
  expect(it.version()).toBe(3)
  it.commit()
  expect(it.version()).toBe(4)
  await tick()
  db.close()
})
