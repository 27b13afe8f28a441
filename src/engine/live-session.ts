import type { CallEnd, SessionRecord } from '../contract/index.ts'
import { type Fault, fault, type LinkEvent, type Message } from '../model/index.ts'
import type { AgentLink, LinkOwner } from './agent-link.ts'
import type { AgentPool } from './agent-pool.ts'
import { elapsed } from './clock.ts'
import type { Turn } from './turn.ts'

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

  /** Forgets a turn that still waits. */
  abandon(turn: Turn): void {
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
  }

  async #serve(turn: Turn): Promise<void> {
    if (turn.ended) return
    const link = this.#open(turn)
    if ('code' in link) {
      turn.fail(link)
      return
    }
    const { bound } = this.record
    const lost = link !== this.#told && link.persistent && this.used
    this.#told = link
    const history = lost && this.pool.agent.restore === 'replay' ? await this.#owner.transcript(this) : []
    await turn.run(link, { ...(bound !== undefined && { bound }), ...(history.length > 0 && { history }) })
    link.rest()
    // An agent that was never ready has heard of nothing.
    if (link.ready) this.used = true
    this.pool.refill()
    if (link.dead) this.release()
  }

  #open(turn: Turn): AgentLink | Fault {
    if (this.#link && !this.#link.dead) {
      turn.scope.linked('kept', this.#link.process)
      return this.#link
    }
    const link = this.pool.take(turn.scope, this)
    if ('code' in link) return link
    this.#link = link
    if (!link.persistent || !this.used) return link
    if (this.pool.agent.restore === 'fail') {
      this.release()
      return fault('session-not-found', 'The process of this session is gone; begin a new session.')
    }
    turn.reset(this.pool.agent.restore === 'replay')
    return link
  }
}
