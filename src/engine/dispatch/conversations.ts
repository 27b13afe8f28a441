import type { Awaitable, SessionRecord, Store, TurnRecord } from '../../contract/index.ts'
import { type Fault, fault, type Id, type Loss } from '../../model/index.ts'
import { refusalFor } from '../carry/index.ts'
import { newId, UNWRITABLE } from '../common/index.ts'
import { conversationDigest, knownAs, type StoreWatch } from '../record/index.ts'
import type { LiveSessions, LiveTurns } from '../session/index.ts'
import type { Turn } from '../turn/index.ts'
import { type Entry, sessionKey } from './entry.ts'

const UNKNOWN = fault(
  'session-not-found',
  'There is no such turn to go on from; it or its conversation may have been deleted, or belongs to another key.',
)
const RUNS = fault('session-busy', 'The turn that this one follows still runs; send this one when it has ended.')
const NOT_KEPT = fault(
  'session-not-found',
  'The session has gone on since that turn, and its content is not kept; send the whole conversation.',
)
/** A conversation that goes on in another session than the one that its client names. */
const OTHER_SESSION: Loss = { kind: 'weakened', item: 'session.id', why: 'policy', count: 1 }

/** The time for which a place is held for one request, in milliseconds: until its turn is recorded. */
const HELD_MS = 60_000
/** The most sessions with one conversation that are tried. */
const CANDIDATES = 4

/** The dependencies of `Conversations`. `now` is milliseconds since the epoch. */
export interface ConversationPeers {
  store: Store
  turns: LiveTurns
  sessions: LiveSessions
  watch: StoreWatch
  now(): number
}

/** An ended turn with the session that it left. */
interface Left {
  turn: TurnRecord
  session: SessionRecord
}

/**
 * Finds the session of a request that names an earlier turn, or brings the whole conversation. It goes on with a
 * session only where that has heard exactly this conversation, and only one request does so from each turn. Any other
 * begins a session, whose agent gets the conversation.
 */
export class Conversations {
  readonly #peers: ConversationPeers

  constructor(peers: ConversationPeers) {
    this.#peers = peers
  }

