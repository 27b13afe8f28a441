import type { SessionSettings } from '../../contract/index.ts'
import type { Command, ErrorCode, Fault, LinkEvent, TurnEnd, TurnEvent, TurnStart } from '../../model/index.ts'
import { type AgentLink, LINGER_MS } from '../agent/index.ts'
import { carryStart, withHistory, withoutSecret } from '../carry/index.ts'
import type { AgentSettings, SessionNames } from '../common/index.ts'
import { cancelledTurn, failedTurn, turnLaws } from '../events/index.ts'
import type { Turn } from './turn.ts'
import type { AgentSession, TurnOwner } from './turn-init.ts'
import type { TurnTimer } from './turn-timer.ts'

/** What another agent may help against, as long as the client was shown nothing. */
const MOVES_ON: ReadonlySet<ErrorCode> = new Set([
  'agent-unavailable',
  'agent-crashed',
  'overloaded',
  'provider-down',
  'provider-rate-limit',
])

/** What running a turn needs of it. */
export interface RunHost {
  readonly turn: Turn
  /** The agents that may take the turn when its own cannot, in order. */
  readonly others: readonly AgentSettings[]
  readonly timer: TurnTimer
  readonly owner: TurnOwner
  /** An event for the clients. */
  event(event: TurnEvent): void
  /** The end, where no agent runs that could bring it. */
  end(end: TurnEnd): void
  grace(): number
  cancelled(): boolean
  /** The agent is done. */
  settled(): void
  /** What it was not told is told anew. */
  untold(): void
}

/**
 * A turn on its agent's link: under the laws, tried once more where the agent's session was lost, given to another
 * agent where this one could not be used; both only while the client was shown nothing.
 */
export class TurnRun {
  readonly #host: RunHost
  #others: readonly AgentSettings[]
  #abort: ((end: TurnEnd) => void) | undefined
  #shown = false
  #retrying = false
  /** The agent could not go on with the session. */
  #sessionLost = false
  #announced = false
  #movingTo: AgentSettings | undefined
  /** Why the turn is out of time. */
  #late: Fault | undefined
  /** The link that it runs on; absent while it waits for one. */
  link: AgentLink | undefined

  constructor(host: RunHost) {
    this.#host = host
    this.#others = host.others
  }

  /** Runs the turn; resolves when the agent is done with it. */
  async on(link: AgentLink, session: AgentSession): Promise<void> {
    const { turn, timer, owner, cancelled } = this.#host
    this.link = link
    // The link may be held for the client of the turn before, and this one's client may not keep up with what it had before.
    turn.valve()
    if (await this.#misses(link, session)) return this.#host.settled()
    timer.enter(link.ready ? this.#silencePhase : 'start')
    await this.#attempt(link, session)
    if (this.#sessionLost && !turn.ended && this.link === link && !cancelled()) {
      const again = await session.lost()
      if ('code' in again) this.#host.end(failedTurn(turn.id, again))
      else {
        this.#host.untold()
        await this.#attempt(link, again)
      }
    } else if (this.#retrying && !turn.ended && this.link === link && !cancelled()) {
      turn.scope.note('retry')
      this.#host.untold()
      turn.loss({ kind: 'weakened', item: 'session.id', why: 'policy', count: 1 })
      await this.#attempt(link, { ...session, bound: owner.freshSession(turn) })
    }
    const other = this.#movingTo
    if (!turn.ended && this.link === link) {
      if (cancelled()) this.#host.end(cancelledTurn(turn.id))
      else if (other) return this.#moveOn(other)
    }
    if (other) owner.spare(other)
  }

  /** Sets the agent to the mode that the client has set. True when the turn is not to run without it, or has its end. */
  async #misses(link: AgentLink, { settings: { mode }, names, bound }: AgentSession): Promise<boolean> {
    if (mode === undefined || link.mode === mode) return false
    const { turn, timer, cancelled, end } = this.#host
    timer.enter('start')
    const session = { ...names, ...(bound !== undefined && { bound }) }
    const why = await link.setMode({ type: 'config-set', exchange: `${turn.id}-mode`, session, mode })
    if (turn.ended || this.link !== link) return true
    if (cancelled()) end(cancelledTurn(turn.id))
    else if (why) end(failedTurn(turn.id, why))
    return turn.ended
  }

  /** Ends the turn from outside, or has another agent take it. False when it does not run: its end is the caller's. */
  abort(end: TurnEnd): boolean {
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
    if (!this.link || !this.#abort) return false
    this.#late = why
    this.link.expire(why)
    this.#abort?.(failedTurn(this.#host.turn.id, why))
    return true
  }

  /** No other agent is to take it. */
  stay(): void {
    this.#others = []
  }

  /** Only agents that speak while they work can be told from dead ones by their silence. */
  get #silencePhase(): 'firstEvent' | 'waiting' {
    return this.#host.turn.agent.dialect.back.capabilities['text-delta'] === 'none' ? 'waiting' : 'firstEvent'
  }

  /** One try; resolves when the agent is done with it. */
  #attempt(link: AgentLink, session: AgentSession): Promise<void> {
    const { bound, history, settings, names } = session
    const { turn, cancelled } = this.#host
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
        cancelled,
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
    if (what === 'head') this.#host.timer.enter('firstEvent')
    else this.#host.timer.touch()
  }

