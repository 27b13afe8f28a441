import { Observable } from 'rxjs'
import type { CallEnd, CallHead, Frame, RunningProcess, TurnScope } from '../../contract/index.ts'
import {
  type Command,
  type CommandOf,
  type Fault,
  fault,
  type Id,
  type LinkEvent,
  type Loss,
  type TurnEnd,
  type TurnEvent,
  type TurnStart,
} from '../../model/index.ts'
import type { AgentSettings } from '../common/index.ts'
import { cancelledTurn, failedTurn } from '../events/index.ts'
import { BackHost, type BackListener } from './back-host.ts'
import type { CallListener, LiveCall } from './live-call.ts'
import { LiveCalls } from './live-calls.ts'
import { SILENT_SCOPE } from './silent-scope.ts'

/** A turn for a link, and what it observes besides its events. */
export interface LinkRun {
  readonly command: Command & TurnStart
  readonly scope: TurnScope
  /** The time that a cancelled agent has to stop, in milliseconds. */
  readonly graceMs: number
  loss(loss: Loss): void
  /** The agent is ready; its HTTP answer began as a stream of events; a frame of that stream came. */
  progress(what: 'ready' | 'head' | 'frame'): void
}

/** Listener for what a link reports besides a turn's events. */
export interface LinkOwner {
  /** An event that belongs to no turn. */
  idleEvent(event: LinkEvent): void
  /** A call ended badly: for the log, with what the agent said on stderr. */
  callFailed(end: CallEnd): void
}

type CommandReply = Extract<LinkEvent, { type: 'command-reply' }>

/**
 * One agent's wire while it lasts: a codec's back link on live calls. `run` is one turn as a cold Observable, and
 * unsubscribing from it stops the agent. The link outlives its turn when its process does, or for the session's next
 * turn.
 */
export class AgentLink implements BackListener, CallListener {
  readonly agent: AgentSettings
  readonly #host: BackHost
  readonly #calls: LiveCalls
  owner: LinkOwner
  /** The permission mode that it was set to. */
  mode: string | undefined
  /** The model that the agent has named. */
  model: string | undefined
  #run: LinkRun | undefined
  /** The turn that runs has its end from outside: its agent is stopped by force. */
  #cut = false
  /** It was stopped for good. */
  #stopped = false
  /** Ends the processes of a cancelled turn. */
  #force: NodeJS.Timeout | undefined
  #setting: { exchange: Id; done: (reply?: CommandReply) => void } | undefined
  #onIdle: (() => void) | undefined

  /** `bound` is the agent's own id of the session that it is opened for. */
  constructor(agent: AgentSettings, scope: TurnScope, owner: LinkOwner, bound?: string) {
    this.agent = agent
    this.owner = owner
    this.#calls = new LiveCalls(agent, scope, this)
    this.#host = new BackHost(agent.dialect, agent.context, this.#calls, this)
    this.#host.open(bound)
  }

  /** The agent's process lives over many turns. */
  get persistent(): boolean {
    return this.#host.persistent
  }

  /** Its handshake is done (always true for links without one). */
  get ready(): boolean {
    return this.#host.ready
  }

  /** Nothing can be run on it any more. */
  get dead(): boolean {
    return this.#host.dead
  }

  /** The fault of a turn that the wire left without an end. */
  get missingEnd(): Fault {
    return this.#host.missingEnd
  }

  /** The process behind it, for the observers of turns that did not start it. */
  get process(): RunningProcess | undefined {
    return this.#calls.process
  }

  /**
   * The events of one turn under its laws. Subscribing gives the command to the agent; unsubscribing before the agent's
   * end cancels it.
   */
  run(run: LinkRun): Observable<TurnEvent> {
    return new Observable((subscriber) => {
      this.#calm()
      this.#run = run
      this.#cut = false
      this.#calls.scope = run.scope
      this.#host.run(run.command).subscribe(subscriber)
      return () => this.#left(run)
    })
  }

  /**
   * Sets the agent's permission mode, between turns. Resolves with why it is not set; also when the link is gone, which
   * the next `run` tells.
   */
  async setMode(command: CommandOf<'config-set'> & { mode: string }): Promise<Fault | undefined> {
    const { name, dialect } = this.agent
    if (dialect.back.capabilities['config-set'] !== 'full') return modeRefused(name, command.mode)
    const reply = await new Promise<CommandReply | undefined>((done) => {
      this.#setting = { exchange: command.exchange, done }
      if (this.dead) done(undefined)
      else this.#host.send(command)
    })
    this.#setting = undefined
    this.#calm()
    if (reply?.fault) return modeRefused(name, command.mode, reply.fault)
    if (reply) this.mode = command.mode
    return undefined
  }

  /** Tells the agent anything but a turn: the reply to a question, a query. */
  send(command: Exclude<Command, TurnStart>): void {
    this.#host.send(command)
  }

