import {
  type Awaitable,
  type EventBlock,
  isShared,
  type LeaseRef,
  type SessionRecord,
  type Store,
  type TurnRecord,
} from '../../contract/index.ts'
import type { Id, Message, Part, TurnEvent } from '../../model/index.ts'
import { elapsed, MOVED } from '../common/index.ts'
import { type Numbered, numbered, takeLines } from '../events/index.ts'
import type { SessionRecorder } from '../session/index.ts'
import type { Turn, TurnRecorder } from '../turn/index.ts'
import type { Told } from './conversation.ts'
import type { KeyUse } from './key-use.ts'
import type { Lease } from './lease.ts'
import { Marks } from './marks.ts'
import type { StoreWatch } from './store-watch.ts'
import { addEvent, addSteered, endOf, movePage, newPage, runUnder, type TurnPage } from './turn-page.ts'
import { WriteQueue } from './write-queue.ts'

/** The interval at which what waits is written, in milliseconds, and the UTF-16 units of events that may wait. */
const INTERVAL_MS = 50
const WAITING_UNITS = 1_048_576

/**
 * The time that events of a turn wait, in milliseconds, when the turn is recorded already: with many turns under way each
 * write costs more than the event that it is for.
 */
const EVENTS_MS = 500

/** The age, in milliseconds, from which a turn that promises its client nothing before its end is recorded as running. */
const BEGIN_MS = 200

/** The first fields of a turn's record. */
export interface TurnBeginning {
  tenant: string
  front: string
  /** Its client relies on the record, or sees something of the turn before its end. */
  promised: boolean
  /** The conversation before it, where its client may tell it again. */
  told?: Told
  /** The key that it has claimed. */
  claim?: string
}

/**
 * Keeps the record of turns in the store true. The end of a turn is one write, with all that it adds, before its client
 * gets it. The beginning and the events of a turn are written before that only when somebody may rely on them, or when
 * the turn runs for longer.
 */
export class Recorder implements TurnRecorder<Turn>, SessionRecorder {
  readonly #store: Store
  readonly #watch: StoreWatch
  readonly #lease: Lease
  readonly #use: KeyUse
  readonly #writes: WriteQueue
  readonly #marks: Marks
  /** The pages of running turns, by the turns' ids; not a `Map`, see `LiveTurns`. */
  readonly #pages: Record<Id, TurnPage> = Object.create(null)
  /** Pages with something to write, in any order. */
  readonly #waiting: TurnPage[] = []
  #units = 0
  #timer: NodeJS.Timeout | undefined

  /** `watch` hears of what could not be written. Turns are recorded under the `lease`, with their part of the `use`. */
  constructor(store: Store, watch: StoreWatch, lease: Lease, use: KeyUse) {
    this.#store = store
    this.#lease = lease
    this.#use = use
    this.#watch = watch
    this.#writes = new WriteQueue((error) => watch.failed(error))
    this.#marks = new Marks(store, watch, this.#writes)
  }

