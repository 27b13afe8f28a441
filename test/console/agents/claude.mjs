// A scripted Claude Code that asks before it runs a command, and tells what it may run.
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)
const SESSION = '11111111-2222-4333-8444-555555555555'
const RULE = { type: 'addRules', rules: [{ toolName: 'Bash', ruleContent: 'ls *' }], destination: 'session' }

function take({ type, request_id, response }) {
  if (type === 'control_request') {
    say({ type: 'control_response', response: { subtype: 'success', request_id, response: {} } })
  } else if (type === 'user') {
    say({ type: 'system', subtype: 'init', session_id: SESSION, model: 'opus' })
    const asks = {
      subtype: 'can_use_tool',
      tool_name: 'Bash',
      input: { command: 'ls' },
      permission_suggestions: [RULE],
    }
    say({ type: 'control_request', request_id: 'q1', request: asks })
  } else if (type === 'control_response') {
    const { behavior, updatedInput, updatedPermissions = [] } = response.response
    const text = [behavior, JSON.stringify(updatedInput), updatedPermissions.length].join(' ')
    say({ type: 'assistant', session_id: SESSION, message: { id: 'm', content: [{ type: 'text', text }] } })
    say({ type: 'result', subtype: 'success', is_error: false, session_id: SESSION, result: text })
  }
}

let rest = ''
process.stdin.setEncoding('utf8').on('data', (text) => {
  const lines = (rest + text).split('\n')
  rest = lines.pop()
  for (const line of lines) take(JSON.parse(line))
})
