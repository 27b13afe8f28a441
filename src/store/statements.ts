import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** The columns of a session, and its last turn. */
const SESSION = `*, (
  SELECT json_array(turn, owner, outcome IS NOT NULL) FROM turns WHERE session = sessions.id
  ORDER BY started_at DESC, turn DESC LIMIT 1
) AS last`

/**
 * All statements of the store. Writes for a session or turn that no longer exists change nothing. Parameters are plain
 * `?`: Node 22 takes `?1` for a name.
 */
const SQL = {
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  savepoint: 'SAVEPOINT work',
  release: 'RELEASE work',

  openSession: `
    INSERT INTO sessions (id, tenant, agent, session, conversation, created_at, used_at) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (tenant, agent, session, conversation) DO UPDATE SET used_at = max(used_at, excluded.used_at)
    RETURNING ${SESSION}`,
  findSession: `SELECT ${SESSION} FROM sessions WHERE tenant = ? AND agent = ? AND session = ? AND conversation = ?`,
  readSession: `SELECT ${SESSION} FROM sessions WHERE id = ?`,
  // A turn with one of these codes was taken by no agent.
  isUsed: `
    SELECT EXISTS (
      SELECT 1 FROM turns WHERE session = ? AND started_at >= (SELECT epoch FROM sessions WHERE id = turns.session)
      AND coalesce(code, '') NOT IN ('agent-unavailable', 'overloaded', 'session-busy', 'session-not-found')
    ) OR EXISTS (
      SELECT 1 FROM messages WHERE session = ? AND json_extract(json, '$.role') <> 'user'
    ) AS used`,
  listSessions: `SELECT ${SESSION} FROM sessions WHERE tenant = ? ORDER BY used_at DESC, created_at DESC, id LIMIT ?`,
  bindSession: 'UPDATE sessions SET bound = ?, renamed = 0 WHERE id = ?',
  setSession: "UPDATE sessions SET settings = json_patch(coalesce(settings, '{}'), ?) WHERE id = ?",
  beginEpoch: 'UPDATE sessions SET epoch = max(?, epoch + 1), bound = NULL, renamed = 0 WHERE id = ? RETURNING epoch',
  readUsage: 'SELECT usage FROM sessions WHERE id = ?',
  writeUsage: 'UPDATE sessions SET usage = ? WHERE id = ?',
  deleteSession: 'DELETE FROM sessions WHERE id = ?',
  forget: 'INSERT INTO forgotten (key) VALUES (?) ON CONFLICT DO NOTHING',
  isForgotten: 'SELECT 1 FROM forgotten WHERE key = ?',
  hasForgotten: 'SELECT EXISTS (SELECT 1 FROM forgotten) AS any',

  appendMessage: 'INSERT INTO messages (session, json) SELECT id, ? FROM sessions WHERE id = ?',
  readMessages: 'SELECT json FROM messages WHERE session = ? ORDER BY position',
  clearMessages: 'DELETE FROM messages WHERE session = ?',

  beginTurn: `
    INSERT INTO turns (
      turn, session, tenant, agent, front, owner, epoch, request, started_at, ended_at, outcome, code, delivered
    ) SELECT ?, id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM sessions WHERE id = ?`,
  moveTurn: 'UPDATE turns SET session = ?, agent = ? WHERE turn = ?',
  endTurn:
    'UPDATE turns SET ended_at = ?, outcome = ?, code = ?, losses = ?, measures = ? WHERE turn = ? AND outcome IS NULL',
  markDelivered: 'UPDATE turns SET delivered = 1 WHERE turn = ?',
  readTurn: 'SELECT * FROM turns WHERE turn = ?',
  listTurns: 'SELECT * FROM turns WHERE tenant = ? ORDER BY started_at DESC, turn DESC LIMIT ?',
  unfinishedTurns: 'SELECT * FROM turns WHERE outcome IS NULL ORDER BY started_at, turn',
  unfinishedOf: 'SELECT * FROM turns WHERE session = ? AND outcome IS NULL ORDER BY started_at, turn',
  lostTurns: `
    SELECT turns.* FROM turns LEFT JOIN leases ON leases.owner = turns.owner AND leases.epoch = turns.epoch
    WHERE outcome IS NULL AND coalesce(expires_at, 0) <= ? ORDER BY started_at, turn`,

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
  dropLease: 'DELETE FROM leases WHERE owner = ? AND epoch = ?',

  // A turn that has its end gets no more events.
  appendBlock: `
    INSERT INTO events (turn, seq, json) SELECT turn, ?, ? FROM turns WHERE turn = ? AND outcome IS NULL
    ON CONFLICT DO NOTHING`,
  // The block that may contain the first wanted event, and all later ones.
  readBlocks: `
    SELECT seq, json FROM events
    WHERE turn = ? AND seq >= coalesce((SELECT max(seq) FROM events WHERE turn = ? AND seq <= ?), 0) ORDER BY seq`,

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
    WHERE ? IS NULL OR claims.turn = ?
    RETURNING turn`,
  releaseClaim: 'DELETE FROM claims WHERE key = ?',

  // A claim that has expired already.
  probe: `
    INSERT INTO claims (key, turn, body, claimed_at, expires_at) VALUES ('probe', '', ?, 0, 0)
    ON CONFLICT (key) DO UPDATE SET body = excluded.body`,

  pruneTurns: 'DELETE FROM turns WHERE ended_at < ?',
  pruneClaims: 'DELETE FROM claims WHERE expires_at < ?',
  pruneLeases: 'DELETE FROM leases WHERE expires_at < ?',
} as const

/** The prepared statements of one connection, by name. */
export type Statements = Readonly<Record<keyof typeof SQL, StatementSync>>

/** Prepares every statement once; they live as long as the connection. */
export function prepareAll(db: DatabaseSync): Statements {
  const prepared = Object.entries(SQL).map(([name, sql]) => [name, db.prepare(sql)])
  return Object.fromEntries(prepared) as Statements
}
