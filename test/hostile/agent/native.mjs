// The model itself as lines: ready at once, a process for a session.
const usage = { input: 1, output: 3, total: 4 }

export function native(wire, run) {
  let talk
  let said = 0
  wire.send({ type: 'agent-ready', turn: null })
  wire.lines(({ type, turn, input }) => {
    if (type === 'turn-cancel') return talk?.onCancel?.()
    if (type !== 'turn-start') return
    said += 1
    const message = `m${said}`
    talk = {
      half: '{"type":"text-delta","turn":"',
      begin: () => wire.send({ type: 'message-start', turn, message, role: 'assistant' }),
      text: (text) => wire.send({ type: 'text-delta', turn, message, text }),
      finish: (text) => {
        wire.send({ type: 'message-end', turn, message, parts: [{ type: 'text', text }] })
        wire.send({ type: 'usage', turn, scope: 'turn', usage })
        wire.send({ type: 'turn-end', turn, outcome: 'completed', stop: 'end' })
      },
      done: () => {},
      tool: () => {},
      ask: () => {},
      cancelled: () => wire.send({ type: 'turn-end', turn, outcome: 'cancelled' }),
    }
    run(input.map(({ text }) => text ?? '').join(''), talk)
  })
}
