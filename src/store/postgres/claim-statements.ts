import type { Id } from '../../model/index.ts'
import { digestOf } from '../../startup/index.ts'
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

/** Takes over a key, from any turn or from `from`; no row when another turn has it. */
export function reclaim(key: string, turn: Id, body: string, now: number, from?: Id): string {
  const holder = new Raw(from === undefined ? 'TRUE' : sql`claims.turn IN (${from}, ${turn})`)
  return sql`
    INSERT INTO claims (key, turn, body, claimed_at, expires_at)
    VALUES (${digestOf(key)}, ${turn}, ${body}, ${now}, ${now + RECLAIM_TTL_MS})
    ON CONFLICT (key) DO UPDATE SET
      turn = excluded.turn, body = excluded.body, claimed_at = excluded.claimed_at,
      expires_at = excluded.claimed_at + (claims.expires_at - claims.claimed_at)
    WHERE ${holder}
    RETURNING turn`
}

/** Reads the holder of a key. */
export const readClaim = (key: string): string => sql`SELECT turn, body FROM claims WHERE key = ${digestOf(key)}`

/** Gives up the claim on a key, and those that expired before a time. */
export const releaseClaim = (key: string): string => sql`DELETE FROM claims WHERE key = ${digestOf(key)}`
export const pruneClaims = (before: number): string => sql`DELETE FROM claims WHERE expires_at < ${before}`

/** Writes a claim that has expired already. */
export const probe = (): string => sql`
  INSERT INTO claims (key, turn, body, claimed_at, expires_at) VALUES ('probe', '', ${'x'.repeat(PROBE_LENGTH)}, 0, 0)
  ON CONFLICT (key) DO UPDATE SET body = excluded.body`
