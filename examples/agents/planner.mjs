#!/usr/bin/env node
// A Zene host without a model, one-shot and bridge-compatible: one request line on stdin, one answer line on stdout.

const NO_USAGE = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }

function answer(line) {
  let request
  try {
    request = JSON.parse(line)
  } catch {
    return refuse({}, 'the request is not JSON')
  }
  const missing = ['request_id', 'session_id', 'prompt'].find((key) => !String(request[key] ?? '').trim())
  if (missing) return refuse(request, `${missing} is required`)
  const text = `You said: ${request.prompt} (session ${request.session_id})`
  const usage = { prompt_tokens: request.prompt.length, completion_tokens: text.length }
  return {
    ok: true,
    request_id: request.request_id,
    session_id: request.session_id,
    text,
    error_code: null,
    error_message: null,
    usage: { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens },
  }
}

function refuse({ request_id = 'unknown', session_id = '' }, error_message) {
  return { ok: false, request_id, session_id, text: '', error_code: 'INVALID_REQUEST', error_message, usage: NO_USAGE }
}

// Only LF ends the line: `node:readline` would also cut at U+2028 and U+2029, which are text inside a JSON string.
function onFirstLine(take) {
  let text = ''
  const done = () => {
    process.stdin.off('data', add).off('end', done).pause()
    take(text.split('\n')[0])
  }
  const add = (chunk) => {
    text += chunk
    if (text.includes('\n')) done()
  }
  process.stdin.setEncoding('utf8').on('data', add).on('end', done)
}

onFirstLine((line) => line && process.stdout.write(`${JSON.stringify(answer(line))}\n`))
