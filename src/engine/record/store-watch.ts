import { isShared, type Store, StoreError } from '../../contract/index.ts'
import { type Command, type Fault, fault, type Id } from '../../model/index.ts'
import type { Exchange } from '../client/index.ts'
import { type EngineLog, elapsed, logMistake, UNWRITABLE } from '../common/index.ts'
import type { LiveSessions, LiveTurns } from '../session/index.ts'
import type { Turn } from '../turn/index.ts'
import type { Lease } from './lease.ts'
import { endLostTurn } from './recovery.ts'

/** The interval at which a store that cannot be written is tried again, and the shortest one for a request that needs it. */
const PROBE_MS = 1000
const PROBE_AGAIN_MS = 100

const INCOMPLETE = fault(
  'internal',
  'The gateway could not write its record while this turn ran, so what became of it is not known here.',
)

/** Dependencies of the watch. */
export interface StoreWatchParts {
  store: Store
  lease: Lease
  log: EngineLog
  turns: LiveTurns
  sessions: LiveSessions
  /** Milliseconds since the epoch. */
  now(): number
}

/**
 * Watches whether the record can be written. While it cannot, requests that need it are refused, and the store is tried
 * until it can be written again.
 *
 * A file that could not be written has lost an unknown part of what was given to it, so all running turns count as not
 * recorded from then on: they go on without their record and say so. A store that replicas share answers each write by
 * itself: a turn of which one is lost ends as failed, as it does in the record, and the others go on.
 */
export class StoreWatch {
  readonly #parts: StoreWatchParts
  /** Turns that rely on the record and whose first write may not be committed yet: ids alone, see `LiveTurns`. */
  readonly #fresh = new Set<Id>()
  /** Turns that run and whose record is incomplete. */
  readonly #lost = new Set<Id>()
  /** Turns under a key whose end may not be committed yet. */
  #ending: Turn[] = []
  /** Turns that have lost a write of their own and are about to end, and why. */
  #incomplete: { turn: Turn; why: Fault }[] = []
  /** From a failure on until the store could be written again. */
  #retry: NodeJS.Timeout | undefined
  #writable = true
  #probing: Promise<void> | undefined
  #probed = 0
  #telling = false
  #failures = 0

  constructor(parts: StoreWatchParts) {
    this.#parts = parts
  }

  /** False while the store cannot be written. */
  get writable(): boolean {
    return this.#writable
  }

  /** The number of writes that have failed. */
  get failures(): number {
    return this.#failures
  }

  /** True while the record of a running turn is complete. */
  keeps(turn: Turn): boolean {
    return !this.#lost.has(turn.id)
  }

