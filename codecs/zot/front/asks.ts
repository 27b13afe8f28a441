import { GatewayCalls, wordTable } from '../../../src/codec-kit/index.ts'
import type { FrontPorts } from '../../../src/contract/index.ts'
import type { Ext, Id, Loss, QueryWhat } from '../../../src/model/index.ts'
import { ownExt } from '../wire.ts'
import { type Request, refusal, success } from './lines.ts'
import { type ReplyWriter, writeMessages, writeModels, writeState } from './replies.ts'

/** A command to the gateway, without its addresses. */
type Question = { type: 'query'; what: QueryWhat } | { type: 'session-clear' } | { type: 'config-set'; model: string }

/** The commands that are queries, and how their data is written. */
export const QUERIES = wordTable<{ what: QueryWhat; write: ReplyWriter }>({
  get_state: { what: 'state', write: writeState },
  get_messages: { what: 'messages', write: writeMessages },
  get_models: { what: 'models', write: writeModels },
  ping: { what: 'health', write: () => '{"pong":true}' },
})

/** The commands of one client that are answered with one response. */
export class FrontAsks {
  /** The commands that have no answer yet. */
  readonly calls: GatewayCalls
  readonly session: Id
  readonly #ports: FrontPorts
  readonly #names: () => { provider: string; model: string }
  #changes = 0

  /** `names` returns the provider and the model that this client knows. */
  constructor(ports: FrontPorts, session: Id, names: () => { provider: string; model: string }) {
    this.calls = new GatewayCalls(ports)
    this.#ports = ports
    this.session = session
    this.#names = names
  }

  /** True while a change of the model or a cleared conversation has no answer: a prompt after it must have it. */
  get changing(): boolean {
    return this.#changes > 0
  }

  /** Asks the gateway; the response is written when it has answered. Without `write` it has no data. */
  ask(request: Request, question: Question, write: ReplyWriter | undefined, ext: Ext | undefined): void {
    const change = question.type === 'query' ? 0 : 1
    this.#changes += change
    this.calls.ask({ ...question, ...(ext && { ext }) }, this.session, (reply, exchange) => {
      this.#changes -= change
      if ('fault' in reply) this.#ports.send(refusal(request, reply.fault))
      else {
        const report = (loss: Loss): void => this.#ports.report(loss, exchange)
        // The agent's own words, when it speaks this protocol.
        const data = ownExt(reply.ext) ?? write?.(reply.data, { ...this.#names(), report })
        this.#ports.send(success(request, data))
      }
    })
  }
}
