#!/usr/bin/env node
/**
 * An agent of the Agent Client Protocol that serves several sessions in one process. The first word of a prompt says what
 * it does: it says its process (`pid`), works until it is cancelled (`work`) or in spite of that (`stuck`), asks for a
 * permission (`ask`), writes lines about another session before it answers (`mix OTHER`), makes a session twice (`again`),
 * or dies.
 */
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const chunk = (sessionId, text) => {
  const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }
  say({ method: 'session/update', params: { sessionId, update } })
}
const end = (id, stopReason) => say({ id, result: { stopReason } })
const options = [
  { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
  { optionId: 'deny', name: 'Deny', kind: 'reject_once' },
]

/** The prompts that run, by their session. */
const running = new Map()
/** The prompts that wait for an answer to a request of the agent. */
const asking = new Map()
let made = 0
let again = false

const PROMPTS = {
  pid: (id, session) => {
    chunk(session, `${process.pid} ${session}`)
    end(id, 'end_turn')
  },
  work: (id, session) => {
    running.set(session, { id, stops: true })
    chunk(session, 'working')
  },
  stuck: (id, session) => {
    running.set(session, { id, stops: false })
    chunk(session, 'stuck')
  },
  ask: (id, session) => {
    const toolCall = { toolCallId: 'call', title: 'echo ok' }
    asking.set(`ask-${session}`, { id, session })
    const params = { sessionId: session, toolCall, options }
    say({ id: `ask-${session}`, method: 'session/request_permission', params })
  },
  mix: (id, session, other) => {
    chunk(other, 'not yours')
    say({ id: 1, result: { stopReason: 'end_turn', of: 'another' } })
    say({ id: 'x', method: 'session/request_permission', params: { sessionId: 'nobody', toolCall: {}, options } })
    chunk(session, 'mixed')
    end(id, 'end_turn')
  },
  again: (id, session) => {
    again = true
    chunk(session, 'ok')
    end(id, 'end_turn')
  },
  die: () => process.exit(3),
}

function handle({ id, method, params = {}, result }) {
  const { sessionId } = params
  if (method === 'initialize') {
    const agentCapabilities = { loadSession: true, sessionCapabilities: { close: {} } }
    say({ id, result: { protocolVersion: 1, agentCapabilities } })
  } else if (method === 'session/new') {
    if (!again) made += 1
    say({ id, result: { sessionId: `${process.pid}.${made}` } })
  } else if (method === 'session/prompt') {
    const [word, ...others] = params.prompt[0].text.split(' ')
    PROMPTS[word](id, sessionId, ...others)
  } else if (method === 'session/cancel') {
    const prompt = running.get(sessionId)
    if (!prompt?.stops) return
    running.delete(sessionId)
    end(prompt.id, 'cancelled')
  } else if (method === undefined && asking.has(id)) {
    const { id: prompt, session } = asking.get(id)
    asking.delete(id)
    chunk(session, result?.outcome.optionId ?? 'nothing')
    end(prompt, 'end_turn')
  } else if (method !== undefined && id !== undefined) say({ id, result: {} })
}

let rest = ''
process.stdin.setEncoding('utf8').on('data', (text) => {
  const lines = (rest + text).split('\n')
  rest = lines.pop()
  for (const line of lines) handle(JSON.parse(line))
})
