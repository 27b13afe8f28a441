// A zot-RPC process that answers a prompt of `N` with N pieces of text of 1 KiB each, as fast as they are read.
import { createInterface } from 'node:readline'

const send = (frame) => process.stdout.write(`${JSON.stringify(frame)}\n`)
const piece = `${JSON.stringify({ type: 'text_delta', delta: 'x'.repeat(1024) })}\n`
const answer = (id, command, data) => send({ type: 'response', id, command, success: true, data })

async function prompt({ id, message }) {
  answer(id, 'prompt', { started: true })
  send({ type: 'turn_start', step: 1 })
  send({ type: 'assistant_start' })
  for (let left = Number(message); left > 0; left -= 64) {
    if (!process.stdout.write(piece.repeat(Math.min(64, left)))) {
      await new Promise((resolve) => process.stdout.once('drain', resolve))
    }
  }
  send({ type: 'turn_end', stop: 'end_turn' })
  send({ type: 'done' })
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const command = JSON.parse(line)
  if (command.type === 'prompt') void prompt(command)
  else if (command.type === 'hello') {
    answer(command.id, 'hello', { protocol_version: 1, version: '0', provider: 'bench', model: 'bench-1' })
  } else answer(command.id, command.type, {})
})
