import type { BackPorts } from '../../../src/contract/index.ts'
import {
  type Command,
  type CommandOf,
  type Fault,
  fault,
  type Members,
  quote,
  replyData,
} from '../../../src/model/index.ts'
import { toExt } from '../wire.ts'
import { QUERIES } from './replies.ts'
import type { AgentWire, Reply } from './wire.ts'

/** A command that is answered with one `command-reply`. */
export type Asked = Exclude<Command, { type: 'turn-start' | 'turn-cancel' | 'foreign' }>

/**
 * Sends the agent commands that it answers with one response: a query, a change of its model, the clearing of its
 * transcript.
 */
export class Asks {
  readonly #agent: string
  readonly #wire: AgentWire
  readonly #ports: BackPorts

  constructor(agent: string, wire: AgentWire, ports: BackPorts) {
    this.#agent = agent
    this.#wire = wire
    this.#ports = ports
  }

  /** Sends the command, and emits its `command-reply` when the agent has answered or is gone. */
  ask(command: Asked): void {
    const wire = this.#wire
    if (command.type === 'session-clear') {
      this.#send(command, 'clear', {}, () => {
        wire.system = undefined
      })
    } else if (command.type === 'config-set' && command.model !== undefined && setsModelAlone(command)) {
      const model = command.model
      this.#send(command, 'set_model', { model: quote(model) }, () => {
        wire.model = wire.own = model
      })
    } else if (command.type === 'query' && QUERIES.has(command.what)) {
      this.#send(command, QUERIES.get(command.what)!.command, {}, () => {})
    } else {
      const text =
        'An agent of the protocol zot cannot do this: it answers prompts, and can clear its transcript and change its model.'
      this.#fail(command, fault('invalid-request', text))
    }
  }

  #send(command: Asked, type: string, fields: Members, done: () => void): void {
    const answered = (reply: Reply): void => {
      if (reply?.success) done()
      this.#answered(command, reply)
    }
    this.#wire.handshake.whenDone(() => this.#wire.request(type, fields, answered, command.ext))
  }

  #answered(command: Asked, reply: Reply): void {
    if (!reply?.success) {
      const text = reply?.error ?? 'The agent refused the command.'
      this.#fail(command, reply ? fault('invalid-request', text) : this.#wire.dead!)
      return
    }
    const what = command.type === 'query' ? command.what : undefined
    const asker = { agent: this.#agent, session: command.session?.id ?? '' }
    const data = what && QUERIES.get(what)!.read(reply.raw ?? '{}', asker)
    if (what && !data) {
      const text = `The agent's answer to the query "${what}" has not the shape that the protocol gives it.`
      this.#fail(command, fault('protocol-violation', text))
      return
    }
    // The agent's own words go back verbatim to a client of the same protocol.
    const ext = toExt(reply.raw)
    const said = { ...(data && { data: replyData(data) }), ...(ext && { ext }) }
    this.#ports.emit({ turn: null, type: 'command-reply', exchange: command.exchange, ...said })
  }

  #fail(command: Asked, reason: Fault): void {
    this.#ports.emit({ turn: null, type: 'command-reply', exchange: command.exchange, fault: reason })
  }
}

/** Other settings have no command, and a half-done change would be taken for a whole one. */
function setsModelAlone({ mode, effort }: CommandOf<'config-set'>): boolean {
  return mode === undefined && effort === undefined
}
