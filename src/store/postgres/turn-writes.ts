import type { EventBlock, TurnAdditions, TurnRecord } from '../../contract/index.ts'
import { digestOf } from '../../startup/index.ts'
import { column } from '../key-text.ts'
import { DELETED, turnRow } from '../rows.ts'
import { Prepared } from './prepared.ts'
import type { Value } from './sql.ts'

/** The condition that no other turn has a key, if there is one. */
const unclaimed = (turn: string, key: string): string =>
  `(${key} IS NULL OR NOT EXISTS (SELECT 1 FROM claims WHERE key = ${key} AND turn <> ${turn}))`

const LOCK_CLAIM = new Prepared('lock_claim', ['TEXT'], 'SELECT 1 FROM claims WHERE key = $1 FOR SHARE')

const BEGIN = new Prepared(
  'begin_turn',
  ['TEXT', 'TEXT', 'TEXT', 'TEXT', 'TEXT', 'BIGINT', 'TEXT', 'BIGINT', 'TEXT', 'TEXT'],
  `INSERT INTO running (turn, tenant, agent, front, owner, epoch, request, started_at, session)
  SELECT $1, $2, $3, $4, $5, $6, $7, $8, id
  FROM sessions WHERE id = $9 AND (owner IS NULL OR owner = $5 AND owner_epoch = $6) AND ${unclaimed('$1', '$10')}
    AND NOT EXISTS (SELECT 1 FROM turns WHERE turn = $1) FOR SHARE
  ON CONFLICT (turn) DO UPDATE SET session = excluded.session, agent = excluded.agent
  RETURNING turn`,
)

const NOT_BEGUN = new Prepared(
  'not_begun',
  ['TEXT', 'TEXT', 'TEXT'],
  `SELECT 1 WHERE NOT ${unclaimed('$1', '$3')} OR EXISTS (SELECT 1 FROM sessions WHERE id = $2)
    AND NOT EXISTS (SELECT 1 FROM running WHERE turn = $1 AND session = $2)`,
)

/** Records a turn as running. The last statement has a row when it is; else see `notBegun`. */
export function beginTurn(record: TurnRecord, claim: string | undefined): string[] {
  const { turn, session, tenant, agent, front, owner, epoch, request, startedAt } = record
  const key = keyOf(claim)
  return [
    ...(key === null ? [] : [LOCK_CLAIM.with(key)]),
    BEGIN.with(turn, tenant, agent, front, owner, epoch, column(request), startedAt, session, key),
  ]
}

/**
 * Asks why a turn was not recorded as running. A row when that was refused: its session belongs to another lease, another
 * turn has the key that it has claimed, or it was ended before this was done again on another connection.
 */
export const notBegun = ({ turn, session }: TurnRecord, claim: string | undefined): string =>
  NOT_BEGUN.with(turn, session, keyOf(claim))

function keyOf(claim: string | undefined): string | null {
  return claim === undefined ? null : digestOf(claim)
}

/** The condition that a session belongs to the lease of the parameters, if there is one. */
const own = (owner: string, epoch: string): string =>
  `(${owner} IS NULL OR sessions.owner = ${owner} AND sessions.owner_epoch = ${epoch})`

