#!/usr/bin/env node
// An agent of the Agent Client Protocol (version 1) without a model: JSON-RPC 2.0 in lines, several sessions in one
// process. It streams its answer word by word, and can be cancelled. "/time" tells the time, if that is allowed.

const sessions = new Map()
const asked = new Map()
let opened = 0

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const update = (sessionId, sessionUpdate, fields) =>
  send({ method: 'session/update', params: { sessionId, update: { sessionUpdate, ...fields } } })
const say = (sessionId, messageId, text) =>
  update(sessionId, 'agent_message_chunk', { content: { type: 'text', text }, messageId })

function refusal(code, message) {
  return Object.assign(new Error(message), { code })
}

function sessionOf({ sessionId }) {
  const session = sessions.get(sessionId)
  if (!session) throw refusal(-32002, 'there is no such session')
  return session
}

function ask(params) {
  const id = `ask-${asked.size + 1}`
  send({ id, method: 'session/request_permission', params })
  return new Promise((resolve) => asked.set(id, resolve))
}

/** A tool that needs a permission. */
async function time(session, turn) {
  const call = { toolCallId: `time-${turn}`, title: 'Look at the clock', kind: 'read', rawInput: {} }
  update(session.id, 'tool_call', { ...call, status: 'pending' })
  const options = [
    { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
    { optionId: 'no', name: 'Reject', kind: 'reject_once' },
  ]
  const answer = await ask({ sessionId: session.id, toolCall: call, options })
  const allowed = answer?.outcome?.optionId === 'yes'
  const text = allowed ? `It is ${new Date().toISOString()}` : 'I may not look at the clock'
  const status = allowed ? 'completed' : 'failed'
  update(session.id, 'tool_call_update', {
    toolCallId: call.toolCallId,
    status,
    content: [{ type: 'content', content: { type: 'text', text } }],
  })
  return text
}

async function prompt(params) {
  const session = sessionOf(params)
  session.cancelled = false
  session.turns += 1
  const turn = session.turns
  const message = params.prompt.map((block) => block.text ?? `[${block.type}]`).join('\n')
  const said = message.trim() === '/time' ? await time(session, turn) : `You said: ${message}`
  const words = `${said} (turn ${turn} of this session)`.match(/\s*\S+/g)
  for (const word of words) {
    if (session.cancelled) return { stopReason: 'cancelled' }
    say(session.id, `m${turn}`, word)
    await new Promise(setImmediate)
  }
  if (session.cancelled) return { stopReason: 'cancelled' }
  const [inputTokens, outputTokens] = [message.length, words.length]
  return { stopReason: 'end_turn', usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens } }
}

const methods = {
  initialize: () => ({
    protocolVersion: 1,
    agentInfo: { name: 'reviewer', title: 'Reviewer', version: '0.0.0-example' },
    agentCapabilities: { loadSession: false, sessionCapabilities: { list: {}, close: {} } },
    authMethods: [],
  }),
  'session/new': ({ cwd }) => {
    opened += 1
    const id = `session-${opened}`
    sessions.set(id, { id, cwd, turns: 0, cancelled: false })
    const availableCommands = [{ name: 'time', description: 'Tells the time, if that is allowed' }]
    // No update comes before the answer.
    setImmediate(() => update(id, 'available_commands_update', { availableCommands }))
    return { sessionId: id }
  },
  'session/list': () => ({ sessions: [...sessions.values()].map(({ id, cwd }) => ({ sessionId: id, cwd })) }),
  'session/close': (params) => {
    sessions.delete(sessionOf(params).id)
    return {}
  },
  'session/prompt': prompt,
}

async function request({ id, method, params = {} }) {
  try {
    if (!Object.hasOwn(methods, method)) throw refusal(-32601, `there is no method ${method}`)
    send({ id, result: await methods[method](params) })
  } catch ({ code = -32603, message }) {
    send({ id, error: { code, message } })
  }
}

// A line ends at LF only: `node:readline` would also cut at U+2028 and U+2029, which are text inside a JSON string.
function onLine(take) {
  let rest = ''
  process.stdin.setEncoding('utf8')
  process.stdin.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()
    lines.forEach(take)
  })
}

onLine((line) => {
  let message
  try {
    message = JSON.parse(line)
  } catch {
    return send({ id: null, error: { code: -32700, message: 'this is no JSON' } })
  }
  if (message === null || typeof message !== 'object' || Array.isArray(message)) {
    return send({ id: null, error: { code: -32600, message: 'this is no message' } })
  }
  if (message.method === 'session/cancel') {
    const session = sessions.get(message.params?.sessionId)
    if (session) session.cancelled = true
  } else if (message.method === undefined) asked.get(message.id)?.(message.result)
  else if (message.id !== undefined) void request(message)
})
