// A plain agent that speaks the canonical model: it calls a tool, answers, counts what it used, and can be cancelled.
const running = new Map()

const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`)

const COMMANDS = {
  'turn-start': ({ turn, input }) => {
    const [{ text }] = input
    say({ type: 'turn-started', turn })
    if (text.startsWith('Count')) {
      running.set(
        turn,
        setTimeout(() => answer(turn, 'One, two.'), 60_000),
      )
      return
    }
    say({ type: 'tool-call', turn, tool: 'c1', name: 'count', args: { n: 1 }, executor: 'agent' })
    say({ type: 'tool-end', turn, tool: 'c1', status: 'ok', parts: [] })
    answer(turn, 'ok')
  },
  'turn-cancel': ({ target }) => {
    clearTimeout(running.get(target.turn))
    running.delete(target.turn)
    say({ type: 'turn-end', turn: target.turn, outcome: 'cancelled' })
  },
  query: ({ exchange }) => say({ type: 'command-reply', exchange, data: { busy: running.size > 0 } }),
}

function answer(turn, text) {
  say({ type: 'message-start', turn, message: 'm1', role: 'assistant' })
  say({ type: 'text-delta', turn, message: 'm1', text })
  say({ type: 'message-end', turn, message: 'm1' })
  say({ type: 'usage', turn, scope: 'turn', usage: { input: 3, output: 4 } })
  say({ type: 'turn-end', turn, outcome: 'completed', stop: 'end' })
}

say({ type: 'agent-ready' })
let rest = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', (text) => {
  const lines = (rest + text).split('\n')
  rest = lines.pop()
  for (const line of lines) {
    let command
    try {
      command = JSON.parse(line)
    } catch {
      continue
    }
    COMMANDS[command.type]?.(command)
  }
})
