import type { AgentEvent, Fault, Id, Loss, TurnView } from '../model/index.ts'
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
export type TurnNote = 'cancel' | 'retry' | 'parked' | 'asked' | 'settled' | 'session-reset'

/** Where a turn's link came from: the session had it, the pool had it warm, or it was opened for the turn. */
export type LinkOrigin = 'kept' | 'warm' | 'new'

/** Observes one turn. */
export interface TurnScope {
  readonly carrier: Carrier
  call(info: CallInfo): CallScope
  /** It has a link to run on. */
  linked(origin: LinkOrigin): void
  /** It waited this many milliseconds for its session or a place. */
  queued(ms: number): void
  firstEvent(event: AgentEvent): void
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
  turn(info: TurnInfo): TurnScope
  fault(fault: Fault): void
  end(result: { status?: number; exitCode?: number }): void
}

/** What observers implement. The engine calls it; none of its methods may throw or wait. */
export interface Hooks {
  request(info: RequestInfo): RequestScope
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
