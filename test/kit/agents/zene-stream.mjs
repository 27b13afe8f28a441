#!/usr/bin/env node
// A Zene host in stream mode, without a model.
import { onLine } from './lines.mjs'

const send = (line) => process.stdout.write(`${JSON.stringify({ protocol_version: 1, ts_ms: 0, ...line })}\n`)
const refuse = (ids, message) =>
  send({ type: 'error', ...ids, error: { code: 'INVALID_REQUEST', message, retryable: false } })
const running = new Map()

async function run(ids, prompt) {
  const state = { cancelled: false }
  running.set(ids.request_id, state)
  send({ type: 'ack', ...ids, status: 'ACCEPTED' })
  const event = (seq, event_type, payload) => send({ type: 'event', ...ids, seq, event_type, payload })
  event(1, 'RUN_STARTED', {})
  for (let i = 0; i < 20 && !state.cancelled; i += 1) await new Promise(setImmediate)
  const status = state.cancelled ? 'CANCELED' : 'OK'
  event(2, 'RUN_FINISHED', { status })
  running.delete(ids.request_id)
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  send({ type: 'final', ...ids, status, text: state.cancelled ? '' : `You said: ${prompt}`, usage, error: null })
}

onLine((line) => {
  let request
  try {
    request = JSON.parse(line)
  } catch {
    return refuse({ request_id: 'unknown', session_id: null }, 'no JSON')
  }
  const { type = 'run', request_id, session_id = null, prompt, target_request_id } = request
  const ids = { request_id, session_id }
  if (type === 'ping') return send({ type: 'ack', ...ids, status: 'PONG' })
  if (type === 'cancel') {
    const target = running.get(target_request_id)
    if (!target) return refuse(ids, 'nothing to cancel')
    target.cancelled = true
    return send({ type: 'ack', ...ids, status: 'CANCEL_ACCEPTED', target_request_id })
  }
  if (!prompt) return refuse(ids, 'prompt is required')
  return run(ids, prompt)
})
