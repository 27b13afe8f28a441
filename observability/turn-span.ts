/**
 * The spans of one turn: the turn itself, its wait, its processes and calls, its tools, and the writing of its answer.
 */

import {
  type Attributes,
  type Context,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
} from '@opentelemetry/api'
import type {
  CallInfo,
  CallScope,
  Carrier,
  LinkOrigin,
  RunningProcess,
  ToolEvent,
  TurnContent,
  TurnInfo,
  TurnNote,
  TurnScope,
} from '../src/contract/index.ts'
import { type AgentEvent, type Loss, LossLedger, lossSummary, type TurnView, type Usage } from '../src/model/index.ts'
import { ATTR, EVENT, EVENT_ATTR, FINISH_REASON, INVOKE_AGENT, OTHER, SPAN, USAGE_ATTR } from './attributes.ts'
import { httpScope } from './calls.ts'
import { inputMessages, outputMessages, systemInstructions } from './content.ts'
import { carrierOf, childContext, parentContext, spanContextOf } from './context.ts'
import { type CallPlace, endOnce, ProcessSpans, TurnProcesses } from './processes.ts'
import { SAMPLED } from './propagation.ts'
import { ToolSpans } from './tools.ts'
import { unrecordedTurn } from './unrecorded.ts'

/** The request that a turn came with. */
export interface TurnPlace {
  context: Context
  carrier: Carrier
  front: string
  /** True when the operator enabled content. */
  content: boolean
}

/** Observes a turn that came on a wire: below the wire's span, or below its client's own span with a link to the wire's. */
export function observeTurn(tracer: Tracer, info: TurnInfo, wire: TurnPlace): TurnScope {
  const own = info.carrier && spanContextOf(info.carrier)
  const place = own ? { ...wire, context: parentContext(info.carrier!), carrier: info.carrier! } : wire
  const attributes = turnAttributes(info, place.front)
  const links = own ? linksTo(spanContextOf(wire.carrier)) : []
  const options = { kind: SpanKind.CLIENT, attributes, links }
  const span = tracer.startSpan(`${INVOKE_AGENT} ${info.agent}`, options, place.context)
  if (span.isRecording()) return new SpanTurn(tracer, info, place, span)
  return unrecordedTurn(tracer, childContext(span), carrierOf(span, place.carrier.baggage))
}

/** A link to a span that is recorded. */
function linksTo(context: SpanContext | undefined): { context: SpanContext }[] {
  return context && context.traceFlags & SAMPLED ? [{ context }] : []
}

/** Observes one turn as spans; `span` is the turn's. */
class SpanTurn implements TurnScope {
  readonly carrier: Carrier
  readonly #tracer: Tracer
  readonly #span: Span
  readonly #context: Context
  readonly #place: TurnPlace
  readonly #content: TurnContent | undefined
  readonly #tools: ToolSpans
  readonly #startedAt = performance.now()
  readonly #losses = new LossLedger()
  readonly #processes = new TurnProcesses()
  #queue: Span
  #encode: Span | undefined

