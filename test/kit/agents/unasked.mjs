// An agent of native that goes on by itself: after each answer it has as many turns of its own as the prompt says, each
// with the text of the prompt ("3 some text"). What it says of them is in the same write as its answer.
import { createInterface } from 'node:readline'

let own = 0

function turn(id, text) {
  return [
    { type: 'message-start', turn: id, message: `${id}-m`, role: 'assistant' },
    { type: 'text-delta', turn: id, message: `${id}-m`, text },
    { type: 'message-end', turn: id, message: `${id}-m` },
    { type: 'turn-end', turn: id, outcome: 'completed', stop: 'end' },
  ]
}

const write = (lines) => process.stdout.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))

write([{ type: 'agent-ready' }])
createInterface({ input: process.stdin }).on('line', (line) => {
  const command = JSON.parse(line)
  if (command.type !== 'turn-start') return
  const input = typeof command.input === 'string' ? command.input : command.input.map(({ text }) => text).join('')
  const [, count, text] = /^(\d+) (.*)$/.exec(input)
  const lines = turn(command.turn, 'answer')
  for (let at = 0; at < Number(count); at += 1) {
    own += 1
    lines.push(...turn(`own-${own}`, text))
  }
  write(lines)
})
