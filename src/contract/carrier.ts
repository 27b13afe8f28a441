/** W3C trace context. */
export interface Carrier {
  traceparent?: string
  tracestate?: string
  baggage?: string
}
