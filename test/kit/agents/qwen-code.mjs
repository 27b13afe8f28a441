#!/usr/bin/env node
// A Qwen Code agent without a model: answers `initialize`, then every user message with one assistant message.
import { onLine } from './lines.mjs'

const SESSION = '11111111-2222-4333-8444-555555555555'
const send = (line) => process.stdout.write(`${JSON.stringify({ ...line, session_id: SESSION })}\n`)
const textOf = ({ content }) => (typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join(''))
let turn = 0
onLine((line) => {
  const message = JSON.parse(line)
  if (message.type === 'control_request') {
    const response = {
      subtype: 'success',
      request_id: message.request_id,
      response: { subtype: message.request.subtype },
    }
    send({ type: 'control_response', response })
  }
  if (message.type !== 'user') return
  turn += 1
  const text = `You said: ${textOf(message.message)} (turn ${turn} of this session)`
  const usage = { input_tokens: 2 * turn, output_tokens: 3 * turn, total_tokens: 5 * turn }
  const model = 'fixture-1'
  if (turn === 1)
    send({ type: 'system', subtype: 'init', uuid: 'u0', cwd: '/', tools: [], model, qwen_code_version: '0.24.4' })
  const content = [{ type: 'text', text }]
  const said = { id: `m${turn}`, type: 'message', role: 'assistant', model, content, usage }
  send({ type: 'assistant', uuid: `u${turn}`, parent_tool_use_id: null, message: said })
  const result = { is_error: false, duration_ms: 1, duration_api_ms: 1, num_turns: turn, result: text, usage }
  send({ type: 'result', subtype: 'success', uuid: `r${turn}`, permission_denials: [], ...result })
})
