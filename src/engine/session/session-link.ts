import type { Awaitable } from '../../contract/index.ts'
import type { AgentLink, AgentPool, LinkFor, LinkOwner, Waiting } from '../agent/index.ts'
import { limitsOf } from '../common/index.ts'
import type { Turn } from '../turn/index.ts'

/** The link of a session, from the pool of its agent: kept from turn to turn, or opened for each. */
export class SessionLink {
  readonly #owner: LinkOwner
  /** The pool of the link. */
  pool: AgentPool
  #link: AgentLink | undefined
  #waiting: Waiting | undefined

  /** `owner` gets output of the agent outside of turns. */
  constructor(pool: AgentPool, owner: LinkOwner) {
    this.pool = pool
    this.#owner = owner
  }

  /** The link, while something can be run on it. */
  get live(): AgentLink | undefined {
    return this.#link?.dead ? undefined : this.#link
  }

  /** The agent keeps the session in the memory of its process. */
  get isMemory(): boolean {
    return this.#link?.persistent === true && this.pool.memory !== 'resumed'
  }

  /**
   * A link of this pool for a turn: the session's own, or one with a place, for which the turn waits. Undefined when
   * the turn has its end meanwhile, or moves to another agent. `bound` is the agent's own id of the session, `cwd` the
   * folder of its client.
   */
  open(turn: Turn, pool: AgentPool, { bound, cwd }: Omit<LinkFor, 'kept'>): Awaitable<AgentLink | undefined> {
    if (pool !== this.pool) this.release()
    this.pool = pool
    const session = { kept: this.live, bound, cwd: pool.agent.workspaces && cwd }
    const link = this.#take(turn, session)
    if (!link) return this.#takeInLine(turn, session)
    this.#link = link
    return link
  }

  /** Gives up the wait for a place. */
  leaveLine(): void {
    this.#waiting?.leave()
    this.#waiting = undefined
  }

  /** The agent is done with a turn on the link. */
  settle(link: AgentLink): void {
    if (!link.persistent) this.pool.vacate()
    this.pool.refill()
    if (link.dead) this.release()
  }

  /** Gives up the link; the next turn opens another. */
  release(): void {
    if (this.#link) this.pool.release(this.#link)
    this.#link = undefined
  }

  #take(turn: Turn, session: LinkFor): AgentLink | undefined {
    const { kept } = session
    if (!kept?.persistent) return this.pool.take(turn.scope, this.#owner, session)
    turn.scope.linked('kept', kept.process)
    return kept
  }

  /** Waits for a place. Without one the turn has its end, or moves to another agent. */
  async #takeInLine(turn: Turn, session: LinkFor): Promise<AgentLink | undefined> {
    const waiting = this.pool.wait(limitsOf(turn.agent, turn.route).queue)
    if ('code' in waiting) {
      turn.fail(waiting)
      return undefined
    }
    turn.timer.enter('place')
    this.#waiting = waiting
    const granted = await waiting.over
    const wanted = this.#waiting === waiting && !turn.ended
    this.#waiting = undefined
    if (granted && wanted) this.#link = this.pool.open(turn.scope, this.#owner, { ...session, kept: this.live })
    else if (granted) this.pool.vacate()
    return granted && wanted ? this.#link : undefined
  }
}
