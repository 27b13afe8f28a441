import type { HeardBy, Hooks, SessionRecord } from '../../contract/index.ts'
import { AgentPool, type CommandReply, type ProcessCommand, placesOf, SILENT_SCOPE } from '../agent/index.ts'
import type { AgentSettings } from '../common/index.ts'
import { LiveSession, type SessionPeers } from './live-session.ts'
import type { LiveSessions } from './live-sessions.ts'

/** Room of an agent without a limit. */
const MUCH = 1_000_000

/** Opens sessions in memory, with one pool of links for each agent. */
export class Sessions {
  /** Those that are open. */
  readonly live: LiveSessions
  readonly #peers: SessionPeers
  readonly #hooks: Hooks
  readonly #pools = new Map<string, AgentPool>()
  /** The number of replicas that run an agent, this one included. */
  #replicas: (agent: string) => number = () => 1

  constructor(live: LiveSessions, peers: SessionPeers, hooks: Hooks) {
    this.live = live
    this.#peers = peers
    this.#hooks = hooks
  }

  /** Starts the warm processes of every agent. */
  warm(agents: Iterable<AgentSettings>): void {
    for (const agent of agents) if (agent.pool.warm > 0 && !agent.away) this.#pool(agent).refill()
  }

  /** The live session of a record; `heard` is the agent that has taken part in the conversation, if one has. */
  open(record: SessionRecord, agent: AgentSettings, heard: HeardBy | undefined): LiveSession {
    const known = this.live.get(record.id)
    if (known) {
      known.wake()
      known.nextPool = this.#pool(agent)
      if (record !== known.record) known.adopt(record)
      return known
    }
    const session = new LiveSession(record, this.#pool(agent), heard, this.#peers)
    if (record.last?.ended === false) session.adopt(record)
    this.live.add(session)
    return session
  }

  /** The number of turns of further sessions that the agent has room for: free places, and those of idle sessions. */
  roomFor(agent: AgentSettings): number {
    const pool = this.#pools.get(agent.name)
    if (agent.target.kind === 'http') return MUCH
    if (!pool) return placesOf(agent.pool, this.#replicas(agent.name))
    return pool.free > 0 ? pool.free : this.live.idleIn(pool)
  }

  /** Shares the places of agents with other replicas: `replicas` tells how many run an agent, this one included. */
  share(replicas: (agent: string) => number): void {
    this.#replicas = replicas
    for (const [name, pool] of this.#pools) pool.share(replicas(name))
  }

  /** The model that an agent uses by default, as one of its processes has named it, or as configured. */
  modelOf(agent: AgentSettings): string | undefined {
    return this.#pools.get(agent.name)?.model ?? agent.dialect.back.configuredModel?.(agent.context)
  }

  /**
   * The model and version of an agent as its processes have named them, and the number of processes that live over
   * turns.
   */
  about(agent: AgentSettings): { model: string | undefined; version: string | undefined; processes: number } {
    const pool = this.#pools.get(agent.name)
    return { model: this.modelOf(agent), version: pool?.version, processes: pool?.processes ?? 0 }
  }

  /** Asks a process of the agent that no session has, started for it where the pool has room; undefined without an answer. */
  ask(agent: AgentSettings, question: ProcessCommand, timeMs: number): Promise<CommandReply | undefined> {
    return this.#pool(agent).ask(question, timeMs)
  }

  /** Gives up what belongs to agents that are no longer configured like this; turns that run end first. */
  retire(agents: ReadonlyMap<string, AgentSettings>): void {
    for (const session of this.live.values()) {
      const { agent } = session.pool
      if (agents.get(agent.name) !== agent && !session.occupied) session.close()
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
    for (const session of this.live.values()) session.close()
  }

  #pool(agent: AgentSettings): AgentPool {
    const known = this.#pools.get(agent.name)
    if (known?.agent === agent) return known
    const pool = new AgentPool(
      agent,
      (full) => this.live.evictIdle(full),
      () => ({ ...SILENT_SCOPE, ...this.#hooks.ahead?.(agent.name) }),
    )
    pool.share(this.#replicas(agent.name))
    this.#pools.set(agent.name, pool)
    return pool
  }
}
