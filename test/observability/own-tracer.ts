import { type HrTime, ROOT_CONTEXT, type Tracer } from '@opentelemetry/api'
import { type ReadableSpan, TracerProvider } from '@opentelemetry/sdk-trace'
import type { CallPlace } from '../../observability/processes.ts'

/** A span that has ended, as tests of single parts compare it. */
export interface EndedSpan {
  name: string
  attributes: ReadableSpan['attributes']
  events: readonly string[]
  links: readonly string[]
  failed: boolean
}

/** A tracer of this process alone. `ended` has its ended spans, in the order of their ends. */
export function ownTracer(): { tracer: Tracer; ended(): EndedSpan[]; spans(): readonly ReadableSpan[] } {
  const spans: ReadableSpan[] = []
  const collector = {
    onStart() {},
    onEnd: (span: ReadableSpan) => void spans.push(span),
    forceFlush: async () => {},
    shutdown: async () => {},
  }
  const provider = new TracerProvider({ spanProcessors: [collector] })
  return { tracer: provider.getTracer('test'), spans: () => spans, ended: () => spans.map(shown) }
}

/** The place of a call without a parent. */
export function placeOf(more: Partial<CallPlace> = {}): CallPlace {
  return { parent: ROOT_CONTEXT, baggage: undefined, turnEnded: () => false, ...more }
}

function shown({ name, attributes, events, links, status }: ReadableSpan): EndedSpan {
  return {
    name,
    attributes,
    events: events.map((event: { name: string; time: HrTime }) => event.name),
    links: links.map(({ context }) => context.spanId),
    failed: status.code === 2,
  }
}
