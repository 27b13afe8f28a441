import { wordTable } from '../../../src/codec-kit/index.ts'
import type { Answer, FrontPorts } from '../../../src/contract/index.ts'
import type { Command, Ext, Id, JsonText, LinkEvent, Loss, QueryWhat } from '../../../src/model/index.ts'
import { ownExt } from '../wire.ts'
import { type Request, refusal, success } from './lines.ts'
import { type ReplyWriter, writeMessages, writeModels, writeState } from './replies.ts'

/** A command to the gateway, without its addresses. */
type Question = { type: 'query'; what: QueryWhat } | { type: 'session-clear' } | { type: 'config-set'; model: string }

/** A request of the client, with the use of its answer. */
interface Asked {
  request: Request
  /** Reads the answer; undefined is a response without data. */
  write: ReplyWriter | undefined
}

/** The commands that are queries, and how their data is written. */
export const QUERIES = wordTable<{ what: QueryWhat; write: ReplyWriter }>({
  get_state: { what: 'state', write: writeState },
  get_messages: { what: 'messages', write: writeMessages },
  get_models: { what: 'models', write: writeModels },
  ping: { what: 'health', write: () => '{"pong":true}' },
})

/** The commands that change the meaning of later prompts. */
const CHANGES: ReadonlySet<string> = new Set(['set_model', 'clear'])

const ANSWER: Answer = { form: 'whole', framing: 'ndjson', onDisconnect: 'cancel', asks: 'never' }

/** The commands of one client that are answered with one response. */
export class FrontAsks {
  readonly #ports: FrontPorts
  readonly #session: Id
  readonly #names: () => { provider: string; model: string }
  readonly #asked = new Map<Id, Asked>()

  /** `names` returns the provider and the model that this client knows. */
  constructor(ports: FrontPorts, session: Id, names: () => { provider: string; model: string }) {
    this.#ports = ports
    this.#session = session
    this.#names = names
  }

  /** True when nothing waits for an answer. */
  get idle(): boolean {
    return this.#asked.size === 0
  }

  /** True while a change of the model or a cleared conversation has no answer: a prompt after it must have it. */
  get changing(): boolean {
    return [...this.#asked.values()].some(({ request }) => CHANGES.has(request.command))
  }

  has(exchange: Id): boolean {
    return this.#asked.has(exchange)
  }

  /** Asks the gateway; the response is written when it has answered. */
  ask(request: Request, question: Question, write: ReplyWriter | undefined, ext: Ext | undefined): void {
    const exchange = this.#ports.newId()
    this.#asked.set(exchange, { request, write })
    const command: Command = { exchange, session: { id: this.#session }, ...question, ...(ext && { ext }) }
    this.#ports.command(command, ANSWER)
  }

  /** Writes the response that a reply is for. */
  answer(reply: Extract<LinkEvent, { type: 'command-reply' }>): void {
    const asked = this.#asked.get(reply.exchange)
    if (!asked) return
    this.#asked.delete(reply.exchange)
    if (reply.fault) {
      this.#ports.send(refusal(asked.request, reply.fault))
      return
    }
    const report = (loss: Loss): void => this.#ports.report(loss, reply.exchange)
    const written = (): JsonText | undefined => asked.write?.(reply.data, { ...this.#names(), report })
    // The agent's own words, when it speaks this protocol.
    this.#ports.send(success(asked.request, ownExt(reply.ext) ?? written()))
  }
}
