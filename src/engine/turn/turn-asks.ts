import type { Ask, AskReply, CommandOf, EventOf, Ext, Id, TurnSettings } from '../../model/index.ts'
import { timeoutUntil } from '../common/index.ts'
import { withDefaults } from './agent-command.ts'
import { describe, mismatchOf, optionOf, policyReply } from './ask-replies.ts'
import { Parking } from './parking.ts'
import type { Turn } from './turn.ts'
import type { AskAnswered, Park, Questions } from './turn-peers.ts'

/** The settlement of a question. */
type How = 'answered' | 'timeout' | 'cancelled'

/** The most questions of a turn that are open at once. */
const MOST_OPEN = 1000

interface OpenAsk {
  ask: Ask
  /** Stops waiting for the answer. */
  settled(): void
}

/**
 * The questions of one turn. A client that can be asked is asked, and the first answer counts. Where only a client's
 * next request can bring the answer, the turn is parked until then. If neither is possible, the route's policy answers
 * at once, and the answer says so. A question that nobody answers in time is denied.
 */
export class TurnAsks implements Questions {
  readonly #turn: Turn
  readonly #open = new Map<Id, OpenAsk>()
  readonly #parking: Parking
  /** Those of the newest request that has changed them, and what the agent has not got of them yet. */
  #settings: TurnSettings | undefined
  #unsaid: TurnSettings | undefined

  constructor(turn: Turn) {
    this.#turn = turn
    this.#parking = new Parking(turn, this.#open)
  }

  /** The agent waits for an answer, so its silence is not its fault. */
  get waiting(): boolean {
    return this.#open.size > 0
  }

  /** The park that the turn is in. */
  get parked(): Park | undefined {
    return this.#parking.current
  }

  /** The options and tools that the agent works with. */
  get settings(): TurnSettings {
    return this.#settings ?? this.#turn.command
  }

  /** A client's request has others: `carried` are those for the agent, which gets them with the next answer. */
  change(settings: TurnSettings, carried: TurnSettings): void {
    this.#settings = settings
    this.#unsaid = withDefaults(carried, this.#turn.session.record.settings)
  }

