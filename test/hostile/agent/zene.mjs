// Zene Host Protocol v1: one-shot (one request line, one answer line, exit) and stream mode (a process for a session).
const usage = { prompt_tokens: 1, completion_tokens: 3, total_tokens: 4 }

export function zeneOneShot(wire, run) {
  wire.lines(({ request_id, session_id, prompt }) => {
    const ids = { request_id, session_id }
    run(prompt, {
      half: '{"ok":true,"request_id":"',
      begin: () => {},
      text: () => {},
      finish: (text) => wire.send({ ok: true, ...ids, text, error_code: null, error_message: null, usage }),
      done: () => process.exit(0),
      tool: () => {},
      ask: () => {},
      cancelled: () => {},
    })
  })
}

export function zeneStream(wire, run) {
  const talks = new Map()
  const send = (line) => wire.send({ protocol_version: 1, ts_ms: 0, ...line })
  wire.lines(({ type = 'run', request_id, session_id = null, prompt, target_request_id }) => {
    const ids = { request_id, session_id }
    if (type === 'ping') return send({ type: 'ack', ...ids, status: 'PONG' })
    if (type === 'cancel') {
      send({ type: 'ack', ...ids, status: 'CANCEL_ACCEPTED', target_request_id })
      return talks.get(target_request_id)?.onCancel?.()
    }
    if (type !== 'run') return send({ type: 'ack', ...ids, status: 'CLOSED' })
    let seq = 0
    const event = (event_type, payload) => {
      seq += 1
      send({ type: 'event', ...ids, seq, event_type, payload })
    }
    const talk = {
      half: '{"protocol_version":1,"type":"eve',
      begin: () => {
        send({ type: 'ack', ...ids, status: 'ACCEPTED' })
        event('RUN_STARTED', {})
      },
      text: (delta) => event('TEXT_DELTA', { delta }),
      finish: (text) => send({ type: 'final', ...ids, status: 'OK', text, usage, error: null }),
      done: () => talks.delete(request_id),
      tool: () => event('TOOL_STARTED', { tool: 'bash' }),
      ask: () => {},
      cancelled: () => send({ type: 'final', ...ids, status: 'CANCELED', text: '', usage, error: null }),
    }
    talks.set(request_id, talk)
    run(prompt, talk)
  })
}
