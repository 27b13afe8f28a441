import type { JournalEntry, Limits, Route } from '../../contract/index.ts'
import {
  type Command,
  type Fault,
  type Id,
  type LinkEvent,
  type Loss,
  LossLedger,
  type TurnEvent,
  type TurnStart,
} from '../../model/index.ts'
import type { AgentLink } from '../agent/index.ts'
import type { Exchange } from '../client/index.ts'
import { type AgentSettings, limitsOf } from '../common/index.ts'
import { LiveView } from '../events/index.ts'
import type { AskAudit } from './ask-audit.ts'
import { Audience } from './audience.ts'
import type { TurnClock } from './turn-clock.ts'
import { TurnTimer } from './turn-timer.ts'

/** The engine as a turn sees it. */
export interface TurnOwner {
  now(): number
  /** An event was taken into the view: for the journal. */
  record(turn: TurnState, event: TurnEvent): void
  /** True while its record is complete. */
  keeps(turn: TurnState): boolean
  /** Every event so far, in order. */
  recorded(turn: TurnState): Promise<readonly JournalEntry[]>
  /** An event without a turn came while it ran. */
  linkEvent(turn: TurnState, event: LinkEvent): void
  /** It has its end. Called once, after every exchange got it. */
  ended(turn: TurnState): void
  /** A fresh id for a session of the agent, remembered for later turns. */
  freshSession(turn: TurnState): string
  /** It is to be cancelled while it still waits for its session. */
  abandon(turn: TurnState): void
  /** A client holds the whole answer. */
  delivered(turn: Id): void
  /** A question of its agent has its answer. */
  audit(turn: TurnState, entry: AskAudit): void
  /** The first of these agents that may be tried now. */
  usable(agents: readonly AgentSettings[]): AgentSettings | undefined
  /** An agent that was to be tried is not. */
  releaseProbe(agent: AgentSettings): void
  /** An agent failed without ending the turn. */
  failed(agent: AgentSettings, fault: Fault): void
  /** It waits for its new agent. */
  moved(turn: TurnState): void
}

/** Parts of a turn. */
export interface TurnInit {
  command: Command & TurnStart
  agent: AgentSettings
  /** The agents that may take it when the first one cannot, in order. */
  others: readonly AgentSettings[]
  route: Route
  /** The session's id as the client knows it. */
  session: string
  exchange: Exchange
  scope: TurnClock
  owner: TurnOwner
}

/**
 * A turn as its parts share it: what it is, what has happened so far, and how an event of it is taken. Its run, its
 * questions and its stop take this; `Turn` puts them together.
 */
export class TurnState {
  readonly command: Command & TurnStart
  readonly route: Route
  readonly view: LiveView
  readonly scope: TurnClock
  readonly owner: TurnOwner
  readonly timer: TurnTimer
  readonly audience = new Audience()
  /** What was lost between it and its agent. What was lost between it and a client is with that client's exchange. */
  readonly losses = new LossLedger()
  agent: AgentSettings
  /** The link that it runs on; absent while it waits for one. */
  link: AgentLink | undefined
  cancelled = false
  /** A question of its agent is open. */
  waitsForReply = false
  #beforeEnd: (() => void) | undefined

  /** `expired` is called when a time limit has passed. */
  constructor({ command, agent, route, session, exchange, scope, owner }: TurnInit, expired: (why: Fault) => void) {
    this.command = command
    this.agent = agent
    this.route = route
    this.scope = scope
    this.owner = owner
    this.view = this.newView(session)
    this.timer = new TurnTimer(agent.name, this.limits, command.options.totalMs, expired)
    this.audience.add(exchange, this.view)
  }

  get id(): Id {
    return this.command.turn
  }

  get ended(): boolean {
    return this.view.end !== undefined
  }

  /** The limits of its agent, with those of its route laid over them. */
  get limits(): Limits {
    return limitsOf(this.agent, this.route)
  }

  /** Calls `close` right before the end is taken: what is open in the turn closes first. */
  beforeEnd(close: () => void): void {
    this.#beforeEnd = close
  }

  /** Takes an event into the view, the journal and every exchange; the end is followed by the clean-up. Its number. */
  take(event: TurnEvent): number {
    const isEnd = event.type === 'turn-end'
    if (isEnd) this.#beforeEnd?.()
    const at = this.scope.now()
    this.view.apply(event, at)
    this.owner.record(this, event)
    if (isEnd) this.timer.stop()
    this.audience.deliver(event, this.view, at)
    if (isEnd) {
      this.scope.end(this.view)
      this.owner.ended(this)
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
    this.timer.hold(this.audience.clogged || this.waitsForReply)
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
    this.owner.moved(this)
  }

  /** An empty fold of the turn, for an exchange that is shown it from `at` on. */
  newView(session: string, at: number = this.scope.now()): LiveView {
    return new LiveView({ turn: this.id, session, agent: this.agent.name, at })
  }
}
