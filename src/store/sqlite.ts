import type { DatabaseSync } from 'node:sqlite'
import type { Claim, JournalEntry, SessionKey, SessionRecord, Store, TurnRecord } from '../contract/index.ts'
import { addUsage, type Id, type Message, type Usage } from '../model/index.ts'
import { type Block, blocksOf, eventsOf } from './blocks.ts'
import { openDatabase, RUNNING_BUSY_MS } from './database.ts'
import { storeError } from './errors.ts'
import { type Row, sessionRecord, turnRecord } from './rows.ts'
import { prepareAll, type Statements } from './statements.ts'
import { WriteTransaction } from './transaction.ts'

/** How long a key stays claimed that was taken over after its claim had gone: a day, in milliseconds. */
const RECLAIM_TTL_MS = 86_400_000

/** How many characters are written to see whether the store can be written. */
const PROBE_LENGTH = 65_536

/** How a store is opened. */
export interface SqliteOptions {
  /** Hears of what could not be committed when nobody called `commit`. */
  failed?: (error: unknown) => void
  /**
   * The process ends when it closes the store: what was written is committed, and the log is left as it is, for whoever
   * opens the file next, as after a crash. To write it into the file, and to begin a new one, takes longer than a short
   * turn.
   */
  brief?: boolean
}

/**
 * Opens the store in the SQLite file `path`, which any number of processes of one machine may share; `:memory:` is one
 * that ends with it. File (mode 0600) and folder (0700) are made where there are none. Every method answers at once;
 * it throws a `StoreError` that names the file and the remedy, as this does.
 */
export function openSqliteStore(path: string, options: SqliteOptions = {}): Store {
  return new SqliteStore(openDatabase(path), path, options)
}

class SqliteStore implements Store {
  readonly #db: DatabaseSync
  readonly #path: string
  readonly #sql: Statements
  readonly #brief: boolean
  readonly #writes: WriteTransaction

  constructor(db: DatabaseSync, path: string, { failed = () => {}, brief = false }: SqliteOptions) {
    this.#db = db
    this.#brief = brief
    this.#path = path
    this.#sql = prepareAll(db)
    this.#writes = new WriteTransaction(db, this.#sql, (error) => failed(storeError(error, path)))
  }

  commit(): void {
    this.#do(() => this.#writes.commit())
  }

