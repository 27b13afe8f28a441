import type { LeaseRef, SessionKey } from '../../contract/index.ts'
import type { Id, Message } from '../../model/index.ts'
import { randomId } from '../../startup/index.ts'
import { column, keyDigest, toColumn } from '../key-text.ts'
import { Raw, sql } from './sql.ts'

/** The columns of a session by name, which are the same when a newer program adds one, and its last turn. */
export const SESSION = new Raw(`id, tenant, agent, session, conversation, bound, created_at, used_at, epoch, settings,
  owner, owner_epoch, coalesce(
  (SELECT json_build_array(turn, owner, 0)::text FROM running WHERE session = sessions.id
    ORDER BY started_at DESC, turn DESC LIMIT 1),
  (SELECT json_build_array(turn, owner, 1)::text FROM turns WHERE session = sessions.id ORDER BY position DESC LIMIT 1)
) AS last`)

/** The condition of sessions that still belong to a lease, or to none. */
export const belongsTo = (by: LeaseRef | undefined): Raw =>
  new Raw(by ? sql`(sessions.owner = ${by.owner} AND sessions.owner_epoch = ${by.epoch})` : 'sessions.owner IS NULL')

/** Opens the session of a key; one that was deleted before begins with an epoch. */
export function openSession(key: SessionKey, id: Id, now: number): string {
  const { tenant, agent } = key
  const [session, conversation] = [toColumn(key.session), toColumn(key.conversation)]
  const digest = keyDigest(key)
  return sql`
    INSERT INTO sessions (id, key, tenant, agent, session, conversation, created_at, used_at, epoch)
    SELECT ${id}, ${digest}, ${tenant}, ${agent}, ${session}, ${conversation}, ${now}, ${now},
      CASE WHEN EXISTS (SELECT 1 FROM forgotten WHERE key = ${digest}) THEN ${Math.max(1, now)} ELSE 0 END
    ON CONFLICT (key) DO UPDATE SET used_at = greatest(sessions.used_at, excluded.used_at)
    RETURNING ${SESSION}`
}

/** Reads a session by its key or its id. */
export const findSession = (key: SessionKey): string =>
  sql`SELECT ${SESSION} FROM sessions WHERE key = ${keyDigest(key)}`
export const readSession = (id: Id): string => sql`SELECT ${SESSION} FROM sessions WHERE id = ${id}`

/** The condition of turns of the session's epoch that an agent has taken: none has taken one with one of these codes. */
const TAKEN = new Raw(`started_at >= (SELECT epoch FROM sessions WHERE id = turns.session)
  AND coalesce(code, '') NOT IN ('agent-unavailable', 'overloaded', 'session-busy', 'session-not-found')`)

/** Reads whether an agent has heard anything in the session, and the measures of the last turn, as text: see `heardBy`. */
export const heardBy = (id: Id): string => sql`
  SELECT (
    SELECT measures FROM turns WHERE session = ${id} AND measures IS NOT NULL AND ${TAKEN}
    ORDER BY position DESC LIMIT 1
  ) AS measures, CAST(EXISTS (
    SELECT 1 FROM turns WHERE session = ${id} AND ${TAKEN}
  ) OR EXISTS (
    SELECT 1 FROM running WHERE session = ${id} AND started_at >= (SELECT epoch FROM sessions WHERE id = ${id})
  ) OR EXISTS (SELECT 1 FROM messages WHERE session = ${id} AND answered = 1) AS INT) AS used`

/** Sets what the record of a session says: the agent's own id of it, and the time of its last use. */
export const bindSession = (id: Id, bound: string | undefined, by: LeaseRef | undefined): string =>
  sql`UPDATE sessions SET bound = ${column(bound)} WHERE id = ${id} AND ${belongsTo(by)}`
export const touchSession = (id: Id, now: number): string =>
  sql`UPDATE sessions SET used_at = greatest(used_at, ${now}) WHERE id = ${id}`

/** Reads the settings of a session, and replaces those that were read; no row when they are others by now. */
export const readSettings = (id: Id, by: LeaseRef | undefined): string =>
  sql`SELECT settings, CAST(${belongsTo(by)} AS INT) AS own FROM sessions WHERE id = ${id}`
