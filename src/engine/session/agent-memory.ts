import type { Awaitable, HeardBy, Memory, SessionRecord } from '../../contract/index.ts'
import { type Fault, fault, type Id, type Message } from '../../model/index.ts'
import type { AgentLink } from '../agent/index.ts'
import { type AgentSettings, newId, placeOf, type SessionNames, sessionNames } from '../common/index.ts'
import type { AgentSession, Turn } from '../turn/index.ts'
import { missed, type SessionRecorder } from './detours.ts'
import { changeOf, isLost, LOST } from './lost-session.ts'

/** The part of a session's conversation that its agent knows, and the names of it there. */
export class AgentMemory {
  readonly record: SessionRecord
  readonly #recorder: SessionRecorder
  /** The link that has had a turn, and so knows the conversation. */
  #primed: AgentLink | undefined
  /** The names of the session since its last reset, for the agent that it has. */
  #named: { agent: AgentSettings; names: SessionNames } | undefined
  /** The agent that has taken part in the conversation. */
  #heard: HeardBy | undefined
  /** The change of the agent by the configuration since then. */
  #change: keyof HeardBy | undefined
  /** The session has gone on in another process since the last turn here. */
  #wentOn = false
  /** Sessions of other agents in which the conversation has gone on since the last turn here. */
  detours: readonly Id[] = []

  /** `heard` is the agent that has taken part in it, if one has. */
  constructor(record: SessionRecord, heard: HeardBy | undefined, recorder: SessionRecorder) {
    this.record = record
    this.#heard = heard
    this.#recorder = recorder
  }

  /** The conversation has had turns before. */
  get used(): boolean {
    return this.#heard !== undefined
  }

  /**
   * Notes the agent of the next turn, which the configuration may have changed. One of another protocol knows no session
   * of this one, by whatever id.
   */
  meet(agent: AgentSettings): void {
    this.#change = changeOf(this.#heard, agent)
    if (this.#change === 'back') this.bind(undefined)
  }

  /** The names that an agent gets. */
  namesFor(agent: AgentSettings): SessionNames {
    if (this.#named?.agent !== agent) {
      this.#named = { agent, names: sessionNames(this.record, agent.dialect.back.capabilities) }
    }
    return this.#named.names
  }

  /** The agent has forgotten the conversation, or must. */
  forget(epoch: number | undefined): void {
    this.#heard = this.#change = undefined
    this.#named = undefined
    delete this.record.bound
    delete this.record.renamed
    if (epoch !== undefined) this.record.epoch = epoch
  }

  /** The session has gone on in another process, which left this record, with this agent. */
  goOn({ bound, renamed, epoch }: SessionRecord, heard: HeardBy | undefined): void {
    this.forget(epoch)
    this.#heard = heard
    this.#primed = undefined
    this.#wentOn = true
    if (bound !== undefined) this.record.bound = bound
    if (renamed) this.record.renamed = renamed
  }

  /** The agent's own id of the session is another one, or none any more. */
  bind(id: string | undefined): void {
    const { record } = this
    if (record.bound === id && !record.renamed) return
    if (id === undefined) delete record.bound
    else record.bound = id
    delete record.renamed
    this.#recorder.bind(record)
  }

  /** Gives the agent's session a fresh id, remembered for later turns. */
  rebind(): string {
    const id = newId()
    this.bind(id)
    return id
  }

  /**
   * Notes that a link gets a turn. True when the agent, which keeps the conversation in `memory`, has lost it, or has not
   * heard of it (`isCopy`).
   */
  isLostOn(link: AgentLink, memory: Memory, isCopy = false): boolean {
    const isOther = (this.#change === 'back' || isCopy) && memory !== 'request'
    const lost = this.used && link !== this.#primed && (isOther || isLost(memory, this.record, link))
    this.#primed = link
    return lost
  }

  /**
   * Tells the client how a lost conversation goes on, or returns the fault that refuses its turn. For a client that
   * sends all of it nothing is lost.
   */
  restore(turn: Turn, { restore }: AgentSettings, ofProcess: boolean, isCopy = false): Fault | undefined {
    if (turn.command.historyMode === 'complete') return undefined
    const reason = isCopy ? 'copied' : ofProcess ? 'process' : 'forgotten'
    const [now, before] = LOST[this.#wentOn ? 'wentOn' : this.#change === 'back' ? 'protocol' : reason]
    if (restore === 'fail') return fault('session-not-found', `${now}; begin a new session.`)
    turn.scope.note('session-reset')
    const told = restore === 'replay' ? 'the agent gets the conversation so far' : 'the agent starts a new session'
    turn.notice('warning', 'session-reset', `${before}: ${told}.`)
    return undefined
  }

  /** Tells the client that the agent, which keeps the conversation in `memory`, may not be the one that has heard it. */
  tellChange(turn: Turn, memory: Memory): void {
    if (this.#change !== 'place' || memory === 'request' || turn.command.historyMode === 'complete') return
    const text = 'The command or URL of the agent has changed since the last turn: it may not know this session.'
    turn.notice('warning', 'agent-changed', text)
  }

  /**
   * The session as an agent gets it for a turn. It includes the conversation if the agent has lost it and is configured
   * to get it again, and always if each of the agent's requests carries it; never if the turn brings it. Turns that
   * other agents have had are always included.
   */
  tellOf(agent: AgentSettings, lost: boolean, turn: Pick<Turn, 'command' | 'notice'>): Awaitable<AgentSession> {
    const { command } = turn
    const stateless = agent.dialect.back.memory(agent.context) === 'request'
    // A client that sends all of the conversation has it where an agent may not have heard it.
    const isSure = this.#change !== 'place' || command.historyMode !== 'complete'
    const known = this.#knownTo(agent, this.used && !lost && !stateless && isSure)
    const replays = lost ? agent.restore === 'replay' : this.used && stateless
    if (command.historyMode === 'complete') return known
    if (this.detours.length > 0) return this.#afterDetours(known, replays, turn)
    if (!replays) return known
    return this.#recorder.transcript(this.record.id).then((history) => withHistory(known, history))
  }

  /** The session with the turns that other agents have had. Their content may not be kept. */
  async #afterDetours(known: AgentSession, whole: boolean, turn: Pick<Turn, 'notice'>): Promise<AgentSession> {
    const read = (session: Id): Promise<readonly Message[]> => this.#recorder.transcript(session)
    const [own = [], ...others] = await Promise.all([this.record.id, ...this.detours].map(read))
    const history = missed(own, others.flat(), whole)
    if (history.length === 0) {
      turn.notice('warning', 'session-reset', 'The agent does not know what other agents of this session were told.')
    }
    return withHistory(known, history)
  }

  #knownTo(agent: AgentSettings, remembers: boolean): AgentSession {
    const { bound, settings = {} } = this.record
    return {
      names: this.namesFor(agent),
      settings,
      ...(bound !== undefined && { bound }),
      ...(remembers && { remembers }),
    }
  }

  /** Notes sessions of other agents in which the conversation goes on. */
  goesOnIn(sessions: readonly Id[]): void {
    this.detours = [...new Set([...this.detours, ...sessions])].filter((session) => session !== this.record.id)
  }

  /** The agent has run a turn of it. */
  served(agent: AgentSettings): void {
    this.#heard = placeOf(agent)
    this.#change = undefined
    this.#wentOn = false
    if (this.record.renamed) this.bind(this.record.bound)
  }
}

/** The session with the conversation, if there is any. */
function withHistory(session: AgentSession, history: readonly Message[]): AgentSession {
  return history.length === 0 ? session : { ...session, history }
}
