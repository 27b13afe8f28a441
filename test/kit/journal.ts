import type { DatabaseSync } from 'node:sqlite'
import type { TurnEvent } from '../../src/model/index.ts'

/** The events of a turn in a store's file, in order. A row holds several, one a line. */
export function recordedEvents(db: DatabaseSync, turn: string): TurnEvent[] {
  const rows = db.prepare('SELECT json FROM events WHERE turn = ? ORDER BY seq').all(turn)
  return rows.flatMap(({ json }) => String(json).split('\n')).map((line) => JSON.parse(line) as TurnEvent)
}
