import type { Command, CommandOf, EventOf, Id, Question, Reply, TurnEvent } from '../model/index.ts'
import type { Audience } from './audience.ts'
import type { Route } from './settings.ts'

/** What the asks of a turn need of it. */
export interface AskHost {
  readonly turn: Id
  readonly exchange: Id
  readonly audience: Audience
  readonly policy: Route['approvals']
  /** Hands a command to the agent. */
  send(command: Command): void
  /** Says something to the clients and the journal. */
  take(event: TurnEvent): void
}

/**
 * The questions of one turn. A client that can be asked is asked, and the first answer counts; for one that cannot, the
 * route's policy answers at once, and the answer says so.
 */
export class TurnAsks {
  readonly #host: AskHost
  readonly #open = new Set<Id>()

  constructor(host: AskHost) {
    this.#host = host
  }

  /** The agent waits for somebody: its silence is not its fault. */
  get waiting(): boolean {
    return this.#open.size > 0
  }

  /** The agent asks. True when a client is to be shown the question. */
  asked(event: EventOf<'ask'>): boolean {
    if (this.#host.audience.canBeAsked(event)) {
      this.#open.add(event.ask)
      return true
    }
    const { question, ask } = event
    const reply = policyReply(question, this.#host.policy)
    // Not from within the agent's own event: its link is in the middle of a frame.
    queueMicrotask(() => this.#send(ask, reply))
    this.#host.take({
      type: 'notice',
      turn: this.#host.turn,
      severity: 'warning',
      code: 'ask-policy',
      text: `The agent asked (${describe(question)}); this client cannot be asked, so the route's policy answered: ${this.#host.policy}.`,
    })
    return false
  }

  /** A client answers; false when nothing of that name is open (it was answered, or never asked here). */
  answer(command: CommandOf<'ask-reply'>): boolean {
    const ask = command.ask ?? (this.#open.size === 1 ? [...this.#open][0]! : undefined)
    if (ask === undefined || !this.#open.delete(ask)) return false
    this.#host.take({ type: 'ask-settled', turn: this.#host.turn, ask, how: 'answered' })
    this.#send(ask, command.reply)
    return true
  }

  /** The agent took a question back, or the turn ended. */
  settled(ask: Id): void {
    this.#open.delete(ask)
  }

  #send(ask: Id, reply: Reply): void {
    const { turn, exchange } = this.#host
    this.#host.send({ exchange, type: 'ask-reply', target: { turn }, ask, reply })
  }
}

/** What the policy says to a question: approvals by the route, everything else is refused. */
function policyReply(question: Question, policy: Route['approvals']): Reply {
  switch (question.kind) {
    case 'approval': {
      const fitting = question.options.filter(({ kind }) => kind === policy)
      const option = fitting.find(({ scope }) => scope === 'once') ?? fitting[0]
      return { kind: 'approval', option: option?.id ?? policy }
    }
    case 'input':
      return { kind: 'input', values: '{}' }
    case 'client':
      return { kind: 'client', error: '{"message":"There is no client that could do this."}' }
    case 'tool':
      return { kind: 'tool', status: 'denied', parts: [] }
  }
}

function describe(question: Question): string {
  return question.kind === 'approval' ? `approval of ${question.name}` : question.kind
}
