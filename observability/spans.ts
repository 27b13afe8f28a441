/**
 * The engine's hooks as OpenTelemetry spans: a request, its reading and routing, and its turn (`turn-span.ts`). A turn
 * has these spans and one for each tool call; other events have none.
 */

import { type Attributes, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api'
import type {
  CallScope,
  Carrier,
  Hooks,
  RequestInfo,
  RequestScope,
  Share,
  TurnInfo,
  TurnScope,
} from '../src/contract/index.ts'
import type { Fault } from '../src/model/index.ts'
import { ATTR, methodAttributes, methodName, SPAN } from './attributes.ts'
import { httpScope } from './calls.ts'
import { carrierOf, childContext, parentContext, spanContextOf } from './context.ts'
import { finish, ProcessSpans } from './processes.ts'
import { observeTurn, type TurnPlace } from './turn-span.ts'
import { unrecordedTurn } from './unrecorded.ts'

/** `content`: records the content of turns as attributes. It is private, so the default is no. */
export interface SpanOptions {
  content: boolean
}

/** Hooks that make spans with the tracer. No method throws or blocks. */
export function spanHooks(tracer: Tracer, options: SpanOptions): Hooks {
  return {
    request: (info) => {
      const span = tracer.startSpan(requestName(info), { kind: SpanKind.SERVER }, parentContext(info.carrier))
      const carrier = carrierOf(span, info.carrier.baggage)
      const place = { context: childContext(span), carrier, front: info.front, content: options.content }
      return span.isRecording() ? new SpanRequest(tracer, info, place, span) : unrecordedRequest(tracer, place)
    },
    ahead: () => ({ call: (info) => aheadScope(tracer, info) }),
  }
}

/** A process that starts outside of a turn has its own trace; its turns link to it. */
function aheadScope(tracer: Tracer, info: Parameters<TurnScope['call']>[0]): CallScope {
  const place = { parent: ROOT_CONTEXT, baggage: undefined, ahead: true, turnEnded: () => false } as const
  return info.kind === 'http' ? httpScope(tracer, info, place) : new ProcessSpans(tracer, info.command, place)
}

/** A request that is not recorded. A turn of it may have a trace of its own that is. */
function unrecordedRequest(tracer: Tracer, place: TurnPlace): RequestScope {
  const { context, carrier } = place
  const turn = unrecordedTurn(tracer, context, carrier)
  return {
    carrier,
    turn: (info) => (info.carrier ? observeTurn(tracer, info, place) : turn),
    fault() {},
    end() {},
  }
}

class SpanRequest implements RequestScope {
  readonly carrier: Carrier
  readonly #tracer: Tracer
  readonly #info: RequestInfo
  readonly #place: TurnPlace
  readonly #span: Span
  /** Begins with the request; it is not exported for requests without a turn. */
  #decode: Span | undefined
  /** Requests for turns that wait for their turn span, in order: a wire may bring several at once. */
  readonly #routing: Span[] = []
  #fault: Fault | undefined

  /** `span` is the request's. */
  constructor(tracer: Tracer, info: RequestInfo, place: TurnPlace, span: Span) {
    this.#tracer = tracer
    this.#info = info
    this.#place = place
    this.#span = span
    span.setAttributes(requestAttributes(info))
    this.carrier = place.carrier
    this.#decode = this.#reading()
  }

  read(): void {
    const decode = this.#decode ?? this.#reading()
    decode.end()
    this.#decode = undefined
    this.#routing.push(this.#tracer.startSpan(SPAN.route, { kind: SpanKind.INTERNAL }, this.#place.context))
  }

  turn(info: TurnInfo): TurnScope {
    const { agent, route } = info
    this.#routed({ [ATTR.agent]: agent, ...(route !== undefined && { [ATTR.route]: route }) })
    return observeTurn(this.#tracer, info, this.#place)
  }

  shares(how: Share, turn: Carrier | undefined): void {
    this.#routed({ [ATTR.share]: how })
    const context = turn && spanContextOf(turn)
    if (context) this.#span.addLink({ context, attributes: { [ATTR.share]: how } })
  }

  fault(what: Fault): void {
    this.#fault = what
    const route = this.#routing.shift()
    if (route) finish(route, what.code)
  }

  end(result: { status?: number; exitCode?: number }): void {
    for (const route of this.#routing.splice(0)) route.end()
    const span = this.#span
    // Every wire has both; each kind of client uses one of them.
    const status = this.#info.transport === 'http' ? result.status : undefined
    const exitCode = this.#info.transport === 'http' ? undefined : result.exitCode
    if (status !== undefined) span.setAttribute(ATTR.httpStatus, status)
    if (exitCode !== undefined) span.setAttribute(ATTR.exitCode, exitCode)
    const errorType = this.#fault?.code ?? resultError(status, exitCode)
    if (errorType !== undefined) span.setAttribute(ATTR.errorType, errorType)
    if (errorType !== undefined && isOurs(errorType, status)) span.setStatus({ code: SpanStatusCode.ERROR })
    span.end()
  }

  #reading(): Span {
    const { front } = this.#info
    const attributes = { [ATTR.front]: front }
    return this.#tracer.startSpan(
      `${SPAN.decode} ${front}`,
      { kind: SpanKind.INTERNAL, attributes },
      this.#place.context,
    )
  }

  #routed(attributes: Attributes): void {
    const route = this.#routing.shift()
    route?.setAttributes(attributes)
    route?.end()
  }
}

function requestName({ transport, method, front, path }: RequestInfo): string {
  return transport === 'http' ? `${methodName(method)} ${path}` : `${front} ${path}`.trimEnd()
}

function requestAttributes(info: RequestInfo): Attributes {
  const attributes: Attributes = { [ATTR.front]: info.front }
  if (info.transport === 'http')
    Object.assign(attributes, methodAttributes(info.method), { [ATTR.httpRoute]: info.path })
  if (info.transport === 'stdio') attributes[ATTR.networkTransport] = 'pipe'
  return attributes
}

function resultError(status: number | undefined, exitCode: number | undefined): string | undefined {
  if (status !== undefined && status >= 500) return String(status)
  return exitCode ? String(exitCode) : undefined
}

/**
 * True for an error of the gateway: a cancel is not one, and a 4xx is the client's (by the HTTP conventions, not a
 * failure of the server's span).
 */
function isOurs(errorType: string, status: number | undefined): boolean {
  return errorType !== 'cancelled' && !(status !== undefined && status >= 400 && status < 500)
}
