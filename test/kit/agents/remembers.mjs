#!/usr/bin/env node
// An agent of the protocol that its first argument names. It remembers what it was told in each session, where agents of
// that protocol do: in its process, or in a file of the folder that its second argument names, under the id of the session
// as it was told it. It answers with {known, id, mode, model}: what it was told in the session before, and as what it knows it.
import { createHash, randomUUID } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { onLine } from './lines.mjs'

const [protocol, folder] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })
const send = (value) => process.stdout.write(`${typeof value === 'string' ? value : JSON.stringify(value)}\n`)
let own = []
let mode = 'default'
let model = 'm'

/** The answer to `text` in the session of this id; without one the process remembers it. */
function answerTo(text, id) {
  if (id === undefined) {
    const known = own
    own = [...known, text]
    return JSON.stringify({ known, mode, model })
  }
  const file = `${folder}/${createHash('sha256').update(JSON.stringify(id)).digest('hex')}`
  const known = existsSync(file) ? JSON.parse(`[${readFileSync(file, 'utf8').slice(1)}]`) : []
  appendFileSync(file, `,${JSON.stringify(text)}`)
  return JSON.stringify({ known, id, mode, model })
}

const PROGRAMS = {
  zene() {
    onLine((line) => {
      const { request_id, session_id, prompt, type = 'run' } = JSON.parse(line)
      const ids = { protocol_version: 1, request_id, session_id }
      if (type === 'ping') send({ ...ids, type: 'ack', status: 'PONG' })
      if (type !== 'run') return
      const text = answerTo(prompt, session_id)
      const usage = { total_tokens: 1 }
      if (process.argv[4] === 'stream') send({ ...ids, type: 'final', status: 'OK', text, usage, error: null })
      else send({ ok: true, ...ids, text, error_code: null, error_message: null, usage })
    })
  },

  agentproc() {
    const { AGENT_SESSION_ID, AGENT_MESSAGE } = process.env
    const id = AGENT_SESSION_ID || randomUUID()
    send(`AGENT_SESSION:${id}`)
    send(answerTo(AGENT_MESSAGE, id))
  },

  'agentproc@0.4'() {
    onLine((line) => {
      const { session_id, message } = JSON.parse(line)
      const id = session_id || randomUUID()
      send({ type: 'result', text: answerTo(message, id), session_id: id })
    })
  },

  native() {
    send({ type: 'agent-ready' })
    onLine((line) => {
      const { type, turn, exchange, session, input, mode: wanted } = JSON.parse(line)
      if (type === 'config-set') mode = wanted ?? mode
      if (type === 'config-set' || type === 'session-clear') send({ type: 'command-reply', turn: null, exchange })
      if (type !== 'turn-start') return
      const id = session.bound ?? randomUUID()
      send({ type: 'session-bound', turn: null, agentSession: id })
      send({ type: 'message-start', turn, message: 'm', role: 'assistant' })
      send({ type: 'text-delta', turn, message: 'm', text: answerTo(input[0].text, id) })
      send({ type: 'message-end', turn, message: 'm' })
      send({ type: 'turn-end', turn, outcome: 'completed', stop: 'end' })
    })
  },

  zot() {
    onLine((line) => {
      const { id, type, message, model: wanted } = JSON.parse(line)
      if (type === 'clear') own = []
      if (type === 'set_model') model = wanted
      const data = type === 'hello' ? { protocol_version: 1, model } : {}
      send({ type: 'response', id, command: type, success: true, data })
      if (type !== 'prompt') return
      send({ type: 'turn_start', step: 1 })
      send({ type: 'assistant_start' })
      send({ type: 'text_delta', delta: answerTo(message) })
      send({ type: 'turn_end', stop: 'end_turn' })
      send({ type: 'done' })
    })
  },

  qwen() {
    onLine((line) => {
      const { input } = JSON.parse(line)
      if (!input) return
      const content = answerTo(input.parts[0].text)
      const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }]
      send({ object: 'chat.completion', id: 'c', created: 1, choices })
      send({ type: 'x-qwen-session-event', event: 'Finished' })
    })
  },

  'qwen-code'() {
    const at = process.argv.indexOf('--resume')
    const id = at < 0 ? randomUUID() : process.argv[at + 1]
    appendFileSync(`${folder}/starts`, `${at < 0 ? 'new' : 'resume'}\n`)
    // One that was forgotten, as after its file was deleted.
    if (at >= 0 && existsSync(`${folder}/forgetful`)) process.exit(1)
    onLine((line) => {
      const { type, request_id, request, message } = JSON.parse(line)
      if (type === 'control_request') {
        if (request.subtype === 'set_permission_mode') mode = request.mode
        if (request.subtype === 'set_model') model = request.model
        const refused = existsSync(`${folder}/refuses`) && request.mode && { subtype: 'error', error: 'not this one' }
        const response = { subtype: 'success', response: { session_id: id }, ...refused, request_id }
        send({ type: 'control_response', response })
      }
      if (type !== 'user') return
      const text = answerTo(message.content, id)
      const ids = { uuid: 'u', session_id: id }
      send({ type: 'system', subtype: 'init', ...ids, model })
      const said = {
        id: randomUUID(),
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [{ type: 'text', text }],
      }
      send({ type: 'assistant', ...ids, parent_tool_use_id: null, message: { ...said, usage: {} } })
      send({ type: 'result', subtype: 'success', ...ids, is_error: false, duration_ms: 1, num_turns: 1, result: text })
    })
  },
}

PROGRAMS[protocol]()
