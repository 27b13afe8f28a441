#!/usr/bin/env node
// A Zene one-shot whose provider is down, and that stays after it has said so.
import { onLine } from './lines.mjs'

onLine((line) => {
  const { request_id, session_id } = JSON.parse(line)
  const error = { error_code: 'PROVIDER_DOWN', error_message: 'The provider is down.' }
  process.stdout.write(`${JSON.stringify({ ok: false, request_id, session_id, text: '', ...error, usage: {} })}\n`)
})
setInterval(() => {}, 1000)
