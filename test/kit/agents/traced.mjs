#!/usr/bin/env node
// An AGENT_ agent that answers with the trace context it was started with.
process.stdout.write(`${process.env.TRACEPARENT ?? 'none'}\n`)
