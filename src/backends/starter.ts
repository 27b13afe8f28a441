import type { AgentEvents, AgentProcess, AgentStart } from './agent-process.ts'
import { type StarterConfig, StarterRun } from './starter-run.ts'

/** So many starters that started no agent, one after the other, and no further one is tried. */
const MAX_VAIN = 3

/** The process that starts agents for this gateway; while there is none, `start` refuses and makes one. */
export class Starter {
  readonly #config: StarterConfig
  #run: StarterRun | undefined
  #vain = 0
  #closed = false

  constructor(config: StarterConfig) {
    this.#config = config
  }

  /** The process that runs now, for those who watch it. */
  get pid(): number | undefined {
    return this.#run?.pid
  }

  /** Starts an agent; undefined when that has to be done directly. */
  start(agent: AgentStart, events: AgentEvents): AgentProcess | undefined {
    if (this.#run?.isReady) return this.#run.start(agent, events)
    void this.prepare()
    return undefined
  }

  /** Makes a starter when there is none. Resolves when it takes orders, or with false when it will not. */
  prepare(): Promise<boolean> {
    if (!this.#run && !this.#closed && this.#vain < MAX_VAIN) this.#begin()
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
      this.#vain = 0
      this.#config.trouble?.('the process that starts agents has ended; another one is started')
      this.#begin()
    } else this.#failed(run.vain)
  }

  #failed(why: string): void {
    this.#vain += 1
    if (this.#vain === MAX_VAIN) {
      this.#config.trouble?.(`no process that starts agents could be started (${why}); the gateway starts them itself`)
    }
  }
}