  /**
   * Asks the agent to stop its turn, whose events come until the agent has ended it. After the grace the turn has its
   * end, and the agent is stopped by force.
   */
  cancel({ command: { turn, exchange }, graceMs }: Pick<LinkRun, 'command' | 'graceMs'>): void {
    const told = this.agent.dialect.back.capabilities['turn-cancel'] !== 'none'
    // A process that serves one turn, or is not ready yet, is stopped by being ended: only one that goes on needs a word.
    const polite = told && this.persistent && this.ready
    this.#host.cancel()
    if (told) this.#host.send({ type: 'turn-cancel', exchange, target: { turn } })
    if (!polite) void this.stop('cancelled', graceMs)
    if (!this.#host.working && !this.#setting) return
    this.#force ??= setTimeout(() => this.abort(cancelledTurn(turn), 'cancelled'), polite ? graceMs : 2 * graceMs)
  }

  /** Ends the turn that runs from outside, then stops its agent by force. False when no turn runs. */
  abort(end: TurnEnd, why: 'timeout' | 'cancelled'): boolean {
    const graceMs = this.#run?.graceMs ?? this.agent.limits.grace
    this.#cut = true
    const ran = this.#host.abort(end)
    void this.stop(why, graceMs)
    return ran
  }

  /** Ends the turn that runs because its time is out: with what is in hand, if that is a whole answer. False as `abort`. */
  expire(why: Fault): boolean {
    const turn = this.#host.running
    if (turn === undefined) return false
    this.#cut = true
    this.#calls.cut({ why: 'timeout', fault: why })
    this.abort(failedTurn(turn, why), 'timeout')
    return true
  }

  /** The valve: stops or resumes reading what the agent writes. */
  pause(paused: boolean): void {
    this.#calls.pause(paused)
  }

  /** Ends every call; resolves when none runs. The link is dead from here on when its process is persistent. */
  stop(why: 'timeout' | 'cancelled' | 'closed', graceMs: number): Promise<void> {
    // At once: the session's next turn must not be given to a process that is about to end.
    if (this.persistent) {
      this.#stopped = true
      this.#die()
    }
    this.#calls.stop(why, graceMs)
    return this.quiet()
  }

  /** Resolves when no call runs. */
  quiet(): Promise<void> {
    return this.#calls.quiet()
  }

  /** Resolves when the agent is done with its turn, and has exited unless its process lives over turns. */
  async settled(): Promise<void> {
    if (this.persistent && !this.dead && this.#host.working) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve
      })
    }
    if (!this.persistent || this.dead) await this.quiet()
  }

  /** No turn runs on it until the next `run`: lets go of what belonged to the last one, the client's request above all. */
  rest(): void {
    this.#calm()
    this.#run = undefined
    this.#calls.scope = SILENT_SCOPE
  }

  link(event: LinkEvent): void {
    if (event.type === 'agent-ready') {
      this.model = event.model
      this.#calls.newest?.scope.ready()
      this.#run?.progress('ready')
    }
    if (event.type === 'command-reply' && event.exchange === this.#setting?.exchange) this.#setting.done(event)
    else this.owner.idleEvent(event)
  }

  loss(loss: Loss): void {
    this.#run?.loss(loss)
  }

  /** Nothing of its calls is read any more. */
  fault(why: Fault): void {
    this.#die()
    this.owner.callFailed({ why: 'failed', fault: why })
    this.#calls.silence()
    void this.stop('closed', this.agent.limits.grace)
  }

  idle(): void {
    this.#calm()
    this.#onIdle?.()
  }

  head(head: CallHead, { streams }: LiveCall): void {
    if (streams) this.#run?.progress('head')
    this.#host.head(head)
  }

  frame(frame: Frame, { streams }: LiveCall): void {
    if (streams) this.#run?.progress('frame')
    this.#host.decode(frame)
  }

  /** Output of a call that the codec has left, for one that took its place, says nothing about the link. */
  outputEnded(call: LiveCall): void {
    if (!this.persistent || call !== this.#calls.newest) return
    this.#host.dead = true
    // Its process is most likely about to exit, and how it does is for the log.
    if (!this.#host.working) call.leave()
  }

  ended(end: CallEnd): void {
    this.#host.callEnded(end)
    if (this.#calls.busy) {
      // The codec has started another process in place of this one.
      if (!this.#stopped && !this.#host.broken) this.#host.dead = false
      return
    }
    if (this.persistent) this.#die()
    if (this.persistent || !this.#host.asking) this.#host.close()
  }

  failed(end: CallEnd): void {
    this.owner.callFailed(end)
  }

  gone(call: LiveCall): void {
    this.#calls.delete(call)
  }

  /** The subscription is over. An agent that has not ended its turn is stopped, one of one turn is left to exit. */
  #left(run: LinkRun): void {
    this.#run = undefined
    if (!this.#host.working) {
      if (!this.persistent || this.dead) this.#calls.leaveAll()
    } else if (!this.#cut && this.#force === undefined) this.cancel(run)
  }

  #calm(): void {
    clearTimeout(this.#force)
    this.#force = undefined
  }

  #die(): void {
    this.#host.dead = true
    this.#setting?.done()
    this.#onIdle?.()
  }
}

/** The fault of a turn whose agent would not run in the mode that its client has set. */
function modeRefused(agent: string, mode: string, why?: Fault): Fault {
  const said = why ? ` (${why.message})` : ''
  const text = `The agent "${agent}" cannot be set to the mode "${mode}" that its client has set${said}; set another mode.`
  return fault('invalid-request', text)
}