  #fromAgent(said: TurnEvent): void {
    const { turn, timer } = this.#host
    const event = this.#judge(said)
    if (event.type === 'turn-started') {
      if (this.#announced) return
      this.#announced = true
    } else {
      if (this.#silencePhase === 'firstEvent') timer.touch()
      if (!this.#shown) turn.scope.firstEvent(event)
      if (event.type === 'turn-end' && this.#goesOn(event)) return
      this.#shown = true
    }
    this.#host.event(event)
  }

  /** What was cut off by a time limit failed for that, whatever it looks like. */
  #judge(event: TurnEvent): TurnEvent {
    const cut = this.#late && event.type === 'turn-end' && event.outcome === 'failed'
    return cut && event.fault?.code !== this.#late!.code ? failedTurn(event.turn, this.#late!) : event
  }

  /** An end that is none: the turn is tried again, or by another agent. */
  #goesOn(end: TurnEnd): boolean {
    if (this.#shown || this.#host.cancelled()) return false
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
    if (this.#shown || this.#host.cancelled() || !fault || !MOVES_ON.has(fault.code)) return undefined
    const other = this.#host.owner.usable(this.#others)
    if (other) this.#failed(fault)
    return other
  }

  #failed(fault: Fault): void {
    const { owner, turn } = this.#host
    owner.failed(turn.agent, fault)
  }

  #moveOn(other: AgentSettings): void {
    this.#others = this.#others.slice(this.#others.indexOf(other) + 1)
    this.link = this.#abort = this.#movingTo = this.#late = undefined
    this.#retrying = this.#sessionLost = this.#announced = false
    this.#host.turn.moveTo(other)
  }

  #linkEvent(event: LinkEvent): void {
    if (event.type === 'agent-ready') this.#host.timer.enter(this.#silencePhase)
    this.#host.owner.linkEvent(this.#host.turn, event)
  }

  /** After the answer an agent's own process may leave by itself for a moment; then it is told to. */
  async #settle(link: AgentLink): Promise<void> {
    this.#host.settled()
    if (link.persistent && !link.dead) return
    const wait = this.#host.cancelled() ? 0 : LINGER_MS
    const linger = setTimeout(() => void link.stop('closed', this.#host.grace()), wait)
    await link.quiet()
    clearTimeout(linger)
    // A turn without an end may have been cancelled meanwhile: its agent is stopped now, and the link's next turn is not meant.
    this.#host.settled()
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
