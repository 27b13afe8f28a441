import type { SessionSettings } from '../../contract/index.ts'
import type { Command, ErrorCode, Fault, LinkEvent, TurnEnd, TurnEvent, TurnStart } from '../../model/index.ts'
import { type AgentLink, LINGER_MS } from '../agent/index.ts'
import { carryStart, withHistory, withoutSecret } from '../carry/index.ts'
import type { AgentSettings, SessionNames } from '../common/index.ts'
import { cancelledTurn, failedTurn, redacted, turnLaws } from '../events/index.ts'
import type { AgentSession } from './agent-session.ts'
import type { TurnAsks } from './turn-asks.ts'
import type { TurnState } from './turn-state.ts'
import { TurnStop } from './turn-stop.ts'

/** Failures that another agent may help against, as long as the client was shown nothing. */
const FAILOVER_CODES: ReadonlySet<ErrorCode> = new Set([
  'agent-unavailable',
  'agent-crashed',
  'overloaded',
  'provider-down',
  'provider-rate-limit',
])

/**
 * A turn on its agent's link: under the laws, tried once more where the agent's session was lost, given to another
 * agent where this one could not be used; both only while the client was shown nothing.
 */
export class TurnRun {
  readonly #turn: TurnState
  readonly #asks: TurnAsks
  readonly #stop: TurnStop
  #others: readonly AgentSettings[]
  #abort: ((end: TurnEnd) => void) | undefined
  #shown = false
  #retrying = false
  /** The agent could not go on with the session. */
  #sessionLost = false
  #announced = false
  #movingTo: AgentSettings | undefined
  /** The fault of a turn that is out of time. */
  #late: Fault | undefined

  /** `others` are the agents that may take the turn when its own cannot, in order. */
  constructor(turn: TurnState, asks: TurnAsks, others: readonly AgentSettings[]) {
    this.#turn = turn
    this.#asks = asks
    this.#others = others
    this.#stop = new TurnStop(turn, () => this.finish(cancelledTurn(turn.id)))
  }

