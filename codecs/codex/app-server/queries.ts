import * as v from 'valibot'
import type { BackPorts } from '../../../src/contract/index.ts'
import { type CommandOf, type Fault, fault, type Id, replyData } from '../../../src/model/index.ts'
import { refusalOf } from '../errors.ts'
import { Models } from '../schema.ts'
import type { AppServer } from './server.ts'

/** Answers the queries of clients with what the agent says: it knows its models. */
export class Queries {
  readonly #server: AppServer
  readonly #ports: BackPorts
  readonly #waiting = new Set<Id>()

  constructor(server: AppServer, ports: BackPorts) {
    this.#server = server
    this.#ports = ports
  }

  /** Asks the agent. */
  ask({ exchange, what }: CommandOf<'query'>): void {
    if (what !== 'models') {
      this.#fail(exchange, fault('invalid-request', 'An agent of the protocol codex can only be asked for its models.'))
      return
    }
    this.#waiting.add(exchange)
    this.#server.handshake.whenDone(() => {
      if (this.#server.dead) this.#fail(exchange, this.#server.dead)
      else {
        this.#server.call('model/list', '{}', (answer) => {
          if (answer.kind === 'error') this.#fail(exchange, refusalOf(answer.error))
          else this.#list(exchange, answer.result)
        })
      }
    })
  }

  /** The process is gone, and with it the answers. */
  end(reason: Fault): void {
    for (const exchange of this.#waiting) this.#fail(exchange, reason)
  }

  #list(exchange: Id, result: unknown): void {
    if (!v.is(Models, result)) {
      this.#fail(exchange, fault('protocol-violation', 'The agent listed its models in a form that cannot be read.'))
      return
    }
    this.#waiting.delete(exchange)
    const models = result.data.map(({ model }) => ({ id: model }))
    this.#ports.emit({ turn: null, type: 'command-reply', exchange, data: replyData({ models }) })
  }

  #fail(exchange: Id, reason: Fault): void {
    this.#waiting.delete(exchange)
    this.#ports.emit({ turn: null, type: 'command-reply', exchange, fault: reason })
  }
}
