import type { LeaseRef } from '../../contract/index.ts'
import { SCHEMA_VERSION, VERSIONS } from './schema.ts'
import { Raw, sql } from './sql.ts'

/** The server's time, in milliseconds since the epoch, as a column `clock`. All times here are of that clock. */
export const CLOCK = new Raw('CAST(1000 * EXTRACT(EPOCH FROM clock_timestamp()) AS BIGINT) AS clock')

/** This program can work with the tables as they are now: a newer one may have migrated them. */
const IS_CURRENT = new Raw(sql`NOT EXISTS (SELECT 1 FROM ${new Raw(VERSIONS)} WHERE oldest > ${SCHEMA_VERSION})`)

/** Takes the lease of an owner; gives its epoch and the server's time, or no row when the tables are too new. */
export const takeLease = (owner: string, now: number, expiresAt: number): string => sql`
  INSERT INTO leases (owner, epoch, expires_at, last_call)
  SELECT ${owner}, ${now}, ${expiresAt}, 0 WHERE ${IS_CURRENT}
  ON CONFLICT (owner) DO UPDATE SET
    epoch = greatest(excluded.epoch, leases.epoch + 1), expires_at = excluded.expires_at, last_call = 0
  RETURNING epoch, ${CLOCK}`

/** Renews a lease; gives the server's time, or no row when the lease is over or the tables are too new. */
export const renewLease = ({ owner, epoch }: LeaseRef, expiresAt: number): string => sql`
  UPDATE leases SET expires_at = ${expiresAt}, last_call = 0
  WHERE owner = ${owner} AND epoch = ${epoch} AND ${IS_CURRENT} RETURNING ${CLOCK}`

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
