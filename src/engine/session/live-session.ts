import type { CallEnd, HeardBy, SessionRecord } from '../../contract/index.ts'
import type { Fault, LinkEvent } from '../../model/index.ts'
import type { AgentLink, AgentPool, LinkOwner, Replies } from '../agent/index.ts'
import { type EngineLog, elapsed, type SessionNames } from '../common/index.ts'
import { type AgentSession, keepsContent, type Turn, type TurnSession } from '../turn/index.ts'
import { Absence, type OtherProcesses } from './absence.ts'
import { AgentMemory } from './agent-memory.ts'
import { BetweenTurns, isBetweenTurns } from './between-turns.ts'
import type { SessionRecorder } from './detours.ts'
import { SessionCopy } from './session-copy.ts'
import { SessionLink } from './session-link.ts'
import { TurnLine, type TurnServer } from './turn-line.ts'

/** The sessions in memory, as each of them sees them. */
export interface SessionShelf {
  /** A session without work and without a process may leave the memory when there are many. */
  mayLeave(session: LiveSession): void
  /** It is used again. */
  stays(session: LiveSession): void
  /** It leaves the memory. */
  delete(session: LiveSession): void
}

/** The parts of the gateway that every session works with. */
export interface SessionPeers {
  recorder: SessionRecorder
  /** The sessions in memory. */
  sessions: SessionShelf
  /** Commands that agents are to answer. */
  replies: Replies
  log: EngineLog
  /** The other processes on the store. */
  elsewhere: OtherProcesses
  /** Milliseconds since the epoch. */
  now(): number
}

/** A session while it is in memory: its turns in line, its agent's link, and the agent's knowledge of it. */
export class LiveSession implements LinkOwner, TurnServer, TurnSession<Turn> {
  readonly memory: AgentMemory
  /** The pool for turns that come from now on: its agent may have got another configuration. */
  nextPool: AgentPool
  readonly #peers: SessionPeers
  readonly #line = new TurnLine(this)
  readonly #link: SessionLink
  #idle: NodeJS.Timeout | undefined
  /** Set while another process has run a turn of it more recently. */
  #absence: Absence | undefined
  /** The version of the store up to which its record is that of the store; `STALE` when it has to be read again. */
  asOf: number | undefined
  /** The time when its last turn was done, on a clock that is never set. */
  idleSince = elapsed()
  /** The output of its agent while no turn ran. */
  #between: BetweenTurns | undefined
  /** The content of its last turn may be written down. */
  #keepsContent = true
  /** Set for a copy of which its agent has had no turn. */
  #copy: SessionCopy | undefined

  /** `heard` is the agent that has taken part in the conversation, if one has. */
  constructor(record: SessionRecord, pool: AgentPool, heard: HeardBy | undefined, peers: SessionPeers) {
    this.memory = new AgentMemory(record, heard, peers.recorder)
    this.nextPool = pool
    this.#link = new SessionLink(pool, this)
    this.#peers = peers
    this.#copy = heard && SessionCopy.of(record, peers.recorder)
  }

  get record(): SessionRecord {
    return this.memory.record
  }

  /** A turn of it runs or waits. A turn with an end whose agent is still exiting does not count. */
  get busy(): boolean {
    return this.#line.length > 0
  }

  /** Its agent is not free: a turn runs, or has its end and its process is still exiting. */
  get occupied(): boolean {
    return this.#line.running !== undefined
  }

  get running(): Turn | undefined {
    return this.#line.running
  }

  /** The pool of its link. */
  get pool(): AgentPool {
    return this.#link.pool
  }

  /** The link that commands without a turn go to. */
  get link(): AgentLink | undefined {
    return this.#absence?.lasts && this.running?.ended !== false ? undefined : this.#link.live
  }

  /** The names that its agent gets. */
  get names(): SessionNames {
    return this.memory.namesFor(this.pool.agent)
  }

  /** The fault of a turn that cannot wait for this session, because `limit` turns wait already. */
  refusal(limit: number): Fault | undefined {
    return this.#line.refusal(limit, this.#absence?.turns)
  }

  /** Gives a turn the last place in line. It does not run before it is ready. */
  enqueue(turn: Turn): void {
    this.#line.enqueue(turn, this.nextPool)
  }

  /** Lets a turn of the line run: now, or when those before it are done. */
  ready(turn: Turn): void {
    this.#line.ready(turn)
  }

  /** Forgets a turn that waits: for those before it, or for a process. */
  abandon(turn: Turn): void {
    if (turn === this.running) this.#link.leaveLine()
    this.#line.remove(turn)
  }

