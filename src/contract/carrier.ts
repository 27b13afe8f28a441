/** W3C trace context. */
export interface Carrier {
  traceparent?: string
  tracestate?: string
  baggage?: string
}

/** The id of the trace that a carrier belongs to; undefined without one, and for what is no `traceparent`. */
export function traceIdOf({ traceparent }: Carrier): string | undefined {
  return traceparent === undefined ? undefined : /^[\da-f]{2}-([\da-f]{32})-/.exec(traceparent)?.[1]
}
