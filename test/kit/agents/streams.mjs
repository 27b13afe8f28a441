// An agent of the native protocol that never stops talking: a few numbered words at a time.
let words = 0
process.stdout.write('{"type":"agent-ready","turn":null}\n')
process.stdin.setEncoding('utf8').on('data', (line) => {
  const { type, turn } = JSON.parse(line)
  if (type !== 'turn-start') return
  const say = (event) => process.stdout.write(`${JSON.stringify({ turn, ...event })}\n`)
  say({ type: 'turn-started' })
  say({ type: 'message-start', message: 'm1', role: 'assistant' })
  setInterval(() => {
    words += 1
    say({ type: 'text-delta', message: 'm1', text: `${words} ` })
  }, 2)
})
process.stdin.on('end', () => process.exit())
