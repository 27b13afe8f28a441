// The agent of the pictures of the console (`pictures.ts`): it reads, searches and tests, and asks before it deletes.
import { setTimeout as delay } from 'node:timers/promises'

const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`)
let turn
let answered = () => {}

async function tool(id, name, args, said, ms) {
  say({ type: 'tool-start', turn, tool: id, name, executor: 'agent' })
  say({ type: 'tool-call', turn, tool: id, name, args, executor: 'agent' })
  await delay(ms)
  say({ type: 'tool-end', turn, tool: id, status: 'ok', parts: [{ type: 'text', text: said }] })
}

async function review() {
  say({
    type: 'reasoning-delta',
    turn,
    message: 'm0',
    text: 'The loader drops the last line. I look at its test first.',
  })
  await tool('t1', 'read_file', { path: 'test/loader.test.ts' }, 'keeps the last line without a line feed', 140)
  await tool('t2', 'grep', { pattern: 'split', path: 'src' }, 'src/loader.ts:31: text.split(/\\n/).slice(0, -1)', 90)
  await tool('t3', 'run_tests', { only: 'loader' }, '1 failed, 12 passed', 420)
  return 'The loader cuts what follows the last line feed. Keep the rest until the end of the file, and the test passes.'
}

async function clean() {
  await tool('t1', 'list_files', { path: 'build' }, '214 files', 90)
  const options = [
    { id: 'once', kind: 'allow', scope: 'once', label: 'Delete it' },
    { id: 'session', kind: 'allow', scope: 'session', label: 'Delete builds' },
    { id: 'no', kind: 'deny', scope: 'once', label: 'Keep it' },
  ]
  const question = {
    kind: 'approval',
    name: 'bash',
    args: { command: 'rm -rf build', cwd: '/project' },
    description: 'The build of March is still there.',
    options,
    editable: true,
  }
  say({ type: 'ask', turn, ask: 'a1', question })
  const { option } = await new Promise((resolve) => {
    answered = resolve
  })
  return option === 'no' ? 'It stays.' : 'The old build is gone.'
}

async function answer(command) {
  turn = command.turn
  const [{ text }] = command.input
  const said = await (/clean/i.test(text) ? clean() : review())
  say({ type: 'message-start', turn, message: 'm1', role: 'assistant' })
  for (const piece of said.match(/\S+\s*/g)) say({ type: 'text-delta', turn, message: 'm1', text: piece })
  say({ type: 'message-end', turn, message: 'm1' })
  say({ type: 'usage', turn, scope: 'turn', usage: { input: 1480 + text.length * 7, output: 340, costUsd: 0.0087 } })
  say({ type: 'turn-end', turn, outcome: 'completed', stop: 'end' })
}

const COMMANDS = { 'turn-start': (command) => void answer(command), 'ask-reply': ({ reply }) => answered(reply) }

say({ type: 'agent-ready', model: 'large-2', version: '2.3.0' })
let rest = ''
process.stdin.setEncoding('utf8').on('data', (text) => {
  const lines = (rest + text).split('\n')
  rest = lines.pop()
  for (const line of lines) {
    const command = JSON.parse(line)
    COMMANDS[command.type]?.(command)
  }
})
