// zot RPC: a process for a conversation, which keeps its transcript.
const usage = { input: 1, output: 3, cache_read: 0, cache_write: 0, cost_usd: 0 }
const time = '2026-01-01T00:00:00Z'

export function zot(wire, run) {
  const messages = []
  let talk
  const remember = (role, text) => {
    const message = { role, content: [{ type: 'text', text }], time }
    messages.push(message)
    return message
  }
  const end = (stop) => {
    wire.send({ type: 'turn_end', stop })
    wire.send({ type: 'done' })
  }
  wire.lines(({ id, type, message }) => {
    const data = { hello: { protocol_version: 1, version: '0.0.0-hostile' }, get_messages: { messages } }[type] ?? {}
    wire.send({ type: 'response', id, command: type, success: true, data })
    if (type === 'abort') talk?.onCancel?.()
    if (type !== 'prompt') return
    remember('user', message)
    talk = {
      half: '{"type":"text_delta","del',
      begin: () => {
        wire.send({ type: 'turn_start', step: 1 })
        wire.send({ type: 'assistant_start' })
      },
      text: (delta) => wire.send({ type: 'text_delta', delta }),
      finish: (text) => {
        if (text !== '') {
          wire.send({ type: 'usage', ...usage, cumulative: usage })
          wire.send({ type: 'assistant_message', content: remember('assistant', text).content, time })
        }
        end('end_turn')
      },
      done: () => {},
      tool: () => wire.send({ type: 'tool_call', id: 't1', name: 'bash', args: { command: 'sleep 1000' } }),
      ask: () => {},
      cancelled: () => end('aborted'),
    }
    run(message, talk)
  })
}
