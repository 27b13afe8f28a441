/** Conversions between W3C carriers and OpenTelemetry spans. */

import { type Context, createTraceState, ROOT_CONTEXT, type Span, type SpanContext, trace } from '@opentelemetry/api'
import type { Carrier } from '../src/contract/index.ts'
import { formatTraceparent, parseTraceparent, SAMPLED } from './propagation.ts'

/** The context of the client's span; without a usable `traceparent` the root context, so that a new trace begins. */
export function parentContext(carrier: Carrier): Context {
  const parent = spanContextOf(carrier)
  return parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT
}

/** The span of a carrier; undefined when it has none. */
export function spanContextOf(carrier: Carrier): SpanContext | undefined {
  const parent = parseTraceparent(carrier.traceparent)
  if (!parent) return undefined
  return {
    traceId: parent.traceId,
    spanId: parent.spanId,
    traceFlags: parent.flags & SAMPLED,
    isRemote: true,
    traceState: carrier.tracestate === undefined ? undefined : createTraceState(carrier.tracestate),
  }
}

/** The context of this span. */
export function childContext(span: Span): Context {
  return trace.setSpan(ROOT_CONTEXT, span)
}

/** The carrier to pass on below a span: its ids and sampling, the trace state, and baggage only if some came in. */
export function carrierOf(span: Span, baggage: string | undefined): Carrier {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext()
  const carrier: Carrier = { traceparent: formatTraceparent({ traceId, spanId, flags: traceFlags }) }
  const state = traceState?.serialize()
  if (state) carrier.tracestate = state
  if (baggage !== undefined) carrier.baggage = baggage
  return carrier
}