  probe(): void {
    this.#do(() => {
      this.#writes.commit()
      // Who holds the lock may hold it for long; it is tried again.
      this.#db.exec('PRAGMA busy_timeout = 0')
      try {
        this.#sql.probe.run('x'.repeat(PROBE_LENGTH))
      } finally {
        this.#db.exec(`PRAGMA busy_timeout = ${RUNNING_BUSY_MS}`)
      }
    })
  }

  openSession(key: SessionKey, id: Id, now: number): SessionRecord {
    const row = this.#write(() =>
      this.#sql.openSession.get(id, key.tenant, key.agent, key.session, key.conversation, now, now),
    )
    return sessionRecord(row as Row)
  }

  findSession({ tenant, agent, session, conversation }: SessionKey): SessionRecord | undefined {
    const row = this.#do(() => this.#sql.findSession.get(tenant, agent, session, conversation))
    return row && sessionRecord(row)
  }

  readSession(id: Id): SessionRecord | undefined {
    const row = this.#do(() => this.#sql.readSession.get(id))
    return row && sessionRecord(row)
  }

  isUsed(id: Id): boolean {
    return this.#do(() => this.#sql.isUsed.get(id, id))?.['used'] === 1
  }

  listSessions(tenant: string, limit: number): SessionRecord[] {
    return this.#do(() => this.#sql.listSessions.all(tenant, limit)).map(sessionRecord)
  }

  bindSession(id: Id, bound: string | undefined): void {
    this.#write(() => this.#sql.bindSession.run(bound ?? null, id))
  }

  addUsage(id: Id, usage: Usage): void {
    this.#write(() => {
      const known = this.#sql.readUsage.get(id)?.['usage'] as string | null | undefined
      const sum = addUsage(known ? (JSON.parse(known) as Usage) : {}, usage)
      this.#sql.writeUsage.run(JSON.stringify(sum), id)
    })
  }

  deleteSession(id: Id): void {
    this.#write(() => this.#sql.deleteSession.run(id))
  }

  appendMessages(session: Id, messages: readonly Message[]): void {
    this.#transaction(() => {
      for (const message of messages) this.#sql.appendMessage.run(JSON.stringify(message), session)
    })
  }

  readMessages(session: Id): Message[] {
    const rows = this.#do(() => this.#sql.readMessages.all(session))
    return rows.map((row) => JSON.parse(row['json'] as string) as Message)
  }

  clearMessages(session: Id): void {
    this.#write(() => this.#sql.clearMessages.run(session))
  }

  beginTurn(turn: TurnRecord): void {
    const { request = null, endedAt = null, outcome = null, code = null } = turn
    this.#write(() =>
      this.#sql.beginTurn.run(
        turn.turn,
        turn.tenant,
        turn.agent,
        turn.front,
        turn.owner,
        request,
        turn.startedAt,
        endedAt,
        outcome,
        code,
        Number(turn.delivered),
        turn.session,
      ),
    )
  }

  moveTurn(turn: Id, session: Id, agent: string): void {
    this.#write(() => this.#sql.moveTurn.run(session, agent, turn))
  }

  endTurn(turn: Id, end: Parameters<Store['endTurn']>[1]): void {
    const { endedAt = null, outcome = null, code = null, losses = [], measures } = end
    const lost = losses.length === 0 ? null : JSON.stringify(losses)
    const measured = measures ? JSON.stringify(measures) : null
    this.#write(() => this.#sql.endTurn.run(endedAt, outcome, code, lost, measured, turn))
  }

  markDelivered(turn: Id): void {
    this.#write(() => this.#sql.markDelivered.run(turn))
  }

  readTurn(turn: Id): TurnRecord | undefined {
    const row = this.#do(() => this.#sql.readTurn.get(turn))
    return row && turnRecord(row)
  }

  listTurns(tenant: string, limit: number): TurnRecord[] {
    return this.#do(() => this.#sql.listTurns.all(tenant, limit)).map(turnRecord)
  }

  unfinishedTurns(): TurnRecord[] {
    return this.#do(() => this.#sql.unfinishedTurns.all()).map(turnRecord)
  }

  appendEvents(entries: readonly JournalEntry[]): void {
    const blocks = blocksOf(entries)
    const append = (): void => {
      for (const block of blocks) this.#appendBlock(block)
    }
    if (blocks.length > 1) this.#transaction(append)
    else this.#write(append)
  }

  /** Where a row with its number is already (somebody else ended the turn), the other events of the block go in alone. */
  #appendBlock({ turn, seq, lines }: Block): void {
    if (this.#sql.appendBlock.run(seq, lines, turn).changes > 0) return
    for (const entry of eventsOf([{ turn, seq, lines }], seq - 1)) {
      this.#sql.appendBlock.run(entry.seq, entry.json, turn)
    }
  }

  readEvents(turn: Id, after: number): JournalEntry[] {
    const rows = this.#do(() => this.#sql.readBlocks.all(turn, turn, after + 1))
    const blocks = rows.map((row) => ({ turn, seq: row['seq'] as number, lines: row['json'] as string }))
    return eventsOf(blocks, after)
  }

  claim(key: string, turn: Id, body: string, now: number, ttlMs: number): Claim {
    // Again when the holder released the key between the two statements.
    for (;;) {
      if (this.#write(() => this.#sql.claim.get(key, turn, body, now, now + ttlMs))) return { state: 'new' }
      const held = this.#do(() => this.#sql.readClaim.get(key))
      if (held) return { state: 'held', turn: held['turn'] as string, body: held['body'] as string }
    }
  }

  reclaim(key: string, turn: Id, body: string, now: number, from?: Id): Claim {
    for (;;) {
      const row = [key, turn, body, now, now + RECLAIM_TTL_MS, from ?? null, from ?? null]
      if (this.#write(() => this.#sql.reclaim.get(...row))) return { state: 'new' }
      const held = this.#do(() => this.#sql.readClaim.get(key))
      if (held) return { state: 'held', turn: held['turn'] as string, body: held['body'] as string }
    }
  }

  release(key: string): void {
    this.#write(() => this.#sql.releaseClaim.run(key))
  }

  prune(before: number): void {
    this.#transaction(() => {
      this.#sql.pruneTurns.run(before)
      this.#sql.pruneClaims.run(before)
    })
  }

  close(): void {
    if (!this.#db.isOpen) return
    this.#do(() => {
      this.#writes.commit()
      if (!this.#brief) this.#db.close()
    })
  }

  #do<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw storeError(error, this.#path)
    }
  }

  /** One statement that writes. */
  #write<T>(work: () => T): T {
    return this.#do(() => {
      this.#writes.begin()
      return work()
    })
  }

  /** Several statements that write: all of them, or, when one fails, none. */
  #transaction(work: () => void): void {
    this.#write(() => this.#writes.together(work))
  }
}
