import type { DatabaseSync } from 'node:sqlite'
import type { Claim, JournalEntry, SessionKey, SessionRecord, Store, TurnRecord } from '../contract/index.ts'
import { addUsage, type Id, type Message, type Usage } from '../model/index.ts'
import { openDatabase } from './database.ts'
import { storeError } from './errors.ts'
import { type Row, sessionRecord, turnRecord } from './rows.ts'
import { EVENTS_AT_ONCE, prepareAll, type Statements } from './statements.ts'
import { inTransaction } from './transaction.ts'

/** How long a key stays claimed that was taken over after its claim had gone: a day, in milliseconds. */
const RECLAIM_TTL_MS = 86_400_000

/**
 * Opens the store in the SQLite file `path`, which any number of processes of one machine may share; `:memory:` is one
 * that ends with it. File (mode 0600) and folder (0700) are made where there are none. Every method answers at once;
 * it throws a `StoreError` that names the file and the remedy, as this does.
 */
export function openSqliteStore(path: string): Store {
  return new SqliteStore(openDatabase(path), path)
}

class SqliteStore implements Store {
  readonly #db: DatabaseSync
  readonly #path: string
  readonly #sql: Statements

  constructor(db: DatabaseSync, path: string) {
    this.#db = db
    this.#path = path
    this.#sql = prepareAll(db)
  }

  openSession(key: SessionKey, id: Id, now: number): SessionRecord {
    const row = this.#do(() =>
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

  listSessions(tenant: string, limit: number): SessionRecord[] {
    return this.#do(() => this.#sql.listSessions.all(tenant, limit)).map(sessionRecord)
  }

  bindSession(id: Id, bound: string | undefined): void {
    this.#do(() => this.#sql.bindSession.run(bound ?? null, id))
  }

  addUsage(id: Id, usage: Usage): void {
    this.#transaction(() => {
      const known = this.#sql.readUsage.get(id)?.['usage'] as string | null | undefined
      const sum = addUsage(known ? (JSON.parse(known) as Usage) : {}, usage)
      this.#sql.writeUsage.run(JSON.stringify(sum), id)
    })
  }

  deleteSession(id: Id): void {
    this.#do(() => this.#sql.deleteSession.run(id))
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
    this.#do(() => this.#sql.clearMessages.run(session))
  }

  beginTurn(turn: TurnRecord): void {
    const { request = null, endedAt = null, outcome = null, code = null } = turn
    this.#do(() =>
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
    this.#do(() => this.#sql.moveTurn.run(session, agent, turn))
  }

  endTurn(turn: Id, end: Pick<TurnRecord, 'endedAt' | 'outcome' | 'code' | 'losses'>): void {
    const { endedAt = null, outcome = null, code = null, losses = [] } = end
    const lost = losses.length === 0 ? null : JSON.stringify(losses)
    this.#do(() => this.#sql.endTurn.run(endedAt, outcome, code, lost, turn))
  }

  markDelivered(turn: Id): void {
    this.#do(() => this.#sql.markDelivered.run(turn))
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
    this.#transaction(() => {
      let at = 0
      for (; at + EVENTS_AT_ONCE <= entries.length; at += EVENTS_AT_ONCE) {
        const several = entries.slice(at, at + EVENTS_AT_ONCE)
        this.#sql.appendEvents.run(...several.flatMap(({ turn, seq, json }) => [turn, seq, json]))
      }
      for (const { turn, seq, json } of entries.slice(at)) this.#sql.appendEvent.run(seq, json, turn)
    })
  }

  readEvents(turn: Id, after: number): JournalEntry[] {
    const rows = this.#do(() => this.#sql.readEvents.all(turn, after))
    return rows.map((row) => ({ turn, seq: row['seq'] as number, json: row['json'] as string }))
  }

  claim(key: string, turn: Id, body: string, now: number, ttlMs: number): Claim {
    // Again when the holder released the key between the two statements.
    for (;;) {
      if (this.#do(() => this.#sql.claim.get(key, turn, body, now, now + ttlMs))) return { state: 'new' }
      const held = this.#do(() => this.#sql.readClaim.get(key))
      if (held) return { state: 'held', turn: held['turn'] as string, body: held['body'] as string }
    }
  }

  reclaim(key: string, turn: Id, body: string, now: number): void {
    this.#do(() => this.#sql.reclaim.run(key, turn, body, now, now + RECLAIM_TTL_MS))
  }

  release(key: string): void {
    this.#do(() => this.#sql.release.run(key))
  }

  prune(before: number): void {
    this.#transaction(() => {
      this.#sql.pruneTurns.run(before)
      this.#sql.pruneClaims.run(before)
    })
  }

  close(): void {
    if (this.#db.isOpen) this.#do(() => this.#db.close())
  }

  #do<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw storeError(error, this.#path)
    }
  }

  #transaction(work: () => void): void {
    this.#do(() => inTransaction(this.#db, work))
  }
}
