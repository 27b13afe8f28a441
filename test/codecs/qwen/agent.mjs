// A small agent of the RFC: one process, one session, answers in the format that its arguments ask for.
// A prompt with "fail" ends it with an error object, one with "ask" asks for an approval first, one with "wait" waits
// until it is cancelled; "/list" is a command that needs no model.
import { createInterface } from 'node:readline'

const args = process.argv.slice(2)
const chunked = args[args.indexOf('--output-format') + 1] === 'stream-chunk-json'
const session = `agent-${process.pid}`
let turn = 0
let first = true
let waiting

const write = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
const head = (prompt) => ({
  id: `chatcmpl-${session}`,
  created: 1,
  model: 'small',
  session_id: session,
  prompt_id: prompt,
})

function completion(prompt, inner, finish, more = {}) {
  const metadata = first ? { metadata: { protocol_version: '1.0', capabilities: [] } } : {}
  first = false
  const object = chunked ? 'chat.completion.chunk' : 'chat.completion'
  const choice = { index: 0, [chunked ? 'delta' : 'message']: inner, finish_reason: finish }
  write({ object, ...head(prompt), choices: [choice], ...metadata, ...more })
}

function answer(prompt, text) {
  const usage = { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 }
  if (chunked) {
    completion(prompt, { role: 'assistant' }, null)
    for (const piece of text.match(/.{1,4}/gs)) completion(prompt, { content: piece }, null)
    completion(prompt, {}, 'stop', { usage })
    return
  }
  completion(prompt, { role: 'assistant', content: text }, 'stop', { usage })
  event(prompt, 'Finished')
}

const event = (prompt, name) => write({ type: 'x-qwen-session-event', ...where(prompt), event: name, message: '' })
const where = (prompt) => ({ session_id: session, prompt_id: prompt })

function request({ prompt_id: prompt, input }) {
  turn += 1
  const text = input.parts.map((part) => part.text ?? '').join('')
  if (input.command?.path?.[0] === 'list') {
    const result = { type: 'message', level: 'info', content: 'nothing there' }
    write({ type: 'result/command', ...where(prompt), command: input.command, result })
    event(prompt, 'Finished')
  } else if (text.includes('fail')) {
    write({ error: { message: 'It broke.', type: 'rate_limit_error', param: null, code: 'QUOTA' } })
    process.exit(1)
  } else if (text.includes('wait')) waiting = prompt
  else if (text.includes('ask')) {
    waiting = prompt
    const tool = { name: 'run', arguments: { command: 'ls' } }
    write({ type: 'control_request', request_id: `ask-${turn}`, subtype: 'can_use_tool', ...where(prompt), tool })
  } else answer(prompt, `You said: ${text} (turn ${turn} of this session)`)
}

function decided({ response }) {
  answer(waiting, `The answer was ${response.result?.behavior ?? response.error.message}.`)
}

function cancel({ prompt_id: prompt }) {
  write({ type: 'result/cancel', ...where(prompt), status: waiting === prompt ? 'ok' : 'noop' })
  write({ type: 'control_response', request_id: prompt, response: { subtype: 'success' } })
  if (waiting === prompt) event(prompt, 'USER_CANCELLED')
}

createInterface({ input: process.stdin }).on('line', (text) => {
  const line = JSON.parse(text)
  if (line.input) request(line)
  else if (line.type === 'control_response') decided(line)
  else if (line.type === 'control/cancel') cancel(line)
  else if (line.type === 'heartbeat_request')
    write({ type: 'result/heartbeat', session_id: session, status: 'ok', ts: 1 })
})
