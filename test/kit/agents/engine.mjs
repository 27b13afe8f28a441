#!/usr/bin/env node
// An OpenHarness engine on stdio, without a model: one envelope in, one out. It says what it was sent.
let input = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', (text) => {
  input += text
})
process.stdin.on('end', () => {
  const envelope = answer(input)
  process.stdout.write(`${JSON.stringify(envelope)}\n`)
})

function answer(text) {
  let asked = {}
  try {
    asked = JSON.parse(text)
  } catch {}
  const { protocol_version = '', request_id, correlation_id, capabilities = {}, request } = asked
  const error = !/^1\./.test(protocol_version)
    ? { code: protocol_version ? 'protocol_version_unsupported' : 'invalid_request', retryable: false }
    : typeof request?.context !== 'object' && { code: 'invalid_request', message: 'no context', retryable: false }
  const said = { action_type: 'render_message', priority: 'normal', payload: { text: `You sent: ${text}` } }
  return {
    protocol_version: '1.0.0',
    request_id,
    correlation_id,
    capability_denials: Object.keys(capabilities).map((capability) => ({ capability, code: 'not_supported' })),
    response: error ? { status: 'error', error } : { status: 'success', action_directives: [said] },
  }
}
