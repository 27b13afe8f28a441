import type { AgentEvents, AgentProcess, AgentStart } from './agent-process.ts'
import { type StarterConfig, StarterRun } from './starter-run.ts'

/** After this many starters in a row that started no agent, no other one is tried. */
const MAX_FAILURES = 3

/**
 * The process that starts agents for this gateway. While there is none, `start` returns undefined and one is started.
 */
export class Starter {
  readonly #config: StarterConfig
  #run: StarterRun | undefined
  #failures = 0
  #closed = false

  constructor(config: StarterConfig) {
    this.#config = config
  }

  /** The pid of the running starter, for metrics and tests. */
  get pid(): number | undefined {
    return this.#run?.pid
  }

  /** Starts an agent; undefined when the caller has to start it directly. */
  start(agent: AgentStart, events: AgentEvents): AgentProcess | undefined {
    if (this.#run?.isReady) return this.#run.start(agent, events)
    void this.prepare()
    return undefined
  }

  /** Starts a starter when there is none. Resolves with true when it takes orders, with false when it will not. */
  prepare(): Promise<boolean> {
    if (!this.#run && !this.#closed && this.#failures < MAX_FAILURES) this.#begin()
    return this.#run?.ready ?? Promise.resolve(false)
  }

  /** Ends it, with every agent that still runs. */
  close(): void {
    this.#closed = true
    this.#run?.close()
  }

  #begin(): void {
    try {
      const run = new StarterRun(this.#config, () => this.#ended(run))
      this.#run = run
    } catch (error) {
      this.#failed(String(error))
    }
  }

  #ended(run: StarterRun): void {
    this.#run = undefined
    if (this.#closed) return
    if (run.hasServed) {
      this.#failures = 0
      this.#config.trouble?.('the process that starts agents has ended; another one is started')
      this.#begin()
    } else this.#failed(run.failure)
  }

  #failed(why: string): void {
    this.#failures += 1
    if (this.#failures === MAX_FAILURES) {
      this.#config.trouble?.(
        `the process that starts agents cannot be started (${why}); the gateway starts agents itself`,
      )
    }
  }
}
