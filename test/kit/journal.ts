import { DatabaseSync } from 'node:sqlite'
import { numbered } from '../../src/engine/events/recorded.ts'
import type { TurnEvent } from '../../src/model/index.ts'
import { until } from './processes.ts'

/** The error code for a file that another connection has locked. */
const SQLITE_BUSY = 5

/** All turns in a store's file, with what is known of them from their beginning and from their end: for FROM clauses. */
export const TURNS = `(
  SELECT turn, session, request, started_at, outcome, code FROM turns
  UNION ALL SELECT turn, session, request, started_at, NULL, NULL FROM running
)`

/** The events of a turn in a store's file, in order. */
export function recordedEvents(db: DatabaseSync, turn: string): TurnEvent[] {
  const rows = db
    .prepare(
      `SELECT seq, json AS lines FROM events WHERE turn = ?
       UNION ALL SELECT seq, events FROM turns WHERE turn = ? AND events IS NOT NULL ORDER BY seq`,
    )
    .all(turn, turn)
  const blocks = rows.map(({ seq, lines }) => ({ turn, seq: Number(seq), lines: String(lines) }))
  return numbered(blocks, 0).map(({ event }) => event)
}

/**
 * Writes to a store's file that a gateway of this process has open. It takes the lock in a moment when the gateway does
 * not hold it: a wait for it would block the process, and so the gateway that has to release it.
 */
export async function writeBeside(file: string, write: (db: DatabaseSync) => void): Promise<void> {
  const db = new DatabaseSync(file, { timeout: 0 })
  await until(() => beginsWriting(db))
  write(db)
  db.exec('COMMIT')
  db.close()
}

function beginsWriting(db: DatabaseSync): boolean {
  try {
    db.exec('BEGIN IMMEDIATE')
    return true
  } catch (error) {
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return false
    throw error
  }
}

/** Makes an ended turn one that `owner` has left running, with no event in the record. */
export function unend(db: DatabaseSync, turn: string, owner: string): void {
  db.prepare(
    `INSERT INTO running SELECT turn, session, tenant, agent, front, ?, 0, request, started_at FROM turns WHERE turn = ?`,
  ).run(owner, turn)
  for (const table of ['turns', 'events']) db.prepare(`DELETE FROM ${table} WHERE turn = ?`).run(turn)
}
