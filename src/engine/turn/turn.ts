import type {
  Command,
  CommandOf,
  Fault,
  Id,
  LinkEvent,
  Loss,
  LossSide,
  Part,
  SidedLoss,
  TurnStart,
} from '../../model/index.ts'
import type { AgentLink } from '../agent/index.ts'
import { steeringLosses } from '../carry/index.ts'
import type { Exchange } from '../client/index.ts'
import { UNWRITABLE } from '../common/index.ts'
import { acceptedTurn, cancelledTurn, foldUpTo, reissue } from '../events/index.ts'
import type { AgentSession } from './agent-session.ts'
import type { Park } from './parking.ts'
import type { AskAnswered, TurnAsks } from './turn-asks.ts'
import { TurnRun } from './turn-run.ts'
import { type TurnInit, type TurnPeers, TurnState } from './turn-state.ts'

/** One piece of work from acceptance to its one end, for one or more exchanges. */
export class Turn extends TurnState {
  readonly #run: TurnRun

  constructor(init: TurnInit, peers: TurnPeers) {
    super(init, peers, (why) => this.#run.expire(why))
    const { exchange } = init
    exchange.turn = this
    // What its client's front could not read of the request was lost before there was a turn.
    for (const loss of exchange.ownLosses) this.scope.loss(loss)
    exchange.onLoss = (loss) => this.scope.loss(loss)
    this.#run = new TurnRun(this, init.agents.slice(1))
  }

  /** The questions of its agent. */
  get asks(): TurnAsks {
    return this.#run.asks
  }

  /** The park that it is in. */
  get parked(): Park | undefined {
    return this.questions && this.asks.parked
  }

  /** The losses that it is recorded with: those towards its agent, and towards the client that started it. */
  get recordedLosses(): readonly SidedLoss[] {
    const towards = (side: LossSide) => (loss: Loss) => ({ ...loss, side })
    return [...this.losses.list.map(towards('agent')), ...this.audience.first.ownLosses.map(towards('client'))]
  }

  /** The engine took it: tells the client. */
  accept(): void {
    this.take(acceptedTurn(this.id, 'new', this.view.session, this.command.request))
  }

  /** A further exchange is shown what happened behind event number `after`, then the rest as it comes. */
  async join(exchange: Exchange, after: number): Promise<void> {
    if (!this.peers.recorder.keeps(this)) return exchange.fail(UNWRITABLE)
    // An exchange that is shown all of the turn has its start time.
    const view = this.newView(this.view.session, after === 0 ? this.view.startedAt : this.scope.now())
    this.#take(exchange)
    const catchUp = this.audience.addLate(exchange, view, () => this.scope.now())
    const entries = await this.peers.recorder.events(this)
    if (after > 0) view.continue(foldUpTo(this.newView(this.view.session), entries, after))
    catchUp(entries.filter(({ seq }) => seq > after).map((entry) => reissue(entry, 'joined', joinedAs(exchange))))
  }

  /** Gives the running agent what a client says meanwhile; false when it cannot be told. */
  tellAgent({ exchange, input }: { exchange: Id; input: readonly Part[] }): boolean {
    if (!this.steerable) return false
    this.link!.send({ type: 'turn-steer', exchange, target: { turn: this.id }, input })
    return true
  }

  /** True when the running agent can be told something meanwhile. */
  get steerable(): boolean {
    return !this.ended && this.link?.ready === true && this.agent.dialect.back.capabilities['turn-steer'] !== 'none'
  }

  /** A request for a turn of its own steers this one instead, and gets the rest of it. The agent is told its input alone. */
  steer(exchange: Exchange, command: Command & TurnStart): void {
    this.tellAgent(command)
    for (const loss of steeringLosses(command)) exchange.lost(loss)
    const view = this.newView(this.view.session)
    view.continue(this.view)
    this.#take(exchange)
    this.audience.add(exchange, view)
    exchange.deliver(acceptedTurn(this.id, 'joined', this.view.session, command.request), view)
  }

  /** An event without a turn, for the clients that follow this one. */
  tell(event: LinkEvent): void {
    this.audience.tell(event)
  }

  /** Every process of its agent is busy: it is in line for one, no longer than the limit `start`. */
  waitsForProcess(): void {
    this.timer.enter('place')
  }

  /** Runs it on a link; resolves when the agent is done with it: it has its end, or another agent is to take it. */
  run(link: AgentLink, session: AgentSession): Promise<void> {
    if (this.ended) return Promise.resolve()
    this.scope.queued(this.scope.now() - this.view.startedAt)
    return this.#run.on(link, session)
  }

  /** Ends it with a failure from outside: no link, no place, an internal error. */
  fail(why: Fault): void {
    this.#run.fail(why)
  }

  /** It is not to be run at all: the client is told at once, its agent is stopped behind its back, and no other takes it. */
  refuse(why: Fault): void {
    this.#run.disableFailover()
    this.#run.fail(why)
  }

  /** Tells the client that the agent has lost this session; `why` says how. */
  reset(why: string, replayed: boolean): void {
    this.scope.note('session-reset')
    const now = replayed ? 'the agent was told the conversation so far' : 'the agent begins anew'
    this.notice('warning', 'session-reset', `${why}: ${now}.`)
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

  /** An exchange goes without its answer; the last one takes the turn with it unless that is to go on. */
  leave(exchange: Exchange): void {
    if (this.ended) return
    this.audience.remove(exchange)
    if (this.audience.deserted && !this.audience.isOutlived(exchange, this.route.onDisconnect)) this.cancel()
    if (this.questions) this.asks.left()
    else this.valve()
  }

  /** The input of a client has ended: the policy answers what nobody can answer any more. */
  onInputClosed(): void {
    if (this.questions) this.asks.onInputClosed()
  }

  /** A client answers a question of the agent. `by` is who it is, for the record. */
  answer(command: CommandOf<'ask-reply'>, by: string): AskAnswered {
    const answered = this.ended ? 'gone' : this.asks.answer(command, by)
    this.valve()
    return answered
  }

  /** A client holds the whole answer. Only those who send a request again under its key are told from it. */
  delivered({ command }: Exchange): void {
    const keyed = this.command.once ?? (command.type === 'turn-start' && command.once)
    if (this.ended && keyed) this.peers.recorder.delivered(this.id)
  }

  /** A further exchange is about it. */
  #take(exchange: Exchange): void {
    exchange.turn = this
    exchange.endsWhenJoined = this.command.once?.duplicate === 'tell'
  }
}

/** The client's id of the request that an exchange has joined with. */
function joinedAs({ command }: Exchange): string | undefined {
  return command.type === 'turn-start' ? command.request : undefined
}
