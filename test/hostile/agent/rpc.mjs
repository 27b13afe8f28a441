// Agents whose wire is JSON-RPC: a process for a session. Codex leaves out the member `jsonrpc`.

/** The Agent Client Protocol, version 1. */
export function acp(wire, run) {
  let talk
  let said = 0
  const send = (message) => wire.send({ jsonrpc: '2.0', ...message })
  const sessionId = 'hostile-1'
  const update = (sessionUpdate, more) =>
    send({ method: 'session/update', params: { sessionId, update: { sessionUpdate, ...more } } })
  const METHODS = {
    initialize: () => ({ protocolVersion: 1, agentCapabilities: { loadSession: true }, authMethods: [] }),
    'session/new': () => ({ sessionId }),
    'session/load': () => ({}),
  }
  wire.lines(({ id, method, params }) => {
    if (method === 'session/cancel') talk?.onCancel?.()
    else if (METHODS[method]) send({ id, result: METHODS[method](params) })
    else if (method === 'session/prompt') {
      said += 1
      const messageId = `m${said}`
      const end = (stopReason) => send({ id, result: { stopReason } })
      talk = {
        half: '{"jsonrpc":"2.0","method":"session/up',
        begin: () => {},
        text: (text) => update('agent_message_chunk', { content: { type: 'text', text }, messageId }),
        finish: (text) => end(text === null ? null : 'end_turn'),
        done: () => {},
        tool: () => update('tool_call', { toolCallId: 't1', title: 'ls', status: 'in_progress' }),
        ask: () => {
          const options = [{ optionId: 'y', name: 'Yes', kind: 'allow_once' }]
          const toolCall = { toolCallId: 't1', title: 'ls' }
          send({ id: 'q1', method: 'session/request_permission', params: { sessionId, toolCall, options } })
        },
        cancelled: () => end('cancelled'),
      }
      run(params.prompt.map(({ text }) => text ?? '').join(''), talk)
    }
  })
}

/** Codex's app-server. */
export function codex(wire, run) {
  let talk
  let said = 0
  const threadId = 'hostile-1'
  const METHODS = {
    initialize: () => ({ userAgent: 'hostile/0.171.0' }),
    'thread/start': () => ({ thread: { id: threadId } }),
    'thread/resume': () => ({ thread: { id: threadId } }),
    'turn/interrupt': () => {
      setImmediate(() => talk?.onCancel?.())
      return {}
    },
  }
  wire.lines(({ id, method, params }) => {
    if (METHODS[method]) wire.send({ id, result: METHODS[method](params) })
    else if (method === 'turn/start') {
      said += 1
      const [turnId, itemId] = [`turn-${said}`, `m${said}`]
      const note = (name, more) => wire.send({ method: name, params: { threadId, turnId, ...more } })
      const end = (status) => note('turn/completed', { turn: { id: turnId, items: [], status, error: null } })
      wire.send({ id, result: { turn: { id: turnId } } })
      note('turn/started', { turn: { id: turnId } })
      talk = {
        half: '{"method":"item/agentMessage/del',
        begin: () => note('item/started', { item: { type: 'agentMessage', id: itemId, text: '' } }),
        text: (delta) => note('item/agentMessage/delta', { itemId, delta }),
        finish: (text) => {
          if (text !== '') note('item/completed', { item: { type: 'agentMessage', id: itemId, text } })
          end('completed')
        },
        done: () => {},
        tool: () => {
          const item = { type: 'commandExecution', id: 'c1', command: 'ls', cwd: '/', status: 'inProgress' }
          note('item/started', { item })
        },
        ask: () =>
          wire.send({
            id: 0,
            method: 'item/commandExecution/requestApproval',
            params: { threadId, turnId, itemId: 'c1' },
          }),
        cancelled: () => end('interrupted'),
      }
      run(params.input.map(({ text }) => text ?? '').join(''), talk)
    }
  })
}
