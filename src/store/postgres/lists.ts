import type { Listed, ListedTurn, Page, SessionRecord, TurnPage } from '../../contract/index.ts'
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
} from '../lists.ts'
import { DELETED, listedTurn, type Row, sessionRecord } from '../rows.ts'
import { SESSION } from './session-statements.ts'
import { Raw, sql } from './sql.ts'

/** Runs statements together and gives the rows of each. */
export type Run = (statements: readonly string[]) => Promise<readonly (readonly Row[])[]>

/** The table and the columns of a list. */
interface Table {
  name: Raw
  id: Raw
  at: Raw
}

const TURNS: Table = { name: new Raw('turns'), id: new Raw('turn'), at: new Raw('started_at') }
const SESSIONS: Table = { name: new Raw('sessions'), id: new Raw('id'), at: new Raw('used_at') }

/** A row, and the client's id of its session as `named`. */
const NAMED = new Raw('JOIN (SELECT id AS sid, session AS named FROM sessions) AS named_sessions ON sid = session')

/** The first column of a turn's row that is searched, and the further ones; `error` of ended ones. */
const TEXT_OF_RUNNING = new Raw("turn || chr(10) || coalesce(request, '') || chr(10) || named")
const TEXT_OF_ENDED = new Raw(`${TEXT_OF_RUNNING.text} || chr(10) || ${textIn('measures', 'error')}`)
const TEXT_OF_SESSION = new Raw(`id || chr(10) || session || chr(10) || ${textIn('settings', 'title')}`)

/** A text that stands in its column as JSON, as it is written there: it may hold what no text of this database can. */
function textIn(column: string, name: string): string {
  return String.raw`coalesce(substring(${column} from '"${name}":"((?:[^"\\]|\\.)*)"'), '')`
}

/** A page of turns. Undefined when there is no turn `before` in the list. */
export async function listTurns(run: Run, page: TurnPage): Promise<Listed<ListedTurn> | undefined> {
  const from = await placeIn(run, page, [TURNS, { ...TURNS, name: new Raw('running') }])
  if (!from) return undefined
  const { state } = page
  const [running = []] = state === undefined || state === 'running' ? await run([runningTurns(page, from)]) : []
  const tenants = state === 'running' ? [] : await tenantsOf(run, page, TURNS)
  const ended = await Promise.all(
    tenants.map((tenant) => foundIn(run, { table: TURNS, tenant, page, from }, endedTurns)),
  )
  const found = [{ rows: running }, ...ended].map((one) => ({ ...one, rows: one.rows.map(listedTurn) }))
  return pageOf(found, page.limit, placeOfTurn)
}

/** A page of sessions. Undefined when there is no session `before` in the list. */
export async function listSessions(run: Run, page: Page): Promise<Listed<SessionRecord> | undefined> {
  const from = await placeIn(run, page, [SESSIONS])
  if (!from) return undefined
  const tenants = await tenantsOf(run, page, SESSIONS)
  const rows = await Promise.all(
    tenants.map((tenant) => foundIn(run, { table: SESSIONS, tenant, page, from }, sessionsOf)),
  )
  const found = rows.map((one) => ({ ...one, rows: one.rows.map(sessionRecord) }))
  return pageOf(found, page.limit, placeOfSession)
}

/** The place that a page begins after. */
async function placeIn(run: Run, { before, tenant }: Page, tables: readonly Table[]): Promise<Place | undefined> {
  if (before === undefined) return NEWEST
  const found = await run(
    tables.map(({ name, id, at }) => sql`SELECT tenant, ${at} AS at FROM ${name} WHERE ${id} = ${before}`),
  )
  const [row] = found.flat()
  if (!row || (tenant !== undefined && row['tenant'] !== tenant)) return undefined
  return { at: row['at'] as number, id: before }
}