/** The columns of an ended turn, in the order of `turnRow`; the first parameter is for its position and the last its session. */
const END = new Prepared(
  'end_turn',
  [
    ...(['BIGINT', 'TEXT', 'TEXT', 'TEXT', 'TEXT', 'TEXT', 'BIGINT', 'TEXT', 'BIGINT', 'BIGINT', 'TEXT'] as const),
    ...(['TEXT', 'INT', 'TEXT', 'TEXT', 'TEXT', 'BIGINT', 'TEXT', 'TEXT', 'TEXT', 'TEXT', 'TEXT'] as const),
    ...(['TEXT', 'BIGINT', 'BIGINT', 'BIGINT', 'BIGINT', 'DOUBLE PRECISION'] as const),
  ],
  `WITH ended AS (
    INSERT INTO turns (
      position, turn, tenant, agent, front, owner, epoch, request, started_at, ended_at, outcome, code,
      delivered, losses, measures, usage, seq, messages, events, known, wire, session
    )
    SELECT greatest($1, coalesce((SELECT max(position) FROM turns WHERE session = $22), 0) + 1),
      $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
      CASE WHEN ${own('$23', '$24')} THEN $18 END, $19, $20, $21, id
    FROM sessions WHERE id = $22 AND ($11 = 'failed' OR ${own('$23', '$24')}) FOR SHARE
    ON CONFLICT (turn) DO NOTHING
    RETURNING turn
  ), used AS (
    INSERT INTO spent (tenant, day, owner, tokens, estimated, cost_usd)
    SELECT $3, $25, $6, $26, $27, $28 FROM ended WHERE $25 IS NOT NULL
    ON CONFLICT (tenant, day, owner) DO UPDATE SET
      tokens = spent.tokens + excluded.tokens, estimated = spent.estimated + excluded.estimated,
      cost_usd = spent.cost_usd + excluded.cost_usd
  ), stopped AS (
    DELETE FROM running WHERE turn = $2 AND EXISTS (SELECT 1 FROM ended)
  )
  SELECT turn FROM ended`,
)

const STOP = new Prepared(
  'stop_turn',
  ['TEXT', 'TEXT'],
  `DELETE FROM running WHERE turn = $1 AND (
    EXISTS (SELECT 1 FROM turns WHERE turn = $1) OR NOT EXISTS (SELECT 1 FROM sessions WHERE id = $2)
  )`,
)

/** Its own end may have been written before, on a connection that was lost. */
const NOT_ENDED = new Prepared(
  'not_ended',
  ['TEXT', 'TEXT', 'BIGINT', 'TEXT', 'TEXT', 'BIGINT'],
  `SELECT 1 FROM turns WHERE turn = $1 AND outcome <> '${DELETED}' AND NOT (ended_at = $3 AND outcome = $4)
  UNION ALL SELECT 1 FROM sessions WHERE id = $2 AND NOT ($4 = 'failed' OR ${own('$5', '$6')})
    AND NOT EXISTS (SELECT 1 FROM turns WHERE turn = $1)`,
)

/**
 * Records the end of a turn, and what it has used: the first end counts. A position is the time of the end, or the next
 * number in the session: what is deleted was before it. A row when it was recorded; else see `notEnded`.
 */
export function endTurn(record: TurnRecord, additions: TurnAdditions): string {
  const { spent } = additions
  const use = spent ? [spent.day, spent.tokens, spent.estimated, spent.costUsd] : [null, null, null, null]
  return END.with(...(turnRow(record, additions) as Value[]), ...leaseOf(additions), ...use)
}

/**
 * Asks why the end of a turn was not recorded: what prevented that may have been done since `endTurn` began, and only later
 * statements see it. The last one has a row when the turn has another end, or none because its session belongs to another
 * lease.
 */
export function notEnded(record: TurnRecord, additions: TurnAdditions): string[] {
  const { turn, session, outcome = 'failed', endedAt = record.startedAt } = record
  return [STOP.with(turn, session), NOT_ENDED.with(turn, session, endedAt, outcome, ...leaseOf(additions))]
}

const leaseOf = ({ by }: TurnAdditions): Value[] => [by?.owner ?? null, by?.epoch ?? null]

const APPEND = new Prepared(
  'append_events',
  ['TEXT', 'BIGINT', 'TEXT'],
  `INSERT INTO events (turn, seq, json)
  SELECT turn, $2, $3 FROM running JOIN leases USING (owner, epoch) WHERE turn = $1
  FOR SHARE OF leases
  ON CONFLICT DO NOTHING`,
)

/**
 * Appends a block of events to a running turn. Whoever ends the lease waits until they are there, and reads them before it
 * ends the turn.
 */
export const appendBlock = ({ turn, seq, lines }: EventBlock): string => APPEND.with(turn, seq, lines)

/** The statements of this file that are prepared. */
export const TURN_WRITES = [LOCK_CLAIM, BEGIN, NOT_BEGUN, END, STOP, NOT_ENDED, APPEND]
