import type { Store } from '../../contract/index.ts'
import { type Fault, fault } from '../../model/index.ts'
import { type Breakers, HealthChecks } from '../agent/index.ts'
import { type AgentSettings, type CurrentSettings, type EngineLog, logMistake, steadyFrom } from '../common/index.ts'
import { recoverTurns } from './recovery.ts'
import { SharedCounts } from './shared-counts.ts'

/** The interval at which turns older than the retention are deleted, in milliseconds. */
const PRUNE_MS = 3_600_000

/** The number of turns that are deleted in one piece of work: running turns wait for no longer than that takes. */
const PRUNED = 100

/** Dependencies of upkeep. */
export interface UpkeepParts {
  store: Store
  breakers: Breakers
  log: EngineLog
  settings: CurrentSettings
  /** Milliseconds since the epoch. */
  now(): number
}

/** Work besides turns: ends turns whose process has ended, deletes old turns, checks the health of agents. */
export class Upkeep {
  readonly sharedCounts: SharedCounts
  readonly #parts: UpkeepParts
  readonly #health: HealthChecks
  readonly #steady: () => number
  readonly #pruning: NodeJS.Timeout
  #recovering: NodeJS.Timeout | undefined

  constructor(parts: UpkeepParts) {
    this.#parts = parts
    this.sharedCounts = new SharedCounts(parts.store, parts.now)
    this.#steady = steadyFrom(parts.now())
    this.#health = new HealthChecks((agent, found) => this.#checked(agent, found))
    this.watch()
    this.#pruning = setInterval(() => void this.prune(), PRUNE_MS)
    this.#pruning.unref()
  }

  /** Checks the agents of the settings as they are now. */
  watch(): void {
    this.#health.watch(this.#parts.settings.current.agents.values())
  }

  /** Ends the turns whose process has ended. */
  async recover(): Promise<void> {
    const { store, log, now } = this.#parts
    const lost = await recoverTurns(store, now())
    if (lost > 0) log.warn('turns of a process that is gone were ended', { turns: lost })
  }

  /** From now on ends turns of processes whose leases expire; looks for them every `ms` milliseconds. */
  keepRecovering(ms: number): void {
    // A store that cannot be read is soon tried again; those that need it report that.
    this.#recovering = setInterval(() => {
      void this.recover().catch((error: unknown) => logMistake(this.#parts.log, error))
    }, ms).unref()
  }

  /** Deletes the turns that ended longer ago than the retention, by the later of two clocks: one may have been set. */
  async prune(): Promise<void> {
    const { store, log, now, settings } = this.#parts
    try {
      const before = Math.min(now(), this.#steady()) - settings.current.retention
      while ((await store.prune(before, PRUNED)) === PRUNED) await new Promise((resolve) => setImmediate(resolve))
    } catch (error) {
      log.error('old turns could not be deleted', { error: String(error) })
    }
  }

  close(): void {
    clearInterval(this.#pruning)
    clearInterval(this.#recovering)
    this.#health.close()
  }

  /** A health check opens or closes the agent's circuit as turns do. */
  #checked(agent: AgentSettings, found: Fault | undefined): void {
    const { breakers, log } = this.#parts
    const before = breakers.state(agent)
    breakers.recordOutcome(agent, found && fault('agent-unavailable', found.message))
    if (found) log.warn('an agent failed its health check', { agent: agent.name, why: found.message })
    else if (before !== 'closed') log.info('an agent works again', { agent: agent.name })
  }
}