  /**
   * A turn begins. Resolves when everything that its client relies on survives a crash, unless nothing can be written.
   */
  async begin(turn: Turn, { tenant, front, promised, told, claim }: TurnBeginning): Promise<void> {
    if (!this.#watch.keeps(turn)) return
    const { request } = turn.command
    const record: TurnRecord = {
      turn: turn.id,
      session: turn.session.record.id,
      tenant,
      agent: turn.agent.name,
      front,
      owner: this.#lease.owner,
      // Under its lease, when it is recorded as running.
      epoch: 0,
      startedAt: turn.view.startedAt,
      delivered: false,
      ...(request !== undefined && { request }),
    }
    const page = newPage(turn, record, told)
    this.#pages[turn.id] = page
    if (!promised && (await this.#isAlone())) this.#wait(page)
    else if (await this.#begin(page, claim)) this.#watch.begun(turn)
  }

  /** True while the record of the turn is complete. */
  keeps(turn: Turn): boolean {
    return this.#watch.keeps(turn)
  }

  /** False when the ends of turns do not count, because others have given up this process and may have ended them. */
  confirm(): boolean {
    return this.#lease.confirm()
  }

  /** Another agent takes a turn, in another session. */
  async move(turn: Turn, session: Id): Promise<void> {
    const page = this.#pageOf(turn)
    if (page) movePage(page, session)
    if (page?.begun) await this.#begin(page)
  }

  /** An event was taken into the turn's view. */
  event(turn: Turn, event: TurnEvent): void {
    const page = this.#pageOf(turn)
    if (!page) return
    this.#units += addEvent(page, event)
    // Sends an answer to a client after it is recorded. The answer of an end comes with `end`.
    if (event.type === 'turn-parked') this.#write([page])
    else if (this.#units > WAITING_UNITS) this.#writeWaiting(() => true)
    else if (page.place < 0) this.#wait(page)
  }

  /** The client of a turn has said more, which its agent was given. */
  steered(turn: Turn, parts: readonly Part[]): void {
    const page = this.#pageOf(turn)
    if (page) addSteered(page, parts)
  }

  /** A turn has its end. */
  end(turn: Turn): void {
    const page = this.#pages[turn.id]
    delete this.#pages[turn.id]
    if (page) this.#stopWaiting(page)
    this.#units -= page?.lines.text.length ?? 0
    const spent = this.#use.ended(turn)
    const ended = page && this.#watch.keeps(turn) ? endOf(page, spent) : undefined
    if (ended && turn.command.once) this.#watch.ending(turn)
    void this.#writes.write(() => (ended ? this.#end(turn, ended) : this.#watch.ended(turn)))
  }

  /** Adds text that an agent said between two turns to the session, after the turns that have ended. */
  unasked({ id, owner }: SessionRecord, text: string, at: number): void {
    const message = { role: 'assistant', parts: [{ type: 'text', text }], at } as const
    if (this.#mayChange) void this.#writes.write(() => this.#store.appendMessage(id, message, owner))
  }

  /** Stores the agent's own id of a session. */
  bind({ id, bound, owner }: SessionRecord): void {
    if (this.#mayChange) void this.#writes.write(() => this.#store.bindSession(id, bound, owner))
  }

  /** True while sessions may be changed that others take over when they have given up this process. */
  get #mayChange(): boolean {
    return this.#watch.writable && this.#lease.confirm()
  }

  /** The messages of a session so far. */
  async transcript(session: Id): Promise<readonly Message[]> {
    await this.flush()
    return this.#store.readMessages(session)
  }

  /** A session is used. Its record says so a little later. */
  touch(session: Id, at: number): void {
    this.#marks.used(session, at)
    this.#schedule()
  }

  /** A client holds the whole answer. Marked a little later: a crash until then has it given once more, not lost. */
  delivered(turn: Id): void {
    this.#marks.delivered(turn)
    this.#schedule()
  }

  /** Marks at once what clients hold. */
  markDelivered(): void {
    this.#marks.writeDelivered()
  }

  /** Every event so far, in order. */
  async events(turn: Turn): Promise<readonly Numbered[]> {
    const page = this.#pageOf(turn)
    if (page?.unkept) return [...page.unkept]
    if (page) this.#write([page])
    await this.#writes.settled()
    return numbered(await this.#store.readEvents(turn.id, 0), 0)
  }

  /** Resolves when everything so far is in the store. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writeWaiting(() => true)
    this.#marks.writeDelivered()
    this.#marks.writeUsed()
    await this.commit()
  }

  /** Makes everything written so far durable. */
  commit(): Awaitable<void> {
    if (!this.#writes.busy) return this.#store.commit()
    return this.#writes.settled().then(() => this.#store.commit())
  }

  /** The page of a turn whose record is complete so far. */
  #pageOf(turn: Turn): TurnPage | undefined {
    return this.#watch.keeps(turn) ? this.#pages[turn.id] : undefined
  }

  /**
   * Writes the end of a turn. Where the record has another end, clients must not get this one: others have ended the
   * turn as failed. A failure means the same, and clients keep it.
   */
  #end({ audience, session, command }: Turn, [record, additions]: ReturnType<typeof endOf>): Awaitable<void> {
    const { owner: by } = session.record
    const counts = this.#store.endTurn(record, by ? { ...additions, by } : additions)
    const judge = (so: boolean): void => {
      if (!so && record.outcome !== 'failed') audience.cut()
    }
    if (!(counts instanceof Promise)) return judge(counts)
    if (!isShared(this.#store) && !command.once) return counts.then(judge)
    // What could not be recorded another replica ends otherwise, and a repetition under its key runs again.
    return counts.then(judge, (error: unknown) => {
      judge(false)
      throw error
    })
  }

  /** True when no other process looks for what is not recorded yet. */
  async #isAlone(): Promise<boolean> {
    try {
      return await this.#lease.alone()
    } catch (error) {
      this.#watch.failed(error)
      return true
    }
  }

  #begin(page: TurnPage, claim?: string): Awaitable<boolean> {
    page.begun = true
    const lease = this.#lease.hold()
    if (!(lease instanceof Promise)) return this.#writes.write(() => this.#beginUnder(page, lease, claim))
    this.#writes.hold(lease)
    return this.#writes.write(async () => this.#beginUnder(page, await lease, claim))
  }

  /** Records the beginning of a turn, which ends when another process has taken its session or its request. */
  #beginUnder(page: TurnPage, lease: LeaseRef, claim: string | undefined): Awaitable<void> {
    const begun = this.#store.beginTurn(runUnder(page, lease), claim)
    if (begun instanceof Promise) return begun.then((so) => (so ? undefined : page.turn.refuse(MOVED)))
    if (!begun) page.turn.refuse(MOVED)
  }

  #wait(page: TurnPage): void {
    page.place = this.#waiting.push(page) - 1
    page.waitsSince = elapsed()
    this.#schedule()
  }

  /**
   * A turn that has its end is released at once: its objects would survive until the next write, which makes garbage
   * collection expensive.
   */
  #stopWaiting(page: TurnPage): void {
    const { place } = page
    if (place < 0) return
    page.place = -1
    const last = this.#waiting.pop()!
    if (last === page) return
    this.#waiting[place] = last
    last.place = place
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => this.#writeDue(), INTERVAL_MS)
  }

  #writeDue(): void {
    this.#timer = undefined
    const now = elapsed()
    this.#writeWaiting((page) => now >= (page.begun ? page.waitsSince + EVENTS_MS : page.since + BEGIN_MS))
    this.#marks.writeDue()
    if (this.#waiting.length > 0 || this.#marks.waiting) this.#schedule()
  }

  /** Writes the waiting events of the turns for which `due` is true; the others go on waiting. */
  #writeWaiting(due: (page: TurnPage) => boolean): void {
    const pages = this.#waiting.filter(due)
    for (const page of pages) this.#stopWaiting(page)
    this.#write(pages)
  }

  /** Writes the waiting events and the beginnings of these turns. */
  #write(pages: readonly TurnPage[]): void {
    const blocks: EventBlock[] = []
    for (const page of pages) {
      this.#units -= page.lines.text.length
      const block = takeLines(page.lines)
      if (!this.#watch.keeps(page.turn)) continue
      if (!page.begun) void this.#begin(page)
      if (block) blocks.push(block)
    }
    if (blocks.length > 0) void this.#writes.write(() => this.#store.appendEvents(blocks))
  }
}