  /**
   * The request with its session, and with what its agent gets of the conversation; or the reason why there is none.
   */
  find(entry: Entry): Awaitable<Entry | Fault> {
    const { after, historyMode } = entry.command
    if (after === undefined && historyMode === undefined) return entry
    if (!this.#peers.watch.writable) return this.#unrecorded(entry)
    return this.#found(entry).catch((error: unknown) => {
      this.#peers.watch.unavailable(error)
      return this.#unrecorded(entry)
    })
  }

  /** No turn of the request begins: the next one may have its place. */
  async giveUp({ holds, command }: Entry): Promise<void> {
    if (holds !== undefined) await this.#peers.store.release(holds, command.turn)
  }

  async #found(entry: Entry): Promise<Entry | Fault> {
    const { after, historyMode } = entry.command
    if (after !== undefined) return this.#following(entry, after)
    const resumes = entry.route.history === 'resume'
    if (historyMode === 'complete') return resumes ? this.#resumed(entry) : this.#beginning(entry)
    return resumes ? this.#adding(entry) : entry
  }

  /**
   * While nothing can be written no place in a session is certain. A request with the whole conversation needs none.
   */
  #unrecorded(entry: Entry): Entry | Fault {
    const { after, historyMode } = entry.command
    if (after !== undefined) return UNWRITABLE
    return historyMode === 'complete' ? insteadOf(undefined, entry) : entry
  }

  /** The request in the session that knows the conversation, else in one that begins. */
  async #resumed(entry: Entry): Promise<Entry | Fault> {
    const { history = [] } = entry.command
    const told = { named: nameOf(entry), digest: conversationDigest(history) }
    const whole = { ...entry, told }
    if (history.length === 0) return this.#beginning(whole)
    const { tenant } = entry.client.options.access
    const known = knownAs(told, { tenant, agent: entry.agent.name })
    for (const id of await this.#peers.store.findKnown(known, CANDIDATES)) {
      const left = await this.#leftBy(id, tenant)
      const found = left && (await this.#goOn(whole, left))
      if (found) return found
    }
    return this.#beginning(whole)
  }

  /** A request with new input alone, of a client that may send the whole conversation later. */
  async #adding(entry: Entry): Promise<Entry> {
    if (this.#hasTurns(await this.#named(entry))) return entry
    return { ...entry, told: { named: nameOf(entry), digest: conversationDigest([]) } }
  }

  /** The request in the session that its client names if that has had no turn, else in a new one. */
  async #beginning(entry: Entry): Promise<Entry | Fault> {
    const why = refusalFor(entry.client.options.front.dialect, entry.command, entry.agent, entry.route)
    if (why) return why
    if (entry.asked?.id === undefined) return entry
    const holds = JSON.stringify(['begin', sessionKey(entry, entry.agent)])
    const named = await this.#named(entry)
    if (!this.#hasTurns(named) && (await this.#take(holds, entry))) return { ...entry, holds }
    return insteadOf(named, entry)
  }

  /** The session that the client names, if there is one. */
  #named(entry: Entry): Awaitable<SessionRecord | undefined> {
    return this.#peers.store.findSession(sessionKey(entry, entry.agent))
  }

  #hasTurns(known: SessionRecord | undefined): boolean {
    return known !== undefined && (known.last !== undefined || this.#peers.sessions.get(known.id)?.busy === true)
  }

  #following(entry: Entry, id: Id): Promise<Entry | Fault> {
    const live = this.#peers.turns.get(id)
    return live?.ended === false ? this.#whileRuns(entry, live) : this.#afterEnd(entry, id)
  }

  /** A turn that ends soon, such as a cancelled one, is waited for in its session's line. */
  async #whileRuns(entry: Entry, turn: Turn): Promise<Entry | Fault> {
    const { record } = turn.session
    if (record.tenant !== entry.client.options.access.tenant) return UNKNOWN
    const holds = placeAfter(turn.id)
    if (turn.agent.name !== entry.agent.name || !(await this.#take(holds, entry))) return RUNS
    return { ...within(entry, record), holds }
  }

  async #afterEnd(entry: Entry, id: Id): Promise<Entry | Fault> {
    const left = await this.#leftBy(id, entry.client.options.access.tenant)
    if (!left) return UNKNOWN
    if (left.turn.outcome === undefined) return RUNS
    return (await this.#goOn(entry, left)) ?? this.#replayed(entry, left)
  }

  /** A turn of the tenant with the session that it left; undefined when that has forgotten it. */
  async #leftBy(id: Id, tenant: string): Promise<Left | undefined> {
    const { store } = this.#peers
    const turn = await store.readTurn(id)
    const session = turn?.tenant === tenant ? await store.readSession(turn.session) : undefined
    return turn && session && (session.epoch ?? 0) <= turn.startedAt ? { turn, session } : undefined
  }

  /** The request as the next turn of a session; undefined when another one came after the turn, or is to. */
  async #goOn(
    entry: Entry,
    { turn, session }: { turn: TurnRecord; session: SessionRecord },
  ): Promise<Entry | undefined> {
    const holds = placeAfter(turn.turn)
    const isNewest = session.last?.turn === turn.turn && this.#peers.sessions.get(session.id)?.busy !== true
    if (turn.agent !== entry.agent.name || !isNewest || !(await this.#take(holds, entry))) return undefined
    const { command, ...others } = within(entry, session)
    return { ...others, command: { ...command, after: turn.turn }, holds }
  }

  /** Takes a place; false when another request has it. */
  async #take(place: string, { command }: Entry): Promise<boolean> {
    const { store, now } = this.#peers
    return (await store.claim(place, command.turn, '', now(), HELD_MS)).state === 'new'
  }

  /** The request in a new session, whose agent gets the conversation up to the turn. */
  async #replayed(entry: Entry, { turn, session }: Left): Promise<Entry | Fault> {
    if (turn.measures?.shape) return NOT_KEPT
    const own = insteadOf(session, entry)
    const { after: _, history: added = [], ...rest } = own.command
    const history = [...(await this.#peers.store.readMessages(session.id, turn.turn)), ...added]
    const command = { ...rest, history, historyMode: 'complete' } as const
    const why = refusalFor(entry.client.options.front.dialect, command, entry.agent, entry.route)
    return why ?? { ...own, command, losses: [OTHER_SESSION] }
  }
}

/** The request in this session of its agent. */
function within(entry: Entry, { session: id, conversation }: Pick<SessionRecord, 'session' | 'conversation'>): Entry {
  const { conversation: _, ...others } = entry.command.session ?? {}
  const session = { ...others, id, ...(conversation !== '' && { conversation }) }
  return { ...entry, command: { ...entry.command, session } }
}

/** The request in a session that begins instead of a known one, with what the client has set for that. */
function insteadOf(known: SessionRecord | undefined, entry: Entry): Entry {
  const own = within(entry, { session: newId(), conversation: '' })
  return known?.settings ? { ...own, settings: known.settings } : own
}

/** The session that a client names and the user whom it names, as text. */
function nameOf({ asked: { id = '', conversation = '' } = {}, command: { user } }: Entry): string {
  return JSON.stringify([id, conversation, ...(user === undefined ? [] : [user])])
}

/** The claim on the place after a turn. */
function placeAfter(turn: Id): string {
  return JSON.stringify(['after', turn])
}
