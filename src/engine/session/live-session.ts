import type { CallEnd, SessionRecord } from '../../contract/index.ts'
import { type Fault, fault, type LinkEvent, type Message } from '../../model/index.ts'
import type { AgentLink, AgentPool, LinkOwner, Waiting } from '../agent/index.ts'
import { elapsed } from '../common/index.ts'
import { limitsOf, type Turn } from '../turn/index.ts'

/** What a live session tells the engine. */
export interface SessionOwner {
  /** An event without a turn that came while none ran. */
  idleEvent(session: LiveSession, event: LinkEvent): void
  callFailed(session: LiveSession, end: CallEnd): void
  /** What was said in it so far. */
  transcript(session: LiveSession): Promise<readonly Message[]>
  /** It has no work and has been so for its agent's idle time, or its agent is no longer configured like this. */
  expired(session: LiveSession): void
}

/** A conversation while it is in memory: one turn at a time on one link, the others wait in order. */
export class LiveSession implements LinkOwner {
  readonly record: SessionRecord
  /** Where its link is from. */
  pool: AgentPool
  /** Where the links of turns that come from now on are from: its agent may have got another configuration. */
  nextPool: AgentPool
  readonly #owner: SessionOwner
  readonly #queue: { turn: Turn; pool: AgentPool }[] = []
  #current: Turn | undefined
  /** The current turn's wait for a process. */
  #waiting: Waiting | undefined
  #link: AgentLink | undefined
  /** The link that has had a turn, and so knows the conversation. */
  #told: AgentLink | undefined
  #idle: NodeJS.Timeout | undefined
  /** When its last turn was done, on a clock that is never set. */
  idleSince = elapsed()
  /** The conversation has had turns before. */
  used: boolean

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

  /** The link that a command beside a turn may go to. */
  get link(): AgentLink | undefined {
    return this.#link?.dead ? undefined : this.#link
  }

  /** Why no more turns can wait for this session, when `limit` wait already. */
  refusal(limit: number): Fault | undefined {
    if (this.#unended <= limit) return undefined
    if (limit === 0) return fault('session-busy', 'A turn of this session runs; try again when it is done.')
    return fault('session-busy', `${limit} turns wait for this session already; try again when they are done.`)
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

  /** What was said is forgotten: the next turn is the first one again. */
  renew(): void {
    this.release()
    this.used = false
    delete this.record.bound
    if (!this.occupied) this.#rest()
  }

  idleEvent(event: LinkEvent): void {
    this.#owner.idleEvent(this, event)
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
    const refused = this.#adopt(turn, link)
    if (refused) return turn.fail(refused)
    const { bound } = this.record
    const lost = link !== this.#told && link.persistent && this.used
    this.#told = link
    const history = lost && this.pool.agent.restore === 'replay' ? await this.#owner.transcript(this) : []
    await turn.run(link, { ...(bound !== undefined && { bound }), ...(history.length > 0 && { history }) })
    link.rest()
    // An agent that was never ready has heard of nothing.
    if (link.ready) this.used = true
  }

  /** The session's own process, or a link with a place for one. */
  #take(turn: Turn): AgentLink | undefined {
    const { link } = this
    if (!link?.persistent) return this.pool.take(turn.scope, this, link)
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
    if (granted && wanted) return this.pool.open(turn.scope, this, this.link)
    if (granted) this.pool.vacate()
    return undefined
  }

  /** Makes a link the session's own; a fault where the conversation may not go on without the process that is gone. */
  #adopt(turn: Turn, link: AgentLink): Fault | undefined {
    if (link === this.#link) return undefined
    this.#link = link
    if (!link.persistent || !this.used) return undefined
    if (this.pool.agent.restore === 'fail') {
      this.release()
      return fault('session-not-found', 'The process of this session is gone; begin a new session.')
    }
    turn.reset(this.pool.agent.restore === 'replay')
    return undefined
  }
}
