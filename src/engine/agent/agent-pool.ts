import type { Memory, Pool, TurnScope } from '../../contract/index.ts'
import { type Fault, fault } from '../../model/index.ts'
import type { AgentSettings } from '../common/index.ts'
import { AgentLink, type LinkOwner } from './agent-link.ts'
import { IdleLink, type ProcessCommand } from './idle-link.ts'
import { Places, type Waiting } from './places.ts'
import type { CommandReply } from './replies.ts'
import { SharedProcesses } from './shared-processes.ts'
import { SILENT_SCOPE } from './silent-scope.ts'

/** Gives up an idle session's process of a pool that is full; true when there was one. */
export type EvictIdle = (pool: AgentPool) => boolean

/** The session that a link is for. */
export interface LinkFor {
  /** The session's link of an agent that is one process a turn; it is given back with a place for the next process. */
  kept?: AgentLink | undefined
  /** The agent's own id of the session. */
  bound?: string | undefined
  /** The folder that its processes are to run in, instead of the configured one. */
  cwd?: string | undefined
}

/**
 * The links of one agent: hands out a link for a session, warm when one is ready. It has `max` places: a process that
 * lives over turns holds one until it has exited, a turn that starts a process of its own holds one until that has.
 * Turns that find no place free wait in line. A process that serves several sessions has as many places. An agent behind
 * a URL has no processes, and any number of places.
 */
export class AgentPool {
  readonly agent: AgentSettings
  readonly #evict: EvictIdle
  readonly #ahead: () => TurnScope
  readonly #places: Places
  /** The links whose process lives over turns, until it has exited. */
  readonly #live = new Set<AgentLink>()
  readonly #warm: IdleLink[] = []
  /** The processes that serve several sessions each, where the agent is configured so. */
  readonly #shared: SharedProcesses | undefined
  /** Its agent is no longer configured like this. */
  retired = false
  /** The model and the version that an earlier process has named. */
  #lastModel: string | undefined
  #lastVersion: string | undefined

  /** `ahead` makes the observer of a process that is started before any turn needs it. */
  constructor(agent: AgentSettings, evict: EvictIdle, ahead: () => TurnScope = () => SILENT_SCOPE) {
    this.agent = agent
    this.#evict = evict
    this.#ahead = ahead
    this.#places = new Places(agent.target.kind === 'http' ? Number.POSITIVE_INFINITY : placesOf(agent.pool, 1))
    if (sessionsOf(agent.pool) > 1) {
      this.#shared = new SharedProcesses(agent, () => this.#places.max / sessionsOf(agent.pool))
    }
    this.refill()
  }

  /** The place where its agent keeps a session. */
  get memory(): Memory {
    return this.agent.dialect.back.memory(this.agent.context)
  }

  /**
   * A link for a turn, if there is a warm process or a free place. A session that has to be started with its id, or in
   * another folder, gets no warm process.
   */
  take(scope: TurnScope, owner: LinkOwner, session: LinkFor): AgentLink | undefined {
    const resumed = session.bound !== undefined && this.memory === 'resumed'
    const warm = resumed || session.cwd !== undefined ? undefined : this.#takeWarm()
    if (warm) {
      scope.linked('warm', warm.link.process)
      return warm.giveTo(owner)
    }
    return this.#places.take() ? this.open(scope, owner, session) : undefined
  }

  /** The number of free places. */
  get free(): number {
    return this.#places.free
  }

