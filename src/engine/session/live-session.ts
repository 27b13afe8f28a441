import type { CallEnd, SessionRecord } from '../../contract/index.ts'
import { type Fault, fault, type LinkEvent, type Message, UNASKED_OUTPUT } from '../../model/index.ts'
import type { AgentLink, AgentPool, LinkFor, LinkOwner, Waiting } from '../agent/index.ts'
import { elapsed, limitsOf, type SessionNames, sessionNames } from '../common/index.ts'
import { type AgentSession, keepsContent, type Turn } from '../turn/index.ts'
import { BetweenTurns, type Notice } from './between-turns.ts'

/** The engine as a live session sees it. */
export interface SessionOwner {
  /** An event without a turn that came while none ran. */
  idleEvent(session: LiveSession, event: LinkEvent): void
  callFailed(session: LiveSession, end: CallEnd): void
  /** The agent's own id of it is another one, or none any more. */
  bound(session: LiveSession, id: string | undefined): void
  /** The transcript so far. */
  transcript(session: LiveSession): Promise<readonly Message[]>
  /** It has no work and has been so for its agent's idle time, or its agent is no longer configured like this. */
  expired(session: LiveSession): void
}

/** A conversation while it is in memory: one turn at a time on one link, the others wait in order. */
export class LiveSession implements LinkOwner {
  readonly record: SessionRecord
  /** The pool of its link. */
  pool: AgentPool
  /** The pool for turns that come from now on: its agent may have got another configuration. */
  nextPool: AgentPool
  readonly #owner: SessionOwner
  readonly #queue: { turn: Turn; pool: AgentPool }[] = []
  #current: Turn | undefined
  /** The current turn's wait for a process. */
  #waiting: Waiting | undefined
  #link: AgentLink | undefined
  /** The link that has had a turn, and so knows the conversation. */
  #primed: AgentLink | undefined
  #idle: NodeJS.Timeout | undefined
  /** When its last turn was done, on a clock that is never set. */
  idleSince = elapsed()
  /** The conversation has had turns before. */
  used: boolean
  /** Notices of its agent while no turn ran. */
  readonly between = new BetweenTurns()

  constructor(record: SessionRecord, pool: AgentPool, used: boolean, owner: SessionOwner) {
    this.record = record
    this.pool = this.nextPool = pool
    this.used = used
    this.#owner = owner
  }

  /** A turn of it runs or waits: one whose agent is only leaving after the end does not count. */
  get busy(): boolean {
    return this.#unended > 0
  }

  /** Its agent is not free: a turn runs, or has its end and its process is still leaving. */
  get occupied(): boolean {
    return this.#current !== undefined
  }

  get running(): Turn | undefined {
    return this.#current
  }

  /** The link that commands without a turn go to. */
  get link(): AgentLink | undefined {
    return this.#link?.dead ? undefined : this.#link
  }

  /** The fault of a turn that cannot wait for this session, because `limit` turns wait already. */
  refusal(limit: number): Fault | undefined {
    if (this.#unended <= limit) return undefined
    if (limit === 0) return fault('session-busy', 'A turn of this session runs; try again when it is done.')
    const waiting = limit === 1 ? 'A turn waits' : `${limit} turns wait`
    return fault('session-busy', `${waiting} for this session already; try again later.`)
  }

  /** Takes a turn: runs it now or when those before it are done. */
  enqueue(turn: Turn): void {
    this.#queue.push({ turn, pool: this.nextPool })
    if (!this.occupied) void this.#work()
  }

  /** Forgets a turn that still waits: for those before it, or for a process. */
  abandon(turn: Turn): void {
    if (turn === this.#current) {
      this.#waiting?.leave()
      this.#waiting = undefined
    }
    const at = this.#queue.findIndex((waiting) => waiting.turn === turn)
    if (at >= 0) this.#queue.splice(at, 1)
  }

  /** Gives up the link; the next turn opens another. */
  release(): void {
    clearTimeout(this.#idle)
    if (this.#link) this.pool.release(this.#link)
    this.#link = undefined
  }

  /** The names that its agent is told. */
  get names(): SessionNames {
    return sessionNames(this.record, this.pool.agent.dialect.back.capabilities)
  }

  /** Begins anew: the next turn is the first one of a session that the agent does not know. */
  renew(epoch: number | undefined): void {
    this.release()
    this.forget(epoch)
    if (!this.occupied) this.#rest()
  }

  /** The agent itself has forgotten what was said. */
  forget(epoch: number | undefined): void {
    this.used = false
    delete this.record.bound
    delete this.record.renamed
    if (epoch !== undefined) this.record.epoch = epoch
  }

  /** Takes over what another process may have changed in its record. */
  adopt({ epoch = 0, settings }: SessionRecord): void {
    if (settings) this.record.settings = settings
    if (epoch > (this.record.epoch ?? 0) && !this.occupied) this.renew(epoch)
  }

  idleEvent(event: LinkEvent): void {
    this.#owner.idleEvent(this, event)
  }

  /** No turn runs that this is about: none has begun, or it is what the agent said before that. */
  isBetweenTurns({ code }: Notice): boolean {
    return this.#current?.ended !== false || code === UNASKED_OUTPUT
  }

  /** Has the turn that waits for the agent tell it, or the next one; false when too much is kept already. */
  tellLater(notice: Notice): boolean {
    const running = this.#current
    if (running?.ended !== false) return this.between.add(notice)
    const { severity, code, text } = this.between.hidden(notice)
    running.notice(severity, code, text)
    return true
  }

  callFailed(end: CallEnd): void {
    this.#owner.callFailed(this, end)
  }

  get #unended(): number {
    return this.#queue.length + (this.#current?.ended === false ? 1 : 0)
  }

  async #work(): Promise<void> {
    clearTimeout(this.#idle)
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      const { turn, pool } = next
      this.#current = turn
      try {
        if (pool !== this.pool) this.release()
        this.pool = pool
        await this.#serve(turn)
      } catch (error) {
        turn.fail(fault('internal', `The turn was stopped by an internal error (${String(error)}).`))
      }
      this.#current = undefined
    }
    if (this.pool.retired) this.#owner.expired(this)
    else this.#rest()
  }

  /** It has no work from here on. */
  #rest(): void {
    this.idleSince = elapsed()
    this.#idle = setTimeout(() => this.#owner.expired(this), this.pool.agent.pool.idle)
    this.#idle.unref()
    this.pool.makeRoom()
  }

