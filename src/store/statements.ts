import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { DELETED } from './rows.ts'

/** The columns of a session, and its last turn. */
const SESSION = `*, coalesce(
  (SELECT json_array(turn, owner, 0) FROM running WHERE session = sessions.id ORDER BY started_at DESC, turn DESC LIMIT 1),
  (SELECT json_array(turn, owner, 1) FROM turns WHERE session = sessions.id ORDER BY position DESC LIMIT 1)
) AS last`

/** The columns of an ended turn's record. */
const ENDED = `turn, session, tenant, agent, front, owner, epoch, request, started_at, ended_at, outcome, code, delivered,
  losses, measures, usage`

/** The condition of turns that are not deleted. */
const KEPT = `outcome <> '${DELETED}'`

/** The condition of turns of the session's epoch that an agent has taken: none has taken one with one of these codes. */
const TAKEN = `started_at >= (SELECT epoch FROM sessions WHERE id = turns.session)
  AND coalesce(code, '') NOT IN ('agent-unavailable', 'overloaded', 'session-busy', 'session-not-found')`

/** A row, and the client's id of its session as `named`. */
const NAMED = 'JOIN (SELECT id AS sid, session AS named FROM sessions) ON sid = session'

/** The conditions of a page of turns; `$id` is the last one before it. */
const TURN_CONDITIONS = `
  (started_at, turn) < ($at, $id) AND agent = coalesce($agent, agent) AND front = coalesce($front, front)
  AND ($session IS NULL OR session = $session OR named = $session)`

/** The tenants of a table, one step into its index for each. */
const tenantsOf = (table: string): string => `
  WITH RECURSIVE tenants (tenant) AS (
    SELECT min(tenant) FROM ${table}
    UNION ALL SELECT (SELECT min(${table}.tenant) FROM ${table} WHERE ${table}.tenant > tenants.tenant) FROM tenants
    WHERE tenants.tenant IS NOT NULL
  )`

/**
 * All statements of the store. Writes for a session or turn that no longer exists change nothing. Parameters are plain
 * `?`, because Node 22 takes `?1` for a name, or `$name`.
 */
