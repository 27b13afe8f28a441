import type { Limits, Route } from '../../contract/index.ts'
import {
  type Command,
  type CommandOf,
  type Fault,
  type Id,
  type LinkEvent,
  type Loss,
  LossLedger,
  type Part,
  type TurnEnd,
  type TurnEvent,
  type TurnStart,
} from '../../model/index.ts'
import type { AgentLink } from '../agent/index.ts'
import { steeringLosses } from '../carry/index.ts'
import type { Exchange } from '../client/index.ts'
import { type AgentSettings, UNWRITABLE } from '../common/index.ts'
import { acceptedTurn, cancelledTurn, failedTurn, foldUpTo, LiveView, redacted, reissue } from '../events/index.ts'
import { Audience } from './audience.ts'
import { type AskAnswered, TurnAsks } from './turn-asks.ts'
import type { TurnClock } from './turn-clock.ts'
import { type AgentSession, joinedAs, limitsOf, type TurnInit, type TurnOwner } from './turn-init.ts'
import { TurnRun } from './turn-run.ts'
import { TurnStop } from './turn-stop.ts'
import { TurnTimer } from './turn-timer.ts'

/** One piece of work from acceptance to its one end, for one or more exchanges. */
export class Turn {
  readonly id: Id
  readonly route: Route
  readonly command: Command & TurnStart
  readonly view: LiveView
  readonly scope: TurnClock
  /** What its agent asks. */
  readonly asks: TurnAsks
  readonly #owner: TurnOwner
  readonly #ledger = new LossLedger()
  /** What its first client was not shown. */
  readonly toClient = new LossLedger()
  readonly #timer: TurnTimer
  readonly #audience = new Audience()
  readonly #stop: TurnStop
  readonly #run: TurnRun
  agent: AgentSettings
  #limits: Limits
  #cancelled = false

