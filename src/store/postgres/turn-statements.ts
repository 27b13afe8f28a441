import type { Id } from '../../model/index.ts'
import { DELETED } from '../rows.ts'
import { Raw, sql } from './sql.ts'

/** The condition of turns that are not deleted. */
const KEPT = new Raw(sql`outcome <> ${DELETED}`)

/** Reads the last turns of sessions whose conversation is known by this digest. */
export const findKnown = (known: string, limit: number): string => sql`
  SELECT turn FROM turns WHERE known = ${known} AND NOT EXISTS (
    SELECT 1 FROM turns AS later WHERE later.session = turns.session AND later.position > turns.position
  ) ORDER BY inserted DESC LIMIT ${limit}`

/** Notes that a client has the whole answer of an ended turn. */
export const markDelivered = (turn: Id): string => sql`UPDATE turns SET delivered = 1 WHERE turn = ${turn}`

/** Reads a turn that runs, then one that has ended: each statement sees what was committed before it. The last row counts. */
export const readTurn = (turn: Id): string[] => [
  sql`SELECT * FROM running WHERE turn = ${turn}`,
  sql`SELECT * FROM turns WHERE turn = ${turn} AND ${KEPT}`,
]

/** Reads the messages that an ended turn has brought. */
export const readTurnMessages = (turn: Id): string => sql`SELECT messages FROM turns WHERE turn = ${turn} AND ${KEPT}`

/**
 * Deletes the content of an ended turn. A row without it keeps the turn's place in its session, and its usage, until it
 * is pruned.
 */
export const deleteTurn = (turn: Id): string[] => [
  sql`
    UPDATE turns SET outcome = ${DELETED}, request = NULL, code = NULL, losses = NULL, measures = NULL, seq = NULL,
      messages = NULL, events = NULL, known = NULL, wire = NULL
    WHERE turn = ${turn}
    RETURNING turn`,
  sql`DELETE FROM events WHERE turn = ${turn} AND EXISTS (SELECT 1 FROM turns WHERE turn = ${turn})`,
]

/** Reads the frames of an ended turn's wires. */
export const readWire = (turn: Id): string => sql`SELECT wire FROM turns WHERE turn = ${turn} AND wire IS NOT NULL`

/** Reads the turns that run, of one session or of all; and those whose owner has no lease at the time `now`. */
export const unfinishedTurns = (session: Id | undefined): string =>
  session === undefined
    ? 'SELECT * FROM running ORDER BY started_at, turn'
    : sql`SELECT * FROM running WHERE session = ${session} ORDER BY started_at, turn`
export const lostTurns = (now: number): string => sql`
  SELECT running.* FROM running LEFT JOIN leases ON leases.owner = running.owner AND leases.epoch = running.epoch
  WHERE coalesce(expires_at, 0) <= ${now} ORDER BY started_at, turn`

/** Reads the block that may contain the first event after `after`, and all later ones. */
export const readBlocks = (turn: Id, after: number): string => sql`
  SELECT seq, json FROM events
  WHERE turn = ${turn}
    AND seq >= coalesce((SELECT max(seq) FROM events WHERE turn = ${turn} AND seq <= ${after + 1}), 0)
  UNION ALL SELECT seq, events FROM turns WHERE turn = ${turn} AND events IS NOT NULL ORDER BY seq`
