import { type ErrorCode, type Fault, fault } from '../../model/index.ts'
import type { AgentSettings } from '../common/index.ts'

/** The failure that is due to the agent and not to the request: it cannot be started or reached. */
const AGENT_FAILS: ErrorCode = 'agent-unavailable'

/** State of an agent: `closed` takes turns, `open` takes none for a while, `half-open` takes one turn as a probe. */
export type BreakerState = 'closed' | 'open' | 'half-open'

/** The longest time for which an agent is skipped because its provider asks to wait, in milliseconds. */
const LONGEST_REST = 600_000

interface Breaker {
  failures: number
  openUntil: number
  /** A turn runs as the probe. */
  probing: boolean
}

/**
 * A circuit breaker for each agent: after a number of failures in a row it gets no turns for a while; then one turn
 * runs as a probe, and its outcome decides.
 */
export class Breakers {
  readonly #now: () => number
  readonly #byAgent = new Map<string, Breaker>()
  /** The times until which providers ask to wait, by agent. */
  readonly #rests = new Map<string, number>()

  /** `now` is milliseconds on a clock that is never set. */
  constructor(now: () => number) {
    this.#now = now
  }

  state({ name }: AgentSettings): BreakerState {
    const breaker = this.#byAgent.get(name)
    if (!breaker || breaker.openUntil === 0) return 'closed'
    return breaker.probing || this.#now() < breaker.openUntil ? 'open' : 'half-open'
  }

  /**
   * Takes the first of these agents that can be used now. One whose provider asks to wait is taken only when there is no
   * other.
   */
  choose(agents: readonly AgentSettings[]): AgentSettings | undefined {
    const rested = agents.filter(({ name }) => this.#now() >= (this.#rests.get(name) ?? 0))
    return rested.find((agent) => this.admit(agent)) ?? agents.find((agent) => this.admit(agent))
  }

  /** Takes the agent for a turn; false when it is not to be used now. */
  admit(agent: AgentSettings): boolean {
    const state = this.state(agent)
    if (state === 'half-open') this.#byAgent.get(agent.name)!.probing = true
    return state !== 'open'
  }

  /** Records how a turn on the agent ended; `undefined` for anything but a failure. */
  recordOutcome(agent: AgentSettings, found: Fault | undefined): void {
    if (found?.retryAfterMs !== undefined) {
      this.#rests.set(agent.name, this.#now() + Math.min(found.retryAfterMs, LONGEST_REST))
    }
    if (!found) this.#byAgent.delete(agent.name)
    else if (found.code === AGENT_FAILS) this.#failed(agent)
    else this.release(agent)
  }

  /** The fault of a turn that the agent does not get. */
  refusal(agent: AgentSettings): Fault {
    const { failures, openUntil } = this.#byAgent.get(agent.name)!
    const seconds = Math.max(1, Math.ceil((openUntil - this.#now()) / 1000))
    return fault(
      'agent-unavailable',
      `The agent "${agent.name}" failed ${failures} times in a row; it is tried again in ${seconds} s.`,
    )
  }

  #failed({ name, breaker: { failures, cooldown } }: AgentSettings): void {
    const breaker = this.#byAgent.get(name) ?? { failures: 0, openUntil: 0, probing: false }
    this.#byAgent.set(name, breaker)
    breaker.failures += 1
    breaker.probing = false
    if (breaker.failures >= failures) breaker.openUntil = this.#now() + cooldown
  }

  /** The probe ended without a verdict on the agent (a cancel, a bad request): the next turn is the probe. */
  release({ name }: AgentSettings): void {
    const breaker = this.#byAgent.get(name)
    if (breaker) breaker.probing = false
  }
}