  constructor(init: TurnInit) {
    this.id = init.command.turn
    this.agent = init.agent
    this.route = init.route
    this.command = init.command
    this.scope = init.scope
    this.#owner = init.owner
    this.#limits = limitsOf(init.agent, init.route)
    this.view = this.#newView(init.session)
    this.#timer = new TurnTimer(init.agent.name, this.#limits, init.command.options.totalMs, (why) => this.#expire(why))
    init.exchange.turn = this
    this.#audience.add(init.exchange, this.view)
    this.#stop = new TurnStop({
      turn: this.id,
      exchange: init.command.exchange,
      grace: () => this.#limits.grace,
      ended: () => this.ended,
      give: () => this.#finish(cancelledTurn(this.id)),
    })
    this.#run = new TurnRun({
      turn: this,
      others: init.others,
      timer: this.#timer,
      owner: init.owner,
      event: (event) => this.#fromAgent(event),
      end: (end) => this.#take(end),
      grace: () => this.#limits.grace,
      cancelled: () => this.#cancelled,
      settled: () => this.#stop.done(),
      untold: () => this.#audience.moved(this.agent.name, this.#ledger.clear()),
    })
    this.asks = new TurnAsks({
      turn: this.id,
      exchange: init.command.exchange,
      audience: this.#audience,
      policy: init.route.approvals,
      askMs: () => this.#limits.ask,
      leftMs: () => this.#timer.leftMs,
      now: () => this.scope.now(),
      send: (command) => this.#run.link?.send(command),
      take: (event) => {
        if (event.type === 'turn-parked') this.scope.note('parked')
        this.#take(event)
        return this.view.seq
      },
      loss: (loss) => this.loss(loss),
      audit: (entry) => {
        this.scope.note('settled', entry.by === 'policy' && entry.how === 'answered' ? 'policy' : entry.how)
        this.#owner.audit(this, entry)
      },
      changed: () => this.valve(),
    })
  }

  get ended(): boolean {
    return this.view.end !== undefined
  }

  /** What was lost on the way to and from the agent, and to the client that started it. */
  get losses(): readonly Loss[] {
    return [...this.#ledger.list, ...this.toClient.list]
  }

  /** Something did not reach a client. What others than the first one miss is theirs alone. */
  lostTo(exchange: Exchange, loss: Loss): void {
    if (!this.#audience.isFirst(exchange)) return
    this.toClient.add(loss)
    this.scope.loss(loss)
  }

  /** The engine took it: tells the client. */
  accept(): void {
    this.#take(acceptedTurn(this.id, 'new', this.view.session, this.command.request))
  }

  /** A further exchange is shown what happened behind event number `after`, then the rest as it comes. */
  async join(exchange: Exchange, after: number): Promise<void> {
    if (!this.#owner.keeps(this)) return exchange.fail(UNWRITABLE)
    // Who is shown all of it is told when it began.
    const view = this.#newView(this.view.session, after === 0 ? this.view.startedAt : this.scope.now())
    exchange.turn = this
    for (const loss of this.#ledger.list) exchange.report(loss)
    const catchUp = this.#audience.addLate(exchange, view, () => this.scope.now())
    const entries = await this.#owner.recorded(this)
    if (after > 0) view.continue(foldUpTo(this.#newView(this.view.session), entries, after))
    catchUp(entries.filter(({ seq }) => seq > after).map((entry) => reissue(entry, 'joined', joinedAs(exchange))))
  }

  /** Gives the running agent what a client says meanwhile; false when it cannot be told. */
  tellAgent({ exchange, input }: { exchange: Id; input: readonly Part[] }): boolean {
    if (!this.steerable) return false
    this.#run.link!.send({ type: 'turn-steer', exchange, target: { turn: this.id }, input })
    return true
  }

  /** True when the running agent can be told something meanwhile. */
  get steerable(): boolean {
    return (
      !this.ended && this.#run.link?.ready === true && this.agent.dialect.back.capabilities['turn-steer'] !== 'none'
    )
  }

  /** A request for a turn of its own steers this one instead, and gets the rest of it. The agent is told its input alone. */
  steer(exchange: Exchange, command: Command & TurnStart): void {
    this.tellAgent(command)
    for (const loss of steeringLosses(command)) exchange.report(loss)
    const view = this.#newView(this.view.session)
    view.continue(this.view)
    exchange.turn = this
    this.#audience.add(exchange, view)
    exchange.deliver(acceptedTurn(this.id, 'joined', this.view.session, command.request), view)
  }

  /** True when this duplicate asked only to be told of the running turn. */
  tellsDuplicates(exchange: Exchange): boolean {
    return this.command.once?.duplicate === 'tell' && !this.#audience.isFirst(exchange)
  }

  /** Says something to the client that the agent did not. */
  notice(severity: 'info' | 'warning', code: string, text: string): void {
    if (!this.ended) this.#take({ type: 'notice', turn: this.id, severity, code, text })
  }

  /** An event without a turn, for the clients that follow this one. */
  tell(event: LinkEvent): void {
    this.#audience.tell(event)
  }

  /** Every process of its agent is busy: it is in line for one, no longer than the limit `start`. */
  waitsForProcess(): void {
    this.#timer.enter('place')
  }

  /** Runs it on a link; resolves when the agent is done with it: it has its end, or another agent is to take it. */
  async run(link: AgentLink, session: AgentSession): Promise<void> {
    if (this.ended) return
    this.scope.queued(this.scope.now() - this.view.startedAt)
    await this.#run.on(link, session)
  }

  /** Ends it with a failure from outside: no link, no place, an internal error. */
  fail(why: Fault): void {
    this.#finish(failedTurn(this.id, why))
  }

  /** It is not to be run at all: the client is told at once, its agent is stopped behind its back, and no other takes it. */
  refuse(why: Fault): void {
    this.#run.stay()
    this.#cutOff(why, (end) => this.#finish(end))
  }

  /** What the agent knew of this session is lost; `why` says how. */
  reset(why: string, retold: boolean): void {
    this.scope.note('session-reset')
    const now = retold ? 'the agent was told the conversation so far' : 'the agent begins anew'
    this.notice('warning', 'session-reset', `${why}: ${now}.`)
  }

  /** Another agent takes it, from the beginning. */
  moveTo(agent: AgentSettings): void {
    const from = this.agent.name
    this.agent = agent
    this.#limits = limitsOf(agent, this.route)
    this.#timer.moveTo(agent.name, this.#limits)
    this.#audience.moved(agent.name, this.#ledger.clear())
    this.scope.moved({ agent: agent.name, back: agent.protocol })
    this.notice('warning', 'fallback', `The agent "${from}" could not be used; "${agent.name}" answers.`)
    this.#owner.moved(this)
  }

  /** Asks the agent to stop; after the grace its processes are killed. The end follows, also before the first event. False when it has its end. */
  cancel(): boolean {
    if (this.ended) return false
    if (this.#cancelled) return true
    this.#cancelled = true
    this.scope.note('cancel')
    if (this.#run.link) {
      this.#stop.begin(this.#run.link)
      if (!this.ended) this.asks.cancel()
    } else {
      this.#owner.abandon(this)
      this.#take(cancelledTurn(this.id))
    }
    return true
  }

  /** An exchange goes without its answer; the last one takes the turn with it unless that is to go on. */
  leave(exchange: Exchange): void {
    this.#audience.remove(exchange)
    if (this.#audience.deserted && !this.#audience.isOutlived(exchange, this.route.onDisconnect)) this.cancel()
    this.asks.left()
  }

  /** The input of a client has ended: the policy answers what nobody can answer any more. */
  onInputClosed(): void {
    this.asks.onInputClosed()
  }

  /** A client stopped keeping up or has caught up: the agent is read only while every client can take more. */
  valve(): void {
    this.#timer.hold(this.#audience.clogged || this.asks.waiting)
    this.#run.link?.pause(this.#audience.clogged)
  }

  /** A client answers a question of the agent. `by` is who it is, for the record. */
  answer(command: CommandOf<'ask-reply'>, by: string): AskAnswered {
    const answered = this.ended ? 'gone' : this.asks.answer(command, by)
    this.valve()
    return answered
  }

  /** A client holds the whole answer. */
  delivered(): void {
    if (this.ended) this.#owner.delivered(this.id)
  }

  /** Something of the turn did not survive on its way to or from the agent. */
  loss(loss: Loss): void {
    this.#ledger.add(loss)
    this.scope.loss(loss)
    this.#audience.report(loss)
  }

  #finish(end: TurnEnd): void {
    if (!this.ended && !this.#run.abort(end)) this.#take(end)
  }

  #fromAgent(event: TurnEvent): void {
    if (event.type === 'tool-start' || event.type === 'tool-call' || event.type === 'tool-end') this.scope.tool(event)
    if (event.type === 'ask') this.scope.note('asked', event.question.kind)
    if (event.type === 'ask' && !this.asks.asked(event)) return
    if (event.type === 'ask-settled' && !this.asks.settled(event)) return
    this.#take(redacted(event.type === 'ask' ? this.asks.shown(event) : event, this.agent.redact))
    if (event.type === 'ask') this.valve()
  }

  /** Takes an event into the view, the journal and every exchange; the end is followed by the clean-up. */
  #take(event: TurnEvent): void {
    if (event.type === 'turn-end') this.asks.cancel()
    const at = this.scope.now()
    this.view.apply(event, at)
    this.#owner.record(this, event)
    if (event.type === 'turn-end') this.#timer.stop()
    this.#audience.deliver(event, this.view, at)
    if (event.type !== 'turn-end') return
    this.scope.end(this.view)
    this.#owner.ended(this)
  }

  /** Its time is out: the client is told at once, or has what the agent answered by now. */
  #expire(why: Fault): void {
    this.#cutOff(why, (end) => {
      if (!this.#run.expire(end.fault!)) this.#finish(end)
    })
  }

  /** Ends it for its clients first, and stops the agent after that. */
  #cutOff(why: Fault, end: (end: TurnEnd) => void): void {
    const { link } = this.#run
    if (!link) this.#owner.abandon(this)
    end(this.#cancelled ? cancelledTurn(this.id) : failedTurn(this.id, why))
    void link?.stop('timeout', this.#limits.grace)
  }

  #newView(session: string, at = this.scope.now()): LiveView {
    const identity = { turn: this.id, session, agent: this.agent.name }
    return new LiveView({ ...identity, at, ledger: this.#ledger })
  }
}