  /** Ends the turn with an end from outside, or has another agent take it. */
  finish(end: TurnEnd): void {
    if (!this.#turn.ended && !this.#abortWith(end)) this.#turn.take(end)
  }

  /** Asks the agent on its link to stop the turn. */
  stop(link: AgentLink): void {
    this.#stop.begin(link)
  }

  /** Runs the turn; resolves when the agent is done with it. */
  async on(link: AgentLink, session: AgentSession): Promise<void> {
    const turn = this.#turn
    const { timer } = turn
    turn.link = link
    // The link may be held for the client of the turn before, and this one's client may not keep up with what it had before.
    turn.valve()
    if (await this.#misses(link, session)) return this.#stop.done()
    timer.enter(link.ready ? this.#silencePhase : 'start')
    await this.#attempt(link, session)
    if (this.#sessionLost && !turn.ended && turn.link === link && !turn.cancelled) {
      const again = await turn.session.lost(turn)
      if ('code' in again) turn.take(failedTurn(turn.id, again))
      else {
        turn.losses.clear()
        await this.#attempt(link, again)
      }
    } else if (this.#retrying && !turn.ended && turn.link === link && !turn.cancelled) {
      turn.scope.note('retry')
      turn.losses.clear()
      turn.loss({ kind: 'weakened', item: 'session.id', why: 'policy', count: 1 })
      await this.#attempt(link, { ...session, bound: turn.session.rebind() })
    }
    const other = this.#movingTo
    if (!turn.ended && turn.link === link) {
      if (turn.cancelled) turn.take(cancelledTurn(turn.id))
      else if (other) return this.#moveOn(other)
    }
    if (other) turn.peers.breakers.release(other)
  }

  /** Sets the agent to the mode that the client has set. True when the turn is not to run without it, or has its end. */
  async #misses(link: AgentLink, { settings: { mode }, names, bound }: AgentSession): Promise<boolean> {
    if (mode === undefined || link.mode === mode) return false
    const turn = this.#turn
    const { timer } = turn
    timer.enter('start')
    const session = { ...names, ...(bound !== undefined && { bound }) }
    const why = await link.setMode({ type: 'config-set', exchange: `${turn.id}-mode`, session, mode })
    if (turn.ended || turn.link !== link) return true
    if (turn.cancelled) turn.take(cancelledTurn(turn.id))
    else if (why) turn.take(failedTurn(turn.id, why))
    return turn.ended
  }

  /** Ends the run, or has another agent take the turn. False when it does not run: its end is the caller's. */
  #abortWith(end: TurnEnd): boolean {
    if (this.#abort) {
      this.#abort(end)
      return true
    }
    if (this.#movingTo) return false
    const other = this.#otherAgent(end)
    if (other) this.#moveOn(other)
    return other !== undefined
  }

  /**
   * Its time is out: the answer is what the agent has said of it, if that is a whole one, else the turn ends with `why`.
   * False when it does not run.
   */
  expire(why: Fault): boolean {
    const { link, id } = this.#turn
    if (!link || !this.#abort) return false
    this.#late = why
    link.expire(why)
    this.#abort?.(failedTurn(id, why))
    return true
  }

  /** No other agent is to take it. */
  disableFailover(): void {
    this.#others = []
  }

  /** Only agents that speak while they work can be told from dead ones by their silence. */
  get #silencePhase(): 'firstEvent' | 'waiting' {
    return this.#turn.agent.dialect.back.capabilities['text-delta'] === 'none' ? 'waiting' : 'firstEvent'
  }

  /** One try; resolves when the agent is done with it. */
  #attempt(link: AgentLink, session: AgentSession): Promise<void> {
    const { bound, history, settings, names } = session
    const turn = this.#turn
    const { capabilities } = turn.agent.dialect.back
    const report = turn.loss.bind(turn)
    const told = withoutSecret(withSession(turn.command, settings, names), turn.agent, turn.route, report)
    const full = history ? withHistory(capabilities, told, history, report) : told
    const start = carryStart(capabilities, full, report)
    const command = bound === undefined ? start : { ...start, session: { ...start.session, bound } }
    const streams = (what: 'head' | 'frame'): void => this.#streams(what)
    const events = link.run({ command, scope: turn.scope, loss: report, streams }).pipe(
      turnLaws({
        turn: turn.id,
        link: (event) => this.#linkEvent(event),
        missingEnd: () => link.missingEnd,
        cancelled: () => turn.cancelled,
        abortable: (abort) => {
          this.#abort = abort
        },
      }),
    )
    return new Promise<void>((resolve) => {
      events.subscribe({ next: (event) => this.#fromAgent(event), complete: resolve })
    }).then(() => this.#settle(link))
  }

  /** An agent that may be silent until it has its whole answer no longer is once it streams that. */
  #streams(what: 'head' | 'frame'): void {
    if (this.#silencePhase === 'firstEvent') return
    if (what === 'head') this.#turn.timer.enter('firstEvent')
    else this.#turn.timer.touch()
  }

  #fromAgent(said: TurnEvent): void {
    const turn = this.#turn
    const event = this.#judge(said)
    if (event.type === 'turn-started') {
      if (this.#announced) return
      this.#announced = true
    } else {
      if (this.#silencePhase === 'firstEvent') turn.timer.touch()
      if (!this.#shown) turn.scope.firstEvent(event)
      if (event.type === 'turn-end' && this.#shouldRetry(event)) return
      this.#shown = true
    }
    this.#show(event)
  }

  /** An event for the clients: questions go through those that ask them. */
  #show(event: TurnEvent): void {
    const { scope, agent } = this.#turn
    if (event.type === 'tool-start' || event.type === 'tool-call' || event.type === 'tool-end') scope.tool(event)
    if (event.type === 'ask') scope.note('asked', event.question.kind)
    if (event.type === 'ask' && !this.#asks.asked(event)) return
    if (event.type === 'ask-settled' && !this.#asks.settled(event)) return
    this.#turn.take(redacted(event.type === 'ask' ? this.#asks.shown(event) : event, agent.redact))
    if (event.type === 'ask') this.#turn.valve()
  }

  /** Gives a turn that a time limit cut off the fault of that limit. */
  #judge(event: TurnEvent): TurnEvent {
    const cut = this.#late && event.type === 'turn-end' && event.outcome === 'failed'
    return cut && event.fault?.code !== this.#late!.code ? failedTurn(event.turn, this.#late!) : event
  }

  /** An end that is none: the turn is tried again, or by another agent. */
  #shouldRetry(end: TurnEnd): boolean {
    if (this.#shown || this.#turn.cancelled) return false
    if (end.fault?.code === 'session-not-found' && end.fault.retry && !this.#sessionLost) {
      this.#sessionLost = true
      this.#abort = undefined
      return true
    }
    if (end.fault?.retry === 'fresh-session' && !this.#retrying) {
      this.#retrying = true
      this.#abort = undefined
      return true
    }
    this.#movingTo = this.#otherAgent(end)
    if (this.#movingTo) this.#abort = undefined
    return this.#movingTo !== undefined
  }

  /** The agent that takes over after such an end, if one may. */
  #otherAgent({ fault }: TurnEnd): AgentSettings | undefined {
    if (this.#shown || this.#turn.cancelled || !fault || !FAILOVER_CODES.has(fault.code)) return undefined
    const { breakers } = this.#turn.peers
    const other = this.#others.find((agent) => breakers.admit(agent))
    if (other) this.#failed(fault)
    return other
  }

  #failed(fault: Fault): void {
    const { peers, agent } = this.#turn
    peers.breakers.recordOutcome(agent, fault)
    peers.log.warn('a turn is given to another agent', { agent: agent.name, code: fault.code })
  }

  #moveOn(other: AgentSettings): void {
    this.#others = this.#others.slice(this.#others.indexOf(other) + 1)
    this.#abort = this.#movingTo = this.#late = undefined
    this.#turn.link = undefined
    this.#retrying = this.#sessionLost = this.#announced = false
    this.#turn.moveTo(other)
  }

  #linkEvent(event: LinkEvent): void {
    if (event.type === 'agent-ready') this.#turn.timer.enter(this.#silencePhase)
    this.#turn.session.idleEvent(event)
  }

  /** After the answer an agent's own process may leave by itself for a moment; then it is told to. */
  async #settle(link: AgentLink): Promise<void> {
    this.#stop.done()
    if (link.persistent && !link.dead) return
    const wait = this.#turn.cancelled ? 0 : LINGER_MS
    const linger = setTimeout(() => void link.stop('closed', this.#turn.limits.grace), wait)
    await link.quiet()
    clearTimeout(linger)
    // A turn without an end may have been cancelled meanwhile: its agent is stopped now, and the link's next turn is not meant.
    this.#stop.done()
  }
}

/** The command with the session's names towards the agent, and what was set for the session where it does not say another. */
function withSession(
  command: Command & TurnStart,
  { model, effort }: SessionSettings,
  names: SessionNames,
): Command & TurnStart {
  const { conversation: _, ...session } = command.session ?? {}
  const options = { ...(model !== undefined && { model }), ...(effort !== undefined && { effort }), ...command.options }
  return { ...command, options, session: { ...session, ...names } }
}
