import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import {
  type Awaitable,
  type Claim,
  type DaySpent,
  type EventBlock,
  type HeardBy,
  type Holder,
  type LeaseRef,
  type Listed,
  type ListedTurn,
  type Page,
  type RequestCount,
  type SessionKey,
  type SessionRecord,
  type SessionSettings,
  type Spent,
  type Store,
  StoreError,
  type TurnAdditions,
  type TurnPage,
  type TurnPlace,
  type TurnRecord,
} from '../contract/index.ts'
import { addUsage, type Id, type Message, type Usage } from '../model/index.ts'
import { openDatabase, RUNNING_BUSY_MS } from './database.ts'
import { storeError } from './errors.ts'
import { column, keyColumns, keyDigest } from './key-text.ts'
import { listSessions, listTurns } from './list-rows.ts'
import { pruneTurns } from './prune.ts'
import { RetryQueue } from './retry-queue.ts'
import { heardBy, type Row, requestCount, sessionRecord, spentSum, turnRecord, turnRow } from './rows.ts'
import { prepareAll, type Statements } from './statements.ts'
import { ShortTransactions, TickTransaction, type Writes } from './transaction.ts'

/** The life of a claim that took over a key whose claim was gone: a day, in milliseconds. */
const RECLAIM_TTL_MS = 86_400_000

/** The length of a day, in milliseconds. */
const DAY_MS = 86_400_000

/**
 * The number of characters from which a text is not left with the statement that has written it: SQLite keeps a copy of what
 * is bound to one until something else is.
 */
const LARGE = 1_048_576

/** The number of characters that a probe writes. */
const PROBE_LENGTH = 65_536

/** The longest time for which a short-lived store tries to get the lock of its file, in milliseconds. */
const SHORT_LIVED_PATIENCE_MS = 10_000

/** Options for opening a store. */
export interface SqliteOptions {
  /** Called with the error of a commit at the end of a tick, for which no caller waits. */
  failed?: (error: unknown) => void
  /**
   * The process ends when it closes the store, and many like it may share the file at the same time. Each write is
   * committed by itself, and a write that finds the file locked is tried again for `SHORT_LIVED_PATIENCE_MS`: its
   * method then returns a promise. `close` leaves the log for the next process that opens the file, as after a crash: a
   * checkpoint and a new log take longer than a short turn.
   */
  shortLived?: boolean
}

/**
 * Opens the store in the SQLite file `path`, which any number of processes of one machine may share; `:memory:` ends
 * with its process. Missing file (mode 0600) and folder (0700) are created. Every method answers synchronously, unless
 * the store is short-lived. This function and all methods throw a `StoreError` that names the file and the remedy.
 */
export function openSqliteStore(path: string, options: SqliteOptions = {}): Store {
  const db = openDatabase(path, {
    ...(options.shortLived && { busyMs: SHORT_LIVED_PATIENCE_MS }),
    runningBusyMs: busyMsOf(options.shortLived === true),
  })
  return new SqliteStore(db, path, options)
}

class SqliteStore implements Store {
  readonly #db: DatabaseSync
  readonly #path: string
  readonly #sql: Statements
  readonly #shortLived: boolean
  readonly #writes: Writes
  /** The queue of retried work; only a short-lived store has one. */
  readonly #queue: RetryQueue | undefined

  constructor(db: DatabaseSync, path: string, { failed = () => {}, shortLived = false }: SqliteOptions) {
    this.#db = db
    this.#shortLived = shortLived
    this.#path = path
    this.#sql = prepareAll(db)
    this.#writes = shortLived
      ? new ShortTransactions(db, this.#sql)
      : new TickTransaction(db, this.#sql, (error) => failed(storeError(error, path)))
    if (shortLived) this.#queue = new RetryQueue(isLocked, SHORT_LIVED_PATIENCE_MS)
  }

  commit(): Awaitable<void> {
    return this.#do(() => this.#writes.commit())
  }

  probe(): Awaitable<void> {
    const probe = (): void => {
      this.#writes.commit()
      // The lock may be held for long; the caller probes again later.
      this.#db.exec('PRAGMA busy_timeout = 0')
      try {
        this.#sql.probe.run('x'.repeat(PROBE_LENGTH))
      } finally {
        this.#db.exec(`PRAGMA busy_timeout = ${busyMsOf(this.#shortLived)}`)
      }
    }
    return this.#do(probe, 'once')
  }

  openSession(key: SessionKey, id: Id, now: number): Awaitable<SessionRecord> {
    const row = [id, ...keyColumns(key), now, now] as const
    return this.#write(() => {
      // Most sessions that are opened are new ones, of which there is nothing to read.
      if (this.#sql.newSession.run(...row).changes === 0) return sessionRecord(this.#sql.openSession.get(...row)!)
      const record: SessionRecord = { ...key, id, createdAt: now, usedAt: now }
      return this.#wasDeleted(key) ? { ...record, epoch: this.#beginEpoch(id, now)! } : record
    })
  }

  #wasDeleted(key: SessionKey): boolean {
    return this.#sql.hasForgotten.get()?.['any'] === 1 && this.#sql.isForgotten.get(keyDigest(key)) !== undefined
  }

