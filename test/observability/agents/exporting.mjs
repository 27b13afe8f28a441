#!/usr/bin/env node
// An AGENT_ agent that reports its model call to the collector named by its argument, below the span that it was started
// under, as far as that one is recorded. It answers with its trace context.
const [, traceId, parentSpanId, flags] = process.env.TRACEPARENT.split('-')
const now = `${BigInt(Date.now()) * 1_000_000n}`
const span = {
  traceId,
  parentSpanId,
  spanId: '0123456789abcdef',
  name: 'chat some-model',
  kind: 3,
  startTimeUnixNano: now,
  endTimeUnixNano: now,
  attributes: [{ key: 'gen_ai.operation.name', value: { stringValue: 'chat' } }],
}
if (flags === '01') {
  await fetch(`${process.argv[2]}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ resourceSpans: [{ resource: {}, scopeSpans: [{ spans: [span] }] }] }),
  })
}
process.stdout.write(`${process.env.TRACEPARENT}\n`)
