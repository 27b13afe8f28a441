import type {
  Claim,
  EventBlock,
  HeardBy,
  Holder,
  LeaseRef,
  Listed,
  ListedTurn,
  Page,
  ReplicaStore,
  RequestCount,
  SessionKey,
  SessionRecord,
  SessionSettings,
  SharedStore,
  Spent,
  TurnAdditions,
  TurnPage,
  TurnPlace,
  TurnRecord,
} from '../../contract/index.ts'
import { addUsage, type Id, type Message, type Usage } from '../../model/index.ts'
import { storeProblem } from '../errors.ts'
import { heardBy, type Row, requestCount, sessionRecord, spentSum, turnRecord } from '../rows.ts'
import * as claims from './claim-statements.ts'
import type { Connector } from './connection.ts'
import { POSTGRES_PROBLEMS, postgresError } from './errors.ts'
import * as use from './key-use.ts'
import type { Lane, Results, Way } from './lane.ts'
import * as leases from './lease-statements.ts'
import { listSessions, listTurns } from './lists.ts'
import { pruneTurns } from './prune.ts'
import { PostgresReplicas } from './replicas.ts'
import { NEWEST, tooNew } from './schema.ts'
import type { ServerClock } from './server-clock.ts'
import * as sessions from './session-statements.ts'
import * as turns from './turn-statements.ts'
import * as writes from './turn-writes.ts'

/** The length of a day, in milliseconds. */
const DAY_MS = 86_400_000

/** The dependencies of a store. `place` names it in messages. */
export interface PostgresParts {
  connector: Connector
  place: string
  clock: ServerClock
  lane: Lane
}

/**
 * A store in PostgreSQL. Each method is one message to the server, shared with everything else that is ready (see
 * `Lane`). Every write may be done twice, because a lost connection hides whether it was done.
 */
export class PostgresStore implements SharedStore {
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
    this.replicas = new PostgresReplicas((statements, way) => this.#run(statements, way), clock)
  }

  commit(): Promise<void> {
    return this.#lane.settled()
  }

  async probe(): Promise<void> {
    await this.#run([claims.probe()], { once: true })
  }

