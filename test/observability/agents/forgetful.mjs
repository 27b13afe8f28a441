#!/usr/bin/env node
// A Zene host whose session is stuck: it does nothing for the first prompt, and answers the one under another session.
import { existsSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const mark = process.argv[2]
const input = createInterface({ input: process.stdin })
input.once('line', (line) => {
  const { request_id, session_id } = JSON.parse(line)
  const stuck = !existsSync(mark)
  if (stuck) writeFileSync(mark, session_id)
  const text = stuck ? 'No changes were made.' : 'done in another session'
  const rest = {
    error_code: null,
    error_message: null,
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }
  process.stdout.write(`${JSON.stringify({ ok: true, request_id, session_id, text, ...rest })}\n`)
  input.close()
})
