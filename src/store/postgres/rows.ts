import type { ListedTurn, SessionKey, SessionRecord, TurnAdditions, TurnRecord } from '../../contract/index.ts'
import { fromColumn, toColumn } from '../key-text.ts'
import { type Row, sessionRecord, turnRecord, turnRow } from '../rows.ts'
import { list, Raw, type Value } from './sql.ts'

/** The last turn of a session, as a column `last`. */
export const LAST_TURN = new Raw(`coalesce(
  (SELECT json_build_array(turn, owner, 0)::text FROM running WHERE session = sessions.id
    ORDER BY started_at DESC, turn DESC LIMIT 1),
  (SELECT json_build_array(turn, owner, 1)::text FROM turns WHERE session = sessions.id ORDER BY position DESC LIMIT 1)
) AS last`)

/** The columns of a session's key. */
export function keyColumns({ tenant, agent, session, conversation }: SessionKey): SessionKey {
  return { tenant, agent, session: toColumn(session), conversation: toColumn(conversation) }
}

/** A text of others as a column. */
export function column(text: string | undefined): string | null {
  return text === undefined ? null : toColumn(text)
}

/** The record of a row of `sessions` with its last turn. */
export function sessionOf(row: Row): SessionRecord {
  return sessionRecord({ ...row, bound: text(row['bound']) ?? null })
}

/** The record of a row of `running` or `turns`. */
export function turnOf(row: Row): TurnRecord {
  return turnRecord({ ...row, request: text(row['request']) ?? null })
}

/** The record of a row of a list of turns. */
export function listedOf(row: Row): ListedTurn {
  return { ...turnOf(row), named: fromColumn(row['named'] as string) }
}

/** The columns of an ended turn from `turn` on, in the order of the table. */
export function turnValues(record: TurnRecord, additions: TurnAdditions): Raw {
  const { request, ...rest } = record
  const row = turnRow({ ...rest, ...(request !== undefined && { request: toColumn(request) }) }, additions)
  return list(row.slice(1, -1) as Value[])
}

function text(value: Row[string] | undefined): string | undefined {
  return typeof value === 'string' ? fromColumn(value) : undefined
}
