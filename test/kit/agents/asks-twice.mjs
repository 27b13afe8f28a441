#!/usr/bin/env node
// An AgentProc 0.4 agent that asks twice, one after the other, and says both answers.
import { onLine } from './lines.mjs'

const send = (event) => process.stdout.write(`${JSON.stringify(event)}\n`)
const ask = (id) => send({ type: 'permission_request', request_id: id, tool_name: `tool-${id}`, input: {} })
const told = []
onLine((line) => {
  const { type, behavior } = JSON.parse(line)
  if (type === 'turn') {
    send({ type: 'partial', text: 'thinking. ' })
    ask('p1')
    return
  }
  told.push(behavior)
  if (told.length === 1) return ask('p2')
  send({ type: 'result', text: `thinking. told: ${told.join(', ')}` })
  process.stdin.pause()
})
