// An agent for the console's tests: a native agent that does what its prompt names.
const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`)
let current
let reply

const OPTIONS = [
  { id: 'yes', kind: 'allow', scope: 'once', label: 'Allow once' },
  { id: 'no', kind: 'deny', scope: 'once', label: 'Deny' },
]
const SCHEMA = {
  type: 'object',
  required: ['tag'],
  properties: {
    tag: { type: 'string', title: 'Tag' },
    count: { type: 'integer', title: 'Count', default: 2 },
    channel: { title: 'Channel', enum: ['stable', 'beta'] },
    dry: { type: 'boolean', title: 'Dry run' },
  },
}
/** ANSI, the right-to-left override, markup, an end of a script. */
const HOSTILE = '\u001b[31mred\u001b[0m \u202Egnp.exe </script><img src=x onerror=alert(1)><script>alert(2)</script>'

const asked = (question) => {
  say({ type: 'ask', turn: current, ask: 'a1', question })
  return new Promise((resolve) => {
    reply = resolve
  })
}
const settled = () => say({ type: 'ask-settled', turn: current, ask: 'a1', how: 'answered' })

const DEEDS = {
  approval: async () => {
    say({ type: 'tool-start', turn: current, tool: 't1', name: 'bash', executor: 'agent' })
    const args = { command: 'rm -rf build' }
    const { option } = await asked({ kind: 'approval', name: 'bash', tool: 't1', args, options: OPTIONS })
    settled()
    say({ type: 'tool-end', turn: current, tool: 't1', status: option === 'yes' ? 'ok' : 'denied', parts: [] })
    return `You chose ${option}.`
  },
  input: async () => {
    const { values } = await asked({ kind: 'input', message: 'Which release?', schema: SCHEMA })
    settled()
    return JSON.stringify(values)
  },
  wait: () => new Promise(() => {}),
  hostile: () => HOSTILE,
  huge: () => 'x'.repeat(10_000_000),
  think: () => {
    say({ type: 'reasoning-delta', turn: current, message: 'm0', text: 'Let me see.' })
    return 'Seen.'
  },
}

async function answer(turn, text) {
  current = turn
  const message = 'm1'
  const said = await (DEEDS[text]?.() ?? `You said: ${text}`)
  say({ type: 'message-start', turn, message, role: 'assistant' })
  for (const piece of said.length > 1000 ? [said] : said.match(/\S+\s*/g))
    say({ type: 'text-delta', turn, message, text: piece })
  say({ type: 'message-end', turn, message })
  say({ type: 'usage', turn, scope: 'turn', usage: { input: 1200, output: 34, costUsd: 0.0123 } })
  say({ type: 'turn-end', turn, outcome: 'completed', stop: 'end' })
}

const COMMANDS = {
  'turn-start': ({ turn, input: [{ text }] }) => void answer(turn, text),
  'turn-cancel': () => say({ type: 'turn-end', turn: current, outcome: 'cancelled' }),
  'ask-reply': (command) => reply(command.reply),
}

say({ type: 'agent-ready', model: 'small-1', version: '1.4.0' })
let rest = ''
process.stdin.setEncoding('utf8').on('data', (text) => {
  const lines = (rest + text).split('\n')
  rest = lines.pop()
  for (const line of lines) {
    const command = JSON.parse(line)
    COMMANDS[command.type]?.(command)
  }
})
