import { Observable, type Subscriber } from 'rxjs'
import {
  type BackLink,
  type Call,
  type CallEnd,
  type CallHandle,
  type CallScope,
  type CallSink,
  type Frame,
  type Framing,
  faultOfEnd,
  type RunningProcess,
  type TurnScope,
} from '../../contract/index.ts'
import { encodeFrame, type FrameDecoder, frameDecoder } from '../../framing/index.ts'
import {
  type AgentEvent,
  type Command,
  type CommandOf,
  type Fault,
  fault,
  type Id,
  type LinkEvent,
  type Loss,
} from '../../model/index.ts'
import type { AgentSettings } from '../common/index.ts'
import { SILENT_SCOPE } from './silent-scope.ts'

/** The time that an agent has to exit by itself after its last word, in milliseconds; then it is told to. */
export const LINGER_MS = 1000

/** A turn as the link that runs it sees it. */
export interface LinkRun {
  command: Command
  scope: TurnScope
  loss(loss: Loss): void
  /** Its answer over HTTP began as a stream of events, or another frame of one came: comments are none. */
  streams(what: 'head' | 'frame'): void
}

/** Listener for what a link reports besides a turn's events. */
export interface LinkOwner {
  /** An event without a turn that came while no turn ran. */
  idleEvent(event: LinkEvent): void
  /** A call ended badly: for the log, with what the agent said on stderr. */
  callFailed(end: CallEnd): void
}

interface LiveCall {
  readonly key: string
  readonly call: Call
  readonly scope: CallScope
  handle: CallHandle | undefined
  decoder: FrameDecoder | undefined
  /** Its answer is a stream of events. */
  streams: boolean
  /** It is told to end when it does not leave by itself. */
  leaving: NodeJS.Timeout | undefined
  /** Set once its end was told; whatever comes later is ignored. */
  over: boolean
}

/**
 * One agent's wire while it lasts: hosts the codec's `BackLink`, runs its calls on the backend, frames their bytes.
 * `run` is one turn as a cold Observable; the link outlives it when its process does, or to serve the session's next.
 */
export class AgentLink {
  readonly agent: AgentSettings
  readonly #link: BackLink
  owner: LinkOwner
  readonly #calls = new Map<string, LiveCall>()
  readonly #openAsks = new Set<Id>()
  #newest: LiveCall | undefined
  #subscriber: Subscriber<AgentEvent> | undefined
  #run: LinkRun | undefined
  #scope: TurnScope
  #broken: Fault | undefined
  #lastEnd: CallEnd = { why: 'closed' }
  #ids = 0
  #paused = false
  /** We end its calls: how they end then is no failure. */
  #stopped = false
  #quiet: (() => void)[] = []
  /** The agent's process lives over many turns. */
  persistent = false
  /** Its handshake is done (always true for links without one). */
  ready = true
  /** Nothing can be run on it any more. */
  dead = false
  model: string | undefined
  /** The permission mode that it was set to. */
  mode: string | undefined
  #setting: { exchange: Id; done: (why?: Fault) => void } | undefined