  /** Gives up the link; the next turn opens another. */
  release(): void {
    clearTimeout(this.#idle)
    this.#link.release()
  }

  /** It is about to get a turn: it stays in memory until it rests again. */
  wake(): void {
    clearTimeout(this.#idle)
    this.#peers.sessions.stays(this)
  }

  /** Gives up the link and leaves the sessions in memory. Its record stays. */
  close(): void {
    this.#peers.sessions.delete(this)
    this.release()
  }

  /** Resets the session: the next turn is the first one of a session that the agent does not know. */
  renew(epoch: number | undefined): void {
    this.release()
    this.#copy = undefined
    this.memory.forget(epoch)
    this.restWhenIdle()
  }

  /** Takes over changes that another process may have made to its record. */
  adopt(record: SessionRecord): void {
    const { epoch = 0, settings, last, owner } = record
    this.asOf = undefined
    if (settings) this.record.settings = settings
    if (owner) this.record.owner = owner
    const { elsewhere } = this.#peers
    if (last && elsewhere.have(last)) {
      this.#absence ??= new Absence(elsewhere)
      this.#absence.note(last)
    }
    if (epoch > (this.record.epoch ?? 0) && !this.occupied) this.renew(epoch)
  }

  /** Takes output of its agent outside of turns. */
  idleEvent(event: LinkEvent): void {
    const { running } = this
    if (event.type === 'session-bound') this.memory.bind(event.agentSession)
    else if (event.type === 'command-reply') this.#peers.replies.take(event)
    else if (event.type === 'notice' && isBetweenTurns(event, running)) {
      this.#between ??= new BetweenTurns()
      this.#between.mayBeKept = this.#keepsContent
      this.#between.keep(event, { session: this.record, running, agent: this.pool.agent }, this.#peers)
    } else if (event.type === 'session-changed' && running?.ended !== false) {
      this.#between ??= new BetweenTurns()
      this.#between.offer(event.json)
    } else running?.audience.tell(event)
  }

  /** Logs how a call of its agent failed. */
  callFailed({ why, exitCode, signal, stderr, fault: found }: CallEnd): void {
    if (stderr && this.running) this.running.scope.stderr = stderr
    this.#peers.log.warn('an agent failed', {
      agent: this.pool.agent.name,
      session: this.record.id,
      traceparent: this.running?.scope.carrier.traceparent,
      why,
      exitCode,
      signal,
      stderr,
      fault: found?.message,
    })
  }

  /** The process of its link is gone. */
  died(): void {
    if (!this.busy && !this.occupied) this.#peers.sessions.mayLeave(this)
  }

  rebind(): string {
    return this.memory.rebind()
  }

  async lost(turn: Turn): Promise<AgentSession | Fault> {
    this.memory.bind(undefined)
    return this.#restore(turn) ?? this.memory.tellOf(this.pool.agent, true, turn)
  }

  async serve(turn: Turn, pool: AgentPool): Promise<void> {
    this.wake()
    if (this.#absence?.lasts) await this.#comeBack(turn, this.#absence)
    if (turn.ended) return
    this.memory.meet(pool.agent)
    const { bound, settings } = this.record
    const opened = this.#link.open(turn, pool, { bound, cwd: settings?.cwd })
    const link = opened instanceof Promise ? await opened : opened
    if (!link) return
    let again = false
    try {
      again = await this.#run(turn, link)
    } finally {
      this.#link.settle(link)
    }
    if (again) await this.serve(turn, pool)
  }

  /** Comes back from another process: the agent here does not know the turns there. */
  async #comeBack(turn: Turn, absence: Absence): Promise<void> {
    const back = await absence.end(turn)
    if (!back) return
    this.release()
    this.#copy = undefined
    this.memory.goOn(back.record, back.heard)
  }

  /**
   * Does nothing while the session is used. One that was opened without a turn waits for one as long as an idle one
   * may.
   */
  restWhenIdle(): void {
    if (!this.busy && !this.occupied) this.rest()
  }

  /** It has no work from now on. */
  rest(): void {
    if (this.pool.retired) {
      this.close()
      return
    }
    this.idleSince = elapsed()
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => this.close(), this.pool.agent.pool.idle)
    this.#idle.unref()
    if (!this.link?.persistent) this.#peers.sessions.mayLeave(this)
    this.pool.makeRoom()
  }

  /** Runs a turn; true when another link is to run it. */
  async #run(turn: Turn, link: AgentLink): Promise<boolean> {
    const origin = this.#copy && (await this.#copy.origin(this.pool.agent))
    const isLost = this.memory.isLostOn(link, this.pool.memory, this.#copy !== undefined)
    const lost = isLost && origin === undefined
    const why = lost ? this.#restore(turn) : undefined
    if (why) {
      turn.fail(why)
      return false
    }
    if (!lost) this.memory.tellChange(turn, this.pool.memory)
    this.#between?.tell(turn)
    this.#between = undefined
    this.#keepsContent = keepsContent(turn)
    const telling = this.memory.tellOf(this.pool.agent, lost, turn)
    const told = telling instanceof Promise ? await telling : telling
    const again = await turn.run(link, origin === undefined ? told : { ...told, origin })
    link.rest()
    // An agent that was never ready knows nothing of the turn.
    if (link.ready && !again) this.#served()
    // A turn that another agent has taken was not heard here.
    if (turn.agent === this.pool.agent) this.memory.detours = []
    return again
  }

  /** Its agent has had a turn. */
  #served(): void {
    this.memory.served(this.pool.agent)
    this.#copy?.served()
    this.#copy = undefined
  }

  /** Has a lost conversation go on, or gives up the link and returns the fault that refuses the turn. */
  #restore(turn: Turn): Fault | undefined {
    const why = this.memory.restore(turn, this.pool.agent, this.#link.isMemory, this.#copy !== undefined)
    if (why) this.release()
    return why
  }
}
