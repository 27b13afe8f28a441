#!/usr/bin/env node
// An AgentProc 0.4 agent without a model: one turn object on stdin, events on stdout.

const send = (event) => process.stdout.write(`${JSON.stringify(event)}\n`)

function answer({ message, session_id }) {
  const turn = Number(/^turn-(\d+)$/.exec(session_id ?? '')?.[1] ?? 0) + 1
  const words = `You said: ${message} (turn ${turn} of this session)`.match(/\s*\S+/g)
  for (const text of words) send({ type: 'partial', text, session_id: `turn-${turn}` })
  const usage = { input_tokens: message.length, output_tokens: words.length }
  send({ type: 'result', text: words.join(''), session_id: `turn-${turn}`, usage })
}

function fail(message) {
  send({ type: 'error', message })
  process.exitCode = 1
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

onFirstLine((line) => {
  if (!line) return fail('no turn came on stdin')
  let turn
  try {
    turn = JSON.parse(line)
  } catch {
    return fail('the turn is not JSON')
  }
  answer(turn)
})
