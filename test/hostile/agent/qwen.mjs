// Qwen: the structured-IO RFC (completions in pieces) and the CLI as it shipped. A process for a session.
const SESSION = '11111111-2222-4333-8444-555555555555'
const model = 'hostile-1'

export function qwen(wire, run) {
  let talk
  let said = 0
  const chunk = (delta, finish_reason = null) =>
    wire.send({
      object: 'chat.completion.chunk',
      id: `c${said}`,
      created: 1,
      choices: [{ index: 0, delta, finish_reason }],
    })
  wire.lines((asked) => {
    const { type, session_id, prompt_id, input, messages } = asked
    if (type === 'control/cancel') {
      wire.send({ type: 'result/cancel', session_id, prompt_id, status: 'ok' })
      return talk?.onCancel?.()
    }
    if (!input && !messages) return
    said += 1
    talk = {
      half: '{"object":"chat.completion.chunk","id":"',
      begin: () => chunk({ role: 'assistant' }),
      text: (content) => chunk({ content }),
      finish: () => chunk({}, 'stop'),
      done: () => {},
      tool: () => {
        const call = { index: 0, id: 't1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } }
        chunk({ tool_calls: [call] })
        chunk({}, 'tool_calls')
      },
      ask: () =>
        wire.send({
          type: 'control_request',
          request_id: 'q1',
          subtype: 'can_use_tool',
          tool: { name: 'bash', arguments: { command: 'ls' } },
        }),
      cancelled: () => wire.send({ type: 'x-qwen-session-event', event: 'USER_CANCELLED' }),
    }
    run(input ? input.parts.map(({ text }) => text ?? '').join('') : messages.at(-1).content, talk)
  })
}

export function qwenCode(wire, run) {
  let talk
  let said = 0
  const send = (line) => wire.send({ ...line, session_id: SESSION })
  const event = (body) => {
    said += 1
    send({ type: 'stream_event', uuid: `e${said}`, parent_tool_use_id: null, event: body })
  }
  const assistant = (content) => {
    said += 1
    const message = { id: `m${said}`, type: 'message', role: 'assistant', model, content, usage: {} }
    send({ type: 'assistant', uuid: `u${said}`, parent_tool_use_id: null, message })
  }
  const result = (more) => {
    said += 1
    send({
      type: 'result',
      uuid: `r${said}`,
      duration_ms: 1,
      duration_api_ms: 1,
      num_turns: 1,
      permission_denials: [],
      ...more,
    })
  }
  const succeed = (request_id, subtype) =>
    send({ type: 'control_response', response: { subtype: 'success', request_id, response: { subtype } } })
  wire.lines((line) => {
    if (line.type === 'control_request') {
      succeed(line.request_id, line.request.subtype)
      if (line.request.subtype === 'interrupt') talk?.onCancel?.()
      return
    }
    if (line.type !== 'user') return
    const { content } = line.message
    talk = {
      half: '{"type":"stream_event","uuid":"',
      begin: () => {
        send({ type: 'system', subtype: 'init', uuid: 'u0', cwd: '/', tools: [], model, qwen_code_version: '0.24.4' })
        event({ type: 'message_start', message: { id: `s${said}`, role: 'assistant', model } })
        event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })
      },
      text: (text) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
      finish: (text) => {
        event({ type: 'content_block_stop', index: 0 })
        if (text !== '') assistant([{ type: 'text', text }])
        event({ type: 'message_stop' })
        result({ subtype: 'success', is_error: false, result: text })
      },
      done: () => {},
      tool: () => assistant([{ type: 'tool_use', id: 't1', name: 'bash', input: { command: 'ls' } }]),
      ask: () => {
        const request = { subtype: 'can_use_tool', tool_name: 'bash', tool_use_id: 't1', input: { command: 'ls' } }
        const choices = [
          { type: 'allow', label: 'Allow' },
          { type: 'deny', label: 'Deny' },
        ]
        send({
          type: 'control_request',
          request_id: 'q1',
          request: { ...request, permission_suggestions: choices, blocked_path: null },
        })
      },
      cancelled: () => {
        const error = { type: 'cancelled', message: 'Operation cancelled.' }
        result({ subtype: 'error_during_execution', is_error: true, error })
      },
    }
    run(typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join(''), talk)
  })
}
