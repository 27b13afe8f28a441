#!/usr/bin/env node
// A zot agent that answers every prompt with the trace context its process was started with.
import { onLine } from './lines.mjs'

const send = (frame) => process.stdout.write(`${JSON.stringify(frame)}\n`)
onLine((line) => {
  const { id, type } = JSON.parse(line)
  send({ type: 'response', id, command: type, success: true, data: type === 'hello' ? { protocol_version: 1 } : {} })
  if (type !== 'prompt') return
  send({ type: 'turn_start', step: 1 })
  send({ type: 'text_delta', delta: process.env.TRACEPARENT ?? 'none' })
  send({ type: 'turn_end', stop: 'end_turn' })
  send({ type: 'done' })
})
