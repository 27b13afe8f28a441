import type { Listed, ListedTurn, Page, SessionRecord, TurnPage } from '../contract/index.ts'
import {
  type Found,
  hasConditions,
  MOST_READ,
  NEWEST,
  type Place,
  pageOf,
  placeOfSession,
  placeOfTurn,
  sessionConditions,
  turnConditions,
} from './lists.ts'
import { listedTurn, type Row, sessionRecord } from './rows.ts'
import type { Statements } from './statements.ts'

/** A page of turns. Undefined when there is no turn `before` in the list. */
export function listTurns(sql: Statements, page: TurnPage): Listed<ListedTurn> | undefined {
  const from = placeIn(page, (id) => sql.placeOfTurn.get(id, id))
  if (!from) return undefined
  const tenants = page.tenant === undefined ? sql.tenantsOfTurns.all().map(tenantOf) : [page.tenant]
  return pageOf(
    [running(sql, page, from), ...tenants.map((one) => ended(sql, one, page, from))],
    page.limit,
    placeOfTurn,
  )
}

/** A page of sessions. Undefined when there is no session `before` in the list. */
export function listSessions(sql: Statements, page: Page): Listed<SessionRecord> | undefined {
  const from = placeIn(page, (id) => sql.placeOfSession.get(id))
  if (!from) return undefined
  const tenants = page.tenant === undefined ? sql.tenantsOfSessions.all().map(tenantOf) : [page.tenant]
  return pageOf(
    tenants.map((tenant) => sessions(sql, tenant, page, from)),
    page.limit,
    placeOfSession,
  )
}

/** The place that a page begins after. */
function placeIn({ before, tenant }: Page, find: (id: string) => Row | undefined): Place | undefined {
  if (before === undefined) return NEWEST
  const row = find(before)
  if (!row || (tenant !== undefined && tenantOf(row) !== tenant)) return undefined
  return { at: row['at'] as number, id: before }
}

function ended(sql: Statements, tenant: string, page: TurnPage, { at, id }: Place): Found<ListedTurn> {
  if (page.state === 'running') return { rows: [] }
  const since = hasConditions(page) ? sinceOf(sql.sinceTurn.get(tenant, at, MOST_READ)) : undefined
  const from = { tenant, since: since ?? 0, at, id, limit: page.limit + 1 }
  const rows = sql.listEnded.all({ ...from, ...turnConditions(page) }).map(listedTurn)
  return { rows, cut: cutAt(since, () => sql.firstTurnAt.get(tenant, since!)) }
}

/** Few turns run: those of all tenants are read at once. */
function running(sql: Statements, page: TurnPage, { at, id }: Place): Found<ListedTurn> {
  if (page.state !== undefined && page.state !== 'running') return { rows: [] }
  const { state: _, ...conditions } = turnConditions(page)
  return { rows: sql.listRunning.all({ tenant: page.tenant ?? null, at, id, ...conditions }).map(listedTurn) }
}

function sessions(sql: Statements, tenant: string, page: Page, { at, id }: Place): Found<SessionRecord> {
  const since = hasConditions(page) ? sinceOf(sql.sinceSession.get(tenant, at, MOST_READ)) : undefined
  const from = { tenant, since: since ?? 0, at, id, limit: page.limit + 1 }
  const rows = sql.listSessions.all({ ...from, ...sessionConditions(page) }).map(sessionRecord)
  return { rows, cut: cutAt(since, () => sql.firstSessionAt.get(tenant, since!)) }
}

/** All rows of the time at which reading stops have been looked at. */
function cutAt(since: number | undefined, first: () => Row | undefined): Place | undefined {
  return since === undefined ? undefined : { at: since, id: first()!['id'] as string }
}

function sinceOf(row: Row | undefined): number | undefined {
  return row?.['at'] as number | undefined
}

function tenantOf(row: Row): string {
  return row['tenant'] as string
}
