import type { Hooks, SessionKey, SessionRecord } from '../../contract/index.ts'
import type { CommandOf, Id } from '../../model/index.ts'
import { AgentPool, type CommandReply, SILENT_SCOPE } from '../agent/index.ts'
import type { AgentSettings } from '../common/index.ts'
import { LiveSession, type SessionOwner } from './live-session.ts'

/** The sessions in memory, and one pool of links per agent. */
export class Sessions {
  readonly #owner: SessionOwner
  readonly #hooks: Hooks
  readonly #live = new Map<Id, LiveSession>()
  readonly #pools = new Map<string, AgentPool>()

  constructor(owner: SessionOwner, hooks: Hooks) {
    this.#owner = owner
    this.#hooks = hooks
  }

  /** Starts the warm processes of every agent. */
  warm(agents: Iterable<AgentSettings>): void {
    for (const agent of agents) if (agent.pool.warm > 0) this.#pool(agent).refill()
  }

  get(id: Id): LiveSession | undefined {
    return this.#live.get(id)
  }

  /** All of them. */
  values(): Iterable<LiveSession> {
    return this.#live.values()
  }

  /** The record of the live session with this key. */
  find({ tenant, agent, session, conversation }: SessionKey): SessionRecord | undefined {
    for (const { record } of this.#live.values()) {
      const same = record.tenant === tenant && record.agent === agent && record.session === session
      if (same && record.conversation === conversation) return record
    }
    return undefined
  }

  /** The live session of a record; `used` says whether the conversation had turns before. */
  open(record: SessionRecord, agent: AgentSettings, used: boolean): LiveSession {
    const known = this.#live.get(record.id)
    if (known) {
      known.nextPool = this.#pool(agent)
      known.adopt(record)
      return known
    }
    const session = new LiveSession(record, this.#pool(agent), used, this.#owner)
    this.#live.set(record.id, session)
    return session
  }

  /** The model that an agent works with when nobody chose another one, as a process of it has said, or as it is configured. */
  modelOf(agent: AgentSettings): string | undefined {
    return this.#pools.get(agent.name)?.model ?? agent.dialect.back.configuredModel?.(agent.context)
  }

  /** Asks a process of the agent that no session has, started for it where the pool has room; undefined without an answer. */
  ask(agent: AgentSettings, question: CommandOf<'query'>, timeMs: number): Promise<CommandReply | undefined> {
    return this.#pool(agent).ask(question, timeMs)
  }

  /** A session of the agent whose process is ready and has no turn. */
  idle(agent: AgentSettings): LiveSession | undefined {
    for (const session of this.#live.values()) {
      const { link } = session
      if (session.pool.agent === agent && !session.occupied && link?.persistent && link.ready) return session
    }
    return undefined
  }

  /** Gives up a session's link and forgets it; its record stays. */
  forget(session: LiveSession): void {
    session.release()
    if (this.#live.get(session.record.id) === session) this.#live.delete(session.record.id)
  }

  /** Gives up what belongs to agents that are no longer configured like this; turns that run end first. */
  retire(agents: ReadonlyMap<string, AgentSettings>): void {
    for (const session of this.#live.values()) {
      const { agent } = session.pool
      if (agents.get(agent.name) !== agent && !session.occupied) this.forget(session)
    }
    for (const [name, pool] of this.#pools) {
      if (agents.get(name) === pool.agent) continue
      pool.retire()
      this.#pools.delete(name)
    }
  }

  /** Ends every link; resolves when no agent runs. */
  async close(graceMs: number): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.close(graceMs)))
    for (const session of this.#live.values()) session.release()
    this.#live.clear()
  }

  #pool(agent: AgentSettings): AgentPool {
    const known = this.#pools.get(agent.name)
    if (known?.agent === agent) return known
    const pool = new AgentPool(
      agent,
      (full) => this.#evictIdle(full),
      () => ({ ...SILENT_SCOPE, ...this.#hooks.ahead?.(agent.name) }),
    )
    this.#pools.set(agent.name, pool)
    return pool
  }

  /** Gives up the process of the session that has been idle for longest. */
  #evictIdle(pool: AgentPool): boolean {
    let oldest: LiveSession | undefined
    for (const session of this.#live.values()) {
      if (session.occupied || session.pool !== pool || !session.link?.persistent) continue
      if (!oldest || session.idleSince < oldest.idleSince) oldest = session
    }
    oldest?.release()
    return oldest !== undefined
  }
}
