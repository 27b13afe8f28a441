#!/usr/bin/env node
// A zot agent that runs one tool for every prompt and answers with the trace context its process was started with. The
// prompt `crash` ends it in the middle of the tool.
import { onLine } from '../../kit/agents/lines.mjs'

const send = (frame) => process.stdout.write(`${JSON.stringify(frame)}\n`)
onLine((line) => {
  const { id, type, message } = JSON.parse(line)
  send({ type: 'response', id, command: type, success: true, data: type === 'hello' ? { protocol_version: 1 } : {} })
  if (type !== 'prompt') return
  send({ type: 'turn_start', step: 1 })
  send({ type: 'tool_call', id: 'c1', name: 'read_file', args: { path: 'secret' } })
  if (message === 'crash') process.exit(7)
  send({ type: 'tool_result', id: 'c1', content: [{ type: 'text', text: 'private' }], is_error: false })
  send({ type: 'text_delta', delta: process.env.TRACEPARENT ?? 'none' })
  send({ type: 'turn_end', stop: 'end_turn' })
  send({ type: 'done' })
})
