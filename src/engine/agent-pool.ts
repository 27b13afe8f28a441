import type { TurnScope } from '../contract/index.ts'
import { type Fault, fault } from '../model/index.ts'
import { AgentLink, type LinkOwner } from './agent-link.ts'
import type { AgentSettings } from './settings.ts'
import { SILENT_SCOPE } from './silent-scope.ts'

/** Gives up an idle session's process of a pool that is full; true when there was one. */
export type EvictIdle = (pool: AgentPool) => boolean

/**
 * The links of one agent: hands out a link for a session, warm when one is ready, and never has more processes that
 * live over turns than `max`.
 */
export class AgentPool {
  readonly agent: AgentSettings
  readonly #evict: EvictIdle
  readonly #ahead: () => TurnScope
  readonly #live = new Set<AgentLink>()
  readonly #warm: AgentLink[] = []
  /** Its agent is no longer configured like this. */
  retired = false
  /** What a process that is gone had said. */
  #lastModel: string | undefined

  /** `ahead` gives what observes a process that is started for no turn. */
  constructor(agent: AgentSettings, evict: EvictIdle, ahead: () => TurnScope = () => SILENT_SCOPE) {
    this.agent = agent
    this.#evict = evict
    this.#ahead = ahead
    this.refill()
  }

  /** A link for a session, or the fault `overloaded` when every place is taken by a running turn. */
  take(scope: TurnScope, owner: LinkOwner): AgentLink | Fault {
    const warm = this.#takeWarm()
    if (warm) {
      warm.owner = owner
      scope.linked('warm', warm.process)
      return warm
    }
    this.#sweep()
    if (this.#live.size >= this.agent.pool.max && !this.#evict(this)) {
      return fault('overloaded', `All ${this.agent.pool.max} processes of the agent "${this.agent.name}" are busy.`)
    }
    scope.linked('new')
    return this.#start(scope, owner)
  }

  /** The model that the agent works with, as far as a process of it has said so. */
  get model(): string | undefined {
    for (const { model } of this.#live) if (model !== undefined) this.#lastModel = model
    return this.#lastModel
  }

  /** Starts what is missing of the warm processes; called after a turn, so that its start does not slow one down. */
  refill(): void {
    this.#sweep()
    if (this.retired) return
    while (this.#warm.length < this.agent.pool.warm && this.#live.size < this.agent.pool.max) {
      const link = this.#start(this.#ahead(), { idleEvent() {}, callFailed() {} })
      if (!link.persistent) return
      this.#warm.push(link)
    }
  }

  /** Starts nothing ahead any more, and ends what was. */
  retire(): void {
    this.retired = true
    for (const link of this.#warm.splice(0)) this.release(link)
  }

  /** Ends a link; its place is free at once. */
  release(link: AgentLink): void {
    this.#lastModel = link.model ?? this.#lastModel
    this.#live.delete(link)
    void link.stop('closed', this.agent.limits.grace)
  }

  /** Ends every link; resolves when nothing runs. */
  async close(graceMs: number): Promise<void> {
    await Promise.all([...this.#live].map((link) => link.stop('closed', graceMs)))
    this.#live.clear()
  }

  #start(scope: TurnScope, owner: LinkOwner): AgentLink {
    const link = new AgentLink(this.agent, scope, owner)
    if (link.persistent) this.#live.add(link)
    return link
  }

  #takeWarm(): AgentLink | undefined {
    while (this.#warm.length > 0) {
      const link = this.#warm.shift()!
      if (!link.dead) return link
      this.#live.delete(link)
    }
    return undefined
  }

  #sweep(): void {
    for (const link of this.#live) if (link.dead) this.#live.delete(link)
  }
}
