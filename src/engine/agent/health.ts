import { type Fault, fault, type LinkEvent } from '../../model/index.ts'
import type { AgentSettings } from '../common/index.ts'
import { AgentLink } from './agent-link.ts'
import { SILENT_SCOPE } from './silent-scope.ts'

/** Receives the result of each check; no fault means that the agent works. */
export type HealthListener = (agent: AgentSettings, found: Fault | undefined) => void

const EXCHANGE = 'health'

/** Result of a check: a fault, nothing wrong, or that the agent cannot be checked. */
type Found = Fault | undefined | 'none'

/** Ends what a check has started. */
type Stop = () => void

/**
 * Checks at intervals whether agents work, each time on a new link: a process must start and be ready, and answer a
 * question if its protocol has one; an HTTP agent must answer at all. Agents that can only be checked by a turn are not
 * checked.
 */
export class HealthChecks {
  readonly #listener: HealthListener
  readonly #running = new Set<AgentLink>()
  #timers: NodeJS.Timeout[] = []

  constructor(listener: HealthListener) {
    this.#listener = listener
  }

  /** Checks these agents from now on, each as often as its settings say, and no others. */
  watch(agents: Iterable<AgentSettings>): void {
    for (const timer of this.#timers.splice(0)) clearInterval(timer)
    for (const agent of agents) {
      if (!agent.health || agent.away) continue
      const timer = setInterval(() => void this.#check(agent), agent.health.every)
      timer.unref()
      this.#timers.push(timer)
    }
  }

  /** Stops checking, including checks that run. */
  close(): void {
    this.watch([])
    for (const link of this.#running) void link.stop('closed', 0)
  }

  async #check(agent: AgentSettings): Promise<void> {
    const busy = [...this.#running].some((link) => link.agent === agent)
    if (busy) return
    const { timeout } = agent.health!
    const late = fault(
      'agent-unavailable',
      `The agent "${agent.name}" did not answer its health check in ${timeout} ms.`,
    )
    const found = await new Promise<Found>((resolve) => {
      let stop: Stop = () => {}
      const timer = setTimeout(() => finish(late), timeout)
      const finish = (result: Found): void => {
        clearTimeout(timer)
        resolve(result)
        stop()
      }
      stop = agent.target.kind === 'http' ? this.#call(agent, finish) : this.#ask(agent, finish)
    })
    if (found !== 'none') this.#listener(agent, found)
  }

  /** Any answer except a server error shows that the agent is there. */
  #call(agent: AgentSettings, finish: (found: Found) => void): Stop {
    const failed = (): void => finish(fault('agent-unavailable', `The agent "${agent.name}" cannot be reached.`))
    const handle = agent.backend.open(
      { kind: 'http', method: 'GET', body: '', answer: 'body' },
      { head: ({ status }) => (status < 500 ? finish(undefined) : failed()), data() {}, end: failed },
      {},
    )
    return () => handle.stop('closed', 0)
  }

  #ask(agent: AgentSettings, finish: (found: Found) => void): Stop {
    const asks = agent.dialect.back.capabilities['query.health'] !== 'none'
    const question = { type: 'query', what: 'health', exchange: EXCHANGE } as const
    const idleEvent = (event: LinkEvent): void => {
      if (event.type === 'agent-ready' && !asks) finish(undefined)
      else if (event.type === 'agent-ready') link.send(question)
      else if (event.type === 'command-reply' && event.exchange === EXCHANGE) finish(event.fault)
    }
    const link = new AgentLink(agent, SILENT_SCOPE, { idleEvent, callFailed() {} })
    this.#running.add(link)
    if (link.persistent) {
      void link.quiet().then(() => finish(link.missingEnd))
    } else if (asks) {
      link.send(question)
    } else {
      // The caller has no way to stop it yet.
      queueMicrotask(() => finish('none'))
    }
    return () => {
      this.#running.delete(link)
      void link.stop('closed', agent.limits.grace)
    }
  }
}
