import { type BackContext, type CallEnd, faultOfEnd } from '../contract/index.ts'
import { type Fault, fault } from '../model/index.ts'

/** The handshake with an agent's process, and the steps that wait for it. A recorded agent needs none. */
export class Handshake {
  readonly #request: string
  #waiting: (() => void)[] | undefined

  /** `request` is the message that the agent has to answer. */
  constructor({ recorded }: Pick<BackContext<unknown>, 'recorded'>, request: string) {
    this.#request = request
    this.#waiting = recorded ? undefined : []
  }

  /** True once it is done, or given up. */
  get done(): boolean {
    return this.#waiting === undefined
  }

  /** Runs the step when it is done. */
  whenDone(step: () => void): void {
    if (this.#waiting) this.#waiting.push(step)
    else step()
  }

  /** Another process begins: further steps wait for its handshake, as do those that wait now. */
  again(): void {
    this.#waiting ??= []
  }

  /** It is done, or the agent has ended: runs the waiting steps in order. */
  end(): void {
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    for (const step of waiting) step()
  }

  /**
   * The fault of a turn that the end of the process leaves unanswered. `agent` names the agent in the message, `check`
   * what may be wrong when it ends before the handshake is done.
   */
  reasonOf(end: CallEnd, agent: string, check: string): Fault {
    if (end.why !== 'closed' || end.fault || this.done) return faultOfEnd(end)
    const text = `The ${agent} ended before it answered ${this.#request}: check ${check} (its stderr is in the gateway log).`
    return fault('agent-unavailable', text, { retryable: false })
  }
}
