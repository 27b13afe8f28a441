#!/usr/bin/env node
/**
 * A tiny client of each protocol, and broken ones: `tiny-clients.mjs PROTOCOL [RULE]`. With a rule it breaks that one.
 */
import { spawn } from 'node:child_process'
import { request } from 'node:http'

const [protocol, flaw = ''] = process.argv.slice(2)
const is = (rule) => flaw === rule
const text = (frame) => `${JSON.stringify(frame)}\n`

/** Starts a program; `line` is called with every object it says, and with the child. */
function start(program, args, { env = {}, line = () => {} } = {}) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'], env: { ...process.env, ...env } })
  let rest = ''
  child.stdin.on('error', () => {})
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()
    for (const one of lines) line(one, child)
  })
  return child
}

/** Ends this client when the program has ended, unless it is one that does not wait. */
const waitFor = (child) => new Promise((resolve) => child.on('exit', resolve))
/** Goes away at once and leaves the program behind. */
const abandon = () => process.exit(0)

const CLIENTS = {
  openai: () => modelClient('openai', 'openai-chat', '/v1/chat/completions'),
  'openai@responses': () => modelClient('openai@responses', 'openai-responses', '/v1/responses'),
  anthropic: () => modelClient('anthropic', 'anthropic', '/v1/messages'),
  acp() {
    const rule = (name) => is(`acp.client.${name}`)
    const ask = (id, method, params) => text({ jsonrpc: '2.0', id, method, params })
    const cwd = rule('3.new') ? 'here' : '/'
    const prompt = [{ type: 'text', text: 'hi' }]
    const child = start(process.env.TURNPIKE_COMMAND, [], {
      line(one) {
        const { id, method, result, params } = JSON.parse(one)
        if (id === 1) {
          if (rule('1.message')) child.stdin.write('{"id":9}\n')
          child.stdin.write(ask(rule('1.ids') ? 1 : 2, 'session/new', { cwd, mcpServers: [] }))
        }
        if (result?.sessionId) {
          const sessionId = rule('5.prompt') ? 'mine' : result.sessionId
          child.stdin.write(ask(3, 'session/prompt', { sessionId, prompt }))
        }
        if (method === 'session/request_permission') {
          if (rule('5.waits')) child.kill('SIGTERM')
          const optionId = rule('6.permission') ? 'maybe' : params.options[1].optionId
          child.stdin.write(text({ jsonrpc: '2.0', id, result: { outcome: { outcome: 'selected', optionId } } }))
        } else if (method !== undefined && id !== undefined) {
          const code = rule('8.unknown-method') ? -32603 : -32601
          child.stdin.write(text({ jsonrpc: '2.0', id, error: { code, message: 'Method not found' } }))
        }
        if (id !== 3) return
        if (rule('9.reaps')) abandon()
        child.stdin.end()
      },
    })
    if (rule('9.objects')) child.stdin.write('hello\n')
    if (rule('2.first')) child.stdin.write(ask(0, 'session/list', {}))
    child.stdin.write(ask(1, 'initialize', { protocolVersion: 1, clientCapabilities: {} }))
    return waitFor(child)
  },
  zot() {
    const id = (name) => (is('zot.client.5.2.ids') ? 'same' : name)
    const child = start('zot', is('zot.client.3.rpc-mode') ? ['run'] : ['rpc'], {
      line(one) {
        const { type, command } = JSON.parse(one)
        if (command === 'hello') {
          if (is('zot.client.5.2.command-type')) child.stdin.write(text({ id: 'x', type: 'no_such' }))
          const message = is('zot.client.5.2.prompt-message') ? ['hi'] : 'hi'
          child.stdin.write(text({ id: id('2'), type: 'prompt', message }))
        }
        if (type === 'text_delta' && is('zot.client.5.3.waits-for-done')) child.kill('SIGTERM')
        if (type !== 'done') return
        if (is('zot.client.2.reaps')) abandon()
        child.stdin.end()
      },
    })
    if (is('zot.client.5.objects')) child.stdin.write('hello\n')
    child.stdin.write(text({ id: id('1'), type: 'hello' }))
    return waitFor(child)
  },
  native() {
    const rule = (name) => is(`native.client.${name}`)
    const child = start(process.env.TURNPIKE_COMMAND, [], {
      line(one) {
        const { type } = JSON.parse(one)
        if (type === 'agent-ready') {
          if (rule('2.type')) child.stdin.write(text({ type: 'no-such', exchange: 'e0' }))
          const input = rule('2.input') ? [] : 'hi'
          child.stdin.write(text({ type: 'turn-start', exchange: 'e1', turn: 't1', input }))
        }
        if (type === 'text-delta' && rule('3.waits-for-end')) child.kill('SIGTERM')
        if (type !== 'turn-end') return
        if (rule('1.reaps')) abandon()
        child.stdin.end()
      },
    })
    if (rule('1.objects')) child.stdin.write('hello\n')
    child.stdin.write(text({ type: 'query', exchange: rule('1.ids') ? 'e1' : 'e2', what: 'state' }))
    return waitFor(child)
  },
  zene() {
    const mode = is('zene.client.7.waits') ? ['--single-request', 'false'] : ['--bridge-compat']
    const child = start('zene', ['host', '--protocol', 'v1', ...mode], {
      line() {
        if (is('zene.client.7.waits')) child.kill('SIGTERM')
        if (is('zene.client.7.reaps')) abandon()
      },
    })
    const request = {
      protocol_version: is('zene.client.3.version') ? 2 : 1,
      type: is('zene.client.3.type') ? 'ask' : 'run',
      request_id: 'r1',
      session_id: 's1',
      prompt: is('zene.client.3.required') ? ' ' : 'hi',
      timeout_ms: is('zene.client.3.timeout') ? '30s' : 30_000,
    }
    if (is('zene.client.2.objects')) child.stdin.write('hello\n')
    else child.stdin.write(text(request))
    if (is('zene.client.2.one-request')) child.stdin.write(text({ ...request, request_id: 'r2' }))
    child.stdin.end()
    const first = waitFor(child)
    if (!is('zene.client.3.ids')) return first
    return first.then(() => {
      const again = start('zene', ['host'])
      again.stdin.end(text(request))
      return waitFor(again)
    })
  },
  async agentproc() {
    const env = {
      AGENT_MESSAGE: 'hi',
      AGENT_SESSION_ID: '',
      AGENT_SESSION_NAME: 'default',
      AGENT_FROM_USER: 'me',
      AGENT_STREAMING: is('agentproc-0.1.client.2.1.streaming') ? 'yes' : '1',
      AGENT_PROTOCOL_VERSION: is('agentproc-0.1.client.2.1.version') ? '2' : '0.1',
      ...(is('agentproc-0.1.client.2.3.attachments') && { AGENT_ATTACHMENTS: 'a.png' }),
    }
    if (is('agentproc-0.1.client.2.1.variables')) delete env.AGENT_FROM_USER
    for (const session of ['', is('agentproc-0.1.client.3.1.resume') ? 'conformance-1' : 'conformance-2']) {
      const child = start(process.env.TURNPIKE_COMMAND, [], {
        env: { ...env, AGENT_SESSION_ID: session },
        line: (one) => {
          if (is('agentproc-0.1.client.5.waits')) child.kill('SIGTERM')
          if (is('agentproc-0.1.client.5.reaps') && one.endsWith('conformance-2')) abandon()
        },
      })
      child.stdin.end(is('agentproc-0.1.client.2.4.stdin') ? 'something else\n' : '')
      await waitFor(child)
    }
  },
  async 'agentproc@0.4'() {
    const rule = (name) => is(`agentproc-0.4.client.${name}`)
    for (const session of ['', rule('1.resume') ? 'other' : 'conformance-1']) {
      const turn = {
        type: 'turn',
        message: rule('1.ascii') ? 'é' : 'hi',
        session_id: session,
        session_name: rule('1.turn') ? 7 : 'default',
        protocol_version: rule('1.version') ? '1' : '0.4',
        permission: true,
      }
      const child = start(process.env.TURNPIKE_COMMAND, [], {
        line: (one) => {
          const { type, request_id } = JSON.parse(one)
          if (type === 'partial' && rule('4.waits')) child.kill('SIGTERM')
          if (type === 'permission_request' && rule('3.response'))
            child.stdin.write(text({ type: 'permission_response', behavior: 'deny' }))
          else if (type === 'permission_request') {
            child.stdin.write(text({ type: 'permission_response', request_id, behavior: 'deny' }))
          }
          if (type === 'result' && rule('4.reaps')) abandon()
          if (type === 'result') child.stdin.end()
        },
      })
      child.stdin.write(text(turn))
      if (rule('1.objects')) child.stdin.write('hello\n')
      if (rule('1.one-turn')) child.stdin.write(text({ ...turn, permission: false }))
      if (rule('1.eof')) child.stdin.end()
      await waitFor(child)
    }
  },
  async openharness() {
    const rule = (name) => is(`openharness.client.${name}`)
    const envelope = {
      protocol_version: rule('3.version') ? '1' : '1.0.0',
      request_id: rule('5.1.ids') ? 7 : 'r1',
      capabilities: rule('5.3.capabilities') ? ['openharness.streaming'] : {},
      request: {
        context: {
          user_intent: 'hi',
          attachments: rule('9.1.attachments') ? [{ data: 'aGk=' }] : [{ uri: 'https://example.com/a.png' }],
          environment_state: { privacy_tier: rule('8.privacy-tier') ? 'hidden' : 'public' },
        },
      },
    }
    const post = () =>
      fetch(process.env.TURNPIKE_ENDPOINT, {
        method: 'POST',
        headers: { 'content-type': rule('5.1.http') ? 'text/plain' : 'application/json' },
        body: rule('5.1.envelope') ? '{}' : JSON.stringify(envelope),
      }).then(
        (answer) => answer.text(),
        () => {},
      )
    if (rule('5.2.waits')) return leaveEarly(process.env.TURNPIKE_ENDPOINT)
    await post()
    if (rule('5.1.unique-ids')) await post()
    if (rule('5.2.ends')) await new Promise((resolve) => setTimeout(resolve, 1e6))
  },
  qwen() {
    const rule = (name) => is(`qwen.client.${name}`)
    const format = rule('3.formats') ? 'text' : 'stream-json'
    const child = start('qwen', ['--input-format', format, '--output-format', 'stream-json'], {
      line(one) {
        const { type, request_id, event, object } = JSON.parse(one)
        if (type === 'control_request') {
          const response = { subtype: 'success', result: { behavior: 'deny' } }
          const id = rule('9.response') ? 'another' : request_id
          child.stdin.write(text({ type: 'control_response', request_id: id, response }))
          if (rule('4.waits')) child.kill('SIGTERM')
        }
        if (rule('11.reaps') && object) abandon()
        if (event === 'Finished') child.stdin.end()
      },
    })
    const request = {
      session_id: '_new',
      prompt_id: rule('6.ids') ? '' : 's########1',
      input: { origin: rule('6.parts') ? 'me' : 'user', parts: [{ type: 'text', text: 'hi' }] },
    }
    if (rule('8.objects')) child.stdin.write('hello\n')
    if (rule('6.kind')) child.stdin.write(text({ type: 'hello' }))
    child.stdin.write(text(request))
    if (rule('6.unique-prompts')) child.stdin.write(text(request))
    return waitFor(child)
  },
  'qwen-code'() {
    const rule = (name) => is(`qwen-code.client.${name}`)
    const output = rule('2.formats') ? 'json' : 'stream-json'
    const child = start('qwen', ['--input-format', 'stream-json', '--output-format', output], {
      line(one) {
        const { type, request_id } = JSON.parse(one)
        if (type === 'control_request') {
          const behavior = rule('3.response') ? 'approve' : 'deny'
          const response = { subtype: 'success', request_id, response: { behavior } }
          child.stdin.write(text({ type: 'control_response', response }))
          if (rule('4.waits')) child.kill('SIGTERM')
        }
        if (type === 'result' && rule('4.reaps')) abandon()
        if (type === 'result') child.stdin.end()
      },
    })
    const hello = { type: 'control_request', request_id: 'c1', request: { subtype: 'initialize' } }
    const content = rule('2.user-message') ? 7 : 'hi'
    const user = text({ type: 'user', message: { role: 'user', content } })
    if (rule('2.objects')) child.stdin.write('hello\n')
    if (rule('3.initialize-first')) child.stdin.write(text({ type: 'control_cancel_request', request_id: 'c0' }))
    child.stdin.write(text(hello))
    if (rule('2.type')) child.stdin.write(text({ type: 'hello' }))
    if (rule('3.request')) child.stdin.write(text(hello))
    child.stdin.write(user)
    return waitFor(child)
  },
}

