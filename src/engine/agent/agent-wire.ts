import {
  type CallEnd,
  type CallHead,
  type Frame,
  frameText,
  type RunningProcess,
  type TurnScope,
  type WireText,
} from '../../contract/index.ts'
import { encodeFrame } from '../../framing/index.ts'
import type { Command, Fault, LinkEvent, Loss, TurnStart } from '../../model/index.ts'
import type { AgentSettings } from '../common/index.ts'
import { BackHost, type BackListener } from './back-host.ts'
import type { CallListener, LiveCall } from './live-call.ts'
import { LiveCalls, type WirePlace } from './live-calls.ts'

/** An agent's wire: the host of a codec's back link on live calls, and the life of the process behind it. */
export abstract class AgentWire implements BackListener, CallListener {
  readonly agent: AgentSettings
  protected readonly host: BackHost
  protected readonly calls: LiveCalls
  /** It was stopped for good. */
  #stopped = false

  constructor(agent: AgentSettings, scope: TurnScope, place: WirePlace = {}) {
    this.agent = agent
    this.calls = new LiveCalls(agent, scope, this, place)
    this.host = new BackHost(agent.dialect, contextIn(agent, place.cwd), this.calls, this)
  }

  abstract link(event: LinkEvent): void
  abstract loss(loss: Loss): void
  abstract failed(end: CallEnd): void
  /** The agent is done with its turn: it has ended it, or its wire is over. */
  abstract idle(): void
  /** An HTTP answer began as a stream of events, or a frame of that stream came. */
  protected abstract streamed(what: 'head' | 'frame'): void
  /** Nothing can be run on it any more. */
  protected abstract died(): void

  /** The agent's process lives over many turns. */
  get persistent(): boolean {
    return this.host.persistent
  }

  /** Its handshake is done (always true without one). */
  get ready(): boolean {
    return this.host.ready
  }

  /** Nothing can be run on it any more. */
  get dead(): boolean {
    return this.host.dead
  }

  /** The fault of a turn that the wire left without an end. */
  get missingEnd(): Fault {
    return this.host.missingEnd
  }

  /** The process behind it, for the observers of turns that did not start it. */
  get process(): RunningProcess | undefined {
    return this.calls.newest?.process
  }

  /** Gives the agent a command that starts no turn. */
  send(command: Exclude<Command, TurnStart>): void {
    this.host.send(command)
  }

  /** The valve: stops or resumes reading what the agent writes. */
  pause(paused: boolean): void {
    this.calls.pause(paused)
  }

  /** Ends every call; resolves when none runs. The wire is dead from here on when its process is persistent. */
  stop(why: 'timeout' | 'cancelled' | 'closed', graceMs: number): Promise<void> {
    // Now, not when it ends: the session's next turn must not be given to a process that is about to end.
    if (this.persistent) {
      this.#stopped = true
      this.#die()
    }
    this.calls.stop(why, graceMs)
    return this.quiet()
  }

  /** Resolves when no call runs. */
  quiet(): Promise<void> {
    return this.calls.quiet()
  }

  /** The host is broken: nothing of its calls is read any more. */
  fault(why: Fault): void {
    this.died()
    this.failed({ why: 'failed', fault: why })
    this.calls.silence()
    void this.stop('closed', this.agent.limits.grace)
  }

  head(head: CallHead, { streams }: LiveCall): void {
    if (streams) this.streamed('head')
    this.host.head(head)
  }

  /** A tape knows which frame each event came in. */
  readBegins(): void {
    if (!this.calls.tape) this.host.readBegins()
  }

  readEnds(): void {
    this.host.readEnds()
  }

  frame(frame: Frame, { streams }: LiveCall): void {
    if (streams) this.streamed('frame')
    const { tape } = this.calls
    if (tape) tape.fromAgent(textOf(frame, streams), () => this.host.decode(frame))
    else this.host.decode(frame)
  }

  texts(wire: WireText, { streams }: LiveCall): void {
    if (this.calls.tape) return
    const read = this.host.decodeTexts(wire)
    if (read && streams) this.streamed('frame')
  }

  /** The output of a call that the codec has replaced says nothing about the wire. */
  outputEnded(call: LiveCall): void {
    if (!this.persistent || call !== this.calls.newest) return
    this.host.dead = true
    // Its process is most likely about to exit; the log gets its exit code.
    if (!this.host.working) call.leave()
  }

  ended(end: CallEnd): void {
    this.host.callEnded(end)
    if (this.calls.busy) {
      // The codec has started another process in place of this one.
      if (!this.#stopped && !this.host.broken) this.host.dead = false
      return
    }
    if (this.persistent) this.#die()
    if (this.persistent || !this.host.asking) this.host.close()
  }

  gone(call: LiveCall): void {
    this.calls.delete(call)
  }

  #die(): void {
    this.host.dead = true
    this.died()
  }
}

/** The text of a frame as its wire had it. */
function textOf(frame: Frame, streams: boolean): string {
  return streams ? encodeFrame('sse', frame).trimEnd() : frameText(frame)
}

/** The context of an agent's codec, with the folder that its processes run in. */
function contextIn({ context }: AgentSettings, cwd: string | undefined): AgentSettings['context'] {
  const { process } = context
  return cwd === undefined || !process ? context : { ...context, process: { ...process, cwd } }
}