/** The tenants of a page, one step into the index for each. */
async function tenantsOf(run: Run, { tenant }: Page, { name }: Table): Promise<string[]> {
  if (tenant !== undefined) return [tenant]
  const [rows = []] = await run([
    sql`
      WITH RECURSIVE tenants (tenant) AS (
        SELECT min(tenant) FROM ${name}
        UNION ALL SELECT (SELECT min(tenant) FROM ${name} WHERE tenant > tenants.tenant) FROM tenants
        WHERE tenants.tenant IS NOT NULL
      )
      SELECT tenant FROM tenants WHERE tenant IS NOT NULL`,
  ])
  return rows.map((row) => row['tenant'] as string)
}

/** The rows of a list that belong to one tenant. */
interface Part<P extends Page> {
  table: Table
  tenant: string
  page: P
  from: Place
}

/** Reads the rows of one tenant. `select` gives the statement, for rows from the time `since` on. */
async function foundIn<P extends Page>(
  run: Run,
  part: Part<P>,
  select: (part: Part<P>, since: number) => string,
): Promise<Found<Row>> {
  const { table, tenant, page, from } = part
  const { name, id, at } = table
  const lastRead = sql`
    SELECT ${at} AS at FROM ${name} WHERE tenant = ${tenant} AND ${at} <= ${from.at}
    ORDER BY ${at} DESC LIMIT 1 OFFSET ${MOST_READ}`
  const [[last] = []] = hasConditions(page) ? await run([lastRead]) : []
  if (!last) return { rows: (await run([select(part, 0)]))[0]! }
  const since = last['at'] as number
  const [rows, first] = await run([
    select(part, since),
    sql`SELECT min(${id} COLLATE "C") AS id FROM ${name} WHERE tenant = ${tenant} AND ${at} = ${since}`,
  ])
  return { rows: rows!, cut: { at: since, id: first![0]!['id'] as string } }
}

function endedTurns({ tenant, page, from }: Part<TurnPage>, since: number): string {
  const { state } = turnConditions(page)
  return sql`
    SELECT turn, session, tenant, agent, front, owner, epoch, request, started_at, ended_at, outcome, code, delivered,
      losses, measures, usage, named
    FROM turns ${NAMED}
    WHERE tenant = ${tenant} AND started_at >= ${since} AND outcome = coalesce(${state}, outcome) AND outcome <> ${DELETED}
      AND ${turnMatches(page, from, TEXT_OF_ENDED)}
    ORDER BY started_at DESC, turn COLLATE "C" DESC LIMIT ${page.limit + 1}`
}

/** Few turns run: those of all tenants are read at once. */
function runningTurns(page: TurnPage, from: Place): string {
  return sql`
    SELECT running.*, named FROM running ${NAMED}
    WHERE tenant = coalesce(${page.tenant ?? null}, tenant) AND ${turnMatches(page, from, TEXT_OF_RUNNING)}`
}

function turnMatches(page: TurnPage, { at, id }: Place, searched: Raw): Raw {
  const { agent, front, session, text } = turnConditions(page)
  return new Raw(sql`
    (started_at, turn COLLATE "C") < (${at}, ${id}) AND agent = coalesce(${agent}, agent)
    AND front = coalesce(${front}, front) AND (${session} IS NULL OR session = ${session} OR named = ${session})
    AND ${contains(searched, text)}`)
}

function sessionsOf({ tenant, page, from }: Part<Page>, since: number): string {
  const { agent, text } = sessionConditions(page)
  return sql`
    SELECT ${SESSION} FROM sessions
    WHERE tenant = ${tenant} AND used_at >= ${since} AND (used_at, id COLLATE "C") < (${from.at}, ${from.id})
      AND agent = coalesce(${agent}, agent) AND ${contains(TEXT_OF_SESSION, text)}
    ORDER BY used_at DESC, id COLLATE "C" DESC LIMIT ${page.limit + 1}`
}

/** Letters of ASCII are equal in either case, whatever the locale of the database. */
function contains(searched: Raw, text: string | null): Raw {
  return new Raw(text === null ? 'TRUE' : sql`position(${text} in lower((${searched}) COLLATE "C")) > 0`)
}
