import type { Limits, Route } from '../../contract/index.ts'
import {
  type Command,
  type CommandOf,
  type Ext,
  type Fault,
  type Id,
  type Loss,
  LossLedger,
  type LossSide,
  type Part,
  type SidedLoss,
  type TextRun,
  type TurnEvent,
  type TurnStart,
} from '../../model/index.ts'
import type { AgentLink } from '../agent/index.ts'
import type { Exchange } from '../client/index.ts'
import {
  type AbortSignalLike,
  type AgentSettings,
  LOST,
  limitsOf,
  placeOf,
  type Tape,
  type Wire,
} from '../common/index.ts'
import { acceptedTurn, cancelledTurn, failedTurn, LiveView } from '../events/index.ts'
import type { AgentSession } from './agent-session.ts'
import { Audience } from './audience.ts'
import type { TurnClock } from './turn-clock.ts'
import type { AskAnswered, Questions, Runner, TurnInit, TurnPeers, TurnSession } from './turn-peers.ts'
import { TurnTimer } from './turn-timer.ts'

/** One piece of work from acceptance to its one end, for one or more exchanges. */
export class Turn {
  readonly #init: TurnInit<Turn>
  readonly #runner: Runner
  readonly peers: TurnPeers<Turn>
  readonly view: LiveView
  readonly timer: TurnTimer
  readonly audience = new Audience()
  /** Losses between it and its agent. Those between it and a client are with that client's exchange. */
  readonly losses = new LossLedger()
  agent: AgentSettings
  session: TurnSession<Turn>
  /** The link that it runs on; absent while it waits for one. */
  link: AgentLink | undefined
  cancelled = false
  #life: AbortController | undefined