  async openSession(key: SessionKey, id: Id, now: number): Promise<SessionRecord> {
    return sessionRecord((await this.#row(sessions.openSession(key, id, now)))!)
  }

  async findSession(key: SessionKey): Promise<SessionRecord | undefined> {
    const row = await this.#row(sessions.findSession(key))
    return row && sessionRecord(row)
  }

  async readSession(id: Id): Promise<SessionRecord | undefined> {
    const row = await this.#row(sessions.readSession(id))
    return row && sessionRecord(row)
  }

  async heardBy(id: Id): Promise<HeardBy | undefined> {
    return heardBy((await this.#row(sessions.heardBy(id)))!)
  }

  listSessions(page: Page): Promise<Listed<SessionRecord> | undefined> {
    return listSessions((statements) => this.#run(statements), page)
  }

  bindSession(id: Id, bound: string | undefined, by?: LeaseRef): Promise<void> {
    return this.#write(sessions.bindSession(id, bound, by))
  }

  async setSession(id: Id, settings: SessionSettings, by?: LeaseRef): Promise<boolean> {
    const row = await this.#row(sessions.readSettings(id, by))
    if (!row) return true
    if (row['own'] !== 1) return false
    const before = row['settings'] as string | null
    const after = merged(JSON.parse(before ?? '{}') as SessionSettings, settings)
    const set = await this.#row(sessions.replaceSettings(id, before, JSON.stringify(after), by))
    // Another gateway has set something in between.
    return set !== undefined || this.setSession(id, settings, by)
  }

  async clearSession(id: Id, now: number, by?: LeaseRef): Promise<number | undefined> {
    const epochs = (await this.#run(sessions.clearSession(id, now, by))).at(-1)!
    return epochs[0]?.['epoch'] as number | undefined
  }

  touchSession(id: Id, now: number): Promise<void> {
    return this.#write(sessions.touchSession(id, now))
  }

  async usageOf(id: Id): Promise<Usage | undefined> {
    const usages = (await this.#rows(sessions.readUsage(id))).map((row) => JSON.parse(row['usage'] as string) as Usage)
    return usages.length === 0 ? undefined : usages.reduce(addUsage)
  }

  async deleteSession(id: Id, by?: LeaseRef): Promise<boolean> {
    const known = await this.readSession(id)
    return !known || (await this.#run(sessions.deleteSession(id, known, by))).at(-1)!.length === 0
  }

  appendMessage(session: Id, message: Message, by?: LeaseRef): Promise<void> {
    return this.#write(sessions.appendMessage(session, message, by))
  }

  async readMessages(session: Id, until?: Id): Promise<Message[]> {
    const rows = await this.#rows(sessions.readMessages(session, until))
    return rows.flatMap((row) => JSON.parse(row['json'] as string) as Message | Message[])
  }

  async beginTurn(record: TurnRecord, claim?: string): Promise<boolean> {
    const begun = (await this.#run(writes.beginTurn(record, claim))).at(-1)!
    return begun.length > 0 || !(await this.#row(writes.notBegun(record, claim)))
  }

  async endTurn(record: TurnRecord, additions: TurnAdditions = {}): Promise<boolean> {
    if (await this.#row(writes.endTurn(record, additions))) return true
    return (await this.#run(writes.notEnded(record, additions))).at(-1)!.length === 0
  }

  async findKnown(known: string, limit: number): Promise<Id[]> {
    return (await this.#rows(turns.findKnown(known, limit))).map(({ turn }) => turn as string)
  }

  markDelivered(turn: Id): Promise<void> {
    return this.#write(turns.markDelivered(turn))
  }

  async readTurn(turn: Id): Promise<TurnRecord | undefined> {
    const row = (await this.#run(turns.readTurn(turn))).flat().at(-1)
    return row && turnRecord(row)
  }

  async readTurnMessages(turn: Id): Promise<Message[] | undefined> {
    const row = await this.#row(turns.readTurnMessages(turn))
    return row && (JSON.parse((row['messages'] as string | null) ?? '[]') as Message[])
  }

  async deleteTurn(turn: Id): Promise<boolean> {
    return (await this.#run(turns.deleteTurn(turn)))[0]!.length > 0
  }

  async readWire(turn: Id): Promise<string | undefined> {
    return (await this.#row(turns.readWire(turn)))?.['wire'] as string | undefined
  }

  listTurns(page: TurnPage): Promise<Listed<ListedTurn> | undefined> {
    return listTurns((statements) => this.#run(statements), page)
  }

  async unfinishedTurns(session?: Id): Promise<TurnRecord[]> {
    return (await this.#rows(turns.unfinishedTurns(session))).map(turnRecord)
  }

  async lostTurns(now: number): Promise<TurnRecord[]> {
    return (await this.#rows(turns.lostTurns(now))).map(turnRecord)
  }

  async takeLease(owner: string, now: number, expiresAt: number): Promise<number> {
    const row = await this.#row(leases.takeLease(owner, now, expiresAt))
    if (!row) throw tooNew((await this.#row(NEWEST))!['version'] as number, this.#place)
    this.#clock.heard(row['clock'] as number)
    return row['epoch'] as number
  }

  async renewLease(lease: LeaseRef, expiresAt: number): Promise<boolean> {
    const row = await this.#row(leases.renewLease(lease, expiresAt))
    if (row) this.#clock.heard(row['clock'] as number)
    return row !== undefined
  }

  async lapseLease(lease: LeaseRef, now: number, lastCallMs: number): Promise<boolean> {
    const ended = await this.#run(leases.lapseLease(lease, now, now + lastCallMs), { shares: `lease ${lease.owner}` })
    return ended.at(-1)!.length === 0
  }

  async hasOtherLease(owner: string, now: number): Promise<boolean> {
    return (await this.#row(leases.otherLease(owner, now))) !== undefined
  }

  dropLease(lease: LeaseRef): Promise<void> {
    return this.#write(leases.dropLease(lease))
  }

  async appendEvents(blocks: readonly EventBlock[]): Promise<void> {
    await this.#run(blocks.map(writes.appendBlock))
  }

  async readEvents(turn: Id, after: number): Promise<EventBlock[]> {
    const rows = await this.#rows(turns.readBlocks(turn, after))
    return rows.map((row) => ({ turn, seq: row['seq'] as number, lines: row['json'] as string }))
  }

  async spentOf(tenant: string, day: number): Promise<Spent> {
    return spentSum((await this.#row(use.spentOn(tenant, day)))!)
  }

  async takePlace(place: TurnPlace, most: number): Promise<boolean> {
    return (await this.#run(use.placeTaken(place, most), { shares: `tenant ${place.tenant}` })).at(-1)!.length > 0
  }

  givePlace(turn: Id): Promise<void> {
    return this.#write(use.placeGiven(turn))
  }

  async shareCounts(process: Id, counts: ReadonlyMap<string, number>, now: number): Promise<RequestCount[]> {
    return (await this.#run(use.countsShared(process, counts, now))).at(-1)!.map(requestCount)
  }

  claim(key: string, turn: Id, body: string, now: number, ttlMs: number): Promise<Claim> {
    return this.#claimed(key, [claims.claim(key, turn, body, now, ttlMs)])
  }

  reclaim(key: string, turn: Id, body: string, now: number, from?: Holder): Promise<Claim> {
    return this.#claimed(key, claims.reclaim(key, turn, body, now, from))
  }

  /** The result of a claim. When its holder gave up the key in the same moment, it is claimed again. */
  async #claimed(key: string, claim: readonly string[]): Promise<Claim> {
    const [taken, held] = (await this.#run([...claim, claims.readClaim(key)], { shares: `claim ${key}` })).slice(-2)
    if (taken![0]) return { state: 'new' }
    const [holder] = held!
    if (!holder) return this.#claimed(key, claim)
    return { state: 'held', turn: holder['turn'] as string, body: holder['body'] as string }
  }

  async release(key: string, turn: Id): Promise<void> {
    await this.#run(claims.releaseClaim(key, turn))
  }

  async prune(before: number, limit: number): Promise<number> {
    await this.#run([claims.pruneClaims(before), leases.pruneLeases(before), ...use.usePruned(before - DAY_MS)])
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

  #run(statements: readonly string[], way?: Way): Promise<Results> {
    if (this.#closed) throw storeProblem('closed', this.#place, undefined, undefined, POSTGRES_PROBLEMS)
    return this.#told(() => this.#lane.run(statements, way))
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

function merged(before: SessionSettings, { options, ...settings }: SessionSettings): SessionSettings {
  const after = { ...before, ...settings, ...(options && { options: { ...before.options, ...options } }) }
  if (after.fork === null) delete after.fork
  return after
}
