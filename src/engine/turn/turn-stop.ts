import type { Id } from '../../model/index.ts'
import type { AgentLink } from '../agent/index.ts'

/** What stopping a turn needs of it. */
export interface StopHost {
  readonly turn: Id
  readonly exchange: Id
  /** Between asking the agent to stop and killing it, in milliseconds. */
  grace(): number
  /** The turn has its end. */
  ended(): boolean
  /** The agent did not end the turn by itself. */
  give(): void
}

/** Stops the agent of a cancelled turn: by its protocol's own word where it has one, then by force. */
export class TurnStop {
  readonly #host: StopHost
  #force: NodeJS.Timeout | undefined

  constructor(host: StopHost) {
    this.#host = host
  }

  /** Asks the link's agent to stop; after the grace its processes are ended, after two more the turn is. */
  begin(link: AgentLink): void {
    const { turn, exchange } = this.#host
    const grace = this.#host.grace()
    const told = link.agent.dialect.back.capabilities['turn-cancel'] !== 'none'
    // A process that serves one turn, or is not ready yet, is stopped by being ended: only one that goes on needs a word.
    const polite = told && link.persistent && link.ready
    if (told) link.send({ type: 'turn-cancel', exchange, target: { turn } })
    if (!polite) void link.stop('cancelled', grace)
    if (this.#host.ended()) return
    this.#force = setTimeout(() => this.#forceStop(link), polite ? grace : 2 * grace)
  }

  /** The turn has its end and the agent is done with it. */
  done(): void {
    clearTimeout(this.#force)
  }

  /** The agent did not heed the cancel. */
  #forceStop(link: AgentLink): void {
    const grace = this.#host.grace()
    void link.stop('cancelled', grace)
    this.#force = setTimeout(() => this.#host.give(), 2 * grace)
  }
}
