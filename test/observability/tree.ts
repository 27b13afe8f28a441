import type { AttributeValue, ReceivedSpan, SpanAttributes } from '../kit/otlp-receiver.ts'

/** Attributes whose values differ from run to run. */
const VOLATILE: Readonly<Record<string, string>> = {
  'process.pid': 'PID',
  'turnpike.turn': 'ID',
  'server.port': 'PORT',
  'turnpike.ms': 'MS',
}

/**
 * Everything that a collector got of one trace, as text: a line for each span below its parent, in the order of their
 * beginnings, with kind, `!` when it failed, attributes, and one more for each of its events and links.
 */
export function drawTrace(spans: readonly ReceivedSpan[], traceId: string): string {
  const all = spans.filter((span) => span.traceId === traceId)
  const known = new Set(all.map(({ spanId }) => spanId))
  const roots = all.filter(({ parentSpanId }) => parentSpanId === undefined || !known.has(parentSpanId))
  return `\n${roots
    .toSorted(byBeginning)
    .flatMap((root) => draw(root, all, spans, ''))
    .join('\n')}\n`
}

function draw(
  span: ReceivedSpan,
  trace: readonly ReceivedSpan[],
  all: readonly ReceivedSpan[],
  indent: string,
): string[] {
  const { name, kind, status, attributes, events, links, spanId } = span
  const children = trace.filter(({ parentSpanId }) => parentSpanId === spanId).toSorted(byBeginning)
  return [
    `${indent}${name} (${kind})${status === 'error' ? '!' : ''}${pairs(attributes)}`,
    ...events.map((event) => `${indent}  * ${event.name}${pairs(event.attributes)}`),
    ...links.map(
      (link) => `${indent}  -> ${all.find((one) => one.spanId === link.spanId)?.name}${pairs(link.attributes)}`,
    ),
    ...children.flatMap((child) => draw(child, trace, all, `${indent}    `)),
  ]
}

function pairs(attributes: SpanAttributes): string {
  return Object.entries(attributes)
    .map(([key, value]) => ` ${key}=${VOLATILE[key] ?? shown(value)}`)
    .join('')
}

function shown(value: AttributeValue): string {
  return String(value).replace(/127\.0\.0\.1:\d+/, 'HOST')
}

function byBeginning(a: ReceivedSpan, b: ReceivedSpan): number {
  return Number(a.startedAt - b.startedAt)
}
