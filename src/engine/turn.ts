import type { TurnScope } from '../contract/index.ts'
import {
  type Command,
  type CommandOf,
  type Fault,
  type Id,
  type LinkEvent,
  type Loss,
  LossLedger,
  type TurnEnd,
  type TurnEvent,
  type TurnStart,
} from '../model/index.ts'
import type { AgentLink } from './agent-link.ts'
import { Audience } from './audience.ts'
import { carryStart } from './carry.ts'
import type { Exchange } from './exchange.ts'
import { turnLaws } from './laws.ts'
import type { AgentSettings, Limits, Route } from './settings.ts'
import { TurnAsks } from './turn-asks.ts'
import { acceptedTurn, cancelledTurn, failedTurn } from './turn-events.ts'
import type { TurnInit, TurnOwner } from './turn-init.ts'
import { TurnTimer } from './turn-timer.ts'
import { LiveView } from './view.ts'

/** How long an agent may take to leave by itself after its answer, before it is told to. */
const LINGER_MS = 1000

/** One piece of work from acceptance to its one end, for one or more exchanges. */
export class Turn {
  readonly id: Id
  readonly agent: AgentSettings
  readonly route: Route
  readonly command: Command & TurnStart
  readonly view: LiveView
  readonly scope: TurnScope
  readonly #owner: TurnOwner
  readonly #limits: Limits
  readonly #ledger = new LossLedger()
  readonly #timer: TurnTimer
  /** What a duplicate that joins later is shown; kept only for turns that can be joined. */
  readonly #past: TurnEvent[] | undefined
  readonly #audience = new Audience()
  readonly #asks: TurnAsks
  #link: AgentLink | undefined
  #abort: ((end: TurnEnd) => void) | undefined
  #cancelled = false
  #shown = false
  #retrying = false
  #announced = false
  #force: NodeJS.Timeout | undefined