  /**
   * Waits in line for a place, for which an idle process of another session gives way. Gives the fault `overloaded`
   * when all are busy and `limit` turns wait already.
   */
  wait(limit: number): Waiting | Fault {
    const busy = this.#places.waiting - this.#leaving
    if (busy >= limit && busy >= 0 && !this.#giveUpIdle()) return full(this.agent, this.#places.max, limit)
    const waiting = this.#places.wait()
    this.makeRoom()
    return waiting
  }

  /** A link on the place that a wait has given. */
  open(scope: TurnScope, owner: LinkOwner, session: LinkFor): AgentLink {
    const { kept } = session
    scope.linked(kept ? 'kept' : 'new')
    return kept ?? this.#start(scope, owner, session)
  }

  /** The turn's own process has exited, or none was started on its place. */
  vacate(): void {
    this.#places.give()
  }

  /**
   * Ends idle processes: one for each turn that waits and each place beyond its share, minus those that are ending
   * already.
   */
  makeRoom(): void {
    while (this.#missing > 0 && this.#giveUpIdle());
  }

  /** Sets the number of places to its share among `replicas` processes of the gateway that run the agent. */
  share(replicas: number): void {
    if (this.agent.pool.total === undefined || this.agent.target.kind === 'http') return
    this.#places.resize(placesOf(this.agent.pool, replicas))
    this.makeRoom()
  }

  /** The model that the agent works with, if one of its processes has named it. */
  get model(): string | undefined {
    for (const { model } of this.#live) if (model !== undefined) this.#lastModel = model
    return this.#lastModel
  }

  /** The version of the agent, if one of its processes has named it. */
  get version(): string | undefined {
    for (const { version } of this.#live) if (version !== undefined) this.#lastVersion = version
    return this.#lastVersion
  }

  /** The number of processes that live over turns. */
  get processes(): number {
    return this.#shared?.size ?? this.#live.size
  }

  /** Starts what is missing of the warm processes; called after a turn, so that its start does not slow one down. */
  refill(): void {
    while (!this.retired && this.#warm.length < this.agent.pool.warm && this.#places.take()) {
      if (!this.#startIdle()) return
    }
  }

  /**
   * Asks a process that belongs to no session. Without one it is started, when a place is free, and stays for the next
   * session as long as an idle one may. Undefined when there is none, or no answer in `timeMs`.
   */
  ask(question: ProcessCommand, timeMs: number): Promise<CommandReply | undefined> {
    const known = this.#warm.find(({ link }) => !link.dead)
    const idle = known ?? (!this.retired && this.#places.take() ? this.#startIdle() : undefined)
    if (!idle) return Promise.resolve(undefined)
    if (!known) idle.dismissUnused(this.agent.pool.idle, () => this.#dismiss(idle))
    return idle.ask(question, timeMs)
  }

  /** Starts nothing ahead any more, and ends what was. */
  retire(): void {
    this.retired = true
    for (const idle of [...this.#warm]) this.#dismiss(idle)
  }

  /** Ends a link; its place is free when its process has exited. */
  release(link: AgentLink): void {
    void link.stop('closed', this.agent.limits.grace)
  }

  /** Ends every link; resolves when nothing runs. */
  async close(graceMs: number): Promise<void> {
    await Promise.all([...this.#live].map((link) => link.stop('closed', graceMs)))
  }

  /** The number of places that nothing gives up yet. Nearly always none is wanted, and the processes are not counted. */
  get #missing(): number {
    const wanted = this.#places.waiting + this.#places.over
    return wanted === 0 ? 0 : wanted - this.#leaving
  }

  /** The number of places whose process was asked to end and has not exited yet. */
  get #leaving(): number {
    return [...this.#live].filter(({ dead }) => dead).length
  }

  /** Ends an idle process: a warm one that the session which waits has no use for, else that of another session. */
  #giveUpIdle(): boolean {
    const warm = this.#takeWarm()
    if (warm) this.release(warm.link)
    return warm !== undefined || this.#evict(this)
  }

  #start(scope: TurnScope, owner: LinkOwner, session?: LinkFor): AgentLink {
    const link = new AgentLink(this.agent, scope, owner, { ...session, backend: this.#shared })
    if (!link.persistent) return link
    this.#live.add(link)
    void link.quiet().then(() => this.#exited(link))
    return link
  }

  #exited(link: AgentLink): void {
    this.#lastModel = link.model ?? this.#lastModel
    this.#lastVersion = link.version ?? this.#lastVersion
    this.#live.delete(link)
    const idle = this.#warm.find((one) => one.link === link)
    if (idle) this.#forget(idle)
    this.vacate()
  }

  #takeWarm(): IdleLink | undefined {
    const idle = this.#warm.find(({ link }) => !link.dead)
    if (idle) this.#forget(idle)
    return idle
  }

  /** Starts a process on a place that was taken for it; gives the place back where no process starts. */
  #startIdle(): IdleLink | undefined {
    const idle = new IdleLink((owner) => this.#start(this.#ahead(), owner))
    if (!idle.link.persistent) {
      this.vacate()
      return undefined
    }
    this.#warm.push(idle)
    return idle
  }

  /** No session has taken it. */
  #dismiss(idle: IdleLink): void {
    this.#forget(idle)
    this.release(idle.link)
  }

  #forget(idle: IdleLink): void {
    this.#warm.splice(this.#warm.indexOf(idle), 1)
    idle.leave()
  }
}

/** The places of an agent at one of so many replicas that run it: in an equal share of its processes, and one at least. */
export function placesOf(pool: Pool, replicas: number): number {
  const { max, total } = pool
  const processes = total === undefined ? max : Math.min(max, Math.max(1, Math.floor(total / replicas)))
  return processes * sessionsOf(pool)
}

function sessionsOf({ sessions = 1 }: Pool): number {
  return sessions
}

function full({ name, pool }: AgentSettings, places: number, limit: number): Fault {
  const max = places / sessionsOf(pool)
  const all =
    max === 1 ? `The one process of the agent "${name}" is` : `All ${max} processes of the agent "${name}" are`
  const turns = limit === 0 ? 'no turn may wait' : limit === 1 ? 'a turn waits' : `${limit} turns wait`
  return fault('overloaded', `${all} busy, and ${turns} for one (limit "queue"); try again later.`)
}
