import type { AgentLink } from '../agent/index.ts'
import type { TurnState } from './turn-state.ts'

/** Stops the agent of a cancelled turn: by its protocol's own word where it has one, then by force. */
export class TurnStop {
  readonly #turn: TurnState
  readonly #giveUp: () => void
  #force: NodeJS.Timeout | undefined

  /** `giveUp` ends a turn that its agent did not end by itself. */
  constructor(turn: TurnState, giveUp: () => void) {
    this.#turn = turn
    this.#giveUp = giveUp
  }

  /** Asks the link's agent to stop; after the grace its processes are ended, after two more the turn is. */
  begin(link: AgentLink): void {
    const { id: turn, command, limits } = this.#turn
    const { grace } = limits
    const told = link.agent.dialect.back.capabilities['turn-cancel'] !== 'none'
    // A process that serves one turn, or is not ready yet, is stopped by being ended: only one that goes on needs a word.
    const polite = told && link.persistent && link.ready
    if (told) link.send({ type: 'turn-cancel', exchange: command.exchange, target: { turn } })
    if (!polite) void link.stop('cancelled', grace)
    if (this.#turn.ended) return
    this.#force = setTimeout(() => this.#forceStop(link), polite ? grace : 2 * grace)
  }

  /** The turn has its end and the agent is done with it. */
  done(): void {
    clearTimeout(this.#force)
  }

  /** The agent did not heed the cancel. */
  #forceStop(link: AgentLink): void {
    const { grace } = this.#turn.limits
    void link.stop('cancelled', grace)
    this.#force = setTimeout(this.#giveUp, 2 * grace)
  }
}
