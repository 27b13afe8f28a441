import type { LeaseRef } from '../../contract/index.ts'
import { Raw, sql } from './sql.ts'

/** The server's time, in milliseconds since the epoch, as a column `clock`. All times here are of that clock. */
export const CLOCK = new Raw('CAST(1000 * EXTRACT(EPOCH FROM clock_timestamp()) AS BIGINT) AS clock')

/** Takes the lease of an owner; gives its epoch and the server's time. */
export const takeLease = (owner: string, now: number, expiresAt: number): string => sql`
  INSERT INTO leases (owner, epoch, expires_at, last_call) VALUES (${owner}, ${now}, ${expiresAt}, 0)
  ON CONFLICT (owner) DO UPDATE SET
    epoch = greatest(excluded.epoch, leases.epoch + 1), expires_at = excluded.expires_at, last_call = 0
  RETURNING epoch, ${CLOCK}`

/** Renews a lease; gives the server's time, or no row when the lease is over. */
export const renewLease = ({ owner, epoch }: LeaseRef, expiresAt: number): string => sql`
  UPDATE leases SET expires_at = ${expiresAt}, last_call = 0
  WHERE owner = ${owner} AND epoch = ${epoch} RETURNING ${CLOCK}`

/** Gives an expired lease a last call until `lastCallEnds`, or deletes one that has had it; the last gives what is left. */
export function lapseLease({ owner, epoch }: LeaseRef, now: number, lastCallEnds: number): string[] {
  const lease = new Raw(sql`owner = ${owner} AND epoch = ${epoch}`)
  const expired = new Raw(sql`${lease} AND expires_at <= ${now}`)
  return [
    sql`DELETE FROM leases WHERE ${expired} AND last_call = 1`,
    sql`UPDATE leases SET expires_at = ${lastCallEnds}, last_call = 1 WHERE ${expired} AND last_call = 0`,
    sql`SELECT 1 FROM leases WHERE ${lease}`,
  ]
}

/** Reads whether another owner has a lease at the time `now`. */
export const otherLease = (owner: string, now: number): string =>
  sql`SELECT 1 FROM leases WHERE owner <> ${owner} AND expires_at > ${now} LIMIT 1`

/** Gives up a lease, and those that expired before a time. */
export const dropLease = ({ owner, epoch }: LeaseRef): string =>
  sql`DELETE FROM leases WHERE owner = ${owner} AND epoch = ${epoch}`
export const pruneLeases = (before: number): string => sql`DELETE FROM leases WHERE expires_at < ${before}`
