import {
  type Awaitable,
  type ForkOrigin,
  isShared,
  type SessionRecord,
  type Store,
  type TurnRecord,
} from '../../contract/index.ts'
import type { Id, Message, Part, TextRun, TurnEvent } from '../../model/index.ts'
import { type Numbered, numbered } from '../events/index.ts'
import type { SessionRecorder } from '../session/index.ts'
import type { Turn, TurnRecorder } from '../turn/index.ts'
import { Backlog } from './backlog.ts'
import type { Told } from './conversation.ts'
import type { KeyUse } from './key-use.ts'
import type { Lease } from './lease.ts'
import { Marks } from './marks.ts'
import { PageWriter } from './page-writer.ts'
import { Room } from './room.ts'
import type { StoreWatch } from './store-watch.ts'
import { addSteered, endOf, movePage, newPage, type TurnPage } from './turn-page.ts'
import { WriteQueue } from './write-queue.ts'

/** The first fields of a turn's record. */
export interface TurnBeginning {
  tenant: string
  front: string
  /** Its client relies on the record, or sees something of the turn before its end. */
  promised: boolean
  /** The conversation before it, where its client may send it again. */
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
  readonly #writes: WriteQueue<Turn>
  readonly #writer: PageWriter
  readonly #marks: Marks
  readonly #backlog: Backlog
  /** The pages of running turns, also without a record, by the turns' ids; not a `Map`, see `LiveTurns`. */
  readonly #pages: Record<Id, TurnPage> = Object.create(null)
  readonly #room: Room

  /**
   * `watch` hears of what could not be written. Turns are recorded under the `lease`, with their part of the `use`. All that
   * run hold `mostHeld` UTF-16 units at most.
   */
  constructor(store: Store, watch: StoreWatch, lease: Lease, use: KeyUse, mostHeld = Number.POSITIVE_INFINITY) {
    this.#store = store
    this.#lease = lease
    this.#use = use
    this.#watch = watch
    this.#writes = new WriteQueue((error, of) => watch.failed(error, of))
    this.#writer = new PageWriter(store, this.#writes, watch, lease)
    this.#marks = new Marks(store, watch, this.#writes)
    this.#backlog = new Backlog(this.#writer, this.#marks)
    this.#room = new Room(mostHeld, this.#pages)
  }

  /**
   * A turn begins. Resolves when everything that its client relies on survives a crash, unless nothing can be written.
   */
  async begin(turn: Turn, { tenant, front, promised, told, claim }: TurnBeginning): Promise<void> {
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
    }
    if (request !== undefined) record.request = request
    const page = newPage(turn, record, told)
    this.#pages[turn.id] = page
    if (!this.#watch.keeps(turn)) return
    const mayWait = !promised && (await this.#isAlone())
    // Another replica's store takes its time, and the turn may have its end meanwhile.
    if (this.#pages[turn.id] !== page) return
    if (mayWait) this.#backlog.add(page)
    else if (await this.#writer.begin(page, claim)) this.#watch.begun(turn)
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
    if (page?.begun) await this.#writer.begin(page)
  }

  /** An event was taken into the turn's view. */
  event(turn: Turn, event: TurnEvent): void {
    const page = this.#pages[turn.id]
    if (!page) return
    const isKept = this.#watch.keeps(turn)
    this.#room.take(page, event, isKept ? this.#backlog.event(page, event) : undefined)
    // Sends an answer to a client after it is recorded. The answer of an end comes with `end`.
    if (isKept && event.type === 'turn-parked') this.#backlog.write(page)
  }

  /** Pieces of text were taken into the turn's view. */
  texts(turn: Turn, run: TextRun): void {
    const page = this.#pages[turn.id]
    if (!page) return
    this.#room.takeTexts(page, run, this.#watch.keeps(turn) ? this.#backlog.texts(page, run) : undefined)
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
    if (page) {
      this.#backlog.remove(page)
      this.#room.give(page)
    }
    const spent = this.#use.ended(turn)
    const ended = page && this.#watch.keeps(turn) ? endOf(page, spent) : undefined
    if (ended && turn.command.once) this.#watch.ending(turn)
    void this.#writes.write(() => (ended ? this.#writer.end(page!, ended) : this.#watch.ended(turn)))
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

  /** The agent's own id of the session that another one was copied from, if that is as it was then. */
  async origin({ of, bound, turn }: ForkOrigin): Promise<string | undefined> {
    const record = bound === undefined ? undefined : await this.#store.readSession(of)
    const isSame = record?.bound === bound && record?.last?.turn === turn && record?.last?.ended !== false
    return isSame ? bound : undefined
  }

  /** Stores that the agent of a copy has had a turn of it. */
  copied(session: SessionRecord): void {
    const { id, owner, settings } = session
    const { fork: _, ...kept } = settings!
    session.settings = kept
    if (this.#mayChange) void this.#writes.write(() => this.#store.setSession(id, { fork: null }, owner))
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
    this.#backlog.schedule()
  }

  /** A client holds the whole answer. Marked a little later: a crash until then has it given once more, not lost. */
  delivered(turn: Id): void {
    this.#marks.delivered(turn)
    this.#backlog.schedule()
  }

  /** Marks at once what clients hold. */
  markDelivered(): void {
    this.#marks.writeDelivered()
  }

  /** Every event so far, in order. */
  async events(turn: Turn): Promise<readonly Numbered[]> {
    const page = this.#pageOf(turn)
    if (page?.unkept) return [...page.unkept]
    if (page) this.#backlog.write(page)
    await this.#writes.settled()
    return numbered(await this.#store.readEvents(turn.id, 0), 0)
  }

  /** Resolves when everything so far is in the store. */
  async flush(): Promise<void> {
    this.#backlog.writeAll()
    await this.commit()
  }

  /** Makes everything written so far durable. */
  commit(): Awaitable<void> {
    if (!this.#writes.busy) return this.#store.commit()
    // Writes of a store on another machine are durable when they are done. What comes meanwhile is not waited for.
    if (isShared(this.#store)) return Promise.all([this.#writes.settled(), this.#store.commit()]).then(() => {})
    return this.#writes.settled().then(() => this.#store.commit())
  }

  /** The page of a turn whose record is complete so far. */
  #pageOf(turn: Turn): TurnPage | undefined {
    return this.#watch.keeps(turn) ? this.#pages[turn.id] : undefined
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
}