const SQL = {
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  savepoint: 'SAVEPOINT work',
  release: 'RELEASE work',
  version: 'PRAGMA data_version',

  newSession: `
    INSERT INTO sessions (id, tenant, agent, session, conversation, created_at, used_at) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (tenant, agent, session, conversation) DO NOTHING`,
  openSession: `
    INSERT INTO sessions (id, tenant, agent, session, conversation, created_at, used_at) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (tenant, agent, session, conversation) DO UPDATE SET used_at = max(used_at, excluded.used_at)
    RETURNING ${SESSION}`,
  findSession: `SELECT ${SESSION} FROM sessions WHERE tenant = ? AND agent = ? AND session = ? AND conversation = ?`,
  readSession: `SELECT ${SESSION} FROM sessions WHERE id = ?`,
  heardBy: `
    SELECT (
      SELECT measures FROM turns WHERE session = ? AND measures IS NOT NULL AND ${TAKEN} ORDER BY position DESC LIMIT 1
    ) AS measures, EXISTS (
      SELECT 1 FROM turns WHERE session = ? AND ${TAKEN}
    ) OR EXISTS (
      SELECT 1 FROM running WHERE session = ? AND started_at >= (SELECT epoch FROM sessions WHERE id = running.session)
    ) OR EXISTS (
      SELECT 1 FROM messages WHERE session = ? AND json_extract(json, '$.role') <> 'user'
    ) AS used`,
  placeOfSession: 'SELECT tenant, used_at AS at FROM sessions WHERE id = ?',
  tenantsOfSessions: `${tenantsOf('sessions')} SELECT tenant FROM tenants WHERE tenant IS NOT NULL`,
  listSessions: `
    SELECT ${SESSION} FROM sessions
    WHERE tenant = $tenant AND used_at >= $since AND (used_at, id) < ($at, $id) AND agent = coalesce($agent, agent)
      AND ($text IS NULL OR instr(lower(
        id || char(10) || session || char(10) || coalesce(json_extract(settings, '$.title'), '')), $text) > 0)
    ORDER BY used_at DESC, id DESC LIMIT $limit`,
  sinceSession:
    'SELECT used_at AS at FROM sessions WHERE tenant = ? AND used_at <= ? ORDER BY used_at DESC LIMIT 1 OFFSET ?',
  firstSessionAt: 'SELECT min(id) AS id FROM sessions WHERE tenant = ? AND used_at = ?',
  bindSession: 'UPDATE sessions SET bound = ?, renamed = 0 WHERE id = ?',
  setSession: "UPDATE sessions SET settings = json_patch(coalesce(settings, '{}'), ?) WHERE id = ?",
  beginEpoch: 'UPDATE sessions SET epoch = max(?, epoch + 1), bound = NULL, renamed = 0 WHERE id = ? RETURNING epoch',
  touchSession: 'UPDATE sessions SET used_at = max(used_at, ?) WHERE id = ?',
  // The usage of the session's deleted turns, then of each turn.
  readUsage: `
    SELECT usage FROM sessions WHERE id = ? AND usage IS NOT NULL
    UNION ALL SELECT usage FROM turns WHERE session = ? AND usage IS NOT NULL`,
  writeUsage: 'UPDATE sessions SET usage = ? WHERE id = ?',
  deleteEventsOfSession: `
    DELETE FROM events
    WHERE turn IN (SELECT turn FROM turns WHERE session = ? UNION ALL SELECT turn FROM running WHERE session = ?)`,
  deleteTurnsOfSession: 'DELETE FROM turns WHERE session = ?',
  deleteRunningOfSession: 'DELETE FROM running WHERE session = ?',
  deleteSession: 'DELETE FROM sessions WHERE id = ?',
  forget: 'INSERT INTO forgotten (key) VALUES (?) ON CONFLICT DO NOTHING',
  isForgotten: 'SELECT 1 FROM forgotten WHERE key = ?',
  hasForgotten: 'SELECT EXISTS (SELECT 1 FROM forgotten) AS any',

  // The messages of a turn have twice its position as their place, those between two turns the odd number after it.
  appendMessage: `
    INSERT INTO messages (session, json, place)
    SELECT id, ?, max(
      2 * coalesce((SELECT max(position) FROM turns WHERE session = id), 0),
      coalesce((SELECT max(place) FROM messages WHERE session = id), 0)
    ) | 1 FROM sessions WHERE id = ?`,
  keepMessage: 'INSERT INTO messages (session, json, place) VALUES (?, ?, ?)',
  readMessages: `
    SELECT json, place, position FROM messages WHERE session = ?
    UNION ALL SELECT messages, 2 * position, 0 FROM turns WHERE session = ? AND messages IS NOT NULL
    ORDER BY place, position`,
  readMessagesUntil: `
    WITH until (place) AS (SELECT 2 * position FROM turns WHERE turn = ?)
    SELECT json, messages.place, messages.position FROM messages, until
      WHERE session = ? AND messages.place <= until.place
    UNION ALL SELECT messages, 2 * turns.position, 0 FROM turns, until
      WHERE session = ? AND messages IS NOT NULL AND 2 * turns.position <= until.place
    ORDER BY 2, 3`,
  clearMessages: 'DELETE FROM messages WHERE session = ?',
  clearMessagesOfTurns: 'UPDATE turns SET messages = NULL WHERE session = ? AND messages IS NOT NULL',

  beginTurn: `
    INSERT INTO running (turn, session, tenant, agent, front, owner, epoch, request, started_at)
    SELECT ?, id, ?, ?, ?, ?, ?, ?, ? FROM sessions WHERE id = ?
    ON CONFLICT (turn) DO UPDATE SET session = excluded.session, agent = excluded.agent`,
  // A position is the time of the end, or the next number: what is deleted was before it.
  endTurn: `
    INSERT INTO turns (
      position, turn, session, tenant, agent, front, owner, epoch, request, started_at, ended_at, outcome, code,
      delivered, losses, measures, usage, seq, messages, events, known, wire
    )
    SELECT max(?, coalesce((SELECT max(position) FROM turns), 0) + 1), ?, id, ?, ?, ?, ?, ?, ?,
      ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
    FROM sessions WHERE id = ?
    ON CONFLICT (turn) DO NOTHING`,
  findKnown: `
    SELECT turn FROM turns WHERE known = ? AND NOT EXISTS (
      SELECT 1 FROM turns AS later WHERE later.session = turns.session AND later.position > turns.position
    ) ORDER BY position DESC LIMIT ?`,
  stopTurn: 'DELETE FROM running WHERE turn = ?',
  readTurnMessages: `SELECT messages FROM turns WHERE turn = ? AND ${KEPT}`,
  // A row without content keeps the turn's place in its session, and its usage, until it is pruned.
  forgetTurn: `
    UPDATE turns SET outcome = '${DELETED}', request = NULL, code = NULL, losses = NULL, measures = NULL, seq = NULL,
      messages = NULL, events = NULL, known = NULL, wire = NULL
    WHERE turn = ?`,
  markDelivered: 'UPDATE turns SET delivered = 1 WHERE turn = ?',
  readEnded: `SELECT ${ENDED} FROM turns WHERE turn = ? AND ${KEPT}`,
  readWire: 'SELECT wire FROM turns WHERE turn = ? AND wire IS NOT NULL',
  readRunning: 'SELECT * FROM running WHERE turn = ?',
  placeOfTurn: `
    SELECT tenant, started_at AS at FROM turns WHERE turn = ?
    UNION ALL SELECT tenant, started_at FROM running WHERE turn = ?`,
  tenantsOfTurns: `${tenantsOf('turns')} SELECT tenant FROM tenants WHERE tenant IS NOT NULL`,
  listEnded: `
    SELECT ${ENDED}, named FROM turns ${NAMED}
    WHERE tenant = $tenant AND started_at >= $since AND ${TURN_CONDITIONS} AND outcome = coalesce($state, outcome) AND ${KEPT}
      AND ($text IS NULL OR instr(lower(turn || char(10) || coalesce(request, '') || char(10) || named || char(10)
        || coalesce(json_extract(measures, '$.error'), '')), $text) > 0)
    ORDER BY started_at DESC, turn DESC LIMIT $limit`,
  listRunning: `
    SELECT running.*, named FROM running ${NAMED}
    WHERE tenant = coalesce($tenant, tenant) AND ${TURN_CONDITIONS}
      AND ($text IS NULL
        OR instr(lower(turn || char(10) || coalesce(request, '') || char(10) || named), $text) > 0)`,
  sinceTurn:
    'SELECT started_at AS at FROM turns WHERE tenant = ? AND started_at <= ? ORDER BY started_at DESC LIMIT 1 OFFSET ?',
  firstTurnAt: 'SELECT min(turn) AS id FROM turns WHERE tenant = ? AND started_at = ?',
  unfinishedTurns: 'SELECT * FROM running ORDER BY started_at, turn',
  unfinishedOf: 'SELECT * FROM running WHERE session = ? ORDER BY started_at, turn',
  lostTurns: `
    SELECT running.* FROM running LEFT JOIN leases USING (owner, epoch)
    WHERE coalesce(expires_at, 0) <= ? ORDER BY started_at, turn`,

  takeLease: `
    INSERT INTO leases (owner, epoch, expires_at) VALUES (?, ?, ?)
    ON CONFLICT (owner) DO UPDATE SET
      epoch = max(excluded.epoch, epoch + 1), expires_at = excluded.expires_at, last_call = 0
    RETURNING epoch`,
  renewLease: 'UPDATE leases SET expires_at = ?, last_call = 0 WHERE owner = ? AND epoch = ?',
  readLease: 'SELECT expires_at FROM leases WHERE owner = ? AND epoch = ?',
  callLease:
    'UPDATE leases SET expires_at = ?, last_call = 1 WHERE owner = ? AND epoch = ? AND last_call = 0 AND expires_at <= ?',
  lapseLease: 'DELETE FROM leases WHERE owner = ? AND epoch = ? AND last_call = 1 AND expires_at <= ?',
  otherLease: 'SELECT 1 FROM leases WHERE owner <> ? AND expires_at > ? LIMIT 1',
  dropLease: 'DELETE FROM leases WHERE owner = ? AND epoch = ?',

  // What comes of a process that was given up would be behind the end that another one writes.
  appendBlock: `
    INSERT INTO events (turn, seq, json)
    SELECT turn, ?, ? FROM running JOIN leases USING (owner, epoch) WHERE turn = ? ON CONFLICT DO NOTHING`,
  // The block that may contain the first wanted event, and all later ones.
  readBlocks: `
    SELECT seq, json FROM events
    WHERE turn = ? AND seq >= coalesce((SELECT max(seq) FROM events WHERE turn = ? AND seq <= ?), 0)
    UNION ALL SELECT seq, events FROM turns WHERE turn = ? AND events IS NOT NULL ORDER BY seq`,

  // With the condition on the update a held key gives no row. One statement, so that no other process comes between.
  claim: `
    INSERT INTO claims (key, turn, body, claimed_at, expires_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET
      turn = excluded.turn, body = excluded.body, claimed_at = excluded.claimed_at, expires_at = excluded.expires_at
    WHERE claims.expires_at <= excluded.claimed_at
    RETURNING turn`,
  readClaim: 'SELECT turn, body FROM claims WHERE key = ?',
  reclaim: `
    INSERT INTO claims (key, turn, body, claimed_at, expires_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET
      turn = excluded.turn, body = excluded.body, claimed_at = excluded.claimed_at,
      expires_at = excluded.claimed_at + (claims.expires_at - claims.claimed_at)
    WHERE (? IS NULL OR claims.turn = ?) AND NOT EXISTS (SELECT 1 FROM running WHERE running.turn = claims.turn)
      AND (? OR NOT EXISTS (SELECT 1 FROM turns WHERE turns.turn = claims.turn AND ${KEPT}))
    RETURNING turn`,
  releaseClaim: `
    DELETE FROM claims WHERE key = ? AND turn = ?
      AND NOT EXISTS (SELECT 1 FROM running WHERE running.turn = claims.turn)
      AND NOT EXISTS (SELECT 1 FROM turns WHERE turns.turn = claims.turn AND ${KEPT})`,

  addSpent: `
    INSERT INTO spent (tenant, day, owner, tokens, estimated, cost_usd) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (tenant, day, owner) DO UPDATE SET
      tokens = tokens + excluded.tokens, estimated = estimated + excluded.estimated, cost_usd = cost_usd + excluded.cost_usd`,
  spentOf: `
    SELECT coalesce(sum(tokens), 0) AS tokens, coalesce(sum(estimated), 0) AS estimated, total(cost_usd) AS cost_usd
    FROM spent WHERE tenant = ? AND day = ?`,
  // A place counts as long as its lease is there.
  takePlace: `
    INSERT INTO places (turn, tenant, owner, epoch)
    SELECT ?, ?, ?, ? WHERE (SELECT count(*) FROM places JOIN leases USING (owner, epoch) WHERE tenant = ?) < ?
    ON CONFLICT (turn) DO NOTHING`,
  hasPlace: 'SELECT 1 FROM places WHERE turn = ?',
  givePlace: 'DELETE FROM places WHERE turn = ?',
  countRequests: `
    INSERT INTO requests (process, name, count, counted_at) VALUES (?, ?, ?, ?)
    ON CONFLICT (process, name) DO UPDATE SET count = excluded.count, counted_at = excluded.counted_at`,
  otherRequests: 'SELECT process, name, count FROM requests WHERE process <> ? ORDER BY process, name',

  // A claim that has expired already.
  probe: `
    INSERT INTO claims (key, turn, body, claimed_at, expires_at) VALUES ('probe', '', ?, 0, 0)
    ON CONFLICT (key) DO UPDATE SET body = excluded.body`,

  // By tenant, because the index is: no tenant has many turns that began before a time and ended after it.
  oldTurns: `
    ${tenantsOf('turns')}
    SELECT position, turn, session, usage, messages FROM tenants CROSS JOIN turns USING (tenant)
    WHERE started_at < ? AND ended_at < ? LIMIT ?`,
  deleteEvents: 'DELETE FROM events WHERE turn = ?',
  deleteTurn: 'DELETE FROM turns WHERE position = ?',
  readFolded: 'SELECT usage FROM sessions WHERE id = ?',
  pruneClaims: 'DELETE FROM claims WHERE expires_at < ?',
  pruneLeases: 'DELETE FROM leases WHERE expires_at < ?',
  prunePlaces: 'DELETE FROM places WHERE (owner, epoch) NOT IN (SELECT owner, epoch FROM leases)',
  pruneRequests: 'DELETE FROM requests WHERE counted_at < ?',
  pruneSpent: 'DELETE FROM spent WHERE day < ?',
} as const

/** The prepared statements of one connection, by name. */
export type Statements = Readonly<Record<keyof typeof SQL, StatementSync>>

/** Prepares every statement once; they live as long as the connection. */
export function prepareAll(db: DatabaseSync): Statements {
  const prepared = Object.entries(SQL).map(([name, sql]) => [name, db.prepare(sql)])
  return Object.fromEntries(prepared) as Statements
}
