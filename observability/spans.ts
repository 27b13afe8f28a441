/** The engine's hooks as OpenTelemetry spans: request, turn and calls, at most a handful a turn and none per event. */

import { type Attributes, type Context, type Span, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api'
import type {
  Carrier,
  Hooks,
  LinkOrigin,
  RequestInfo,
  RequestScope,
  TurnInfo,
  TurnNote,
  TurnScope,
} from '../src/contract/index.ts'
import { type Fault, type Loss, lossSummary, type TurnView, type Usage } from '../src/model/index.ts'
import {
  ATTR,
  EVENT,
  EVENT_ATTR,
  FINISH_REASON,
  INVOKE_AGENT,
  methodAttributes,
  methodName,
  OTHER,
  USAGE_ATTR,
} from './attributes.ts'
import { callScope } from './calls.ts'
import { outputMessages } from './content.ts'
import { carrierOf, childContext, parentContext } from './context.ts'

/** `content`: whether the agent's answers become attributes. They are private, so never by default. */
export interface SpanOptions {
  content: boolean
}

/** Hooks that make spans with the tracer. No method throws or waits. */
export function spanHooks(tracer: Tracer, options: SpanOptions): Hooks {
  return { request: (info) => requestScope(tracer, info, options) }
}

function requestScope(tracer: Tracer, info: RequestInfo, options: SpanOptions): RequestScope {
  const http = info.transport === 'http'
  const name = http ? `${methodName(info.method)} ${info.path}` : `${info.front} ${info.path}`.trimEnd()
  const attributes = requestAttributes(info)
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parentContext(info.carrier))
  const carrier = carrierOf(span, info.carrier.baggage)
  const place = { context: childContext(span), carrier, front: info.front }
  let fault: Fault | undefined
  return {
    carrier,
    turn: (turn) => new SpanTurn(tracer, turn, place, options),
    fault: (what) => {
      fault = what
    },
    end: (result) => {
      if (result.status !== undefined) span.setAttribute(ATTR.httpStatus, result.status)
      if (result.exitCode !== undefined) span.setAttribute(ATTR.exitCode, result.exitCode)
      const errorType = fault?.code ?? resultError(result)
      if (errorType !== undefined) span.setAttribute(ATTR.errorType, errorType)
      if (errorType !== undefined && isOurs(errorType, result.status)) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    },
  }
}

function requestAttributes(info: RequestInfo): Attributes {
  const attributes: Attributes = { [ATTR.front]: info.front }
  if (info.transport === 'http')
    Object.assign(attributes, methodAttributes(info.method), { [ATTR.httpRoute]: info.path })
  if (info.transport === 'stdio') attributes[ATTR.networkTransport] = 'pipe'
  return attributes
}

function resultError(result: { status?: number; exitCode?: number }): string | undefined {
  if (result.status !== undefined && result.status >= 500) return String(result.status)
  return result.exitCode ? String(result.exitCode) : undefined
}

/**
 * Whether an error is the gateway's: a cancel is none, and a 4xx is the client's (by the HTTP conventions no failure
 * of the server's span).
 */
function isOurs(errorType: string, status: number | undefined): boolean {
  return errorType !== 'cancelled' && !(status !== undefined && status >= 400 && status < 500)
}

/** The request that a turn came with. */
interface TurnPlace {
  context: Context
  carrier: Carrier
  front: string
}

class SpanTurn implements TurnScope {
  readonly carrier: Carrier
  readonly #tracer: Tracer
  readonly #span: Span
  readonly #context: Context
  readonly #options: SpanOptions
  readonly #startedAt = performance.now()
  /** Kind and item of the losses that have their span event. */
  readonly #lossesSeen = new Set<string>()
  #ended = false

