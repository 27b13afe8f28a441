import type { TurnPlace } from '../../contract/index.ts'
import type { Id } from '../../model/index.ts'
import { list, sql } from './sql.ts'

/** The use of a tenant on a day: one row. */
export function spentOn(tenant: string, day: number): string {
  return sql`
    SELECT CAST(coalesce(sum(tokens), 0) AS BIGINT) AS tokens, CAST(coalesce(sum(estimated), 0) AS BIGINT) AS estimated,
      coalesce(sum(cost_usd), 0) AS cost_usd
    FROM spent WHERE tenant = ${tenant} AND day = ${day}`
}

/**
 * Statements that take a place, the last of which has a row when there is one. The row of the tenant is locked: of those
 * that count its places at the same time, each sees what the others have taken. A place counts as long as its lease is
 * there.
 */
export function placeTaken({ turn, tenant, owner, epoch }: TurnPlace, most: number): string[] {
  return [
    sql`INSERT INTO tenants (tenant) VALUES (${tenant}) ON CONFLICT DO NOTHING`,
    sql`SELECT tenant FROM tenants WHERE tenant = ${tenant} FOR UPDATE`,
    sql`
      INSERT INTO places (turn, tenant, owner, epoch)
      SELECT ${list([turn, tenant, owner, epoch])} WHERE ${most} > (
        SELECT count(*) FROM places JOIN leases ON leases.owner = places.owner AND leases.epoch = places.epoch
        WHERE tenant = ${tenant}
      )
      ON CONFLICT (turn) DO NOTHING`,
    sql`SELECT turn FROM places WHERE turn = ${turn}`,
  ]
}

/** Gives a place back. */
export const placeGiven = (turn: Id): string => sql`DELETE FROM places WHERE turn = ${turn}`

/** Statements that store the counts of a process, and the rows of all others as the last one. */
export function countsShared(process: string, counts: ReadonlyMap<string, number>, now: number): string[] {
  const stored = [...counts].map(
    ([name, count]) => sql`
      INSERT INTO requests (process, name, count, counted_at) VALUES (${list([process, name, count, now])})
      ON CONFLICT (process, name) DO UPDATE SET count = excluded.count, counted_at = excluded.counted_at`,
  )
  return [...stored, sql`SELECT process, name, count FROM requests WHERE process <> ${process} ORDER BY process, name`]
}

/** Statements that delete what leases that are over have left, and what was counted before a time. */
export function usePruned(time: number): string[] {
  return [
    `DELETE FROM places WHERE NOT EXISTS (
      SELECT 1 FROM leases WHERE leases.owner = places.owner AND leases.epoch = places.epoch
    )`,
    sql`DELETE FROM requests WHERE counted_at < ${time}`,
    sql`DELETE FROM spent WHERE day < ${time}`,
  ]
}
