// An agent that nobody has logged in. By the name that it is started with it speaks as `claude`, `codex` and `qwen` do, or
// the Agent Client Protocol.
import { basename } from 'node:path'
import { createInterface } from 'node:readline'

const write = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)
const result = (id, result) => write({ jsonrpc: '2.0', id, result })

function claude({ type, request_id, request }) {
  if (type === 'control_request') {
    write({ type: 'control_response', response: { subtype: 'success', request_id, response: {} } })
    if (request.subtype !== 'initialize') process.exit(1)
  } else {
    const text = 'Not logged in · Please run /login'
    write({ type: 'result', subtype: 'success', is_error: true, result: text, session_id: 's', uuid: 'u' })
  }
}

function codex({ id, method }) {
  if (method === 'initialize') result(id, { userAgent: 'codex/0.171.0' })
  if (method === 'thread/start') result(id, { thread: { id: 'thread' } })
  if (method === 'turn/start') {
    result(id, { turn: { id: 'turn', status: 'inProgress', items: [] } })
    const error = {
      message: 'unexpected status 401 Unauthorized: Missing bearer authentication',
      codexErrorInfo: { responseStreamConnectionFailed: { httpStatusCode: 401 } },
    }
    const turn = { id: 'turn', status: 'failed', items: [], error }
    write({ method: 'turn/completed', params: { threadId: 'thread', turn } })
  }
}

function qwen() {
  const error = { message: 'No auth type is selected.' }
  write({ type: 'result', subtype: 'error_during_execution', is_error: true, session_id: 's', uuid: 'u', error })
  process.exitCode = 1
  process.stdin.destroy()
}

function acp({ id, method }) {
  if (method === 'initialize') result(id, { protocolVersion: 1, authMethods: [{ id: 'web', name: 'Log in' }] })
  else write({ jsonrpc: '2.0', id, error: { code: -32000, message: 'Authentication required' } })
}

const speak = { claude, codex, qwen }[basename(process.argv[1])] ?? acp
if (process.argv.includes('--version')) console.log('99.0.0')
else createInterface({ input: process.stdin }).on('line', (line) => speak(JSON.parse(line)))
