import type { Route } from '../../contract/index.ts'
import {
  type Ask,
  type AskReply,
  type CommandOf,
  type EventOf,
  type Id,
  narrowestOption,
  type Question,
} from '../../model/index.ts'
import { randomId } from '../common/index.ts'
import type { TurnState } from './turn-state.ts'

/** Outcome of an answer: it was taken, nothing waits for it, or it does not answer this question, which stays open. */
export type AskAnswered = 'taken' | 'gone' | { mismatch: string }

/** A turn that waits for a client's next request: by which token, since which event, with which questions. */
export interface Park {
  continuation: string
  seq: number
  asks: readonly Ask[]
}

/** Audit entry of an answered question. It has no content but the tool's name. */
interface AskAudit {
  ask: Id
  about: string
  how: 'answered' | 'timeout' | 'cancelled'
  option?: string
  by: string
}

interface OpenAsk {
  ask: Ask
  timer: NodeJS.Timeout
}

/**
 * The questions of one turn. A client that can be asked is asked, and the first answer counts. Where only a client's
 * next request can bring the answer, the turn is parked until then. For a client that can neither, the route's policy
 * answers at once, and the answer says so. A question that nobody answers in time is answered with no.
 */
export class TurnAsks {
  readonly #turn: TurnState
  readonly #open = new Map<Id, OpenAsk>()
  #parking = false
  #cancelled = false
  #continuation: string | undefined
  #parkedAt = 0

  constructor(turn: TurnState) {
    this.#turn = turn
  }

  /** The agent waits for somebody: its silence is not its fault. */
  get waiting(): boolean {
    return this.#open.size > 0
  }

