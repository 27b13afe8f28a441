#!/usr/bin/env node
// An AgentProc 0.4 agent that asks before it acts, and answers with what it was told.
import { onLine } from './lines.mjs'

const send = (event) => process.stdout.write(`${JSON.stringify(event)}\n`)
onLine((line) => {
  const { type, behavior } = JSON.parse(line)
  if (type === 'turn') {
    send({ type: 'permission_request', request_id: 'p1', tool_name: 'rm', input: { path: '/tmp/x' } })
    return
  }
  send({ type: 'result', text: `told: ${behavior}` })
  process.stdin.pause()
})
