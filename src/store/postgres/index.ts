import type {
  Claim,
  EventBlock,
  LeaseRef,
  Listed,
  ListedTurn,
  Page,
  PostgresLocation,
  ReplicaStore,
  RequestCount,
  SessionKey,
  SessionRecord,
  SessionSettings,
  SharedStore,
  Spent,
  Store,
  TurnAdditions,
  TurnPage,
  TurnPlace,
  TurnRecord,
} from '../../contract/index.ts'
import { addUsage, type Id, type Message, type Usage } from '../../model/index.ts'
import { digestOf, randomId } from '../../startup/index.ts'
import { StoreError } from '../errors.ts'
import type { StoreVersion } from '../index.ts'
import { keyDigest } from '../key-text.ts'
import { DELETED, type Row, requestCount, spentSum } from '../rows.ts'
import { type Connector, connect } from './connection.ts'
import { POSTGRES_PROBLEMS, postgresError } from './errors.ts'
import { countsShared, endAndSpend, placeTaken, spentOn, usePruned } from './key-use.ts'
import { Lane, type Results } from './lane.ts'
import { listSessions, listTurns } from './lists.ts'
import { pruneTurns } from './prune.ts'
import { PostgresReplicas } from './replicas.ts'
import { column, keyColumns, LAST_TURN, sessionOf, turnOf, turnValues } from './rows.ts'
import { checkVersions, migrate, readVersions, SCHEMA_VERSION } from './schema.ts'
import { ServerClock } from './server-clock.ts'
import { Raw, sql } from './sql.ts'

/** The life of a claim that took over a key whose claim was gone: a day, in milliseconds. */
const RECLAIM_TTL_MS = 86_400_000

/** The length of a day, in milliseconds. */
const DAY_MS = 86_400_000

/** The server's time, in milliseconds since the epoch. */
const CLOCK = new Raw('CAST(1000 * EXTRACT(EPOCH FROM clock_timestamp()) AS BIGINT) AS clock')

/** The condition of turns that are not deleted. */
const KEPT = new Raw(sql`outcome <> ${DELETED}`)

/** The time for which writes are tried again while the server is away, in milliseconds. */
const PATIENCE_MS = 10_000

/** The number of characters that a probe writes. */
const PROBE_LENGTH = 8192

/**
 * Opens the store in a schema of a PostgreSQL database, which any number of gateways may share, and migrates its tables.
 * A write is durable when its promise resolves. While the server is away, writes are tried again for `patienceMs`
 * milliseconds; then they fail at once until it is back. This function and all methods reject with a `StoreError` that names the server, without
 * its password, and the remedy.
 */
export async function openPostgresStore({ url, schema }: PostgresLocation, patienceMs = PATIENCE_MS): Promise<Store> {
  const place = placeOf(url, schema)
  try {
    const connection = await connect(url, schema)
    const clock = new ServerClock()
    try {
      await migrate(connection, schema, place)
      const [rows] = await connection.query<{ clock: number }>(sql`SELECT ${CLOCK}`)
      clock.heard(rows![0]!.clock)
    } catch (error) {
      await connection.end()
      throw error
    }
    const connector = () => connect(url, schema)
    return new PostgresStore({ connector, place, clock, lane: new Lane(connector, connection, patienceMs) })
  } catch (error) {
    throw postgresError(error, place)
  }
}

/** Reads the version of the tables, and changes nothing. Rejects with a `StoreError`. */
export async function postgresVersion({ url, schema }: PostgresLocation): Promise<StoreVersion> {
  const place = placeOf(url, schema)
  try {
    const connection = await connect(url, schema)
    const versions = await readVersions(connection).finally(() => connection.end())
    checkVersions(versions, place)
    return { place, version: versions.version, latest: SCHEMA_VERSION }
  } catch (error) {
    throw postgresError(error, place)
  }
}

/** The server and schema, for messages: without user and password. */
function placeOf(url: string, schema: string): string {
  const { host, pathname } = new URL(url)
  return `postgres://${host}${pathname} (schema ${schema})`
}