  /** The agent asks. True when a client is to be shown the question; one that is open already is asked once. */
  asked(event: EventOf<'ask'>): boolean {
    const { audience, cancelled, ended } = this.#turn
    if (this.#open.has(event.ask)) return false
    if (cancelled || ended) {
      queueMicrotask(() => this.#send(event.ask, policyReply(event.question, 'deny')))
      return false
    }
    const inline = audience.canBeAsked(event)
    if (!inline && !this.#parking.on && !audience.canAnswerLater(event)) {
      this.#answerByPolicy(event, 'this client cannot be asked')
      return false
    }
    if (this.#open.size >= MOST_OPEN) {
      this.#answerByPolicy(event, `${MOST_OPEN} questions are open`)
      return false
    }
    this.#wait(event)
    if (!inline && !this.#parking.on) this.#parking.begin()
    return true
  }

  /** A client answers. A request with the token of a park and no answer to its question gets the question again. */
  answer({ ask: named, target, reply }: CommandOf<'ask-reply'>, by: string, echo?: Ext): AskAnswered {
    const parked = this.#parking.on
    const again = parked && typeof target === 'object' && 'continuation' in target
    const ask = named ?? (this.#open.size === 1 || again ? [...this.#open.keys()][0] : undefined)
    const open = ask === undefined ? undefined : this.#open.get(ask)
    const mismatch = open && mismatchOf(open.ask.question, reply)
    if (ask === undefined || !open || mismatch !== undefined) {
      if (again) this.#parking.begin()
      return mismatch === undefined ? 'gone' : { mismatch }
    }
    this.#settle(ask, 'answered', by, reply, echo)
    this.#send(ask, reply)
    // The client that brought this answer is asked the open questions again.
    if (parked && this.waiting) this.#parking.begin()
    return 'taken'
  }

  /** A client has left. If only a next request can bring the answers from now on, the turn is parked until then. */
  left(): void {
    const { audience } = this.#turn
    const events = [...this.#open.values()].map(({ ask }) => this.#eventOf(ask))
    const waits = events.some((event) => !audience.canBeAsked(event) && audience.canAnswerLater(event))
    if (waits && !this.#parking.on) this.#parking.begin()
    this.#turn.valve()
  }

  /** The input of a client has ended: the policy answers at once what nobody can answer any more. */
  onInputClosed(): void {
    const { audience, route } = this.#turn
    if (this.#parking.on) return
    for (const { ask } of [...this.#open.values()]) {
      const event = this.#eventOf(ask)
      if (audience.canBeAsked(event) || audience.canAnswerLater(event)) continue
      this.#answer(ask.ask, 'answered', 'policy', policyReply(ask.question, route.approvals))
    }
    this.#turn.valve()
  }

  /** The agent reports a question as settled: it took it back. False when it only confirms an answer. */
  settled({ ask, how, by = 'agent' }: EventOf<'ask-settled'>): boolean {
    const known = this.#close(ask)
    if (known) this.#audit(known, how, by)
    return known !== undefined
  }

  /** The turn ends, or must: open questions are closed, and later ones are denied. */
  cancel(): void {
    for (const ask of [...this.#open.keys()]) this.#settle(ask, 'cancelled', 'turn')
  }

  /** The question as its clients see it, with the earliest deadline that applies. */
  shown(event: EventOf<'ask'>): EventOf<'ask'> {
    const deadline = this.#open.get(event.ask)?.ask.deadline
    return event.deadline === undefined || deadline === undefined ? event : { ...event, deadline }
  }

  #eventOf(ask: Ask): EventOf<'ask'> {
    return { type: 'ask', turn: this.#turn.id, ...ask }
  }

  #wait({ ask, question, deadline: asked = Number.POSITIVE_INFINITY }: EventOf<'ask'>): void {
    const { scope, limits, timer, signal } = this.#turn
    const now = scope.now()
    const ms = Math.max(0, Math.min(limits.ask, asked - now))
    const settled = timeoutUntil(signal, ms, () => this.#expire(ask, question))
    this.#open.set(ask, { ask: { ask, question, deadline: now + Math.min(ms, timer.leftMs) }, settled })
  }

  #expire(ask: Id, question: Ask['question']): void {
    this.#answer(ask, 'timeout', 'policy', policyReply(question, 'deny'))
    this.#turn.valve()
  }

  #answerByPolicy({ ask, question }: EventOf<'ask'>, because: string): void {
    const { approvals: policy } = this.#turn.route
    const reply = policyReply(question, policy)
    // Not within the agent's own event, because its link is in the middle of a frame.
    queueMicrotask(() => this.#send(ask, reply))
    this.#turn.loss({ kind: 'dropped', item: 'ask', why: 'policy', count: 1 })
    this.#audit({ ask, question }, 'answered', 'policy', reply)
    const why = `${because}, so the route's policy answered: ${policy}`
    this.#turn.notice('warning', 'ask-policy', `The agent asked (${describe(question)}); ${why}.`)
  }

  /** Settles a question and gives the agent the answer. */
  #answer(ask: Id, how: How, by: string, reply: AskReply): void {
    this.#settle(ask, how, by, reply)
    this.#send(ask, reply)
  }

  #settle(ask: Id, how: How, by: string, reply?: AskReply, ext?: Ext): void {
    this.#audit(this.#close(ask)!, how, by, reply)
    const option = how === 'answered' && reply ? optionOf(reply) : {}
    this.#turn.take({ type: 'ask-settled', turn: this.#turn.id, ask, how, by, ...option, ...(ext && { ext }) })
  }

  #close(ask: Id): Ask | undefined {
    const open = this.#open.get(ask)
    open?.settled()
    this.#open.delete(ask)
    if (!this.waiting) this.#parking.end()
    return open?.ask
  }

  #send(ask: Id, reply: AskReply): void {
    const { id: turn, command, link } = this.#turn
    const settings = this.#unsaid
    this.#unsaid = undefined
    const { exchange } = command
    link?.send({ exchange, type: 'ask-reply', target: { turn }, ask, reply, ...(settings && { settings }) })
  }

  /** Logs the settlement of a question, without content. */
  #audit({ ask, question }: Ask, how: How, by: string, reply?: AskReply): void {
    const { id, agent, scope, peers } = this.#turn
    const { traceparent } = scope.carrier
    const option = reply && optionOf(reply)
    scope.note('settled', by === 'policy' && how === 'answered' ? 'policy' : how)
    const about = { turn: id, agent: agent.name, ask, about: describe(question), how, ...option, by, traceparent }
    peers.log.info('a question of an agent was settled', about)
  }
}
