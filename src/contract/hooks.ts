import type { AgentEvent, EventOf, Fault, Id, Loss, Part, TurnView } from '../model/index.ts'
import type { CallEnd, CallHead } from './back.ts'
import type { Backend } from './backend.ts'
import type { Carrier } from './carrier.ts'

/** A client's request as observers see it, without content. */
export interface RequestInfo {
  transport: 'stdio' | 'http' | 'socket'
  /** Codec and dialect, such as `zene` or `agentproc@0.4`. */
  front: string
  method: string
  /** The route pattern for HTTP, the argument line's first word for stdio. */
  path: string
  carrier: Carrier
}

/** A turn as observers see it at its start. */
export interface TurnInfo {
  turn: Id
  agent: string
  back: string
  /** A digest of the agent's command or URL. */
  place?: string
  session: string
  model?: string
  /**
   * The condition of the route that chose its agent or its policies, such as `channel=qq_*`; absent when none matched.
   */
  route?: string
  /** The trace context of its request; absent: that of the wire. */
  carrier?: Carrier
  /** The content of the request; absent when content must not leave the gateway. */
  content?: TurnContent
}

/** The input of a turn, as the client sent it. */
export interface TurnContent {
  input: readonly Part[]
  systemPrompt?: string
}

/** A process or an HTTP call at its start. */
export type CallInfo = { kind: 'process'; command: string } | { kind: 'http'; method: string; url: string }

/** Observes one call. */
export interface CallScope {
  /** The context that the agent gets. */
  readonly carrier: Carrier
  started(info: { pid?: number }): void
  head(head: CallHead): void
  /** A process that outlives the turn is ready. */
  ready(): void
  end(end: CallEnd): void
}

/** Things that can happen to a turn besides its events. */
export type TurnNote = 'cancel' | 'retry' | 'parked' | 'asked' | 'settled' | 'session-reset' | 'unrecorded'

/** The origin of a turn's link: kept by the session, warm in the pool, or opened for the turn. */
export type LinkOrigin = 'kept' | 'warm' | 'new'

/** A process that was started before its current turn. `scope` observes it. */
export interface RunningProcess {
  scope: CallScope
  pid?: number
}

/** A change of a tool call's state. */
export type ToolEvent = EventOf<'tool-start' | 'tool-call' | 'tool-end'>

/** The relation of a request to a turn that another request began. */
export type Share = 'joined' | 'replayed' | 'followed' | 'answered'

/** Observes one turn. */
export interface TurnScope {
  readonly carrier: Carrier
  call(info: CallInfo): CallScope
  /** It has a link; `process` is the process of a link that existed before. */
  linked(origin: LinkOrigin, process?: RunningProcess): void
  /** It waited this many milliseconds for its session or a place. */
  queued(ms: number): void
  firstEvent(event: AgentEvent): void
  /** A tool call began, has its arguments, or ended. */
  tool?(event: ToolEvent): void
  loss(loss: Loss): void
  /** An event for its span; `about` holds no content. */
  note(what: TurnNote, about?: string): void
  /** Its agent was unavailable; another agent takes the turn. */
  moved(to: Pick<TurnInfo, 'agent' | 'back' | 'place'>): void
  end(view: TurnView): void
}

/** Observes one client request. */
export interface RequestScope {
  readonly carrier: Carrier
  /** A request for a turn has been read, and is routed from here on. */
  read?(): void
  turn(info: TurnInfo): TurnScope
  /**
   * The request is answered by, or answers, a turn that another request began; `turn` is the trace context of that
   * turn's span.
   */
  shares?(how: Share, turn: Carrier | undefined): void
  /** Text received from the client, and text written to it: called once per chunk. */
  received?(text: string): void
  sent?(text: string): void
  fault(fault: Fault): void
  end(result: { status?: number; exitCode?: number }): void
}

/** The interface of observers. The engine calls it; no method may throw or block. */
export interface Hooks {
  request(info: RequestInfo): RequestScope
  /** Observes a process of the agent that is started ahead of its first turn. */
  ahead?(agent: string): Pick<TurnScope, 'call'>
  /** The backend of an agent, observed. Calls outside of turns (warm processes, health checks) go through it too. */
  backend?(agent: string, backend: Backend): Backend
}

/** Observes nothing, and passes the client's own trace context on to the agent. */
export const silentHooks: Hooks = {
  request({ carrier }) {
    const turn = silentTurn(carrier)
    return { carrier, turn: (info) => (info.carrier ? silentTurn(info.carrier) : turn), fault() {}, end() {} }
  },
}

/** Observes nothing of a turn, which has this trace context. */
export function silentTurn(carrier: Carrier): TurnScope {
  const call: CallScope = { carrier, started() {}, head() {}, ready() {}, end() {} }
  return {
    carrier,
    call: () => call,
    linked() {},
    queued() {},
    firstEvent() {},
    loss() {},
    note() {},
    moved() {},
    end() {},
  }
}
