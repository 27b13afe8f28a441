import type { EventBlock, TurnAdditions, TurnRecord } from '../../contract/index.ts'
import type { Id } from '../../model/index.ts'
import { column } from '../key-text.ts'
import { DELETED, turnRow } from '../rows.ts'
import { endAndSpend } from './key-use.ts'
import { list, Raw, sql, type Value } from './sql.ts'

/** The condition of turns that are not deleted. */
const KEPT = new Raw(sql`outcome <> ${DELETED}`)

/** Records a turn as running, unless its session belongs to another lease: then the last statement has a row. */
export function beginTurn(record: TurnRecord): string[] {
  const { turn, session, tenant, agent, front, owner, epoch, request, startedAt } = record
  const isOfOther = new Raw(sql`owner <> ${owner} OR owner_epoch <> ${epoch}`)
  return [
    sql`
      INSERT INTO running (turn, session, tenant, agent, front, owner, epoch, request, started_at)
      SELECT ${turn}, id, ${tenant}, ${agent}, ${front}, ${owner}, ${epoch}, ${column(request)}, ${startedAt}
      FROM sessions WHERE id = ${session} AND (owner IS NULL OR NOT (${isOfOther}))
      ON CONFLICT (turn) DO UPDATE SET session = excluded.session, agent = excluded.agent`,
    sql`SELECT 1 FROM sessions WHERE id = ${session} AND (${isOfOther})`,
  ]
}

/**
 * Records the end of a turn, and what it has used: the first end counts. A position is the time of the end, or the next
 * number in the session: what is deleted was before it. The last statement has a row when the turn has another end.
 */
export function endTurn(record: TurnRecord, additions: TurnAdditions): string[] {
  const { turn, session, outcome = 'failed', endedAt = record.startedAt } = record
  const end = sql`
    INSERT INTO turns (
      position, session, turn, tenant, agent, front, owner, epoch, request, started_at, ended_at, outcome, code,
      delivered, losses, measures, usage, seq, messages, events, known, wire
    )
    SELECT greatest(${endedAt}, coalesce((SELECT max(position) FROM turns WHERE session = ${session}), 0) + 1), id,
      ${list(turnRow(record, additions).slice(1, -1) as Value[])}
    FROM sessions WHERE id = ${session}
    ON CONFLICT (turn) DO NOTHING`
  const { spent } = additions
  return [
    spent ? endAndSpend(end, record, spent) : end,
    sql`DELETE FROM running WHERE turn = ${turn}`,
    // Its own one may have been written before, on a connection that was lost.
    sql`
      SELECT 1 FROM turns
      WHERE turn = ${turn} AND ${KEPT} AND NOT (ended_at = ${endedAt} AND outcome = ${outcome})`,
  ]
}

/** Reads the last turns of sessions whose conversation is known by this digest. */
export const findKnown = (known: string, limit: number): string => sql`
  SELECT turn FROM turns WHERE known = ${known} AND NOT EXISTS (
    SELECT 1 FROM turns AS later WHERE later.session = turns.session AND later.position > turns.position
  ) ORDER BY inserted DESC LIMIT ${limit}`

/** Notes that a client has the whole answer of an ended turn. */
export const markDelivered = (turn: Id): string => sql`UPDATE turns SET delivered = 1 WHERE turn = ${turn}`

/** Reads a turn that has ended, and one that runs. */
export const readTurn = (turn: Id): string[] => [
  sql`SELECT * FROM turns WHERE turn = ${turn} AND ${KEPT}`,
  sql`SELECT * FROM running WHERE turn = ${turn}`,
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
    WHERE turn = ${turn}`,
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

/** Appends a block of events to a running turn. */
export const appendBlock = ({ turn, seq, lines }: EventBlock): string => sql`
  INSERT INTO events (turn, seq, json) SELECT turn, ${seq}, ${lines} FROM running WHERE turn = ${turn}
  ON CONFLICT DO NOTHING`

/** Reads the block that may contain the first event after `after`, and all later ones. */
export const readBlocks = (turn: Id, after: number): string => sql`
  SELECT seq, json FROM events
  WHERE turn = ${turn}
    AND seq >= coalesce((SELECT max(seq) FROM events WHERE turn = ${turn} AND seq <= ${after + 1}), 0)
  UNION ALL SELECT seq, events FROM turns WHERE turn = ${turn} AND events IS NOT NULL ORDER BY seq`