/** The body of one request, which is answered in one piece. */
const asking = (protocol, rule) =>
  ({
    openai: {
      model: rule('1.body') ? 7 : 'conformance-1',
      messages: [
        { role: rule('1.role') ? 'judge' : 'system', content: 'Be brief.' },
        { role: 'user', content: rule('1.content') ? 7 : 'hi' },
        ...(rule('4.results')
          ? [{ role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: {} }] }]
          : []),
      ],
      stream: rule('1.stream') ? 'yes' : false,
      tools: [
        { type: 'function', function: { name: rule('4.tools') ? 'get weather' : 'get_weather', parameters: {} } },
      ],
      tool_choice: 'none',
    },
    'openai@responses': {
      model: rule('1.body') ? 7 : 'conformance-1',
      input: [
        { role: rule('1.items') ? 'judge' : 'user', content: 'hi' },
        ...(rule('4.outputs') ? [{ type: 'function_call_output', call_id: 'c', output: 'ok' }] : []),
      ],
      stream: rule('1.stream') ? 'yes' : false,
      tools: [{ type: 'function', name: rule('4.tools') ? 7 : 'get_weather', parameters: {} }],
      tool_choice: 'none',
    },
    anthropic: {
      model: 'conformance-1',
      max_tokens: rule('1.body') ? '99' : 99,
      messages: [
        { role: rule('1.messages') ? 'judge' : 'user', content: 'hi' },
        ...(rule('4.results')
          ? [
              { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'x', input: {} }] },
              { role: 'user', content: 'Well?' },
            ]
          : []),
      ],
      stream: rule('1.stream') ? 'yes' : false,
      tools: [{ name: 'get_weather', input_schema: rule('4.tools') ? 'object' : { type: 'object' } }],
      tool_choice: { type: 'none' },
    },
  })[protocol]

/** A client of a server of models: one turn. */
async function modelClient(protocol, prefix, path) {
  const rule = (name) => is(`${prefix}.client.${name}`)
  const url = process.env.TURNPIKE_ENDPOINT + (rule('1.post') ? '/v2/chat' : path)
  const version = rule('1.version') ? 'new' : '2023-06-01'
  if (rule('3.waits')) return leaveEarly(url, { 'anthropic-version': version })
  const headers = { 'content-type': 'application/json', 'anthropic-version': version }
  await fetch(url, { method: 'POST', headers, body: JSON.stringify(asking(protocol, rule)) }).then((one) => one.text())
  if (rule('1.ends')) await new Promise((resolve) => setTimeout(resolve, 1e6))
}

/** Goes away as soon as the server has seen the head of its request. */
function leaveEarly(url, more = {}) {
  const headers = { 'content-type': 'application/json', expect: '100-continue', ...more }
  const call = request(url, { method: 'POST', headers })
  return new Promise((resolve) => {
    call.on('error', () => {})
    call.on('close', resolve)
    call.on('continue', () => call.destroy())
    call.flushHeaders()
  })
}

await CLIENTS[protocol]()
