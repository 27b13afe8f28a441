import type { Limits, Route, SessionRecord } from '../../contract/index.ts'
import {
  type Command,
  type Fault,
  type Id,
  type Loss,
  LossLedger,
  type TurnEvent,
  type TurnStart,
} from '../../model/index.ts'
import type { AgentLink, Breakers } from '../agent/index.ts'
import type { Exchange } from '../client/index.ts'
import { type AgentSettings, type EngineLog, LOST, limitsOf } from '../common/index.ts'
import { failedTurn, LiveView, type Numbered } from '../events/index.ts'
import type { AgentSession } from './agent-session.ts'
import { Audience } from './audience.ts'
import type { TurnClock } from './turn-clock.ts'
import { TurnTimer } from './turn-timer.ts'

/** The record of turns, as a turn writes and reads it. */
export interface TurnRecorder {
  /** An event was taken into the view: for the journal. */
  event(turn: TurnState, event: TurnEvent): void
  /** False when its end will not count, because others have given up this process and may have ended it. */
  confirm(): boolean
  /** True while the record of the turn is complete. */
  keeps(turn: TurnState): boolean
  /** Every event so far, in order. */
  events(turn: TurnState): Promise<readonly Numbered[]>
  /** The turn has its end, and every exchange got it. */
  end(turn: TurnState): void
  /** A client holds the whole answer. */
  delivered(turn: Id): void
}

/** The session that a turn stands in. */
export interface TurnSession {
  readonly record: SessionRecord
  /** Forgets a turn that waits for it. */
  abandon(turn: TurnState): void
  /** Gives the agent's session a fresh id, remembered for later turns. */
  rebind(): string
  /** The agent cannot go on with its id of the session: what it is to know then, or why the turn is refused. */
  lost(turn: TurnState): Promise<AgentSession | Fault>
}

/** The parts of the gateway that every turn works with. */
export interface TurnPeers {
  recorder: TurnRecorder
  /** The agents that may be tried. */
  breakers: Breakers
  /** The turns that run or wait: one leaves them with its end. */
  turns: { delete(turn: TurnState): void }
  /** Puts a turn in the line of its new agent. */
  failover: { move(turn: TurnState): void }
  log: EngineLog
}

/** The questions of a turn, as its end sees them. */
export interface OpenQuestions {
  /** One of them is open. */
  readonly waiting: boolean
  /** Closes those that are open. */
  cancel(): void
}

/** Parts of one turn. */
export interface TurnInit {
  command: Command & TurnStart
  route: Route
  /** The agent that takes it, then those that may when it cannot, in order. */
  agents: readonly AgentSettings[]
  session: TurnSession
  exchange: Exchange
  scope: TurnClock
}

/**
 * A turn as its parts share it: what it is, what has happened so far, and how an event of it is taken. Its run, its
 * questions and its stop take this; `Turn` puts them together.
 */
export class TurnState {
  readonly #init: TurnInit
  readonly peers: TurnPeers
  readonly view: LiveView
  readonly timer: TurnTimer
  readonly audience = new Audience()
  /** What was lost between it and its agent. What was lost between it and a client is with that client's exchange. */
  readonly losses = new LossLedger()
  agent: AgentSettings
  session: TurnSession
  /** The link that it runs on; absent while it waits for one. */
  link: AgentLink | undefined
  cancelled = false
  /** The questions of its agent, once it has asked any. */
  questions: OpenQuestions | undefined
  readonly #life = new AbortController()

  /** `expired` is called when a time limit has passed. */
  constructor(init: TurnInit, peers: TurnPeers, expired: (why: Fault) => void) {
    const { command, agents, session, exchange } = init
    this.#init = init
    this.agent = agents[0]!
    this.session = session
    this.peers = peers
    this.view = this.newView(command.session?.id ?? '')
    const { limits, signal } = this
    this.timer = new TurnTimer({ agent: this.agent.name, limits, totalMs: command.options.totalMs, signal }, expired)
    this.audience.add(exchange, this.view)
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

  /** Its observers, and its time. */
  get scope(): TurnClock {
    return this.#init.scope
  }

  /** Aborted when it has its end: what must not outlive it hangs on this. */
  get signal(): AbortSignal {
    return this.#life.signal
  }

  get ended(): boolean {
    return this.view.end !== undefined
  }

  /** The limits of its agent, with those of its route laid over them. */
  get limits(): Limits {
    return limitsOf(this.agent, this.route)
  }

  /** Takes an event into the view, the journal and every exchange; the end is followed by the clean-up. Its number. */
  take(said: TurnEvent): number {
    const isEnd = said.type === 'turn-end'
    const event = isEnd && !this.peers.recorder.confirm() ? failedTurn(this.id, LOST) : said
    // What is open in the turn closes first.
    if (isEnd) this.questions?.cancel()
    const at = this.scope.now()
    this.view.apply(event, at)
    this.peers.recorder.event(this, event)
    if (isEnd) this.#life.abort(event)
    this.audience.deliver(event, this.view, at)
    if (isEnd) {
      this.scope.end(this.view)
      this.#over()
    }
    return this.view.seq
  }

  /** Says something to the client that the agent did not. */
  notice(severity: 'info' | 'warning' | 'error', code: string, text: string): void {
    if (!this.ended) this.take({ type: 'notice', turn: this.id, severity, code, text })
  }

  /** Something of the turn did not survive on its way to or from the agent. */
  loss(loss: Loss): void {
    this.losses.add(loss)
    this.scope.loss(loss)
  }

  /** A client stopped keeping up or has caught up: the agent is read only while every client can take more. */
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
    this.scope.moved({ agent: agent.name, back: agent.protocol })
    this.notice('warning', 'fallback', `The agent "${from}" could not be used; "${agent.name}" answers.`)
    this.peers.failover.move(this)
  }

  /** An empty fold of the turn, for an exchange that is shown it from `at` on. */
  newView(session: string, at: number = this.scope.now()): LiveView {
    return new LiveView({ turn: this.id, session, agent: this.agent.name, at })
  }

  #over(): void {
    const { breakers, turns, recorder } = this.peers
    this.session.abandon(this)
    breakers.recordOutcome(this.agent, this.view.end!.fault)
    turns.delete(this)
    recorder.end(this)
  }
}
