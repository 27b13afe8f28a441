// An agent of the native protocol that answers with two messages and a tool of its own between them.
const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`)

function message(turn, id, pieces) {
  say({ type: 'message-start', turn, message: id, role: 'assistant' })
  for (const text of pieces) say({ type: 'text-delta', turn, message: id, text })
  say({ type: 'message-end', turn, message: id })
}

say({ type: 'agent-ready' })
let rest = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop()
  for (const { type, turn, history } of lines.map((line) => JSON.parse(line))) {
    if (type !== 'turn-start') continue
    message(turn, 'm1', ['Let me ', 'look.\n'])
    say({ type: 'tool-call', turn, tool: 'c1', name: 'ls', args: {}, executor: 'agent' })
    say({ type: 'tool-end', turn, tool: 'c1', status: 'ok', parts: [{ type: 'text', text: 'a.txt' }] })
    message(turn, 'm2', [history ? 'I was told.' : 'I know.'])
    say({ type: 'turn-end', turn, outcome: 'completed', stop: 'end' })
  }
})
