import type { DatabaseSync } from 'node:sqlite'
import { numbered } from '../../src/engine/events/recorded.ts'
import type { TurnEvent } from '../../src/model/index.ts'

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

/** Makes an ended turn one that `owner` has left running, with no event in the record. */
export function unend(db: DatabaseSync, turn: string, owner: string): void {
  db.prepare(
    `INSERT INTO running SELECT turn, session, tenant, agent, front, ?, 0, request, started_at FROM turns WHERE turn = ?`,
  ).run(owner, turn)
  for (const table of ['turns', 'events']) db.prepare(`DELETE FROM ${table} WHERE turn = ?`).run(turn)
}
