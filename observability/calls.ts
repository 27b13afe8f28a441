/** The span of one HTTP call of a turn. */

import { type Attributes, SpanKind, type Tracer } from '@opentelemetry/api'
import type { CallScope } from '../src/contract/index.ts'
import { ATTR, methodAttributes, methodName } from './attributes.ts'
import { carrierOf } from './context.ts'
import { type CallPlace, errorOf, finish } from './processes.ts'

/** Starts the span of an HTTP call. It ends when the call does. */
export function httpScope(tracer: Tracer, info: { method: string; url: string }, place: CallPlace): CallScope {
  const attributes = { ...methodAttributes(info.method), ...urlAttributes(info.url) }
  const span = tracer.startSpan(methodName(info.method), { kind: SpanKind.CLIENT, attributes }, place.parent)
  let status: number | undefined
  return {
    carrier: carrierOf(span, place.baggage),
    started() {},
    head: (head) => {
      status = head.status
      span.setAttribute(ATTR.httpStatus, status)
    },
    ready() {},
    end: (end) => finish(span, errorOf(end) ?? (status !== undefined && status >= 400 ? String(status) : undefined)),
  }
}

/** A URL as attributes. Query, fragment and credentials may hold secrets and are removed. */
function urlAttributes(text: string): Attributes {
  const url = URL.parse(text)
  if (!url) return {}
  url.username = ''
  url.password = ''
  url.search = ''
  url.hash = ''
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  return { [ATTR.urlFull]: url.href, [ATTR.serverAddress]: url.hostname, [ATTR.serverPort]: port }
}