  constructor(tracer: Tracer, info: TurnInfo, place: TurnPlace, options: SpanOptions) {
    const attributes = turnAttributes(info, place.front)
    this.#tracer = tracer
    this.#options = options
    this.#span = tracer.startSpan(`${INVOKE_AGENT} ${info.agent}`, { kind: SpanKind.CLIENT, attributes }, place.context)
    this.#context = childContext(this.#span)
    this.carrier = carrierOf(this.#span, place.carrier.baggage)
  }

  call(info: Parameters<TurnScope['call']>[0]): ReturnType<TurnScope['call']> {
    const { baggage } = this.carrier
    return callScope(this.#tracer, info, { parent: this.#context, baggage, turnEnded: () => this.#ended })
  }

  linked(origin: LinkOrigin): void {
    this.#span.setAttribute(ATTR.link, origin)
  }

  queued(ms: number): void {
    this.#span.addEvent(EVENT.queued, { [EVENT_ATTR.ms]: ms })
  }

  firstEvent(event: Parameters<TurnScope['firstEvent']>[0]): void {
    const ms = Math.round(performance.now() - this.#startedAt)
    this.#span.addEvent(EVENT.firstEvent, { [EVENT_ATTR.ms]: ms, [EVENT_ATTR.eventType]: event.type })
  }

  /** One span event for each kind and item; the summary at the end has the counts. */
  loss(loss: Loss): void {
    const key = `${loss.kind} ${loss.item}`
    if (this.#lossesSeen.has(key)) return
    this.#lossesSeen.add(key)
    this.#span.addEvent(EVENT.loss, lossAttributes(loss))
  }

  note(what: TurnNote, about?: string): void {
    this.#span.addEvent(`${EVENT.note}${what}`, about === undefined ? {} : { [EVENT_ATTR.about]: about })
  }

  moved({ agent, back }: Pick<TurnInfo, 'agent' | 'back'>): void {
    this.#span.addEvent(EVENT.moved, { [ATTR.agent]: agent, [ATTR.back]: back })
    this.#span.setAttributes({ [ATTR.agent]: agent, [ATTR.back]: back })
  }

  end(view: TurnView): void {
    this.#ended = true
    const span = this.#span
    // An unsampled turn is only carried on: nothing is computed for it.
    if (!span.isRecording()) return
    span.setAttributes(usageAttributes(view.usage, view.usageEstimated))
    const losses = lossSummary(view.losses)
    if (losses !== undefined) span.setAttribute(ATTR.losses, losses)
    const { outcome, stop, fault } = view.end ?? { outcome: 'failed' as const }
    span.setAttribute(ATTR.outcome, outcome)
    const reason = stop === undefined ? undefined : FINISH_REASON[stop]
    if (reason !== undefined) span.setAttribute(ATTR.finishReasons, [reason])
    if (outcome === 'failed') {
      span.setAttribute(ATTR.errorType, fault?.code ?? OTHER)
      span.setStatus({ code: SpanStatusCode.ERROR })
    }
    if (this.#options.content) span.setAttribute(ATTR.outputMessages, outputMessages(view, reason))
    span.addEvent(EVENT.end, { [EVENT_ATTR.outcome]: outcome, ...(stop && { [EVENT_ATTR.stop]: stop }) })
    span.end()
  }
}

function turnAttributes(info: TurnInfo, front: string): Attributes {
  const attributes: Attributes = {
    [ATTR.operation]: INVOKE_AGENT,
    [ATTR.agent]: info.agent,
    [ATTR.conversation]: info.session,
    [ATTR.turn]: info.turn,
    [ATTR.front]: front,
    [ATTR.back]: info.back,
  }
  if (info.model !== undefined) attributes[ATTR.requestModel] = info.model
  return attributes
}

function lossAttributes(loss: Loss): Attributes {
  const attributes: Attributes = {
    [EVENT_ATTR.lossKind]: loss.kind,
    [EVENT_ATTR.lossItem]: loss.item,
    [EVENT_ATTR.lossWhy]: loss.why,
    [EVENT_ATTR.lossCount]: loss.count,
  }
  if (loss.field !== undefined) attributes[EVENT_ATTR.lossField] = loss.field
  return attributes
}

/** The counts that are known; an absent one is not zero. */
function usageAttributes(usage: Usage | undefined, estimated: boolean): Attributes {
  const attributes: Attributes = {}
  for (const key of Object.keys(USAGE_ATTR) as (keyof Usage)[]) {
    const count = usage?.[key]
    if (count !== undefined) attributes[USAGE_ATTR[key]] = count
  }
  if (usage && estimated) attributes[ATTR.usageEstimated] = true
  return attributes
}