/** The dependencies of a store. `place` names it in messages. */
interface PostgresParts {
  connector: Connector
  place: string
  clock: ServerClock
  lane: Lane
}

/**
 * Each method is one message to the server, shared with everything else that is ready (see `Lane`). Every write may be
 * done twice, because a lost connection hides whether it was done.
 */
class PostgresStore implements SharedStore {
  readonly replicas: ReplicaStore
  readonly #lane: Lane
  readonly #connect: Connector
  readonly #place: string
  readonly #clock: ServerClock
  #closed = false

  constructor({ connector, place, clock, lane }: PostgresParts) {
    this.#connect = connector
    this.#place = place
    this.#clock = clock
    this.#lane = lane
    this.replicas = new PostgresReplicas((statements) => this.#run(statements), clock)
  }

  commit(): Promise<void> {
    return this.#lane.idle()
  }

  async probe(): Promise<void> {
    const body = 'x'.repeat(PROBE_LENGTH)
    const claim = sql`
      INSERT INTO claims (key, turn, body, claimed_at, expires_at) VALUES ('probe', '', ${body}, 0, 0)
      ON CONFLICT (key) DO UPDATE SET body = excluded.body`
    await this.#run([claim], 'once')
  }

  async openSession(key: SessionKey, id: Id, now: number): Promise<SessionRecord> {
    const { tenant, agent, session, conversation } = keyColumns(key)
    const digest = keyDigest(key)
    const row = await this.#row(sql`
      INSERT INTO sessions (id, key, tenant, agent, session, conversation, created_at, used_at, epoch)
      SELECT ${id}, ${digest}, ${tenant}, ${agent}, ${session}, ${conversation}, ${now}, ${now},
        CASE WHEN EXISTS (SELECT 1 FROM forgotten WHERE key = ${digest}) THEN ${Math.max(1, now)} ELSE 0 END
      ON CONFLICT (key) DO UPDATE SET used_at = greatest(sessions.used_at, excluded.used_at)
      RETURNING *, ${LAST_TURN}`)
    return sessionOf(row!)
  }

  async findSession(key: SessionKey): Promise<SessionRecord | undefined> {
    const row = await this.#row(sql`SELECT *, ${LAST_TURN} FROM sessions WHERE key = ${keyDigest(key)}`)
    return row && sessionOf(row)
  }

  async readSession(id: Id): Promise<SessionRecord | undefined> {
    const row = await this.#row(sql`SELECT *, ${LAST_TURN} FROM sessions WHERE id = ${id}`)
    return row && sessionOf(row)
  }

  async isUsed(id: Id): Promise<boolean> {
    // A turn with one of these codes was taken by no agent.
    const row = await this.#row(sql`
      SELECT CAST(EXISTS (
        SELECT 1 FROM turns WHERE session = ${id} AND started_at >= (SELECT epoch FROM sessions WHERE id = ${id})
        AND coalesce(code, '') NOT IN ('agent-unavailable', 'overloaded', 'session-busy', 'session-not-found')
      ) OR EXISTS (
        SELECT 1 FROM running WHERE session = ${id} AND started_at >= (SELECT epoch FROM sessions WHERE id = ${id})
      ) OR EXISTS (SELECT 1 FROM messages WHERE session = ${id} AND answered = 1) AS INT) AS used`)
    return row!['used'] === 1
  }

  listSessions(page: Page): Promise<Listed<SessionRecord> | undefined> {
    return listSessions((statements) => this.#run(statements), page)
  }

  bindSession(id: Id, bound: string | undefined): Promise<void> {
    return this.#write(sql`UPDATE sessions SET bound = ${column(bound)} WHERE id = ${id}`)
  }

  async setSession(id: Id, settings: SessionSettings): Promise<void> {
    const row = await this.#row(sql`SELECT settings FROM sessions WHERE id = ${id}`)
    if (!row) return
    const before = row['settings'] as string | null
    const after = JSON.stringify({ ...(before && (JSON.parse(before) as SessionSettings)), ...settings })
    const set = await this.#row(sql`
      UPDATE sessions SET settings = ${after} WHERE id = ${id} AND settings IS NOT DISTINCT FROM ${before} RETURNING id`)
    // Another gateway has set something in between.
    if (!set) await this.setSession(id, settings)
  }

  async clearSession(id: Id, now: number): Promise<number | undefined> {
    const [, , epochs] = await this.#run([
      sql`DELETE FROM messages WHERE session = ${id}`,
      sql`UPDATE turns SET messages = NULL WHERE session = ${id} AND messages IS NOT NULL`,
      sql`UPDATE sessions SET epoch = greatest(${now}, epoch + 1), bound = NULL WHERE id = ${id} RETURNING epoch`,
    ])
    return epochs![0]?.['epoch'] as number | undefined
  }

  touchSession(id: Id, now: number): Promise<void> {
    return this.#write(sql`UPDATE sessions SET used_at = greatest(used_at, ${now}) WHERE id = ${id}`)
  }

  async usageOf(id: Id): Promise<Usage | undefined> {
    const rows = await this.#rows(sql`
      SELECT usage FROM sessions WHERE id = ${id} AND usage IS NOT NULL
      UNION ALL SELECT usage FROM turns WHERE session = ${id} AND usage IS NOT NULL`)
    const usages = rows.map((row) => JSON.parse(row['usage'] as string) as Usage)
    return usages.length === 0 ? undefined : usages.reduce(addUsage)
  }

  async deleteSession(id: Id): Promise<void> {
    const known = await this.readSession(id)
    if (!known) return
    await this.#run([
      sql`INSERT INTO forgotten (key) VALUES (${keyDigest(known)}) ON CONFLICT DO NOTHING`,
      sql`
        DELETE FROM events WHERE turn IN (
          SELECT turn FROM turns WHERE session = ${id} UNION ALL SELECT turn FROM running WHERE session = ${id}
        )`,
      sql`DELETE FROM turns WHERE session = ${id}`,
      sql`DELETE FROM running WHERE session = ${id}`,
      sql`DELETE FROM messages WHERE session = ${id}`,
      sql`DELETE FROM sessions WHERE id = ${id}`,
    ])
  }

  appendMessage(session: Id, message: Message): Promise<void> {
    const answered = Number(message.role !== 'user')
    // The messages of a turn have twice its position as their place, those between two turns the odd number after it.
    return this.#write(sql`
      INSERT INTO messages (id, session, answered, json, place)
      SELECT ${randomId(16)}, id, ${answered}, ${JSON.stringify(message)}, greatest(
        2 * coalesce((SELECT max(position) FROM turns WHERE session = sessions.id), 0),
        coalesce((SELECT max(place) FROM messages WHERE session = sessions.id), 0)
      ) | 1 FROM sessions WHERE id = ${session}
      ON CONFLICT (id) DO NOTHING`)
  }

  async readMessages(session: Id, until?: Id): Promise<Message[]> {
    const last = new Raw(
      until === undefined ? 'TRUE' : sql`place <= (SELECT 2 * position FROM turns WHERE turn = ${until})`,
    )
    const rows = await this.#rows(sql`
      SELECT json FROM (
        SELECT json, place, position FROM messages WHERE session = ${session}
        UNION ALL SELECT messages, 2 * position, 0 FROM turns WHERE session = ${session} AND messages IS NOT NULL
      ) AS said (json, place, position) WHERE ${last} ORDER BY place, position`)
    return rows.flatMap((row) => JSON.parse(row['json'] as string) as Message | Message[])
  }

  async beginTurn(record: TurnRecord): Promise<boolean> {
    const { turn, session, tenant, agent, front, owner, epoch, request, startedAt } = record
    const isOfOther = new Raw(sql`owner <> ${owner} OR owner_epoch <> ${epoch}`)
    const [, foreign] = await this.#run([
      sql`
        INSERT INTO running (turn, session, tenant, agent, front, owner, epoch, request, started_at)
        SELECT ${turn}, id, ${tenant}, ${agent}, ${front}, ${owner}, ${epoch}, ${column(request)}, ${startedAt}
        FROM sessions WHERE id = ${session} AND (owner IS NULL OR NOT (${isOfOther}))
        ON CONFLICT (turn) DO UPDATE SET session = excluded.session, agent = excluded.agent`,
      sql`SELECT 1 FROM sessions WHERE id = ${session} AND (${isOfOther})`,
    ])
    return foreign!.length === 0
  }

  async endTurn(record: TurnRecord, additions: TurnAdditions = {}): Promise<boolean> {
    const { turn, session, outcome = 'failed', endedAt = record.startedAt } = record
    // A position is the time of the end, or the next number in the session: what is deleted was before it.
    const end = sql`
      INSERT INTO turns (
        position, session, turn, tenant, agent, front, owner, epoch, request, started_at, ended_at, outcome, code,
        delivered, losses, measures, usage, seq, messages, events, known, wire
      )
      SELECT greatest(${endedAt}, coalesce((SELECT max(position) FROM turns WHERE session = ${session}), 0) + 1), id,
        ${turnValues(record, additions)}
      FROM sessions WHERE id = ${session}
      ON CONFLICT (turn) DO NOTHING`
    const { spent } = additions
    const [, , other] = await this.#run([
      spent ? endAndSpend(end, record, spent) : end,
      sql`DELETE FROM running WHERE turn = ${turn}`,
      // Its own one may have been written before, on a connection that was lost.
      sql`SELECT 1 FROM turns WHERE turn = ${turn} AND NOT (ended_at = ${endedAt} AND outcome = ${outcome})`,
    ])
    return other!.length === 0
  }

  async findKnown(known: string, limit: number): Promise<Id[]> {
    const rows = await this.#rows(sql`
      SELECT turn FROM turns WHERE known = ${known} AND NOT EXISTS (
        SELECT 1 FROM turns AS later WHERE later.session = turns.session AND later.position > turns.position
      ) ORDER BY inserted DESC LIMIT ${limit}`)
    return rows.map(({ turn }) => turn as string)
  }

  markDelivered(turn: Id): Promise<void> {
    return this.#write(sql`UPDATE turns SET delivered = 1 WHERE turn = ${turn}`)
  }

  async readTurn(turn: Id): Promise<TurnRecord | undefined> {
    const [ended, running] = await this.#run([
      sql`SELECT * FROM turns WHERE turn = ${turn} AND ${KEPT}`,
      sql`SELECT * FROM running WHERE turn = ${turn}`,
    ])
    const row = ended![0] ?? running![0]
    return row && turnOf(row)
  }

  async readTurnMessages(turn: Id): Promise<Message[] | undefined> {
    const row = await this.#row(sql`SELECT messages FROM turns WHERE turn = ${turn} AND ${KEPT}`)
    return row && (JSON.parse((row['messages'] as string | null) ?? '[]') as Message[])
  }

  async deleteTurn(turn: Id): Promise<void> {
    await this.#run([
      // A row without content keeps the turn's place in its session, and its usage, until it is pruned.
      sql`
        UPDATE turns SET outcome = ${DELETED}, request = NULL, code = NULL, losses = NULL, measures = NULL, seq = NULL,
          messages = NULL, events = NULL, known = NULL, wire = NULL
        WHERE turn = ${turn}`,
      sql`DELETE FROM events WHERE turn = ${turn} AND EXISTS (SELECT 1 FROM turns WHERE turn = ${turn})`,
    ])
  }

  async readWire(turn: Id): Promise<string | undefined> {
    const row = await this.#row(sql`SELECT wire FROM turns WHERE turn = ${turn} AND wire IS NOT NULL`)
    return row?.['wire'] as string | undefined
  }

  listTurns(page: TurnPage): Promise<Listed<ListedTurn> | undefined> {
    return listTurns((statements) => this.#run(statements), page)
  }

  async unfinishedTurns(session?: Id): Promise<TurnRecord[]> {
    const rows = await this.#rows(
      session === undefined
        ? 'SELECT * FROM running ORDER BY started_at, turn'
        : sql`SELECT * FROM running WHERE session = ${session} ORDER BY started_at, turn`,
    )
    return rows.map(turnOf)
  }

  async lostTurns(now: number): Promise<TurnRecord[]> {
    const rows = await this.#rows(sql`
      SELECT running.* FROM running LEFT JOIN leases ON leases.owner = running.owner AND leases.epoch = running.epoch
      WHERE coalesce(expires_at, 0) <= ${this.#clock.at(now)} ORDER BY started_at, turn`)
    return rows.map(turnOf)
  }

  async takeLease(owner: string, now: number, expiresAt: number): Promise<number> {
    const row = await this.#row(sql`
      INSERT INTO leases (owner, epoch, expires_at, last_call) VALUES (${owner}, ${this.#clock.at(now)}, ${this.#clock.at(expiresAt)}, 0)
      ON CONFLICT (owner) DO UPDATE SET
        epoch = greatest(excluded.epoch, leases.epoch + 1), expires_at = excluded.expires_at, last_call = 0
      RETURNING epoch, ${CLOCK}`)
    this.#clock.heard(row!['clock'] as number)
    return row!['epoch'] as number
  }

  async renewLease({ owner, epoch }: LeaseRef, expiresAt: number): Promise<boolean> {
    const row = await this.#row(sql`
      UPDATE leases SET expires_at = ${this.#clock.at(expiresAt)}, last_call = 0
      WHERE owner = ${owner} AND epoch = ${epoch} RETURNING ${CLOCK}`)
    if (row) this.#clock.heard(row['clock'] as number)
    return row !== undefined
  }

  async lapseLease({ owner, epoch }: LeaseRef, now: number, lastCallMs: number): Promise<boolean> {
    const expired = new Raw(sql`owner = ${owner} AND epoch = ${epoch} AND expires_at <= ${this.#clock.at(now)}`)
    const [, , left] = await this.#run([
      sql`DELETE FROM leases WHERE ${expired} AND last_call = 1`,
      sql`UPDATE leases SET expires_at = ${this.#clock.at(now + lastCallMs)}, last_call = 1 WHERE ${expired} AND last_call = 0`,
      sql`SELECT 1 FROM leases WHERE owner = ${owner} AND epoch = ${epoch}`,
    ])
    return left!.length === 0
  }

  async hasOtherLease(owner: string, now: number): Promise<boolean> {
    const row = await this.#row(
      sql`SELECT 1 FROM leases WHERE owner <> ${owner} AND expires_at > ${this.#clock.at(now)} LIMIT 1`,
    )
    return row !== undefined
  }

  dropLease({ owner, epoch }: LeaseRef): Promise<void> {
    return this.#write(sql`DELETE FROM leases WHERE owner = ${owner} AND epoch = ${epoch}`)
  }

  async appendEvents(blocks: readonly EventBlock[]): Promise<void> {
    await this.#run(
      blocks.map(
        ({ turn, seq, lines }) => sql`
          INSERT INTO events (turn, seq, json) SELECT turn, ${seq}, ${lines} FROM running WHERE turn = ${turn}
          ON CONFLICT DO NOTHING`,
      ),
    )
  }

  async readEvents(turn: Id, after: number): Promise<EventBlock[]> {
    // The block that may contain the first wanted event, and all later ones.
    const rows = await this.#rows(sql`
      SELECT seq, json FROM events
      WHERE turn = ${turn}
        AND seq >= coalesce((SELECT max(seq) FROM events WHERE turn = ${turn} AND seq <= ${after + 1}), 0)
      UNION ALL SELECT seq, events FROM turns WHERE turn = ${turn} AND events IS NOT NULL ORDER BY seq`)
    return rows.map((row) => ({ turn, seq: row['seq'] as number, lines: row['json'] as string }))
  }

  async spentOf(tenant: string, day: number): Promise<Spent> {
    return spentSum((await this.#row(spentOn(tenant, day)))!)
  }

  async takePlace(place: TurnPlace, most: number): Promise<boolean> {
    return (await this.#run(placeTaken(place, most))).at(-1)!.length > 0
  }

  givePlace(turn: Id): Promise<void> {
    return this.#write(sql`DELETE FROM places WHERE turn = ${turn}`)
  }

  async shareCounts(process: Id, counts: ReadonlyMap<string, number>, now: number): Promise<RequestCount[]> {
    return (await this.#run(countsShared(process, counts, now))).at(-1)!.map(requestCount)
  }

  claim(key: string, turn: Id, body: string, now: number, ttlMs: number): Promise<Claim> {
    return this.#claimed(
      key,
      sql`
        INSERT INTO claims (key, turn, body, claimed_at, expires_at)
        VALUES (${digestOf(key)}, ${turn}, ${body}, ${now}, ${now + ttlMs})
        ON CONFLICT (key) DO UPDATE SET
          turn = excluded.turn, body = excluded.body, claimed_at = excluded.claimed_at, expires_at = excluded.expires_at
        WHERE claims.expires_at <= excluded.claimed_at OR claims.turn = excluded.turn
        RETURNING turn`,
    )
  }

  reclaim(key: string, turn: Id, body: string, now: number, from?: Id): Promise<Claim> {
    const holder = new Raw(from === undefined ? 'TRUE' : sql`claims.turn IN (${from}, ${turn})`)
    return this.#claimed(
      key,
      sql`
        INSERT INTO claims (key, turn, body, claimed_at, expires_at)
        VALUES (${digestOf(key)}, ${turn}, ${body}, ${now}, ${now + RECLAIM_TTL_MS})
        ON CONFLICT (key) DO UPDATE SET
          turn = excluded.turn, body = excluded.body, claimed_at = excluded.claimed_at,
          expires_at = excluded.claimed_at + (claims.expires_at - claims.claimed_at)
        WHERE ${holder}
        RETURNING turn`,
    )
  }

  /** The result of a claim. When its holder gave up the key in the same moment, it is claimed again. */
  async #claimed(key: string, claim: string): Promise<Claim> {
    const [taken, held] = await this.#run([claim, sql`SELECT turn, body FROM claims WHERE key = ${digestOf(key)}`])
    if (taken![0]) return { state: 'new' }
    const [holder] = held!
    if (!holder) return this.#claimed(key, claim)
    return { state: 'held', turn: holder['turn'] as string, body: holder['body'] as string }
  }

  release(key: string): Promise<void> {
    return this.#write(sql`DELETE FROM claims WHERE key = ${digestOf(key)}`)
  }

  async prune(before: number, limit: number): Promise<number> {
    await this.#run([
      sql`DELETE FROM claims WHERE expires_at < ${before}`,
      sql`DELETE FROM leases WHERE expires_at < ${this.#clock.at(before)}`,
      ...usePruned(before - DAY_MS),
    ])
    return this.#told(async () => {
      // Its transaction has two messages: others do not wait for it.
      const connection = await this.#connect()
      return pruneTurns(connection, before, limit).finally(() => connection.end())
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#lane.close()
  }

  async #write(statement: string): Promise<void> {
    await this.#run([statement])
  }

  async #row(statement: string): Promise<Row | undefined> {
    return (await this.#rows(statement))[0]
  }

  async #rows(statement: string): Promise<readonly Row[]> {
    return (await this.#run([statement]))[0]!
  }

  #run(statements: readonly string[], once?: 'once'): Promise<Results> {
    if (this.#closed) throw new StoreError('closed', this.#place, undefined, undefined, POSTGRES_PROBLEMS)
    return this.#told(() => this.#lane.run(statements, once))
  }

  /** Runs work, with errors as `StoreError`. */
  async #told<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw postgresError(error, this.#place)
    }
  }
}