  async #serve(turn: Turn): Promise<void> {
    if (turn.ended) return
    const link = this.#take(turn) ?? (await this.#takeInLine(turn))
    if (!link) return
    try {
      await this.#run(turn, link)
    } finally {
      if (!link.persistent) this.pool.vacate()
    }
    this.pool.refill()
    if (link.dead) this.release()
  }

  async #run(turn: Turn, link: AgentLink): Promise<void> {
    this.#link = link
    const lost = link !== this.#primed && this.#isLost(link)
    this.#primed = link
    const why = lost ? this.#restore(turn) : undefined
    if (why) {
      turn.fail(why)
      return
    }
    this.between.tell(turn)
    this.between.mayBeKept = keepsContent(turn)
    await turn.run(link, await this.#forAgent(turn, lost))
    link.rest()
    // An agent that was never ready has heard of nothing.
    if (link.ready) this.#served()
  }

  /** The session's own process, or a link with a place for one. */
  #take(turn: Turn): AgentLink | undefined {
    const { link } = this
    if (!link?.persistent) return this.pool.take(turn.scope, this, this.#for)
    turn.scope.linked('kept', link.process)
    return link
  }

  /** Waits for a place. Without one the turn has its end, or goes to another agent. */
  async #takeInLine(turn: Turn): Promise<AgentLink | undefined> {
    const waiting = this.pool.wait(limitsOf(turn.agent, turn.route).queue)
    if ('code' in waiting) {
      turn.fail(waiting)
      return undefined
    }
    turn.waitsForProcess()
    this.#waiting = waiting
    const granted = await waiting.over
    const wanted = this.#waiting === waiting && !turn.ended
    this.#waiting = undefined
    if (granted && wanted) return this.pool.open(turn.scope, this, this.#for)
    if (granted) this.pool.vacate()
    return undefined
  }

  get #for(): LinkFor {
    return { kept: this.link, bound: this.record.bound }
  }

  /** True when the agent has lost the conversation, on a link that has not had a turn of this session. */
  #isLost({ persistent }: AgentLink): boolean {
    const { bound, renamed } = this.record
    if (!this.used) return false
    switch (this.pool.memory) {
      case 'process':
        return persistent
      case 'named':
        return renamed === true && bound === undefined
      default:
        return persistent && bound === undefined
    }
  }

  /** Tells the client how a lost conversation goes on, or returns the fault that refuses its turn. */
  #restore(turn: Turn): Fault | undefined {
    const { restore } = this.pool.agent
    const ofProcess = this.#link?.persistent === true && this.pool.memory !== 'resumed'
    if (restore === 'fail') {
      this.release()
      const gone = ofProcess ? 'The process of this session is gone' : 'The agent does not know this session any more'
      return fault('session-not-found', `${gone}; begin a new session.`)
    }
    const why = ofProcess ? 'The process of this session was gone' : 'The agent did not know this session any more'
    turn.reset(why, restore === 'replay')
    return undefined
  }

  async #forAgent(turn: Turn, lost: boolean): Promise<AgentSession> {
    const { bound, settings = {} } = this.record
    const history = lost && this.pool.agent.restore === 'replay' ? await this.#owner.transcript(this) : []
    return {
      names: this.names,
      settings,
      ...(bound !== undefined && { bound }),
      ...(history.length > 0 && { history }),
      lost: async () => {
        this.#owner.bound(this, undefined)
        return this.#restore(turn) ?? this.#forAgent(turn, true)
      },
    }
  }

  #served(): void {
    this.used = true
    if (this.record.renamed) this.#owner.bound(this, this.record.bound)
  }
}