  /** `runnerOf` gives the turn its run. */
  constructor(init: TurnInit<Turn>, peers: TurnPeers<Turn>, runnerOf: (turn: Turn) => Runner) {
    const { command, agents, session, exchange } = init
    this.#init = init
    this.agent = agents[0]!
    this.session = session
    this.peers = peers
    this.view = this.newView(command.session?.id ?? '')
    this.tape?.follow(this.view)
    const { limits } = this
    const { totalMs } = command.options
    const timed = { agent: this.agent.name, limits, totalMs }
    this.timer = new TurnTimer(timed, (why) => this.#runner.expire(why))
    this.audience.add(exchange, this.view)
    exchange.turn = this
    // Losses of the client's front while it read the request, before there was a turn.
    for (const loss of exchange.ownLosses) this.scope.loss(loss)
    exchange.onLoss = lossesTo(this.scope)
    this.#runner = runnerOf(this)
  }

  get id(): Id {
    return this.#init.command.turn
  }

  get command(): Command & TurnStart {
    return this.#init.command
  }

  get route(): Route {
    return this.#init.route
  }

  /** True while it goes on with a session that knows the conversation before it. */
  get follows(): boolean {
    return this.command.after !== undefined && this.session === this.#init.session
  }

  /** Keeps its frames, where its route wants them. */
  get tape(): Tape | undefined {
    return this.scope.tape
  }

  /** The content of its tape, without the secrets of the agents that it may have had. */
  get wire(): Wire | undefined {
    const { agents } = this.#init
    return this.tape?.wire((text) => agents.reduce((clean, { redact }) => redact(clean), text))
  }

  /** Its observers, and its time. */
  get scope(): TurnClock {
    return this.#init.scope
  }

  /** Aborted when it has its end, for what waits for that. */
  get signal(): AbortSignalLike {
    this.#life ??= new AbortController()
    if (this.ended) this.#life.abort()
    return this.#life.signal
  }

  get ended(): boolean {
    return this.view.end !== undefined
  }

  /** The limits of its agent, with those of its route laid over them. */
  get limits(): Limits {
    return limitsOf(this.agent, this.route)
  }

  /** The questions of its agent, once it has asked any. */
  get questions(): Questions | undefined {
    return this.#runner.questions
  }

  /** True when the running agent can take input meanwhile. */
  get steerable(): boolean {
    return !this.ended && this.link?.ready === true && this.agent.dialect.back.capabilities['turn-steer'] !== 'none'
  }

  /** The losses that it is recorded with: those towards its agent, and towards the client that started it. */
  get recordedLosses(): readonly SidedLoss[] {
    const towards = (side: LossSide) => (loss: Loss) => ({ ...loss, side })
    return [...this.losses.list.map(towards('agent')), ...this.audience.first.ownLosses.map(towards('client'))]
  }

  /** The engine took it: tells the client. */
  accept(): void {
    const { command, exchange } = this.#init
    this.take(acceptedTurn(this.id, 'new', this.view.session, command.request, exchange.answer.echo))
  }

  /** Takes an event into the view, the journal and every exchange; the end is followed by the clean-up. Its number. */
  take(said: TurnEvent): number {
    const isEnd = said.type === 'turn-end'
    const event = isEnd && !this.peers.recorder.confirm() ? failedTurn(this.id, LOST) : said
    // Open questions are closed first.
    if (isEnd) this.questions?.cancel()
    const at = this.scope.now()
    this.view.apply(event, at)
    this.peers.recorder.event(this, event)
    if (isEnd) {
      this.timer.stop()
      this.#life?.abort(event)
    }
    this.audience.deliver(event, this.view, at)
    if (isEnd) {
      this.scope.end(this.view)
      this.#over()
    }
    return this.view.seq
  }

  /** Takes pieces of text into the view, the journal and every exchange. */
  takeTexts(run: TextRun): void {
    const { audience, view } = this
    if (!audience.takesTexts(view)) {
      for (const event of run.events) this.take(event)
      return
    }
    view.applyTexts(run, this.scope.now())
    this.peers.recorder.texts(this, run)
    audience.first.deliverTexts(run, view)
  }

  /** Sends the client an event that is not from the agent. */
  notice(severity: 'info' | 'warning' | 'error', code: string, text: string): void {
    if (!this.ended) this.take({ type: 'notice', turn: this.id, severity, code, text })
  }

  /** Reports a loss on the way to or from the agent. */
  loss(loss: Loss): void {
    this.losses.add(loss)
    this.scope.loss(loss)
  }

  /** A client stopped reading or has caught up: the agent is read only while every client can take more. */
  valve(): void {
    this.timer.hold(this.audience.clogged || this.questions?.waiting === true)
    this.link?.pause(this.audience.clogged)
  }

  /** Another agent takes it, from the beginning. */
  moveTo(agent: AgentSettings): void {
    const from = this.agent.name
    this.agent = agent
    this.timer.moveTo(agent.name, this.limits)
    this.losses.clear()
    this.audience.moved(agent.name)
    this.scope.moved({ agent: agent.name, ...placeOf(agent) })
    this.tellFallback(from)
    this.peers.failover.move(this)
  }

  /** Tells the client that its agent answers in the place of another one. */
  tellFallback(from: string): void {
    this.notice('warning', 'fallback', `The agent "${from}" could not be used; "${this.agent.name}" answers.`)
  }

  /** An empty fold of the turn, for an exchange that is shown it from `at` on. */
  newView(session: string, at: number = this.scope.now()): LiveView {
    return new LiveView({ turn: this.id, session, agent: this.agent.name, at })
  }

  /** The reason why the agent gets no such input of a client now; undefined: it does. */
  inputRefusal(input: readonly Part[]): Fault | undefined {
    return this.#runner.inputRefusal(input)
  }

  /** Gives the running agent input of a client, or the reason why not. */
  tellAgent(said: { exchange: Id; input: readonly Part[] }): Fault | undefined {
    return this.#runner.tell(said)
  }

  /**
   * Runs it on a link; resolves when the agent is done with it: it has its end, another agent is to take it, or (true)
   * another link of its agent is to run it, because the process of this one was gone.
   */
  run(link: AgentLink, session: AgentSession): Promise<boolean> {
    if (this.ended) return Promise.resolve(false)
    if (this.scope.phase === 'queued') this.scope.queued(this.scope.now() - this.view.startedAt)
    return this.#runner.on(link, session)
  }

  /** Ends it with a failure from outside: no link, no place, an internal error. */
  fail(why: Fault): void {
    this.#runner.fail(why)
  }

  /** It must not run at all: the client is told at once, then its agent is stopped, and no other takes it. */
  refuse(why: Fault): void {
    this.#runner.refuse(why)
  }

  /** Asks the agent to stop; after the grace its processes are killed. The end follows, also before the first event. False when it has its end. */
  cancel(): boolean {
    if (this.ended) return false
    if (this.cancelled) return true
    this.cancelled = true
    this.scope.note('cancel')
    if (this.link) {
      this.link.cancel({ command: this.command, graceMs: this.limits.grace })
      if (!this.ended) this.questions?.cancel()
    } else {
      this.take(cancelledTurn(this.id))
    }
    return true
  }

  /**
   * An exchange leaves before its answer is complete; the last one cancels the turn unless it goes on without clients.
   */
  leave(exchange: Exchange): void {
    if (this.ended) return
    this.audience.remove(exchange)
    if (this.audience.deserted && !this.audience.isOutlived(exchange, this.route.onDisconnect)) this.cancel()
    if (this.questions) this.questions.left()
    else this.valve()
  }

  /** The input of a client has ended: the policy answers the questions that nobody can answer any more. */
  onInputClosed(): void {
    this.questions?.onInputClosed()
  }

  /** A client answers a question of the agent. `by` names it for the record; `echo` is that of its request. */
  answer(command: CommandOf<'ask-reply'>, by: string, echo?: Ext): AskAnswered {
    const answered = this.ended ? undefined : this.questions?.answer(command, by, echo)
    this.valve()
    return answered ?? 'gone'
  }

  /** A client holds the whole answer. Only repetitions of a request under its key depend on that. */
  delivered({ command }: Exchange): void {
    const keyed = this.command.once ?? (command.type === 'turn-start' && command.once)
    if (this.ended && keyed) this.peers.recorder.delivered(this.id)
  }

  #over(): void {
    const { breakers, turns, recorder, figures } = this.peers
    this.session.abandon(this)
    if (this.#runner.refused) breakers.release(this.agent)
    else breakers.recordOutcome(this.agent, this.view.end!.fault)
    turns.delete(this)
    figures.ended(this)
    recorder.end(this)
  }
}

/** Tells an observer of losses. A function of the constructor would hold the turn. */
function lossesTo(scope: TurnClock): (loss: Loss) => void {
  return (loss) => scope.loss(loss)
}
