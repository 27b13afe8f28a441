import type { BreakerState } from './agent/index.ts'
import type { AgentSettings, CurrentSettings } from './common/index.ts'
import { type Memory, mayUse, type Viewer } from './dispatch/index.ts'
import type { StoreHealth, StorePulse } from './record/index.ts'
import type { AgentError, Figure, Scope } from './session/index.ts'

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

  /** The agents that the observer may use. */
  agents(observer: Observer): AgentStatus[] {
    const { agents } = this.#settings.current
    return [...agents.values()]
      .filter(({ name }) => mayUse(observer.allowed, name))
      .map((one) => this.#agent(one, observer))
  }

  /** The turns that the observer may see, and the store. */
  async overview(observer: Observer): Promise<Overview> {
    const store = await this.#store.look()
    const scope = scopeOf(observer)
    const turns = this.#memory.turns
      .values()
      .filter(({ session }) => scope.tenant === undefined || session.record.tenant === scope.tenant)
    const queued = turns.filter(({ scope: { phase } }) => phase === 'queued').length
    return { running: turns.length - queued, queued, store, minutes: this.#memory.figures.minutes(scope, this.#now()) }
  }

  #agent(agent: AgentSettings, observer: Observer): AgentStatus {
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
    } = figures.agent(name, scopeOf(observer), this.#now())
    const { model, version, processes } = sessions.about(agent)
    return {
      name,
      protocol,
      default: name === this.#settings.current.default,
      ...(version !== undefined && { version }),
      ...(model !== undefined && { model }),
      breaker: breakers.state(agent),
      pool: { running, idle: Math.max(0, processes - running), ...(target.kind === 'process' && { max: pool.max }) },
      queued,
      ...figure,
      failures,
      errors: observer.admin ? errors : errors.map(({ stderr: _, ...error }) => error),
    }
  }
}

function scopeOf({ tenant, admin }: Viewer): Scope & object {
  return admin ? {} : { tenant }
}
