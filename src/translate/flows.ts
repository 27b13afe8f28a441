import type { Command, Id } from '../model/index.ts'
import type { Flow } from './flow.ts'

/** The turns of a wire, in the order in which they began. */
export class Flows {
  readonly #flows: Flow[] = []

  get count(): number {
    return this.#flows.length
  }

  /** The turn that has waited longest for its end. */
  get open(): Flow | undefined {
    return this.#flows.find(({ ended }) => !ended)
  }

  add(flow: Flow): Flow {
    this.#flows.push(flow)
    return flow
  }

  of(turn: Id | undefined): Flow | undefined {
    return this.#flows.find((flow) => flow.turn === turn)
  }

  /** The running turn that a command is for. */
  meant(command: Command): Flow | undefined {
    const running = this.#flows.filter(({ ended }) => !ended)
    if (!('target' in command) || command.target === 'running') return running.at(-1)
    return running.find((flow) => flow.isMeantBy(command.target))
  }

  /** Ends all turns of an agent that was not recorded. */
  finishAll(): void {
    while (this.finish()) {}
  }

  /** Ends the turn that has waited longest for an agent that was not recorded; false when none waits. */
  finish(): boolean {
    const flow = this.open
    flow?.event({ type: 'turn-end', turn: flow.turn, outcome: 'completed', stop: 'end' })
    return flow !== undefined
  }
}
