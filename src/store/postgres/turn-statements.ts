import type { EventBlock, TurnAdditions, TurnRecord } from '../../contract/index.ts'
import type { Id } from '../../model/index.ts'
import { column } from '../key-text.ts'
import { DELETED, turnRow } from '../rows.ts'
import { isUnclaimed, lockClaim } from './claim-statements.ts'
import { endAndSpend } from './key-use.ts'
import { belongsTo } from './session-statements.ts'
import { list, Raw, sql, type Value } from './sql.ts'

/** The place of the messages in the parameters of a turn's end, from its last one. */
const OF_MESSAGES = -4

/** The condition of turns that are not deleted. */
const KEPT = new Raw(sql`outcome <> ${DELETED}`)

/**
 * Records a turn as running. The last statement has a row when that was refused: its session belongs to another lease,
 * another turn has the key that it has claimed, or it was ended before this was done again on another connection.
 */
export function beginTurn(record: TurnRecord, claim: string | undefined): string[] {
  const { turn, session, tenant, agent, front, owner, epoch, request, startedAt } = record
  const isOwn = new Raw(sql`(owner IS NULL OR owner = ${owner} AND owner_epoch = ${epoch})`)
  const mayRun = new Raw(claim === undefined ? 'TRUE' : isUnclaimed(claim, turn).text)
  return [
    ...(claim === undefined ? [] : [lockClaim(claim)]),
    sql`
      INSERT INTO running (turn, session, tenant, agent, front, owner, epoch, request, started_at)
      SELECT ${turn}, id, ${tenant}, ${agent}, ${front}, ${owner}, ${epoch}, ${column(request)}, ${startedAt}
      FROM sessions WHERE id = ${session} AND ${isOwn} AND ${mayRun}
        AND NOT EXISTS (SELECT 1 FROM turns WHERE turn = ${turn}) FOR SHARE
      ON CONFLICT (turn) DO UPDATE SET session = excluded.session, agent = excluded.agent`,
    sql`
      SELECT 1 WHERE NOT ${mayRun} OR EXISTS (SELECT 1 FROM sessions WHERE id = ${session})
        AND NOT EXISTS (SELECT 1 FROM running WHERE turn = ${turn} AND session = ${session})`,
  ]
}

/**
 * Records the end of a turn, and what it has used: the first end counts. A position is the time of the end, or the next
 * number in the session: what is deleted was before it. The last statement has a row when the turn has another end, or
 * none because its session belongs to another lease.
 */
export function endTurn(record: TurnRecord, additions: TurnAdditions): string[] {
  const { turn, session, outcome = 'failed', endedAt = record.startedAt } = record
  const { by, spent } = additions
  const isOwn = by ? belongsTo(by) : new Raw('TRUE')
  const mayEnd = outcome === 'failed' ? new Raw('TRUE') : isOwn
  const row = turnRow(record, additions).slice(1, -1) as Value[]
  const messages = row.at(OF_MESSAGES)!
  if (messages !== null && mayEnd !== isOwn)
    row[row.length + OF_MESSAGES] = new Raw(sql`CASE WHEN ${isOwn} THEN ${messages} END`)
  const end = sql`
    INSERT INTO turns (
      position, session, turn, tenant, agent, front, owner, epoch, request, started_at, ended_at, outcome, code,
      delivered, losses, measures, usage, seq, messages, events, known, wire
    )
    SELECT greatest(${endedAt}, coalesce((SELECT max(position) FROM turns WHERE session = ${session}), 0) + 1), id,
      ${list(row)}
    FROM sessions WHERE id = ${session} AND ${mayEnd} FOR SHARE
    ON CONFLICT (turn) DO NOTHING`
  const ended = new Raw(sql`SELECT 1 FROM turns WHERE turn = ${turn}`)
  return [
    spent ? endAndSpend(end, record, spent) : end,
    sql`
      DELETE FROM running
      WHERE turn = ${turn} AND (EXISTS (${ended}) OR NOT EXISTS (SELECT 1 FROM sessions WHERE id = ${session}))`,
    // Its own one may have been written before, on a connection that was lost.
    sql`
      SELECT 1 FROM turns
      WHERE turn = ${turn} AND ${KEPT} AND NOT (ended_at = ${endedAt} AND outcome = ${outcome})
      UNION ALL SELECT 1 FROM sessions WHERE id = ${session} AND NOT ${mayEnd} AND NOT EXISTS (${ended})`,
  ]
}

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

/**
 * Appends a block of events to a running turn. Whoever ends the lease waits until they are there, and reads them before it
 * ends the turn.
 */
export const appendBlock = ({ turn, seq, lines }: EventBlock): string => sql`
  INSERT INTO events (turn, seq, json)
  SELECT turn, ${seq}, ${lines} FROM running JOIN leases USING (owner, epoch) WHERE turn = ${turn}
  FOR SHARE OF leases
  ON CONFLICT DO NOTHING`

/** Reads the block that may contain the first event after `after`, and all later ones. */
export const readBlocks = (turn: Id, after: number): string => sql`
  SELECT seq, json FROM events
  WHERE turn = ${turn}
    AND seq >= coalesce((SELECT max(seq) FROM events WHERE turn = ${turn} AND seq <= ${after + 1}), 0)
  UNION ALL SELECT seq, events FROM turns WHERE turn = ${turn} AND events IS NOT NULL ORDER BY seq`
