import type { Awaitable, SessionRecord, Store, TurnRecord } from '../../contract/index.ts'
import { type Fault, fault, type Id, type Loss } from '../../model/index.ts'
import { newId } from '../common/index.ts'
import type { LiveSessions, LiveTurns } from '../session/index.ts'
import type { Turn } from '../turn/index.ts'
import type { Entry } from './entry.ts'

const UNKNOWN = fault(
  'session-not-found',
  'There is no such turn to go on from; it or its conversation may have been deleted, or belongs to another key.',
)
const RUNS = fault('session-busy', 'The turn that this one follows still runs; send this one when it has ended.')
const NOT_KEPT = fault(
  'session-not-found',
  'The session has gone on since that turn, and what was said is not kept; send the whole conversation.',
)
/** A conversation that goes on in another session than the one which its client means. */
const OTHER_SESSION: Loss = { kind: 'weakened', item: 'session.id', why: 'policy', count: 1 }

/** The time for which the place after a turn is held for one request, in milliseconds: until that one is recorded. */
const HELD_MS = 86_400_000

/** The dependencies of `Conversations`. `now` is milliseconds since the epoch. */
export interface ConversationPeers {
  store: Store
  turns: LiveTurns
  sessions: LiveSessions
  now(): number
}

/**
 * Finds the session of a request that names an earlier turn instead. Only one request goes on with the session of a
 * turn, as the first one after it. A further one, or one for another agent, begins a session, whose agent is told the
 * conversation up to that turn.
 */
export class Conversations {
  readonly #peers: ConversationPeers

  constructor(peers: ConversationPeers) {
    this.#peers = peers
  }

  /** The request with its session, and with what its agent is to be told of the conversation; or why there is none. */
  find(entry: Entry): Awaitable<Entry | Fault> {
    const { after } = entry.command
    if (after === undefined) return entry
    const live = this.#peers.turns.get(after)
    return live?.ended === false ? this.#whileRuns(entry, live) : this.#following(entry, after)
  }

  /** No turn of the request begins: the next one may go on with the session. */
  async giveUp({ command: { after } }: Entry): Promise<void> {
    if (after !== undefined) await this.#peers.store.release(placeAfter(after))
  }

  /** A turn that ends soon, such as a cancelled one, is waited for in its session's line. */
  async #whileRuns(entry: Entry, turn: Turn): Promise<Entry | Fault> {
    const { record } = turn.session
    if (record.tenant !== entry.client.options.access.tenant) return UNKNOWN
    if (turn.agent.name !== entry.agent.name || !(await this.#take(turn.id, entry))) return RUNS
    return within(entry, record)
  }

  async #following(entry: Entry, id: Id): Promise<Entry | Fault> {
    const { store } = this.#peers
    const turn = await store.readTurn(id)
    const session = turn?.tenant === entry.client.options.access.tenant && (await store.readSession(turn.session))
    if (!turn || !session || (session.epoch ?? 0) > turn.startedAt) return UNKNOWN
    if (turn.outcome === undefined) return RUNS
    if (turn.agent === entry.agent.name && this.#isNewest(id, session) && (await this.#take(id, entry))) {
      return within(entry, session)
    }
    return this.#retold(entry, turn)
  }

  /** True when nothing of the session came after the turn. */
  #isNewest(turn: Id, { id, last }: SessionRecord): boolean {
    return last?.turn === turn && this.#peers.sessions.get(id)?.busy !== true
  }

  /** Takes the place after a turn; false when another request has it. */
  async #take(turn: Id, { command }: Entry): Promise<boolean> {
    const { store, now } = this.#peers
    return (await store.claim(placeAfter(turn), command.turn, '', now(), HELD_MS)).state === 'new'
  }

  /** The request in a session of its own, whose agent is told the conversation up to the turn. */
  async #retold(entry: Entry, { turn, session, measures }: TurnRecord): Promise<Entry | Fault> {
    if (measures?.shape) return NOT_KEPT
    const { after: _, ...rest } = entry.command
    const history = await this.#peers.store.readMessages(session, turn)
    const command = { ...rest, session: { ...rest.session, id: newId() }, history, historyMode: 'complete' } as const
    return { ...entry, command, losses: [OTHER_SESSION] }
  }
}

/** The request in a known session. */
function within(entry: Entry, { session: id, conversation }: SessionRecord): Entry {
  const { conversation: _, ...others } = entry.command.session ?? {}
  const session = { ...others, id, ...(conversation !== '' && { conversation }) }
  return { ...entry, command: { ...entry.command, session } }
}

/** The key of the place after a turn. */
function placeAfter(turn: Id): string {
  return JSON.stringify(['after', turn])
}
