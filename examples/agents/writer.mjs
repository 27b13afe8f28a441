#!/usr/bin/env node
// An AgentProc 0.4 agent without a model: one turn object on stdin, events on stdout.
import { createInterface } from 'node:readline'

const send = (event) => process.stdout.write(`${JSON.stringify(event)}\n`)
const input = createInterface({ input: process.stdin })
input.once('line', (line) => {
  const { message, session_id } = JSON.parse(line)
  const turn = Number(/^turn-(\d+)$/.exec(session_id ?? '')?.[1] ?? 0) + 1
  const words = `You said: ${message} (turn ${turn} of this session)`.match(/\s*\S+/g)
  for (const text of words) send({ type: 'partial', text, session_id: `turn-${turn}` })
  const usage = { input_tokens: message.length, output_tokens: words.length }
  send({ type: 'result', text: words.join(''), session_id: `turn-${turn}`, usage })
  input.close()
})
