// An agent of the native protocol that remembers all that its process has heard, and writes that with each turn as a line
// of the file that its first argument names. A prompt may have it wait until a file of that name with an ending is there.

import { appendFileSync, existsSync } from 'node:fs'

const [file] = process.argv.slice(2)
const heard = []
let session = ''

const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`)
const textOf = (parts) => parts.map((part) => part.text ?? `<${part.type}>`).join('|')

function turn(command) {
  const { turn, input, history = [], options } = command
  session = command.session.id
  for (const { role, parts } of history) heard.push(`${role}: ${textOf(parts)}`)
  heard.push(`user: ${textOf(input)}`)
  if (file)
    appendFileSync(
      file,
      `${JSON.stringify({ session, heard, system: options.systemPrompt, tools: command.clientTools?.length ?? 0 })}\n`,
    )
  const [, gate] = /until (\S+)/.exec(textOf(input)) ?? []
  answerOnce(turn, gate && `${file}-${gate}`)
}

/** Answers when the file is there that the prompt waits for. */
function answerOnce(turn, gate) {
  if (gate && !existsSync(gate)) setTimeout(() => answerOnce(turn, gate), 5)
  else answer(turn)
}

function answer(turn) {
  const text = `heard ${heard.length}`
  heard.push(`assistant: ${text}`)
  say({ type: 'message-start', turn, message: 'm1', role: 'assistant' })
  say({ type: 'text-delta', turn, message: 'm1', text })
  say({ type: 'message-end', turn, message: 'm1' })
  say({ type: 'turn-end', turn, outcome: 'completed', stop: 'end' })
}

say({ type: 'agent-ready' })
let rest = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop()
  for (const line of lines) {
    const command = JSON.parse(line)
    if (command.type === 'turn-start') turn(command)
  }
})
