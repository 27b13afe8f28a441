#!/usr/bin/env node
// A Zene one-shot that stays after its answer.
import { onLine } from './lines.mjs'

onLine((line) => {
  const { request_id, session_id } = JSON.parse(line)
  const answer = { ok: true, request_id, session_id, text: `pid ${process.pid}`, error_code: null, error_message: null }
  process.stdout.write(`${JSON.stringify({ ...answer, usage: {} })}\n`)
})
setInterval(() => {}, 1000)
