import type { JournalEntry, SessionRecord, Store } from '../../contract/index.ts'
import type { Id, Message, Part, TurnEvent } from '../../model/index.ts'
import { shapeOf } from '../events/index.ts'
import type { SessionRecorder } from '../session/index.ts'
import { keepsContent, type Turn, type TurnRecorder } from '../turn/index.ts'
import { Journal } from './journal.ts'
import type { Lease } from './lease.ts'
import type { StoreWatch } from './store-watch.ts'

/** The time until a delivered answer is marked, in milliseconds. */
const MARK_MS = 50

/** Keeps what the store knows of turns true: their events, their ends, their sessions' transcripts. */
export class Recorder implements TurnRecorder, SessionRecorder {
  readonly #store: Store
  readonly #journal: Journal
  readonly #watch: StoreWatch
  readonly #lease: Lease
  readonly #pending = new Set<Promise<void>>()
  readonly #delivered: Id[] = []
  #marking: NodeJS.Timeout | undefined
  /** The events of running turns whose content is not kept: for those who join them. */
  readonly #unkept = new Map<Turn, JournalEntry[]>()

  /** `watch` hears of what could not be written. Turns are recorded under the `lease`. */
  constructor(store: Store, watch: StoreWatch, lease: Lease) {
    this.#store = store
    this.#lease = lease
    this.#watch = watch
    this.#journal = new Journal(store, (error) => watch.failed(error))
  }

  /** False when the ends of turns do not count, because others have given up this process and may have ended them. */
  confirm(): boolean {
    return this.#lease.confirm()
  }

  /** A turn begins; when this resolves it survives a crash as an unfinished one, unless nothing can be written now. */
  async begin(turn: Turn, about: { session: string; tenant: string; front: string; at: number }): Promise<void> {
    if (!this.#watch.keeps(turn)) return
    const { request } = turn.command
    const { owner, epoch } = await this.#lease.hold()
    await this.#store.beginTurn({
      turn: turn.id,
      session: about.session,
      tenant: about.tenant,
      agent: turn.agent.name,
      front: about.front,
      owner,
      epoch,
      startedAt: about.at,
      delivered: false,
      ...(request !== undefined && { request }),
    })
  }

  /** True while the record of the turn is complete. */
  keeps(turn: Turn): boolean {
    return this.#watch.keeps(turn)
  }

  event(turn: Turn, event: TurnEvent): void {
    if (!this.#watch.keeps(turn)) return
    const { seq } = turn.view
    if (keepsContent(turn)) {
      this.#journal.append(turn.id, seq, event)
      return
    }
    this.#journal.append(turn.id, seq, shapeOf(event))
    const unkept = this.#unkept.get(turn) ?? []
    unkept.push({ turn: turn.id, seq, json: JSON.stringify(event) })
    this.#unkept.set(turn, unkept)
  }

  /** A turn ended: its events are written, then its end, so that a recorded end always has its events. */
  end(turn: Turn): void {
    this.#unkept.delete(turn)
    this.#keep(this.#end(turn, turn.session.record.id))
  }

  /** Adds text that an agent said between two turns to the session, after the turns that have ended. */
  unasked(session: Id, text: string, at: number): void {
    const before = [...this.#pending]
    const append = async (): Promise<void> => {
      await Promise.all(before)
      if (!this.#watch.writable) return
      await this.#store.appendMessages(session, [{ role: 'assistant', parts: [{ type: 'text', text }], at }])
    }
    this.#keep(append())
  }

  /** Stores the agent's own id of a session. */
  bind({ id, bound }: SessionRecord): void {
    if (this.#watch.writable) this.#keep(this.#bind(id, bound))
  }

  /** The messages of a session so far. */
  async transcript(session: Id): Promise<readonly Message[]> {
    await this.flush()
    return this.#store.readMessages(session)
  }

  /** A client holds the whole answer. Marked a little later: a crash until then has it given once more, not lost. */
  delivered(turn: Id): void {
    this.#delivered.push(turn)
    this.#marking ??= setTimeout(() => this.markDelivered(), MARK_MS)
  }

  /** Marks at once what clients hold. */
  markDelivered(): void {
    clearTimeout(this.#marking)
    this.#marking = undefined
    if (this.#delivered.length === 0) return
    if (!this.#watch.writable) this.#delivered.length = 0
    else this.#keep(this.#mark(this.#delivered.splice(0)))
  }

  /** Every event so far, in order. */
  async events(turn: Turn): Promise<readonly JournalEntry[]> {
    const unkept = this.#unkept.get(turn)
    if (unkept) return [...unkept]
    await this.#journal.flush()
    return this.#store.readEvents(turn.id, 0)
  }

  /** Resolves when everything said so far is in the store. */
  async flush(): Promise<void> {
    this.markDelivered()
    await this.#journal.flush()
    await Promise.all(this.#pending)
    await this.#store.commit()
  }

  /** When one cannot be marked the others are not tried: each would wait as long for a store that is locked. */
  async #mark(turns: readonly Id[]): Promise<void> {
    for (const turn of turns) await this.#store.markDelivered(turn)
  }

  async #bind(session: Id, bound: string | undefined): Promise<void> {
    await this.#store.bindSession(session, bound)
  }

  #keep(work: Promise<void>): void {
    const kept = work.catch((error) => this.#watch.failed(error)).finally(() => this.#pending.delete(kept))
    this.#pending.add(kept)
  }

  async #end(turn: Turn, session: string): Promise<void> {
    await this.#journal.flush()
    if (!this.#watch.keeps(turn)) return this.#watch.ended(turn)
    if (keepsContent(turn)) await this.#store.appendMessages(session, transcriptOf(turn))
    const { end, usage } = turn.view
    if (usage) await this.#store.addUsage(session, usage)
    await this.#store.endTurn(turn.id, {
      endedAt: turn.view.at,
      outcome: end!.outcome,
      ...(end!.fault && { code: end!.fault.code }),
      losses: turn.recordedLosses,
      measures: {
        ...turn.scope.measures,
        ...(!keepsContent(turn) && { shape: true }),
      },
    })
  }
}

/** The messages that a turn adds to its session's transcript: the prompt, and those of the agent, as far as they came. */
function transcriptOf(turn: Turn): Message[] {
  const { view, command } = turn
  const messages: Message[] = []
  if (command.task === 'prompt') messages.push({ role: 'user', parts: command.input, at: view.startedAt })
  for (const message of view.messages) {
    // The agent's own echo of the prompt is the prompt.
    if (message.lane !== undefined || message.role === 'user') continue
    const parts: readonly Part[] = message.parts ?? (message.text === '' ? [] : [{ type: 'text', text: message.text }])
    if (parts.length > 0) messages.push({ role: message.role, parts, at: view.at })
  }
  return messages
}
