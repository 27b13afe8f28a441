// Claude Code as `claude -p` with JSON lines both ways: a process for a session.
const session_id = '11111111-2222-4333-8444-555555555555'
const model = 'hostile-1'

export function claudeCode(wire, run) {
  let talk
  let said = 0
  let id
  const send = (line) => wire.send({ ...line, session_id })
  const event = (body) => {
    said += 1
    send({ type: 'stream_event', uuid: `e${said}`, parent_tool_use_id: null, event: body })
  }
  const assistant = (content) => {
    said += 1
    const message = { id, type: 'message', role: 'assistant', model, content, usage: {} }
    send({ type: 'assistant', uuid: `u${said}`, parent_tool_use_id: null, message })
  }
  const result = (more) => {
    said += 1
    send({ type: 'result', uuid: `r${said}`, duration_ms: 1, num_turns: 1, ...more })
  }
  wire.lines((line) => {
    if (line.type === 'control_request') {
      const { request_id, request } = line
      send({ type: 'control_response', response: { subtype: 'success', request_id, response: {} } })
      if (request.subtype === 'interrupt') talk?.onCancel?.()
      return
    }
    if (line.type !== 'user') return
    talk = {
      half: '{"type":"stream_event","uuid":"',
      begin: () => {
        send({ type: 'system', subtype: 'init', uuid: 'u0', cwd: '/', tools: [], model })
        id = `m${said}`
        event({ type: 'message_start', message: { id, role: 'assistant', model } })
        event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })
      },
      text: (text) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
      finish: (text) => {
        event({ type: 'content_block_stop', index: 0 })
        event({ type: 'message_stop' })
        if (text !== '') assistant([{ type: 'text', text }])
        result({ subtype: 'success', is_error: false, result: text })
      },
      done: () => {},
      tool: () => assistant([{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } }]),
      ask: () => {
        const request = { subtype: 'can_use_tool', tool_name: 'Bash', tool_use_id: 't1', input: { command: 'ls' } }
        send({ type: 'control_request', request_id: 'q1', request })
      },
      cancelled: () => result({ subtype: 'error_during_execution', is_error: true, terminal_reason: 'aborted_tools' }),
    }
    run(line.message.content.map(({ text }) => text ?? '').join(''), talk)
  })
}
