import type { Answer, FrontPorts } from '../contract/index.ts'
import type { Command, Ext, Fault, Id, JsonText, LinkEvent } from '../model/index.ts'

/** A command without a turn, before it has its addresses. */
type Body<C> = C extends unknown ? Omit<C, 'exchange' | 'session'> : never
type Asked = Body<Exclude<Command, { type: 'turn-start' }>>

/** The answer to a command, or the fault that it failed with. */
export type GatewayReply = { data: JsonText | undefined; ext?: Ext | undefined } | { fault: Fault }

const ANSWER: Answer = { form: 'whole', framing: 'ndjson', onDisconnect: 'cancel', asks: 'never' }

/** The commands of one client that the gateway answers with one reply. */
export class GatewayCalls {
  readonly #ports: FrontPorts
  readonly #open = new Map<Id, (reply: GatewayReply, exchange: Id) => void>()

  constructor(ports: FrontPorts) {
    this.#ports = ports
  }

  /** True when nothing waits for an answer. */
  get idle(): boolean {
    return this.#open.size === 0
  }

  /** Asks the gateway, about a session or without one; `take` gets the answer, and the exchange for its losses. */
  ask(command: Asked, session: string | undefined, take: (reply: GatewayReply, exchange: Id) => void): void {
    const exchange = this.#ports.newId()
    this.#open.set(exchange, take)
    const asked = { exchange, ...(session !== undefined && { session: { id: session } }), ...command } as Command
    this.#ports.command(asked, ANSWER)
  }

  /** Takes the answer to a command; false when it is none of these. */
  answer({ exchange, data, ext, fault }: Extract<LinkEvent, { type: 'command-reply' }>): boolean {
    return this.#settle(exchange, fault ? { fault } : { data, ext })
  }

  /** A command has failed; false when it is none of these. */
  fail(exchange: Id, fault: Fault): boolean {
    return this.#settle(exchange, { fault })
  }

  #settle(exchange: Id, reply: GatewayReply): boolean {
    const take = this.#open.get(exchange)
    this.#open.delete(exchange)
    take?.(reply, exchange)
    return take !== undefined
  }
}
