#!/usr/bin/env node
/** A good agent of the Agent Client Protocol, without a model. It counts until it is cancelled, and asks before it runs a command. */
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const fail = (id, code, message) => say({ id, error: { code, message } })
/** The prompts of the sessions that there are: of this process, and of those that others had. */
const sessions = new Map()
/** The prompt that runs, and the one that waits for an answer to a request of the agent. */
let counting
let waiting

const update = (sessionId, sessionUpdate, more) =>
  say({ method: 'session/update', params: { sessionId, update: { sessionUpdate, ...more } } })
const chunk = (sessionId, text) => update(sessionId, 'agent_message_chunk', { content: { type: 'text', text } })
const end = (id, stopReason) => say({ id, result: { stopReason } })

const METHODS = {
  initialize: () => ({
    protocolVersion: 1,
    agentCapabilities: { loadSession: true, sessionCapabilities: { list: {} }, promptCapabilities: {} },
    authMethods: [],
  }),
  'session/new': () => {
    const sessionId = `s-${process.pid}`
    sessions.set(sessionId, { sessionId, cwd: process.cwd() })
    return { sessionId }
  },
  'session/list': () => ({ sessions: [{ sessionId: 's-1', cwd: process.cwd() }] }),
  'session/load': ({ sessionId }) => {
    update(sessionId, 'user_message_chunk', { content: { type: 'text', text: 'hi' } })
    chunk(sessionId, 'ok')
    return {}
  },
}

function prompt(id, sessionId, text) {
  if (text.startsWith('Count')) {
    counting = { id, sessionId }
    return chunk(sessionId, '1\n')
  }
  if (text.startsWith('Run')) {
    const toolCall = { toolCallId: 'call-1', title: 'echo ok', kind: 'execute', status: 'pending' }
    const options = [
      { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
      { optionId: 'deny', name: 'Deny', kind: 'reject_once' },
    ]
    waiting = { id, sessionId }
    update(sessionId, 'tool_call', toolCall)
    return say({ id: 'ask-1', method: 'session/request_permission', params: { sessionId, toolCall, options } })
  }
  chunk(sessionId, 'ok')
  end(id, 'end_turn')
}

function handle({ id, method, params = {} }) {
  const { sessionId } = params
  if (method === undefined) {
    if (!waiting) return
    const { id: asked, sessionId: session } = waiting
    waiting = undefined
    update(session, 'tool_call_update', { toolCallId: 'call-1', status: 'failed' })
    chunk(session, 'It was not allowed.')
    end(asked, 'end_turn')
  } else if (method === 'session/cancel') {
    if (counting?.sessionId === sessionId) end(counting.id, 'cancelled')
    counting = undefined
  } else if (id === undefined) return
  else if (method === 'session/prompt') {
    if (!sessions.has(sessionId)) fail(id, -32602, 'There is no such session.')
    else prompt(id, sessionId, params.prompt[0].text)
  } else if (!METHODS[method]) fail(id, -32601, 'Method not found')
  else if (method !== 'initialize' && method !== 'session/list' && params.cwd === undefined)
    fail(id, -32602, 'Invalid params')
  else say({ id, result: METHODS[method](params) })
}

// Not by `node:readline`, which cuts lines at U+2028.
let rest = ''
process.stdin.setEncoding('utf8').on('data', (text) => {
  const lines = (rest + text).split('\n')
  rest = lines.pop()
  for (const line of lines) {
    let message
    try {
      message = JSON.parse(line)
    } catch {
      fail(null, -32700, 'Parse error')
      continue
    }
    handle(message)
  }
})