  constructor(tracer: Tracer, info: TurnInfo, place: TurnPlace, span: Span) {
    this.#tracer = tracer
    this.#place = place
    this.#content = place.content ? info.content : undefined
    this.#span = span
    this.#context = childContext(this.#span)
    this.carrier = carrierOf(this.#span, place.carrier.baggage)
    this.#tools = new ToolSpans(tracer, this.#context, this.#content !== undefined)
    this.#queue = this.#wait()
  }

  call(info: CallInfo): CallScope {
    if (info.kind === 'http') return httpScope(this.#tracer, info, this.#callPlace())
    return this.#processes.started(new ProcessSpans(this.#tracer, info.command, this.#callPlace()))
  }

  linked(origin: LinkOrigin, process?: RunningProcess): void {
    this.#span.setAttribute(ATTR.link, origin)
    if (!(process?.scope instanceof ProcessSpans)) return
    process.scope.serve(this.#callPlace())
    this.#processes.add(process.scope)
  }

  queued(): void {
    endOnce(this.#queue)
  }

  firstEvent(event: AgentEvent): void {
    const ms = Math.round(performance.now() - this.#startedAt)
    this.#span.addEvent(EVENT.firstEvent, { [EVENT_ATTR.ms]: ms, [EVENT_ATTR.eventType]: event.type })
    this.#encode ??= this.#answer()
  }

  tool(event: ToolEvent): void {
    this.#tools.take(event)
  }

  /** One span event for each kind and item; the summary at the end has the counts. */
  loss(loss: Loss): void {
    const known = this.#losses.list.some(({ kind, item }) => kind === loss.kind && item === loss.item)
    this.#losses.add(loss)
    if (!known) this.#span.addEvent(EVENT.loss, lossAttributes(loss))
  }

  note(what: TurnNote, about?: string): void {
    this.#span.addEvent(`${EVENT.note}${what}`, about === undefined ? {} : { [EVENT_ATTR.about]: about })
    if (what === 'session-reset') this.#processes.reset()
  }

  moved({ agent, back }: Pick<TurnInfo, 'agent' | 'back'>): void {
    this.#span.addEvent(EVENT.moved, { [ATTR.agent]: agent, [ATTR.back]: back })
    this.#span.setAttributes({ [ATTR.agent]: agent, [ATTR.back]: back })
    endOnce(this.#queue)
    this.#queue = this.#wait()
  }

  end(view: TurnView): void {
    this.#processes.turnEnded()
    endOnce(this.#queue)
    this.#tools.close()
    const encode = this.#encode ?? this.#answer()
    encode.setAttribute(ATTR.events, view.seq)
    encode.end()
    this.#finish(view)
  }

  #finish(view: TurnView): void {
    const span = this.#span
    span.setAttributes(usageAttributes(view.usage, view.usageEstimated))
    const losses = lossSummary(this.#losses.list)
    if (losses !== undefined) span.setAttribute(ATTR.losses, losses)
    const { outcome, stop, fault } = view.end ?? { outcome: 'failed' as const }
    span.setAttribute(ATTR.outcome, outcome)
    const reason = stop === undefined ? undefined : FINISH_REASON[stop]
    if (reason !== undefined) span.setAttribute(ATTR.finishReasons, [reason])
    if (outcome === 'failed') {
      span.setAttribute(ATTR.errorType, fault?.code ?? OTHER)
      span.setStatus({ code: SpanStatusCode.ERROR })
    }
    if (this.#content) span.setAttributes(contentAttributes(this.#content, view, reason))
    span.addEvent(EVENT.end, { [EVENT_ATTR.outcome]: outcome, ...(stop && { [EVENT_ATTR.stop]: stop }) })
    span.end()
  }

  #callPlace(): CallPlace {
    return { parent: this.#context, baggage: this.carrier.baggage, turnEnded: () => this.#processes.over }
  }

  /** The wait for its session or a free process. */
  #wait(): Span {
    return this.#tracer.startSpan(SPAN.queue, { kind: SpanKind.INTERNAL }, this.#context)
  }

  /** The writing of the answer, from the first event to the last: one span, not one per event. */
  #answer(): Span {
    const { front, context } = this.#place
    const attributes = { [ATTR.front]: front }
    return this.#tracer.startSpan(`${SPAN.encode} ${front}`, { kind: SpanKind.INTERNAL, attributes }, context)
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

function contentAttributes(content: TurnContent, view: TurnView, reason: string | undefined): Attributes {
  const { systemPrompt } = content
  return {
    [ATTR.inputMessages]: inputMessages(content),
    [ATTR.outputMessages]: outputMessages(view, reason),
    ...(systemPrompt !== undefined && { [ATTR.systemInstructions]: systemInstructions(systemPrompt) }),
  }
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

/** The known counts; an absent count is not zero. */
function usageAttributes(usage: Usage | undefined, estimated: boolean): Attributes {
  const attributes: Attributes = {}
  for (const key of Object.keys(USAGE_ATTR) as (keyof Usage)[]) {
    const count = usage?.[key]
    if (count !== undefined) attributes[USAGE_ATTR[key]] = count
  }
  if (usage && estimated) attributes[ATTR.usageEstimated] = true
  return attributes
}
