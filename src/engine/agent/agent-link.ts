import { Observable } from 'rxjs'
import type { CallEnd, Frame, TurnScope, WireText } from '../../contract/index.ts'
import {
  type Command,
  type CommandOf,
  type Fault,
  fault,
  type Id,
  type LinkEvent,
  type Loss,
  type TextRun,
  type TurnEnd,
  type TurnEvent,
  type TurnStart,
} from '../../model/index.ts'
import type { AgentSettings, Tape } from '../common/index.ts'
import { cancelledTurn, failedTurn, presentedFault, presentedLink } from '../events/index.ts'
import { AgentWire } from './agent-wire.ts'
import type { LiveCall } from './live-call.ts'
import type { WirePlace } from './live-calls.ts'
import type { CommandReply } from './replies.ts'
import { SILENT_SCOPE } from './silent-scope.ts'

/** A turn for a link, and what it observes besides its events. */
export interface LinkRun {
  readonly command: Command & TurnStart
  readonly scope: TurnScope
  /** The time that a cancelled agent has to stop, in milliseconds. */
  readonly graceMs: number
  /** The most that its agent may write, in characters. */
  readonly answerLimit: number
  /** Keeps the frames of the turn, where its route wants them. */
  readonly tape?: Tape | undefined
  loss(loss: Loss): void
  /** Pieces of text of one read, instead of events; absent: they are events. */
  readonly texts?: (run: TextRun) => void
  /** The agent is ready; its HTTP answer began as a stream of events; a frame of that stream came. */
  progress(what: 'ready' | 'head' | 'frame'): void
}

/** Listener for what a link reports outside of turns. */
export interface LinkOwner {
  idleEvent(event: LinkEvent): void
  /** A call failed: for the log, with what the agent wrote to stderr, without secrets. */
  callFailed(end: CallEnd): void
  /** Nothing can be run on the link any more: its process, which lives over turns, has ended or is being ended. */
  died?(): void
}

/**
 * The turns of one agent's wire while it lasts. `run` is a turn as a cold Observable, and unsubscribing from it stops
 * the agent. The link outlives its turn when its process does, or for the session's next turn.
 */
export class AgentLink extends AgentWire {
  owner: LinkOwner
  /** The permission mode that it was set to. */
  mode: string | undefined
  /** The values of options that it was set to. */
  options: Readonly<Record<string, string | boolean>> | undefined
  /** The model that the agent has named. */
  model: string | undefined
  /** The version that the agent has named. */
  version: string | undefined
  #run: LinkRun | undefined
  /** The command that waits for its reply. `replied` without a reply: none comes. */
  #asked: { exchange: Id; replied: (reply?: CommandReply) => void } | undefined
  /** The turn that runs is ended from outside: its agent is stopped by force. */
  #cut = false
  /** Ends a cancelled turn, and its agent by force. */
  #force: NodeJS.Timeout | undefined
  #onIdle: (() => void) | undefined
  /** Its process served earlier turns, and nothing was read from it or written to it since it got this one. */
  #isSilent = false
  /** Its process ended before it could be given the turn. */
  unreached = false

  /** `bound` is the agent's own id of the session that it is opened for. */
  constructor(
    agent: AgentSettings,
    scope: TurnScope,
    owner: LinkOwner,
    { bound, ...place }: WirePlace & { bound?: string | undefined } = {},
  ) {
    super(agent, scope, place)
    this.owner = owner
    this.host.open(bound)
  }

  /**
   * The events of one turn under its laws. Subscribing gives the command to the agent; unsubscribing before the agent
   * has ended the turn cancels it.
   */
  run(run: LinkRun): Observable<TurnEvent> {
    return new Observable((subscriber) => {
      this.#calm()
      this.#run = run
      this.#cut = false
      this.calls.scope = run.scope
      this.calls.tape = run.tape
      this.#isSilent = this.persistent && this.ready
      this.unreached = this.#isSilent && this.dead
      this.host.run(run.command, run.texts).subscribe(subscriber)
      return () => this.#left(run)
    })
  }

  /** The agent has taken a setting. */
  wasSet({ mode, option }: Pick<CommandOf<'config-set'>, 'mode' | 'option'>): void {
    this.mode = mode ?? this.mode
    if (option) this.options = { ...this.options, [option.id]: option.value }
  }

  /** Asks the agent between two turns; undefined when the link is gone, which the next `run` says. */
  async ask(command: Exclude<Command, TurnStart>): Promise<CommandReply | undefined> {
    const reply = await new Promise<CommandReply | undefined>((replied) => {
      this.#asked = { exchange: command.exchange, replied }
      if (this.dead) replied(undefined)
      else this.send(command)
    })
    this.#asked = undefined
    this.#calm()
    return reply
  }