  /** The park that it is in. */
  get parked(): Park | undefined {
    if (this.#continuation === undefined) return undefined
    return {
      continuation: this.#continuation,
      seq: this.#parkedAt,
      asks: [...this.#open.values()].map(({ ask }) => ask),
    }
  }

  /** The agent asks. True when a client is to be shown the question; one that is open already is asked once. */
  asked(event: EventOf<'ask'>): boolean {
    const { audience } = this.#turn
    if (this.#open.has(event.ask)) return false
    if (this.#cancelled) {
      queueMicrotask(() => this.#send(event.ask, policyReply(event.question, 'deny')))
      return false
    }
    if (audience.canBeAsked(event)) {
      this.#wait(event)
      return true
    }
    if (this.#continuation !== undefined || audience.canAnswerLater(event)) {
      this.#wait(event)
      if (this.#continuation === undefined) this.#park()
      return true
    }
    this.#answerByPolicy(event)
    return false
  }

  /** A client answers. Who brings the token of a park and no answer to its question is asked again. */
  answer(command: CommandOf<'ask-reply'>, by: string): AskAnswered {
    const parked = this.#continuation !== undefined
    const again = parked && typeof command.target === 'object' && 'continuation' in command.target
    const ask = command.ask ?? (this.#open.size === 1 || again ? [...this.#open.keys()][0] : undefined)
    const open = ask === undefined ? undefined : this.#open.get(ask)
    const mismatch = open && mismatchOf(open.ask.question, command.reply)
    if (ask === undefined || !open || mismatch !== undefined) {
      if (again) this.#park()
      return mismatch === undefined ? 'gone' : { mismatch }
    }
    this.#settle(ask, 'answered', by, command.reply)
    this.#send(ask, command.reply)
    // The client that brought this answer is asked the open questions again.
    if (parked && this.waiting) this.#park()
    return 'taken'
  }

  /** A client has left: where only a next request can bring the answers from here on, the turn is parked until then. */
  left(): void {
    const { audience, id } = this.#turn
    const events = [...this.#open.values()].map(({ ask }) => ({ type: 'ask', turn: id, ...ask }) as const)
    const waits = events.some((event) => !audience.canBeAsked(event) && audience.canAnswerLater(event))
    if (waits && this.#continuation === undefined) this.#park()
    this.#turn.valve()
  }

  /** The input of a client has ended: the policy answers at once what nobody can answer any more. */
  onInputClosed(): void {
    const { audience, id, route } = this.#turn
    if (this.#continuation !== undefined) return
    for (const { ask } of [...this.#open.values()]) {
      const event = { type: 'ask', turn: id, ...ask } as const
      if (audience.canBeAsked(event) || audience.canAnswerLater(event)) continue
      const reply = policyReply(ask.question, route.approvals)
      this.#settle(ask.ask, 'answered', 'policy', reply)
      this.#send(ask.ask, reply)
    }
    this.#turn.valve()
  }

  /** The agent says that a question is settled: it took it back. False when it only confirms what is known. */
  settled({ ask, how, by = 'agent' }: EventOf<'ask-settled'>): boolean {
    const known = this.#close(ask)
    if (known) this.#audit({ ask, about: describe(known.question), how, by })
    return known !== undefined
  }

  /** The turn ends, or is to: what is open is told to be over, and what is still asked is answered with no. */
  cancel(): void {
    this.#cancelled = true
    for (const ask of [...this.#open.keys()]) this.#settle(ask, 'cancelled', 'turn', undefined)
  }

  #wait(ask: EventOf<'ask'>): void {
    this.#turn.beforeEnd(() => this.cancel())
    const now = this.#turn.scope.now()
    const ms = Math.max(0, Math.min(this.#turn.limits.ask, (ask.deadline ?? Number.POSITIVE_INFINITY) - now))
    const timer = setTimeout(() => this.#expire(ask.ask), ms)
    const { question } = ask
    const deadline = now + Math.min(ms, this.#turn.timer.leftMs)
    this.#open.set(ask.ask, { ask: { ask: ask.ask, question, deadline }, timer })
    this.#turn.waitsForReply = true
  }

  /** The question as its clients are shown it: by a deadline of the agent's they are told the earliest that holds. */
  shown(event: EventOf<'ask'>): EventOf<'ask'> {
    const deadline = this.#open.get(event.ask)?.ask.deadline
    return event.deadline === undefined || deadline === undefined ? event : { ...event, deadline }
  }

  /** At the end of this step: an agent that asks several things at once is parked once, with all of them. */
  #park(): void {
    if (this.#parking) return
    this.#parking = true
    queueMicrotask(() => {
      this.#parking = false
      if (!this.waiting) return
      const asks = [...this.#open.values()].map(({ ask }) => ask)
      this.#continuation = `${this.#turn.id}.${randomId(18)}`
      this.#turn.scope.note('parked')
      this.#parkedAt = this.#turn.take({
        type: 'turn-parked',
        turn: this.#turn.id,
        asks,
        continuation: this.#continuation,
        deadline: Math.min(...asks.map(({ deadline }) => deadline!)),
      })
    })
  }

  #expire(ask: Id): void {
    const { question } = this.#open.get(ask)!.ask
    const reply = policyReply(question, 'deny')
    this.#settle(ask, 'timeout', 'policy', reply)
    this.#send(ask, reply)
    this.#turn.valve()
  }

  #answerByPolicy({ ask, question }: EventOf<'ask'>): void {
    const { id: turn } = this.#turn
    const { approvals: policy } = this.#turn.route
    const reply = policyReply(question, policy)
    // Not from within the agent's own event: its link is in the middle of a frame.
    queueMicrotask(() => this.#send(ask, reply))
    this.#turn.loss({ kind: 'dropped', item: 'ask', why: 'policy', count: 1 })
    this.#audit({ ask, about: describe(question), how: 'answered', by: 'policy', ...optionOf(reply) })
    this.#turn.take({
      type: 'notice',
      turn,
      severity: 'warning',
      code: 'ask-policy',
      text: `The agent asked (${describe(question)}); this client cannot be asked, so the route's policy answered: ${policy}.`,
    })
  }

  #settle(ask: Id, how: 'answered' | 'timeout' | 'cancelled', by: string, reply: AskReply | undefined): void {
    const known = this.#close(ask)!
    this.#audit({ ask, about: describe(known.question), how, by, ...(reply && optionOf(reply)) })
    const option = how === 'answered' && reply ? optionOf(reply) : {}
    this.#turn.take({ type: 'ask-settled', turn: this.#turn.id, ask, how, by, ...option })
  }

  #close(ask: Id): Ask | undefined {
    const open = this.#open.get(ask)
    clearTimeout(open?.timer)
    this.#open.delete(ask)
    this.#turn.waitsForReply = this.waiting
    if (!this.waiting) this.#continuation = undefined
    return open?.ask
  }

  #send(ask: Id, reply: AskReply): void {
    const { id: turn, command, link } = this.#turn
    link?.send({ exchange: command.exchange, type: 'ask-reply', target: { turn }, ask, reply })
  }

  #audit(entry: AskAudit): void {
    const { id, agent, scope, peers } = this.#turn
    const { traceparent } = scope.carrier
    scope.note('settled', entry.by === 'policy' && entry.how === 'answered' ? 'policy' : entry.how)
    peers.log.info('a question of an agent was settled', { turn: id, agent: agent.name, ...entry, traceparent })
  }
}

/** The policy's reply to a question: approvals by the route, everything else is refused. */
function policyReply(question: Question, policy: Route['approvals']): AskReply {
  switch (question.kind) {
    case 'approval':
      return { kind: 'approval', option: narrowestOption(question.options, policy)?.id ?? policy }
    case 'input':
      return { kind: 'input', values: '{}' }
    case 'client':
      return { kind: 'client', error: '{"message":"There is no client that could do this."}' }
    case 'tool':
      return { kind: 'tool', status: 'denied', parts: [] }
  }
}

/** The reason why a reply does not answer this question; undefined when it does. `deny` answers where no option denies. */
function mismatchOf(question: Question, reply: AskReply): string | undefined {
  if (question.kind !== reply.kind) return `The question wants an answer of the kind "${question.kind}".`
  if (question.kind !== 'approval' || reply.kind !== 'approval') return undefined
  const { options } = question
  if (options.some(({ id }) => id === reply.option)) return undefined
  if (reply.option === 'deny' && !options.some(({ kind }) => kind === 'deny')) return undefined
  return `The question has no such option; choose one of: ${options.map(({ id }) => id).join(', ')}.`
}

function describe(question: Question): string {
  return question.kind === 'approval' ? `approval of ${question.name}` : question.kind
}

function optionOf(reply: AskReply): { option?: string } {
  return reply.kind === 'approval' ? { option: reply.option } : {}
}
