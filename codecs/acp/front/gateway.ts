import type { Answer, FrontPorts } from '../../../src/contract/index.ts'
import type { Command, Fault, Id, JsonText, LinkEvent } from '../../../src/model/index.ts'

/** A command without a turn, before it has its addresses. */
type Body<C> = C extends unknown ? Omit<C, 'exchange' | 'session'> : never
type Asked = Body<Exclude<Command, { type: 'turn-start' }>>
/** The answer to a command: its data, or the fault. */
export type Reply = { data: JsonText | undefined } | { fault: Fault }

const ANSWER: Answer = { form: 'whole', framing: 'ndjson', onDisconnect: 'cancel', asks: 'never' }

/** The commands of one client that the gateway answers with one reply. */
export class Gateway {
  readonly #ports: FrontPorts
  readonly #open = new Map<Id, (reply: Reply) => void>()

  constructor(ports: FrontPorts) {
    this.#ports = ports
  }

  /** Asks the gateway, about a session or without one; `take` gets the answer. */
  ask(command: Asked, session: string | undefined, take: (reply: Reply) => void): void {
    const exchange = this.#ports.newId()
    this.#open.set(exchange, take)
    const asked = { exchange, ...(session !== undefined && { session: { id: session } }), ...command } as Command
    this.#ports.command(asked, ANSWER)
  }

  /** Takes the answer to a command; false when it is none of these. */
  answer({ exchange, data, fault }: Extract<LinkEvent, { type: 'command-reply' }>): boolean {
    return this.#settle(exchange, fault ? { fault } : { data })
  }

  /** A command has failed; false when it is none of these. */
  fail(exchange: Id, fault: Fault): boolean {
    return this.#settle(exchange, { fault })
  }

  #settle(exchange: Id, reply: Reply): boolean {
    const take = this.#open.get(exchange)
    this.#open.delete(exchange)
    take?.(reply)
    return take !== undefined
  }
}

/** The data of an answer as a value; undefined without any. */
export function dataOf<T>(reply: Reply): T | undefined {
  return 'data' in reply && reply.data !== undefined ? (JSON.parse(reply.data) as T) : undefined
}