  constructor(init: TurnInit) {
    this.id = init.command.turn
    this.agent = init.agent
    this.route = init.route
    this.command = init.command
    this.scope = init.scope
    this.#owner = init.owner
    this.#limits = init.limits
    this.#past = init.command.once ? [] : undefined
    this.view = this.#newView(init.session)
    this.#timer = new TurnTimer(init.agent.name, init.limits, init.command.options.totalMs, (why) => this.#expire(why))
    this.#add(init.exchange, this.view)
    this.#asks = new TurnAsks({
      turn: this.id,
      exchange: init.command.exchange,
      audience: this.#audience,
      policy: init.route.approvals,
      send: (command) => this.#link?.send(command),
      take: (event) => this.#take(event),
    })
  }

  get ended(): boolean {
    return this.view.end !== undefined
  }

  /** The engine took it: tells the client. */
  accept(): void {
    this.#take(this.#accepted('new'))
  }

  /** A duplicate joins: it is shown what has been shown, then the rest as it comes. */
  join(exchange: Exchange): void {
    const view = this.#newView(this.view.session)
    this.#add(exchange, view)
    for (const loss of this.#ledger.list) exchange.report(loss)
    for (const event of this.#past ?? []) {
      const told = event.type === 'turn-accepted' ? this.#accepted('joined') : event
      view.apply(told, this.#owner.now())
      exchange.deliver(told, view)
    }
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

  /** Runs it on a link; resolves when it has its end and the agent is done with it. */
  async run(link: AgentLink, bound: string | undefined): Promise<void> {
    if (this.ended) return
    this.#link = link
    this.scope.queued(this.#owner.now() - this.view.startedAt)
    this.#timer.enter(link.ready ? this.#silencePhase : 'start')
    await this.#attempt(link, bound)
    if (this.#retrying) {
      await link.quiet()
      this.loss({ kind: 'weakened', item: 'session.id', why: 'policy', count: 1 })
      await this.#attempt(link, this.#owner.freshSession(this))
    }
    await this.#settle(link)
  }

  /** Ends it with a failure from outside: no link, no place, an internal error. */
  fail(why: Fault): void {
    if (this.ended) return
    const end = failedTurn(this.id, why)
    if (this.#abort) this.#abort(end)
    else this.#take(end)
  }

  /** Asks the agent to stop; after the grace its processes are killed. The end follows, also before the first event. False when it has its end. */
  cancel(): boolean {
    if (this.ended) return false
    if (!this.#cancelled) this.#stop()
    return true
  }

  #stop(): void {
    this.#cancelled = true
    const link = this.#link
    if (!link) {
      this.#owner.abandon(this)
      this.#take(cancelledTurn(this.id))
      return
    }
    const { grace } = this.#limits
    const polite = this.agent.dialect.back!.capabilities['turn-cancel'] !== 'none'
    if (polite) link.send({ type: 'turn-cancel', exchange: this.command.exchange, target: { turn: this.id } })
    if (this.ended) return
    if (!polite || !link.ready) void link.stop('cancelled', grace)
    this.#force = setTimeout(() => this.#forceStop(link), polite ? grace : 2 * grace)
  }

  /** An exchange goes without its answer; the last one takes the turn with it unless its answer says `drain`. */
  leave(exchange: Exchange): void {
    this.#audience.remove(exchange)
    const policy = this.route.onDisconnect ?? exchange.answer.onDisconnect
    if (policy === 'cancel' && this.#audience.deserted) this.cancel()
    this.valve()
  }

  /** A client stopped keeping up or has caught up: the agent is read only while every client can take more. */
  valve(): void {
    this.#timer.hold(this.#audience.clogged || this.#asks.waiting)
    this.#link?.pause(this.#audience.clogged)
  }

  /** A client answers a question of the agent; false when it is not open here. */
  answer(command: CommandOf<'ask-reply'>): boolean {
    const taken = !this.ended && this.#asks.answer(command)
    this.valve()
    return taken
  }

  /** A client holds the whole answer. */
  delivered(): void {
    if (this.ended) this.#owner.delivered(this)
  }

  /** Something of the turn did not survive on its way to or from the agent. */
  loss(loss: Loss): void {
    this.#ledger.add(loss)
    this.scope.loss(loss)
    this.#audience.report(loss)
  }

  /** Only agents that speak while they work can be told from dead ones by their silence. */
  get #silencePhase(): 'firstEvent' | 'waiting' {
    return this.agent.dialect.back!.capabilities['text-delta'] === 'none' ? 'waiting' : 'firstEvent'
  }

  #attempt(link: AgentLink, bound: string | undefined): Promise<void> {
    const start = carryStart(this.agent.dialect.back!.capabilities, this.command, (loss) => this.loss(loss))
    const command = bound === undefined ? start : { ...start, session: { ...start.session, bound } }
    const events = link.run({ command, scope: this.scope, loss: (loss) => this.loss(loss) }).pipe(
      turnLaws({
        turn: this.id,
        link: (event) => this.#linkEvent(event),
        missingEnd: () => link.missingEnd,
        cancelled: () => this.#cancelled,
        abortable: (abort) => {
          this.#abort = abort
        },
      }),
    )
    return new Promise((resolve) => {
      events.subscribe({ next: (event) => this.#fromAgent(event), complete: resolve })
    })
  }

  #fromAgent(event: TurnEvent): void {
    if (event.type === 'turn-started') {
      if (this.#announced) return
      this.#announced = true
    } else {
      if (this.#silencePhase === 'firstEvent') this.#timer.touch()
      if (!this.#shown) this.scope.firstEvent(event)
      if (event.type === 'turn-end' && this.#mayRetry(event)) {
        this.#retrying = true
        return
      }
      this.#shown = true
    }
    if (event.type === 'ask' && !this.#asks.asked(event)) return
    if (event.type === 'ask-settled') this.#asks.settled(event.ask)
    this.#take(event)
    if (event.type === 'ask') this.valve()
  }

  #mayRetry(end: TurnEnd): boolean {
    return end.fault?.retry === 'fresh-session' && !this.#shown && !this.#retrying && !this.#cancelled
  }

  #linkEvent(event: LinkEvent): void {
    if (event.type === 'agent-ready') this.#timer.enter(this.#silencePhase)
    this.#owner.linkEvent(this, event)
  }

  /** Takes an event into the view, the journal and every exchange; the end is followed by the clean-up. */
  #take(event: TurnEvent): void {
    const at = this.#owner.now()
    this.view.apply(event, at)
    this.#past?.push(event)
    this.#owner.record(this, event)
    if (event.type === 'turn-end') this.#timer.stop()
    this.#audience.deliver(event, this.view, at)
    if (event.type !== 'turn-end') return
    this.scope.end(this.view)
    this.#owner.ended(this)
  }

  /** After the answer an agent's own process may leave by itself for a moment; then it is told to. */
  async #settle(link: AgentLink): Promise<void> {
    clearTimeout(this.#force)
    if (link.persistent && !link.dead) return
    const linger = setTimeout(() => void link.stop('closed', this.#limits.grace), this.#cancelled ? 0 : LINGER_MS)
    await link.quiet()
    clearTimeout(linger)
  }

  /** A time limit passed: the client is told at once, the agent is stopped behind its back. */
  #expire(why: Fault): void {
    const link = this.#link
    if (!link) this.#owner.abandon(this)
    this.fail(this.#cancelled ? cancelledTurn(this.id).fault! : why)
    void link?.stop('timeout', this.#limits.grace)
  }

  /** The agent did not heed the cancel. */
  #forceStop(link: AgentLink): void {
    void link.stop('cancelled', this.#limits.grace)
    this.#force = setTimeout(() => this.#abort?.(cancelledTurn(this.id)), 2 * this.#limits.grace)
  }

  #accepted(how: 'new' | 'joined'): TurnEvent {
    return acceptedTurn(this.id, how, this.view.session, this.command.request)
  }

  #newView(session: string): LiveView {
    const identity = { turn: this.id, session, agent: this.agent.name }
    return new LiveView({ ...identity, at: this.#owner.now(), ledger: this.#ledger })
  }

  #add(exchange: Exchange, view: LiveView): void {
    exchange.turn = this
    this.#audience.add(exchange, view)
  }
}
