#!/usr/bin/env node
// A zot agent that says one word and then waits to be aborted; with the argument `deaf` it does not heed that either.
import { onLine } from './lines.mjs'

const deaf = process.argv.includes('deaf')
const send = (frame) => process.stdout.write(`${JSON.stringify(frame)}\n`)
const done = () => send({ type: 'done' })
let running = false
if (deaf) process.on('SIGTERM', () => {})
onLine((line) => {
  const { id, type, message } = JSON.parse(line)
  send({ type: 'response', id, command: type, success: true, data: type === 'hello' ? { protocol_version: 1 } : {} })
  if (type === 'prompt') {
    send({ type: 'turn_start', step: 1 })
    send({ type: 'assistant_start' })
    send({ type: 'text_delta', delta: `pid ${process.pid}` })
    running = message !== 'quick'
    if (running) return
    send({ type: 'turn_end', stop: 'end_turn' })
    done()
  }
  if (type === 'abort' && running && !deaf) {
    running = false
    send({ type: 'turn_end', stop: 'aborted', error: 'context canceled' })
    done()
  }
})
setInterval(() => {}, 1000)
