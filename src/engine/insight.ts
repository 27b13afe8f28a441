import type { BreakerState } from './agent/index.ts'
import type { AgentSettings, CurrentSettings } from './common/index.ts'
import { type Memory, mayUse, type Viewer } from './dispatch/index.ts'
import type { StoreHealth, StorePulse } from './record/index.ts'
import type { AgentError, Figure, Scope, ToldCell } from './session/index.ts'

/** The observer: whose turns it may see, and the agents that its key may use. */
export interface Observer extends Viewer {
  allowed?: readonly string[]
}

/** An agent at work: its processes, and the turns that the observer may see, of the last hour. */
export interface AgentStatus extends Omit<Figure, 'failed' | 'input' | 'output' | 'costUsd'> {
  name: string
  protocol: string
  default: boolean
  version?: string
  model?: string
  breaker: BreakerState
  /** Processes that have a turn, and those that wait for one; `max` where there is a limit. */
  pool: { running: number; idle: number; max?: number }
  /** Turns that wait. */
  queued: number
  failures: number
  errors: readonly AgentError[]
}

/** The gateway at work: turns that run and wait now, its store, and the turns that ended in each of the last 60 minutes. */
export interface Overview {
  running: number
  queued: number
  store: StoreHealth
  minutes: readonly (Figure & { at: number })[]
}

/** The answer of a replica to another one for an observer: JSON. */
export interface InsightShare extends Pick<Overview, 'running' | 'queued'> {
  agents: readonly Pick<AgentStatus, 'name' | 'version' | 'model' | 'pool' | 'queued' | 'errors'>[]
  cells: readonly ToldCell[]
}

/** The errors that are given of an agent of several replicas. */
const GIVEN_ERRORS = 10

/** Figures of the gateway and its agents, from what is in memory, and the state of the store. */
export class Insight {
  readonly #memory: Memory
  readonly #settings: CurrentSettings
  readonly #store: StorePulse
  readonly #now: () => number

  /** `now` is milliseconds since the epoch. */
  constructor(memory: Memory, settings: CurrentSettings, store: StorePulse, now: () => number) {
    this.#memory = memory
    this.#store = store
    this.#settings = settings
    this.#now = now
  }

  /** The agents that the observer may use; `others` is what other replicas report of theirs. */
  agents(observer: Observer, others: readonly InsightShare[] = []): AgentStatus[] {
    const { agents } = this.#settings.current
    return [...agents.values()]
      .filter(({ name }) => mayUse(observer.allowed, name))
      .map((one) => this.#agent(one, observer, others))
  }

  /** The turns that the observer may see, and the store; `others` is what other replicas report of their turns. */
  async overview(observer: Observer, others: readonly InsightShare[] = []): Promise<Overview> {
    const store = await this.#store.look()
    const { running, queued } = [this.#counts(observer), ...others].reduce((one, other) => ({
      running: one.running + other.running,
      queued: one.queued + other.queued,
    }))
    const cells = others.flatMap((other) => other.cells)
    const minutes = this.#memory.figures.minutes(scopeOf(observer), this.#now(), cells)
    return { running, queued, store, minutes }
  }

  /** The answer to another replica for an observer. */
  share(observer: Observer): InsightShare {
    const agents = this.agents(observer).map(({ name, version, model, pool, queued, errors }) => ({
      name,
      ...(version !== undefined && { version }),
      ...(model !== undefined && { model }),
      pool,
      queued,
      errors,
    }))
    const cells = this.#memory.figures.told(scopeOf(observer), this.#now())
    return { ...this.#counts(observer), agents, cells }
  }

  /** The turns that run and wait here. */
  #counts(observer: Observer): Pick<Overview, 'running' | 'queued'> {
    const scope = scopeOf(observer)
    const turns = this.#memory.turns
      .values()
      .filter(({ session }) => scope.tenant === undefined || session.record.tenant === scope.tenant)
    const queued = turns.filter(({ scope: { phase } }) => phase === 'queued').length
    return { running: turns.length - queued, queued }
  }

  #agent(agent: AgentSettings, observer: Observer, others: readonly InsightShare[]): AgentStatus {
    const { figures, breakers, sessions, turns } = this.#memory
    const { name, protocol, target, pool } = agent
    const own = turns.values().filter((turn) => turn.agent.name === name)
    const queued = own.filter(({ scope: { phase } }) => phase === 'queued').length
    const running = own.length - queued
    const {
      failed: failures,
      input: _i,
      output: _o,
      costUsd: _c,
      errors,
      ...figure
    } = figures.agent(
      name,
      scopeOf(observer),
      this.#now(),
      others.flatMap((other) => other.cells),
    )
    const { model, version, processes } = sessions.about(agent)
    const status: AgentStatus = {
      name,
      protocol,
      default: name === this.#settings.current.default,
      ...(version !== undefined && { version }),
      ...(model !== undefined && { model }),
      breaker: breakers.state(agent),
      pool: {
        running,
        idle: Math.max(0, processes - running),
        ...(target.kind === 'process' && { max: agent.away ? 0 : pool.max }),
      },
      queued,
      ...figure,
      failures,
      errors: observer.admin ? errors : errors.map(({ stderr: _, ...error }) => error),
    }
    return others
      .flatMap(({ agents }) => agents.filter((other) => other.name === name))
      .reduce<AgentStatus>(together, status)
  }
}

/** The status of an agent, with what another replica reports of it. Its breaker is that of this replica. */
function together(one: AgentStatus, { pool, queued, errors, ...about }: InsightShare['agents'][number]): AgentStatus {
  const max = (one.pool.max ?? 0) + (pool.max ?? 0)
  return {
    ...about,
    ...one,
    pool: {
      running: one.pool.running + pool.running,
      idle: one.pool.idle + pool.idle,
      ...(one.pool.max !== undefined && { max }),
    },
    queued: one.queued + queued,
    errors: [...one.errors, ...errors].sort((a, b) => b.at - a.at).slice(0, GIVEN_ERRORS),
  }
}

function scopeOf({ tenant, admin }: Viewer): Scope & object {
  return admin ? {} : { tenant }
}