  /**
   * A write has failed, of the record of a turn if one is given. The running turns that it concerns are notified when
   * the current step is done, before anything is sent. A mistake of the gateway in it says nothing about the store.
   */
  failed(error: unknown, of?: Turn): void {
    this.#failures += 1
    if (error instanceof StoreError) this.#storeFailed(error, of)
    else {
      this.#parts.log.error('a write of the record went wrong in the gateway', { error: String(error) })
      if (of) this.#incomplete.push({ turn: of, why: INCOMPLETE })
    }
    if (this.#telling) return
    this.#telling = true
    queueMicrotask(() => this.#tell())
  }

  /** The store has failed a caller that does without it, or refuses. Throws any other error: a mistake of the gateway. */
  unavailable(error: unknown): void {
    if (!(error instanceof StoreError)) throw error
    this.failed(error)
  }

  #storeFailed(error: StoreError, of: Turn | undefined): void {
    if (!this.#retry) {
      this.#parts.log.error('the record could not be written', { error: String(error) })
      this.#retry = setInterval(() => void this.#probe(), PROBE_MS).unref()
    }
    if (!this.#isShared) this.#writable = false
    else if (of) this.#incomplete.push({ turn: of, why: this.#fresh.has(of.id) ? UNWRITABLE : INCOMPLETE })
    // It may have been this write alone.
    if (this.#writable) void this.#probe()
  }

  /** Resolves with true when the store can be written; tries one that could not once more. */
  async ready(): Promise<boolean> {
    if (!this.#writable && elapsed() - this.#probed >= PROBE_AGAIN_MS) await this.#probe()
    return this.#writable
  }

  /** A turn is about to be recorded. `promised`: its client relies on that, so it does not go on without. */
  began(turn: Turn, promised: boolean): void {
    if (!this.writable) this.#lost.add(turn.id)
    else if (promised) this.#fresh.add(turn.id)
  }

  /** The first record of a turn was written. */
  begun(turn: Turn): void {
    // After the commit, which the store does at the end of this tick at the latest.
    const { id } = turn
    if (this.#fresh.has(id)) setImmediate(() => this.#fresh.delete(id))
  }

  /** The end of a turn under a key is written: its client gets no success that a repetition does not get. */
  ending(turn: Turn): void {
    // As in `begun`.
    if (this.#ending.push(turn) > 1) return
    setImmediate(() => {
      this.#ending = []
    })
  }

  /** A turn whose record is incomplete has its end: what is there of it says so. */
  async ended(turn: Turn): Promise<void> {
    this.#lost.delete(turn.id)
    if (!this.writable) return
    const { store, now } = this.#parts
    const record = await store.readTurn(turn.id)
    if (record && !record.outcome) await endLostTurn(store, record, now(), INCOMPLETE)
  }

  close(): void {
    clearInterval(this.#retry)
    this.#retry = undefined
  }

  get #isShared(): boolean {
    return isShared(this.#parts.store)
  }

  #tell(): void {
    this.#telling = false
    for (const { turn, why } of this.#incomplete.splice(0)) this.#refuse(turn, why)
    if (!this.#isShared && !this.#writable) this.#loseAll()
  }

  /** Ends a turn as others, or this process, end its record: it must not end with a success here. */
  #refuse(turn: Turn, why: Fault): void {
    if (turn.ended || this.#lost.has(turn.id)) return
    this.#lost.add(turn.id)
    this.#fresh.delete(turn.id)
    turn.refuse(why)
  }

  #loseAll(): void {
    for (const { view, audience } of this.#ending) if (view.end?.outcome !== 'failed') audience.cut()
    for (const turn of this.#parts.turns.values()) {
      if (this.#lost.has(turn.id)) continue
      this.#lost.add(turn.id)
      if (this.#fresh.delete(turn.id)) turn.refuse(UNWRITABLE)
      // A client that does not know yet that its turn is accepted is told that first.
      else if (turn.view.seq > 0) tellUnrecorded(turn)
    }
  }

  /** Tries the store, once at a time. */
  #probe(): Promise<void> {
    this.#probing ??= this.#probeOnce().finally(() => {
      this.#probing = undefined
    })
    return this.#probing
  }

  async #probeOnce(): Promise<void> {
    this.#probed = elapsed()
    try {
      await this.#parts.store.probe()
    } catch (error) {
      logMistake(this.#parts.log, error)
      this.#writable = false
      return
    }
    if (!this.#retry) return
    clearInterval(this.#retry)
    this.#retry = undefined
    this.#writable = true
    this.#parts.log.warn('the record can be written again', { failures: this.#failures })
    await this.#mend().catch((error: unknown) => this.failed(error))
  }

  /** Sessions that began meanwhile are kept from now on, and turns that ended meanwhile have an end in the record too. */
  async #mend(): Promise<void> {
    const { store, lease, turns, sessions, now } = this.#parts
    for (const { record } of sessions.values()) {
      // Replicas begin no session that is not recorded, and one that is not there was deleted by another.
      if (!isShared(store)) await store.openSession(record, record.id, record.usedAt)
      await store.bindSession(record.id, record.bound, record.owner)
    }
    const unfinished = await store.unfinishedTurns()
    const left = unfinished.filter((record) => lease.covers(record) && !turns.get(record.turn))
    for (const record of left) await endLostTurn(store, record, now(), INCOMPLETE)
  }
}

/** Commands whose effect must last. */
const LASTING: ReadonlySet<Command['type']> = new Set([
  'turn-delete',
  'session-clear',
  'session-delete',
  'session-fork',
  'config-set',
])

/**
 * True for a command that needs the record: an answer that is given once, a turn that goes on without its client, a
 * deletion, or a setting for later turns.
 */
export function needsRecord(command: Command, exchange: Exchange | undefined): boolean {
  if (LASTING.has(command.type)) return true
  return command.type === 'turn-start' && (command.once !== undefined || exchange?.answer.form === 'accepted')
}

/** Says that the record of a turn which goes on is incomplete. */
export function tellUnrecorded(turn: Turn): void {
  turn.scope.note('unrecorded')
  turn.notice('warning', 'unrecorded', 'This turn is not recorded: the gateway cannot write its record now.')
}
