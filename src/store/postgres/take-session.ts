import type { LeaseRef, SessionKey } from '../../contract/index.ts'
import type { Id } from '../../model/index.ts'
import { keyDigest, toColumn } from '../key-text.ts'
import { Prepared } from './prepared.ts'
import { SESSION } from './session-statements.ts'

/** The lease that a session belongs to is over, or it belongs to none. */
const IS_FREE = `NOT EXISTS (
  SELECT 1 FROM leases WHERE leases.owner = sessions.owner AND leases.epoch = sessions.owner_epoch
)`

/**
 * Takes or reads a session. One that has an owner is only read: replicas that lock the same sessions in different orders
 * wait for each other.
 */
export const TAKE_SESSION = new Prepared(
  'take_session',
  ['TEXT', 'TEXT', 'TEXT', 'TEXT', 'TEXT', 'TEXT', 'BIGINT', 'TEXT', 'BIGINT'],
  `WITH owned AS (SELECT id FROM sessions WHERE key = $1 AND NOT ${IS_FREE}), taken AS (
    INSERT INTO sessions
      (key, id, tenant, agent, session, conversation, created_at, used_at, epoch, owner, owner_epoch)
    SELECT $1, $2, $3, $4, $5, $6, $7, $7,
      CASE WHEN EXISTS (SELECT 1 FROM forgotten WHERE key = $1) THEN greatest(1, $7) ELSE 0 END, $8, $9
    WHERE NOT EXISTS (SELECT 1 FROM owned)
    ON CONFLICT (key) DO UPDATE SET
      used_at = greatest(sessions.used_at, excluded.used_at),
      owner = CASE WHEN ${IS_FREE} THEN excluded.owner ELSE sessions.owner END,
      owner_epoch = CASE WHEN ${IS_FREE} THEN excluded.owner_epoch ELSE sessions.owner_epoch END
    RETURNING *
  )
  SELECT ${SESSION.text} FROM taken AS sessions
  UNION ALL SELECT ${SESSION.text} FROM sessions WHERE id IN (SELECT id FROM owned)`,
)

/** Opens the session of a key for a lease, and reads it: it belongs to that, or to another one that is not over. */
export function takeSession(key: SessionKey, id: Id, { owner, epoch }: LeaseRef, now: number): string {
  const [session, conversation] = [toColumn(key.session), toColumn(key.conversation)]
  return TAKE_SESSION.with(keyDigest(key), id, key.tenant, key.agent, session, conversation, now, owner, epoch)
}
