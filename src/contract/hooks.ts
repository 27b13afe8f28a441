import type { AgentEvent, EventOf, Fault, Id, Loss, Part, TurnView } from '../model/index.ts'
import type { CallEnd, CallHead } from './back.ts'
import type { Backend, Carrier } from './backend.ts'

/** A client's request as observers see it. Nothing here is content. */
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
  session: string
  model?: string
  /** What the route that chose its agent or its policies asks for, such as `channel=qq_*`; absent where none matched. */
  route?: string
  /** What was asked; absent where neither it nor the answer may leave the gateway. */
  content?: TurnContent
}

/** What a turn was asked, in the client's words. */
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

/** What may happen to a turn beside its events. */
export type TurnNote = 'cancel' | 'retry' | 'parked' | 'asked' | 'settled' | 'session-reset' | 'unrecorded'

/** Where a turn's link came from: the session had it, the pool had it warm, or it was opened for the turn. */
export type LinkOrigin = 'kept' | 'warm' | 'new'

/** A process that has been started before the turn that it serves now. `scope` observes it. */
export interface RunningProcess {
  scope: CallScope
  pid?: number
}

/** A change of a tool call's state. */
export type ToolEvent = EventOf<'tool-start' | 'tool-call' | 'tool-end'>

/** How a request has to do with a turn that is not its own. */
export type Share = 'joined' | 'replayed' | 'followed' | 'answered'

/** Observes one turn. */
export interface TurnScope {
  readonly carrier: Carrier
  call(info: CallInfo): CallScope
  /** It has a link to run on; `process` is the one behind a link that was there. */
  linked(origin: LinkOrigin, process?: RunningProcess): void
  /** It waited this many milliseconds for its session or a place. */
  queued(ms: number): void
  firstEvent(event: AgentEvent): void
  /** A tool call began, has its arguments, or ended. */
  tool?(event: ToolEvent): void
  loss(loss: Loss): void
  /** Something happened to it that is worth a mark on its span; `about` is no content. */
  note(what: TurnNote, about?: string): void
  /** Its agent could not be used; this one takes it. */
  moved(to: Pick<TurnInfo, 'agent' | 'back'>): void
  end(view: TurnView): void
}

/** Observes one client request. */
export interface RequestScope {
  readonly carrier: Carrier
  /** A request for a turn has been read, and is routed from here on. */
  read?(): void
  turn(info: TurnInfo): TurnScope
  /** It is answered by, or answers, a turn that another request began; `turn` is the context of that one's span. */
  shares?(how: Share, turn: Carrier | undefined): void
  /** Text that came from the client, and text that was written to it: once a chunk. */
  received?(text: string): void
  sent?(text: string): void
  fault(fault: Fault): void
  end(result: { status?: number; exitCode?: number }): void
}

/** What observers implement. The engine calls it; none of its methods may throw or wait. */
export interface Hooks {
  request(info: RequestInfo): RequestScope
  /** Observes a process of the agent that is started ahead of its first turn. */
  ahead?(agent: string): Pick<TurnScope, 'call'>
  /** The backend of an agent, observed; also what runs for no turn (warm processes, health checks) goes through it. */
  backend?(agent: string, backend: Backend): Backend
}

/** Observes nothing, and passes the client's own trace context on to the agent. */
export const silentHooks: Hooks = {
  request: ({ carrier }) => {
    const call: CallScope = { carrier, started() {}, head() {}, ready() {}, end() {} }
    const turn: TurnScope = {
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
    return { carrier, turn: () => turn, fault() {}, end() {} }
  },
}