export const replaceSettings = (id: Id, before: string | null, after: string, by: LeaseRef | undefined): string => sql`
  UPDATE sessions SET settings = ${after}
  WHERE id = ${id} AND settings IS NOT DISTINCT FROM ${before} AND ${belongsTo(by)} RETURNING id`

/** Forgets what was said in a session, and begins an epoch; the last statement gives it. */
export function clearSession(id: Id, now: number, by: LeaseRef | undefined): string[] {
  const session = new Raw(ownOf(id, by))
  return [
    lockOf(id),
    sql`DELETE FROM messages WHERE session IN (${session})`,
    sql`UPDATE turns SET messages = NULL WHERE session IN (${session}) AND messages IS NOT NULL`,
    sql`UPDATE sessions SET epoch = greatest(${now}, epoch + 1), bound = NULL WHERE id IN (${session}) RETURNING epoch`,
  ]
}

/** Deletes a session and everything of it, and remembers its key; the last statement gives one that may not be deleted. */
export function deleteSession(id: Id, key: SessionKey, by: LeaseRef | undefined): string[] {
  const session = new Raw(ownOf(id, by))
  return [
    lockOf(id),
    sql`
      INSERT INTO forgotten (key) SELECT ${keyDigest(key)} WHERE EXISTS (${session}) ON CONFLICT DO NOTHING`,
    sql`
      DELETE FROM events WHERE turn IN (
        SELECT turn FROM turns WHERE session IN (${session})
        UNION ALL SELECT turn FROM running WHERE session IN (${session})
      )`,
    sql`DELETE FROM turns WHERE session IN (${session})`,
    sql`DELETE FROM running WHERE session IN (${session})`,
    sql`DELETE FROM messages WHERE session IN (${session})`,
    sql`DELETE FROM sessions WHERE id IN (${session})`,
    sql`SELECT 1 FROM sessions WHERE id = ${id}`,
  ]
}

/** Reads the id of a session if that still belongs to a lease, or to none. */
const ownOf = (id: Id, by: LeaseRef | undefined): string =>
  sql`SELECT id FROM sessions WHERE id = ${id} AND ${belongsTo(by)}`

/** Has the session keep its owner until the transaction is over. */
const lockOf = (id: Id): string => sql`SELECT 1 FROM sessions WHERE id = ${id} FOR UPDATE`

/** Reads the usage of the session's deleted turns, then of each turn. */
export const readUsage = (id: Id): string => sql`
  SELECT usage FROM sessions WHERE id = ${id} AND usage IS NOT NULL
  UNION ALL SELECT usage FROM turns WHERE session = ${id} AND usage IS NOT NULL`

/**
 * Appends a message that belongs to no turn. The messages of a turn have twice its position as their place, those between
 * two turns the odd number after it.
 */
export const appendMessage = (session: Id, message: Message, by: LeaseRef | undefined): string => sql`
  INSERT INTO messages (id, session, answered, json, place)
  SELECT ${randomId(16)}, id, ${Number(message.role !== 'user')}, ${JSON.stringify(message)}, greatest(
    2 * coalesce((SELECT max(position) FROM turns WHERE session = sessions.id), 0),
    coalesce((SELECT max(place) FROM messages WHERE session = sessions.id), 0)
  ) | 1 FROM sessions WHERE id = ${session} AND ${belongsTo(by)} FOR SHARE
  ON CONFLICT (id) DO NOTHING`

/** Reads the messages of a session in their order: all, or those up to the end of the turn `until`. */
export function readMessages(session: Id, until?: Id): string {
  const last = new Raw(
    until === undefined ? 'TRUE' : sql`place <= (SELECT 2 * position FROM turns WHERE turn = ${until})`,
  )
  return sql`
    SELECT json FROM (
      SELECT json, place, position FROM messages WHERE session = ${session}
      UNION ALL SELECT messages, 2 * position, 0 FROM turns WHERE session = ${session} AND messages IS NOT NULL
    ) AS said (json, place, position) WHERE ${last} ORDER BY place, position`
}
