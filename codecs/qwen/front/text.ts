import { nonTextLosses } from '../../../src/codec-kit/index.ts'
import type { FrontPorts } from '../../../src/contract/index.ts'
import type { Fault, Id, TurnEvent, TurnView } from '../../../src/model/index.ts'

/** Writes the answer to one request, in any format. */
export interface RequestWriter {
  encode(event: TurnEvent, view: TurnView): void
  /** It never ran: `healthy` when the process goes on all the same. `at` is milliseconds since the epoch. */
  refuse(reason: Fault, healthy: boolean, at: number): void
  /** It was a command that ran without a turn. */
  commandDone(level: 'info' | 'error', content: string, at: number): void
}

/** An answer as plain text: the text on stdout, a failure on stderr. */
export class TextWriter implements RequestWriter {
  readonly #ports: FrontPorts
  readonly #exchange: Id

  constructor(ports: FrontPorts, exchange: Id) {
    this.#ports = ports
    this.#exchange = exchange
  }

  encode(event: TurnEvent, view: TurnView): void {
    if (event.type !== 'turn-end') return
    for (const loss of nonTextLosses(view)) this.#ports.report(loss, this.#exchange)
    if (view.text !== '') this.#ports.send(view.text)
    if (event.outcome !== 'completed') this.#warn(event.fault?.message ?? `The turn was ${event.outcome}.`)
  }

  refuse(reason: Fault): void {
    this.#warn(reason.message)
  }

  commandDone(level: 'info' | 'error', content: string): void {
    if (level === 'info') this.#ports.send(content)
    else this.#warn(content)
  }

  #warn(text: string): void {
    this.#ports.warn(`turnpike as qwen: ${text}`)
  }
}
