// An agent that speaks the canonical model: it counts its turns, calls a tool with odd arguments, asks and waits.
let turns = 0
let open

const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`)

const COMMANDS = {
  'turn-start': ({ turn, input, session }) => {
    turns += 1
    const [{ text }] = input
    const of = { turn }
    say({ type: 'turn-started', ...of, place: 1 })
    if (text === 'wait') {
      open = of
      return
    }
    if (text === 'ask') {
      open = of
      const options = [{ id: 'go', kind: 'allow', scope: 'once' }]
      say({ type: 'ask', ...of, ask: 'a1', question: { kind: 'approval', name: 'rm', args: { f: 'x' }, options } })
      return
    }
    process.stdout.write(
      `{"type":"tool-call","turn":"${turn}","tool":"c1","name":"count","args":{"n":1e400,"n":2.0},"executor":"agent"}\n`,
    )
    say({ type: 'tool-end', ...of, tool: 'c1', status: 'ok', parts: [] })
    answer(of, `You said: ${text} (turn ${turns} of ${session.id})`)
  },
  'turn-steer': ({ input: [{ text }] }) => answer(open, `Told meanwhile: ${text}`),
  'turn-cancel': () => say({ type: 'turn-end', ...open, outcome: 'cancelled' }),
  'ask-reply': ({ ask, reply }) => {
    say({ type: 'ask-settled', ...open, ask, how: 'answered' })
    answer(open, `Answered: ${reply.option}`)
  },
  query: ({ exchange, what }) => say({ type: 'command-reply', exchange, data: { what, turns } }),
}

function answer(of, text) {
  say({ type: 'message-start', ...of, message: 'm1', role: 'assistant' })
  for (const piece of text.match(/\S+\s*/g)) say({ type: 'text-delta', ...of, message: 'm1', text: piece })
  say({ type: 'message-end', ...of, message: 'm1' })
  say({ type: 'usage', ...of, scope: 'turn', usage: { input: 3, output: 4 } })
  say({ type: 'turn-end', ...of, outcome: 'completed', stop: 'end' })
}

say({ type: 'agent-ready', model: 'small-1' })
let rest = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', (text) => {
  const lines = (rest + text).split('\n')
  rest = lines.pop()
  for (const line of lines) {
    const command = JSON.parse(line)
    COMMANDS[command.type]?.(command)
  }
})