  /**
   * Asks the agent to stop its turn, whose events come until the agent has ended it. After the grace the turn has its
   * end, and the agent is stopped by force.
   */
  cancel({ command: { turn, exchange }, graceMs }: Pick<LinkRun, 'command' | 'graceMs'>): void {
    const told = this.agent.dialect.back.capabilities['turn-cancel'] !== 'none'
    // A process that serves one turn, or is not ready yet, is ended. Only one that goes on needs a message to stop.
    const polite = told && this.persistent && this.ready
    this.host.cancel()
    if (told) this.send({ type: 'turn-cancel', exchange, target: { turn } })
    if (!polite) void this.stop('cancelled', graceMs)
    if (!this.host.working && !this.#asked) return
    this.#force ??= setTimeout(() => this.abort(cancelledTurn(turn), 'cancelled'), polite ? graceMs : 2 * graceMs)
  }

  /** Ends the turn that runs from outside, then stops its agent by force. False when no turn runs. */
  abort(end: TurnEnd, why: 'timeout' | 'cancelled' | 'closed'): boolean {
    const graceMs = this.#run?.graceMs ?? this.agent.limits.grace
    this.#cut = true
    const ran = this.host.abort(end)
    void this.stop(why, graceMs)
    return ran
  }

  /** Ends the turn that runs because its time is out: with what is at hand, if that is a whole answer. False as `abort`. */
  expire(why: Fault): boolean {
    const turn = this.host.running
    if (turn === undefined) return false
    this.calls.cut({ why: 'timeout', fault: why })
    this.abort(failedTurn(turn, why), 'timeout')
    return true
  }

  /** Resolves when the agent is done with its turn and, if its process serves one turn, has exited; undefined when it is. */
  settled(): Promise<void> | undefined {
    if (!this.persistent || this.dead) return this.quiet()
    return this.host.working ? this.#idleOrGone() : undefined
  }

  /** Releases what belonged to the last turn, above all the client's request. No turn runs until the next `run`. */
  rest(): void {
    this.#calm()
    this.#run = undefined
    this.calls.scope = SILENT_SCOPE
    this.calls.tape = undefined
  }

  override send(command: Exclude<Command, TurnStart>): void {
    this.#isSilent = false
    super.send(command)
  }

  override frame(frame: Frame, call: LiveCall): void {
    this.#isSilent = false
    super.frame(frame, call)
    this.#limit()
  }

  override texts(wire: WireText, call: LiveCall): void {
    super.texts(wire, call)
    this.#limit()
  }

  /** Ends a turn whose agent has written more than it may. */
  #limit(): void {
    const run = this.#run
    if (run && this.host.written > run.answerLimit) {
      this.abort(failedTurn(run.command.turn, tooMuch(this.agent, run.answerLimit)), 'closed')
    }
  }

  override ended(end: CallEnd): void {
    if (this.#isSilent && end.unread) this.unreached = true
    super.ended(end)
  }

  link(said: LinkEvent): void {
    const event = presentedLink(said, this.agent)
    if (event.type === 'agent-ready') {
      this.model = event.model
      this.version = event.version
      this.calls.newest?.scope.ready()
      this.#run?.progress('ready')
    }
    if (event.type === 'command-reply' && event.exchange === this.#asked?.exchange) this.#asked.replied(event)
    else this.owner.idleEvent(event)
  }

  loss(loss: Loss): void {
    this.#run?.loss(loss)
  }

  failed(end: CallEnd): void {
    const { stderr, fault: why } = end
    this.owner.callFailed({
      ...end,
      ...(stderr !== undefined && { stderr: this.agent.redact(stderr) }),
      ...(why && { fault: presentedFault(why, this.agent) }),
    })
  }

  idle(): void {
    this.#calm()
    this.#onIdle?.()
  }

  protected streamed(what: 'head' | 'frame'): void {
    this.#run?.progress(what)
  }

  protected died(): void {
    this.#asked?.replied()
    this.#onIdle?.()
    this.owner.died?.()
  }

  /** The subscription has ended: an agent that has not ended its turn is stopped, one that serves one turn may exit. */
  #left(run: LinkRun): void {
    this.#run = undefined
    if (this.host.working) {
      if (!this.#cut && !this.#force) this.cancel(run)
    } else if (!this.persistent || this.dead) this.calls.leaveAll()
  }

  async #idleOrGone(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve
    })
    if (this.dead) await this.quiet()
  }

  #calm(): void {
    clearTimeout(this.#force)
    this.#force = undefined
  }
}

/** The fault of a turn whose agent writes more than it may. */
function tooMuch({ name }: AgentSettings, limit: number): Fault {
  const what = `The agent "${name}" wrote more than ${limit} characters in one turn (limit "answer")`
  return fault('protocol-violation', `${what}, and was stopped; ask it for less, or raise limits.answer.`)
}
