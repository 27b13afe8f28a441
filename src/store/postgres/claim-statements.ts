import type { Holder } from '../../contract/index.ts'
import type { Id } from '../../model/index.ts'
import { digestOf } from '../../startup/index.ts'
import { DELETED } from '../rows.ts'
import { Raw, sql } from './sql.ts'

/** The life of a claim that took over a key whose claim was gone: a day, in milliseconds. */
const RECLAIM_TTL_MS = 86_400_000

/** The number of characters that a probe writes. */
const PROBE_LENGTH = 8192

/** Claims a key that is free, or that the turn has already; no row when another turn has it. */
export const claim = (key: string, turn: Id, body: string, now: number, ttlMs: number): string => sql`
  INSERT INTO claims (key, turn, body, claimed_at, expires_at)
  VALUES (${digestOf(key)}, ${turn}, ${body}, ${now}, ${now + ttlMs})
  ON CONFLICT (key) DO UPDATE SET
    turn = excluded.turn, body = excluded.body, claimed_at = excluded.claimed_at, expires_at = excluded.expires_at
  WHERE claims.expires_at <= excluded.claimed_at OR claims.turn = excluded.turn
  RETURNING turn`

/** True of a claim whose turn has no end in the record. */
const UNSEEN = new Raw(sql`NOT EXISTS (SELECT 1 FROM turns WHERE turns.turn = claims.turn AND outcome <> ${DELETED})`)

/** True of a claim that its turn, as it was found, still has; or the next one, where this is done again. */
function isStill({ turn, ended }: Holder, next: Id): Raw {
  return new Raw(sql`claims.turn IN (${turn}, ${next}) AND ${ended ? new Raw('TRUE') : UNSEEN}`)
}

/**
 * Statements that take over a key, from any turn or from one as it was found, unless that runs; the last has no row when
 * another turn has it.
 */
export function reclaim(key: string, turn: Id, body: string, now: number, from?: Holder): string[] {
  const holder = from ? isStill(from, turn) : new Raw('TRUE')
  const taken = sql`
    INSERT INTO claims (key, turn, body, claimed_at, expires_at)
    VALUES (${digestOf(key)}, ${turn}, ${body}, ${now}, ${now + RECLAIM_TTL_MS})
    ON CONFLICT (key) DO UPDATE SET
      turn = excluded.turn, body = excluded.body, claimed_at = excluded.claimed_at,
      expires_at = excluded.claimed_at + (claims.expires_at - claims.claimed_at)
    WHERE ${holder} AND NOT EXISTS (SELECT 1 FROM running WHERE running.turn = claims.turn)
    RETURNING turn`
  return [locked(key), taken]
}

/** Locks the row of a claim: what comes after it sees a turn that has begun with the claim. */
const locked = (key: string): string => sql`SELECT 1 FROM claims WHERE key = ${digestOf(key)} FOR UPDATE`

/** Reads the holder of a key. */
export const readClaim = (key: string): string => sql`SELECT turn, body FROM claims WHERE key = ${digestOf(key)}`

/** Statements that give up the claim on a key of a turn that is not recorded. */
export const releaseClaim = (key: string, turn: Id): string[] => [
  locked(key),
  sql`
    DELETE FROM claims WHERE key = ${digestOf(key)} AND turn = ${turn} AND ${UNSEEN}
      AND NOT EXISTS (SELECT 1 FROM running WHERE running.turn = claims.turn)`,
]

/** Gives up the claims that expired before a time. */
export const pruneClaims = (before: number): string => sql`DELETE FROM claims WHERE expires_at < ${before}`

/** Writes a claim that has expired already. */
export const probe = (): string => sql`
  INSERT INTO claims (key, turn, body, claimed_at, expires_at) VALUES ('probe', '', ${'x'.repeat(PROBE_LENGTH)}, 0, 0)
  ON CONFLICT (key) DO UPDATE SET body = excluded.body`