  /** `bound` is the agent's own id of the session that it is opened for. */
  constructor(agent: AgentSettings, scope: TurnScope, owner: LinkOwner, bound?: string) {
    this.agent = agent
    this.#scope = scope
    this.owner = owner
    this.#link = agent.dialect.back.open(agent.context, {
      emit: (event) => this.#emit(event),
      open: (call) => this.#open(call),
      send: (frame) => this.#send(frame),
      end: (call) => this.#callOf(call)?.handle?.endInput(),
      leave: (call) => this.#leave(this.#callOf(call)),
      broken: (fault) => this.#break(fault),
      report: (loss) => this.#run?.loss(loss),
      newId: () => `${++this.#ids}`,
    })
    if (!this.#link.open) return
    this.ready = false
    this.persistent = true
    this.#link.open(bound)
  }

  /** The fault of a turn that the wire left without an end. */
  get missingEnd(): Fault {
    return this.#broken ?? faultOfEnd(this.#lastEnd)
  }

  /** The process behind it, for the observers of turns that did not start it. */
  get process(): RunningProcess | undefined {
    const live = this.#newest
    if (!live) return undefined
    return { scope: live.scope, ...(live.handle?.pid !== undefined && { pid: live.handle.pid }) }
  }

  /** One turn. Subscribing hands the command to the agent; completing without a `turn-end` means that the wire is gone. */
  run(run: LinkRun): Observable<AgentEvent> {
    return new Observable((subscriber) => {
      this.#subscriber = subscriber
      this.#run = run
      this.#scope = run.scope
      this.#openAsks.clear()
      this.#stopped = false
      if (this.dead) subscriber.complete()
      else this.#link.encode(run.command)
      return () => {
        if (this.#subscriber === subscriber) this.#subscriber = undefined
      }
    })
  }

  /**
   * Sets the agent's permission mode, between turns. Resolves with why it is not set; also when the link is gone, which
   * the next `run` tells.
   */
  setMode(command: CommandOf<'config-set'> & { mode: string }): Promise<Fault | undefined> {
    const { mode } = command
    const { capabilities } = this.agent.dialect.back
    if (capabilities['config-set'] !== 'full') return Promise.resolve(modeRefused(this.agent.name, mode))
    return new Promise((resolve) => {
      const done = (why?: Fault): void => {
        this.#setting = undefined
        if (why === undefined && !this.dead) this.mode = mode
        resolve(why && modeRefused(this.agent.name, mode, why))
      }
      this.#setting = { exchange: command.exchange, done }
      if (this.dead) done()
      else this.#link.encode(command)
    })
  }

  /** No turn runs on it until the next `run`: lets go of what belonged to the last one, the client's request above all. */
  rest(): void {
    this.#run = undefined
    this.#scope = SILENT_SCOPE
  }

  /** Any other command: a cancel, a reply, a query. */
  send(command: Command): void {
    if (command.type === 'ask-reply' && command.ask) this.#openAsks.delete(command.ask)
    if (!this.dead) this.#link.encode(command)
  }

  /** The valve: stops or goes on reading what the agent writes. */
  pause(paused: boolean): void {
    if (this.#paused === paused) return
    this.#paused = paused
    for (const { handle } of this.#calls.values()) paused ? handle?.pause() : handle?.resume()
  }

  /** Its turn is out of time: what is in hand of its answers is read as if they ended here, which the codec then judges. */
  expire(why: Fault): void {
    for (const live of [...this.#calls.values()]) {
      if (live.over) continue
      live.decoder?.end()
      this.#tellEnd(live, { why: 'timeout', fault: why })
    }
  }

  /** Ends every call; resolves when none runs. The link is dead from here on when its process is persistent. */
  stop(why: 'timeout' | 'cancelled' | 'closed', graceMs: number): Promise<void> {
    this.#stopped = true
    // At once: the session's next turn must not be given to a process that is about to end.
    if (this.persistent) this.#die()
    for (const { handle } of [...this.#calls.values()]) handle?.stop(why, graceMs)
    return this.quiet()
  }

  /** Resolves when no call runs. */
  quiet(): Promise<void> {
    return this.#calls.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#quiet.push(resolve))
  }

  #callOf(name: string | undefined): LiveCall | undefined {
    return name === undefined ? this.#newest : this.#calls.get(name)
  }

  #emit(event: AgentEvent): void {
    if (event.turn === null && event.type === 'agent-ready') {
      this.ready = true
      this.model = event.model
      this.#newest?.scope.ready()
    }
    if (event.type === 'command-reply' && event.exchange === this.#setting?.exchange) {
      this.#setting.done(event.fault)
      return
    }
    if (event.type === 'ask') this.#openAsks.add(event.ask)
    if (event.type === 'ask-settled') this.#openAsks.delete(event.ask)
    if (this.#subscriber) this.#subscriber.next(event)
    else if (event.turn === null) this.owner.idleEvent(event)
  }

  #open(call: Call): void {
    const { target, backend } = this.agent
    const scope = this.#scope.call(
      target.kind === 'process'
        ? { kind: 'process', command: (call.kind === 'process' && call.command) || target.command }
        : { kind: 'http', method: call.kind === 'http' ? call.method : 'POST', url: target.url },
    )
    const key = call.call ?? ''
    const unheard = { handle: undefined, decoder: undefined, streams: false, leaving: undefined, over: false }
    const live: LiveCall = { key, call, scope, ...unheard }
    this.#calls.set(live.key, live)
    this.#newest = live
    if (call.kind === 'process') live.decoder = this.#decoder(live, this.agent.dialect.framing)
    live.handle = backend.open(call, this.#sink(live), scope.carrier)
    if (this.#paused) live.handle.pause()
    if (call.kind === 'process' && call.stdin === 'end') queueMicrotask(() => live.handle?.endInput())
  }

  #sink(live: LiveCall): CallSink {
    return {
      started: (info) => live.scope.started(info),
      head: (head) => {
        live.scope.head(head)
        const type = head.headers['content-type'] ?? ''
        const framing = live.call.kind === 'http' ? live.call.answer : 'body'
        live.streams = type.startsWith('text/event-stream')
        live.decoder = this.#decoder(live, live.streams ? 'sse' : framing)
        if (live.streams) this.#run?.streams('head')
        this.#link.decodeHead?.(head)
      },
      data: (text) => {
        if (!live.over) live.decoder?.push(text)
      },
      dataEnd: () => this.#outputEnded(live),
      end: (end) => this.#ended(live, end),
    }
  }

  /** The last line may lack its end. A process of many turns can answer none any more. */
  #outputEnded(live: LiveCall): void {
    if (live.over) return
    live.decoder?.end()
    // One that the codec has left, for a process that took its place, says nothing about that.
    if (!this.persistent || live !== this.#newest) return
    this.dead = true
    // It is most likely about to exit, and how it does is for the log.
    if (!this.#subscriber) this.#leave(live)
  }

  #decoder(live: LiveCall, framing: Framing): FrameDecoder {
    const { line, body } = this.agent.limits
    return frameDecoder(framing, framing === 'body' ? Math.max(line, body) : line, {
      frame: (frame) => {
        if (live.over) return
        if (live.streams) this.#run?.streams('frame')
        this.#decode(named(frame, live.call.call))
      },
      fault: (broken) => this.#lost(live, { ...broken, code: 'protocol-violation' }),
    })
  }

  /** Codecs throw nothing; one that does all the same ends its own agent, not the gateway. */
  #decode(frame: Frame): void {
    try {
      this.#link.decode(frame)
    } catch (error) {
      this.#break(fault('internal', `What the agent said could not be read (${String(error)}).`))
    }
  }

  /** The frame boundary is lost: what this call says from here on cannot be read. */
  #lost(live: LiveCall, fault: Fault): void {
    live.handle?.stop('closed', this.agent.limits.grace)
    this.#tellEnd(live, { why: 'failed', fault })
  }

  #leave(live: LiveCall | undefined): void {
    if (!live || live.leaving) return
    live.leaving = setTimeout(() => live.handle?.stop('closed', this.agent.limits.grace), LINGER_MS)
  }

  #ended(live: LiveCall, end: CallEnd): void {
    clearTimeout(live.leaving)
    if (end.why === 'closed' && !live.over) live.decoder?.end()
    live.scope.end(end)
    const bad = end.why === 'failed' || (end.why === 'closed' && (end.exitCode || end.signal))
    if (bad && !this.#stopped) this.owner.callFailed(end)
    this.#tellEnd(live, end)
    this.#calls.delete(live.key)
    if (this.#newest === live) this.#newest = [...this.#calls.values()].at(-1)
    if (this.#calls.size > 0) return
    for (const resolve of this.#quiet.splice(0)) resolve()
  }

  #tellEnd(live: LiveCall, end: CallEnd): void {
    if (live.over) return
    live.over = true
    this.#lastEnd = end
    this.#link.decodeEnd(live.call.call === undefined ? end : { ...end, call: live.call.call })
    const open = [...this.#calls.values()].some((call) => !call.over)
    if (open) {
      // The codec has started another process in place of this one.
      if (!this.#stopped && !this.#broken) this.dead = false
      return
    }
    if (this.persistent) this.#die()
    if (this.#openAsks.size === 0 || this.persistent) this.#subscriber?.complete()
  }

  #die(): void {
    this.dead = true
    this.#setting?.done()
  }

  #send(frame: Frame): void {
    const call = this.#callOf(typeof frame === 'string' ? undefined : frame.call)
    call?.handle?.write(encodeFrame(this.agent.dialect.framing, frame))
  }

  #break(fault: Fault): void {
    this.#broken = fault
    this.#die()
    this.owner.callFailed({ why: 'failed', fault })
    this.#subscriber?.complete()
    void this.stop('closed', this.agent.limits.grace)
  }
}

/** The fault of a turn whose agent would not run in the mode that its client has set. */
function modeRefused(agent: string, mode: string, why?: Fault): Fault {
  const said = why ? ` (${why.message})` : ''
  const text = `The agent "${agent}" cannot be set to the mode "${mode}" that its client has set${said}; set another mode.`
  return fault('invalid-request', text)
}

/** A frame that says which call it came from, where the link has named its calls. */
function named(frame: Frame, call: string | undefined): Frame {
  if (call === undefined) return frame
  return typeof frame === 'string' ? { data: frame, call } : { ...frame, call }
}