  #beginEpoch(id: Id, now: number): number | undefined {
    return this.#sql.beginEpoch.get(now, id)?.['epoch'] as number | undefined
  }

  findSession(key: SessionKey): Awaitable<SessionRecord | undefined> {
    return this.#do(() => {
      const row = this.#sql.findSession.get(...keyColumns(key))
      return row && sessionRecord(row)
    })
  }

  readSession(id: Id): Awaitable<SessionRecord | undefined> {
    return this.#do(() => {
      const row = this.#sql.readSession.get(id)
      return row && sessionRecord(row)
    })
  }

  heardBy(id: Id): Awaitable<HeardBy | undefined> {
    return this.#do(() => heardBy(this.#sql.heardBy.get(id, id, id, id)!))
  }

  listSessions(page: Page): Awaitable<Listed<SessionRecord> | undefined> {
    return this.#do(() => listSessions(this.#sql, page))
  }

  bindSession(id: Id, bound: string | undefined): Awaitable<void> {
    return this.#write(() => void this.#sql.bindSession.run(column(bound), id))
  }

  setSession(id: Id, settings: SessionSettings): Awaitable<boolean> {
    return this.#write(() => {
      this.#sql.setSession.run(JSON.stringify(settings), id)
      return true
    })
  }

  clearSession(id: Id, now: number): Awaitable<number | undefined> {
    return this.#atomically(() => {
      this.#sql.clearMessages.run(id)
      this.#sql.clearMessagesOfTurns.run(id)
      return this.#beginEpoch(id, now)
    })
  }

  touchSession(id: Id, now: number): Awaitable<void> {
    return this.#write(() => void this.#sql.touchSession.run(now, id))
  }

  usageOf(id: Id): Awaitable<Usage | undefined> {
    return this.#do(() => {
      const usages = this.#sql.readUsage.all(id, id).map((row) => JSON.parse(row['usage'] as string) as Usage)
      return usages.length === 0 ? undefined : usages.reduce(addUsage)
    })
  }

  deleteSession(id: Id): Awaitable<boolean> {
    return this.#atomically(() => {
      const known = this.#sql.readSession.get(id)
      if (!known) return true
      this.#sql.forget.run(keyDigest(sessionRecord(known)))
      this.#sql.deleteEventsOfSession.run(id, id)
      this.#sql.deleteTurnsOfSession.run(id)
      this.#sql.deleteRunningOfSession.run(id)
      this.#sql.clearMessages.run(id)
      this.#sql.deleteSession.run(id)
      return true
    })
  }

  appendMessage(session: Id, message: Message): Awaitable<void> {
    return this.#write(() => void this.#sql.appendMessage.run(JSON.stringify(message), session))
  }

  readMessages(session: Id, until?: Id): Awaitable<Message[]> {
    const { readMessages, readMessagesUntil } = this.#sql
    return this.#do(() => {
      const rows =
        until === undefined ? readMessages.all(session, session) : readMessagesUntil.all(until, session, session)
      return rows.flatMap((row) => JSON.parse(row['json'] as string) as Message)
    })
  }

  beginTurn(record: TurnRecord, claim?: string): Awaitable<boolean> {
    const { turn, session, tenant, agent, front, owner, epoch, request, startedAt } = record
    return this.#write(() => {
      const holder = claim === undefined ? undefined : this.#sql.readClaim.get(claim)
      if (holder && holder['turn'] !== turn) return false
      this.#sql.beginTurn.run(turn, tenant, agent, front, owner, epoch, column(request), startedAt, session)
      return true
    })
  }

  endTurn(record: TurnRecord, additions: TurnAdditions = {}): Awaitable<boolean> {
    const row = turnRow(record, additions)
    return this.#write(() => {
      const { changes } = this.#sql.endTurn.run(...row)
      // For no session this writes nothing.
      if (row.some(isLarge)) this.#sql.endTurn.run(...row.map(() => null))
      // A turn counts once, with its first end.
      if (additions.spent && changes > 0) this.#spend(record, additions.spent)
      this.#sql.stopTurn.run(record.turn)
      return changes === 1 || this.#sql.readEnded.get(record.turn) === undefined
    })
  }

  #spend({ tenant, owner }: TurnRecord, { day, tokens, estimated, costUsd }: DaySpent): void {
    this.#sql.addSpent.run(tenant, day, owner, tokens, estimated, costUsd)
  }

  findKnown(known: string, limit: number): Awaitable<Id[]> {
    return this.#do(() => this.#sql.findKnown.all(known, limit).map((row) => row['turn'] as string))
  }

  markDelivered(turn: Id): Awaitable<void> {
    return this.#write(() => void this.#sql.markDelivered.run(turn))
  }

  readTurn(turn: Id): Awaitable<TurnRecord | undefined> {
    return this.#do(() => {
      // In this order: another process may end it in between.
      const running = this.#sql.readRunning.get(turn)
      const row = this.#sql.readEnded.get(turn) ?? running
      return row && turnRecord(row)
    })
  }

  readTurnMessages(turn: Id): Awaitable<Message[] | undefined> {
    return this.#do(() => {
      const row = this.#sql.readTurnMessages.get(turn)
      return row && (JSON.parse((row['messages'] as string | null) ?? '[]') as Message[])
    })
  }

  deleteTurn(turn: Id): Awaitable<boolean> {
    return this.#atomically(() => {
      const isThere = this.#sql.forgetTurn.run(turn).changes > 0
      if (isThere) this.#sql.deleteEvents.run(turn)
      return isThere
    })
  }

  readWire(turn: Id): Awaitable<string | undefined> {
    return this.#do(() => this.#sql.readWire.get(turn)?.['wire'] as string | undefined)
  }

  listTurns(page: TurnPage): Awaitable<Listed<ListedTurn> | undefined> {
    return this.#do(() => listTurns(this.#sql, page))
  }

  unfinishedTurns(session?: Id): Awaitable<TurnRecord[]> {
    const { unfinishedTurns, unfinishedOf } = this.#sql
    return this.#do(() => (session === undefined ? unfinishedTurns.all() : unfinishedOf.all(session)).map(turnRecord))
  }

  lostTurns(now: number): Awaitable<TurnRecord[]> {
    return this.#do(() => this.#sql.lostTurns.all(now).map(turnRecord))
  }

  takeLease(owner: string, now: number, expiresAt: number): Awaitable<number> {
    return this.#write(() => this.#sql.takeLease.get(owner, now, expiresAt)!['epoch'] as number)
  }

  renewLease({ owner, epoch }: LeaseRef, expiresAt: number): Awaitable<boolean> {
    return this.#write(() => this.#sql.renewLease.run(expiresAt, owner, epoch).changes > 0)
  }

  /** Writes, and so takes the lock, only when the lease has expired. */
  lapseLease({ owner, epoch }: LeaseRef, now: number, lastCallMs: number): Awaitable<boolean> {
    return this.#do(() => {
      const lease = this.#sql.readLease.get(owner, epoch)
      if (!lease || (lease['expires_at'] as number) > now) return !lease
      return this.#writes.write(() => {
        this.#sql.lapseLease.run(owner, epoch, now)
        this.#sql.callLease.run(now + lastCallMs, owner, epoch, now)
        return this.#sql.readLease.get(owner, epoch) === undefined
      })
    })
  }

  version(): number {
    return this.#now(() => this.#writes.version())
  }

  hasOtherLease(owner: string, now: number): Awaitable<boolean> {
    return this.#do(() => this.#sql.otherLease.get(owner, now) !== undefined)
  }

  dropLease({ owner, epoch }: LeaseRef): Awaitable<void> {
    return this.#write(() => void this.#sql.dropLease.run(owner, epoch))
  }

  appendEvents(blocks: readonly EventBlock[]): Awaitable<void> {
    const append = (): void => {
      for (const { turn, seq, lines } of blocks) this.#sql.appendBlock.run(seq, lines, turn)
    }
    return blocks.length > 1 ? this.#atomically(append) : this.#write(append)
  }

  readEvents(turn: Id, after: number): Awaitable<EventBlock[]> {
    return this.#do(() =>
      this.#sql.readBlocks
        .all(turn, turn, after + 1, turn)
        .map((row) => ({ turn, seq: row['seq'] as number, lines: row['json'] as string })),
    )
  }

  spentOf(tenant: string, day: number): Awaitable<Spent> {
    return this.#do(() => spentSum(this.#sql.spentOf.get(tenant, day)!))
  }

  takePlace({ turn, tenant, owner, epoch }: TurnPlace, most: number): Awaitable<boolean> {
    return this.#write(() => {
      this.#sql.takePlace.run(turn, tenant, owner, epoch, tenant, most)
      return this.#sql.hasPlace.get(turn) !== undefined
    })
  }

  givePlace(turn: Id): Awaitable<void> {
    return this.#write(() => void this.#sql.givePlace.run(turn))
  }

  shareCounts(process: Id, counts: ReadonlyMap<string, number>, now: number): Awaitable<RequestCount[]> {
    const others = (): RequestCount[] => this.#sql.otherRequests.all(process).map(requestCount)
    if (counts.size === 0) return this.#do(others)
    return this.#atomically(() => {
      for (const [name, count] of counts) this.#sql.countRequests.run(process, name, count, now)
      return others()
    })
  }

  claim(key: string, turn: Id, body: string, now: number, ttlMs: number): Awaitable<Claim> {
    return this.#write(() => this.#claimed(key, this.#sql.claim.get(key, turn, body, now, now + ttlMs)))
  }

  reclaim(key: string, turn: Id, body: string, now: number, from?: Holder): Awaitable<Claim> {
    const holder = from?.turn ?? null
    const row = [key, turn, body, now, now + RECLAIM_TTL_MS, holder, holder, Number(from?.ended ?? true)]
    return this.#write(() => this.#claimed(key, this.#sql.reclaim.get(...row)))
  }

  /** The result of a claim: its own row, or the holder's, which cannot change within the transaction. */
  #claimed(key: string, taken: Row | undefined): Claim {
    if (taken) return { state: 'new' }
    const held = this.#sql.readClaim.get(key)!
    return { state: 'held', turn: held['turn'] as string, body: held['body'] as string }
  }

  release(key: string, turn: Id): Awaitable<void> {
    return this.#write(() => void this.#sql.releaseClaim.run(key, turn))
  }

  prune(before: number, limit: number): Awaitable<number> {
    return this.#atomically(() => {
      this.#sql.pruneClaims.run(before)
      this.#sql.pruneLeases.run(before)
      this.#sql.prunePlaces.run()
      this.#sql.pruneRequests.run(before - DAY_MS)
      this.#sql.pruneSpent.run(before - DAY_MS)
      return pruneTurns(this.#sql, before, limit)
    })
  }

  close(): Awaitable<void> {
    return this.#do(() => {
      if (!this.#db.isOpen) return
      this.#writes.commit()
      if (!this.#shortLived) this.#db.close()
    })
  }

  /** Runs work, now or by the queue. `once`: it is not tried again. */
  #do<T>(work: () => T, once?: 'once'): Awaitable<T> {
    return this.#queue ? this.#queue.run(() => this.#now(work), once) : this.#now(work)
  }

  /** Runs work at once, with errors as `StoreError`. */
  #now<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw storeError(error, this.#path)
    }
  }

  #write<T>(work: () => T): Awaitable<T> {
    return this.#do(() => this.#writes.write(work))
  }

  /** Runs several statements that write: all of them or, when one fails, none. */
  #atomically<T>(work: () => T): Awaitable<T> {
    return this.#do(() => this.#writes.atomically(work))
  }
}

function isLarge(value: SQLInputValue): boolean {
  return typeof value === 'string' && value.length >= LARGE
}

/** The longest wait of a statement for another process's lock, in milliseconds. */
function busyMsOf(shortLived: boolean): number {
  return shortLived ? 0 : RUNNING_BUSY_MS
}

function isLocked(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'locked'
}
