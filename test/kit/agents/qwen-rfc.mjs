#!/usr/bin/env node
// An agent of the structured-IO RFC (stream-json), without a model.
import { onLine } from './lines.mjs'

const send = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
const metadata = {
  protocol_version: '1.0',
  input_format: 'stream-json',
  output_format: 'stream-json',
  capabilities: {},
}
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const complete = (content, more) =>
  send({
    object: 'chat.completion',
    id: 'chatcmpl-1',
    created: 1,
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    ...more,
  })

onLine((line) => {
  let asked
  try {
    asked = JSON.parse(line)
  } catch {
    return complete('', { metadata: { error: { message: 'no JSON' } } })
  }
  const { type, session_id, prompt_id, trigger, input, messages } = asked
  if (type === 'heartbeat_request') send({ type: 'result/heartbeat', session_id, status: 'ok', ts: 1 })
  if (type === 'command_hint_request')
    send({ type: 'result/command_hint', session_id, prompt_id, trigger, status: 'ok', suggestions: [] })
  if (type === 'control/cancel') send({ type: 'result/cancel', session_id, status: 'noop', reason: 'nothing runs' })
  if (!input && !messages) return
  complete(`You said: ${input ? input.parts[0].text : messages[0].content}`, { metadata, usage })
  send({ type: 'x-qwen-session-event', event: 'Finished' })
})
