import type { CallEnd, CallHead, Frame } from '../contract/index.ts'
import type { RecordedAgent } from '../engine/replay/index.ts'

/**
 * The recorded agents of a wire: one, and further ones for turns that run at the same time. What their client asks
 * while one of them handles a frame waits until it has finished.
 */
export class Agents {
  readonly #create: () => RecordedAgent
  readonly #agents: RecordedAgent[]
  readonly #later: (() => void)[] = []
  #speaking = false

  /** `create` gives a new agent; the first one is still to be opened. */
  constructor(create: () => RecordedAgent) {
    this.#create = create
    this.#agents = [create()]
  }

  get first(): RecordedAgent {
    return this.#agents[0]!
  }

  /** True while no turn runs. */
  get idle(): boolean {
    return this.#agents.every(({ running }) => running === undefined)
  }

  /** An agent without a turn. */
  forTurn(): RecordedAgent {
    const idle = this.#agents.find(({ running }) => running === undefined)
    if (idle) return idle
    const another = this.#create()
    this.#agents.push(another)
    another.open()
    return another
  }

  head(head: CallHead): void {
    for (const agent of this.#agents) this.speak(() => agent.head(head))
  }

  /** A frame on the wire: each agent with a turn reads it and takes what is about its own. */
  decode(frame: Frame): void {
    const busy = this.#agents.filter(({ running }) => running !== undefined)
    for (const agent of busy.length > 0 ? busy : [this.first]) this.speak(() => agent.decode(frame))
  }

  end(end: CallEnd): void {
    for (const agent of this.#agents) this.speak(() => agent.end(end))
  }

  /** Runs a step in which an agent speaks, then the steps that have waited for that. */
  speak(step: () => void): void {
    this.#speaking = true
    step()
    this.#speaking = false
    for (let next = this.#later.shift(); next; next = this.#later.shift()) next()
  }

  /** Runs a step when no agent speaks. */
  whenSilent(step: () => void): void {
    if (this.#speaking) this.#later.push(step)
    else step()
  }
}
