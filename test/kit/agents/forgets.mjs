#!/usr/bin/env node
// A Zene one-shot that does nothing for a prompt that is the name of its session (a plan stands in the way), and stays
// after its answer. It notes in the file that its argument names what it is asked, and that it is told to stop.
import { appendFileSync } from 'node:fs'
import { onLine } from './lines.mjs'

const [, , diary] = process.argv
const note = (text) => appendFileSync(diary, `${text}\n`)
onLine((line) => {
  const { request_id, session_id, prompt } = JSON.parse(line)
  note(`asked ${prompt}`)
  process.on('SIGTERM', () => {
    note(`stopped ${prompt}`)
    setTimeout(() => process.exit(0), 100)
  })
  const text = session_id === prompt ? 'Plan completed.' : 'done'
  const answer = { ok: true, request_id, session_id, text, error_code: null, error_message: null }
  process.stdout.write(`${JSON.stringify({ ...answer, usage: {} })}\n`)
})
setInterval(() => {}, 1000)
