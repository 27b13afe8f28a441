/** For every rule, the flaw of an agent that breaks this rule and no other. Tools: `flaws.mjs`. */

const json = (object) => `${JSON.stringify(object)}\n`
const says = (text) => (object) => JSON.stringify(object).includes(text)
const banner = (t) => t.lines((line, _object, index) => (index === 0 ? ['Welcome!\n', line] : line))
const crlf = (t) => t.lines((line) => line.replace('\n', '\r\n'))
/** A mark instead of a character, where it is still JSON. */
const mojibake = (key) => (t) =>
  t.lines((line, object) =>
    line.includes(`"${key}":"`) && object ? line.replace(`"${key}":"`, `"${key}":"\ufffd`) : line,
  )
const twice = (match) => (t) => t.lines((line, object) => (match(object) ? [line, line] : line))
const drop = (match) => (t) => t.lines((line, object) => (match(object) ? '' : line))
const edit = (match, change) => (t) => t.edit(match, change)
const set = (match, fields) => edit(match, (object) => ({ ...object, ...fields }))
const before =
  (match, ...extra) =>
  (t) =>
    t.lines((line, object) => (match(object) ? [...extra.map(json), line] : line))
const after =
  (match, ...extra) =>
  (t) =>
    t.lines((line, object) => (match(object) ? [line, ...extra.map(json)] : line))
const hangs = (match) => (t) =>
  t.lines((line, object) => {
    if (match(object)) t.hang()
    return line
  })
const exits = (match, code) => (t) =>
  t.lines((line, object) => {
    if (match(object)) t.exitWith(code)
    return line
  })
/** Reads on until the end of its input before it does anything. */
const readsAll = (t) => {
  let held = ''
  t.input(
    (chunk) => {
      held += chunk
      return ''
    },
    () => held,
  )
}
/** Cuts lines where `node:readline` does. */
const cutsAtSeparators = (t) => t.input((chunk) => chunk.replaceAll('\u2028', '\n'))
const stays = (match) => (t) => {
  process.on('SIGTERM', () => {})
  hangs(match)(t)
}

const type = (name) => (object) => object.type === name
const response = (id) => (object) => object.type === 'response' && object.id === id

/** Done when the prompt was that one. */
const doneOf = (id, then) => (t) => {
  let isIt = false
  t.lines((line, object) => {
    isIt ||= response(id)(object)
    return isIt && object.type === 'done' ? then(line) : line
  })
}

const ofTurn = (name, turn) => (object) => object.type === name && object.turn === turn
const NATIVE = {
  'native.1.stdout-objects': after(type('agent-ready'), 'Welcome!'),
  'native.1.line-ends': crlf,
  'native.1.utf-8': mojibake('text'),
  'native.1.ready-first': before(type('agent-ready'), { type: 'session-changed', turn: null, json: {} }),
  'native.3.turn': set(ofTurn('turn-started', 't1'), { turn: 'other' }),
  'native.3.one-end': twice(ofTurn('turn-end', 't2')),
  'native.3.end-last': after(ofTurn('turn-end', 't2'), { type: 'plan', turn: 't2', json: [] }),
  'native.3.outcome': set(ofTurn('turn-end', 't1'), { outcome: 'failed' }),
  'native.3.delta': set(type('text-delta'), { message: 'm2' }),
  'native.3.role': set(type('message-start'), { role: undefined }),
  'native.3.tool-args': edit(type('tool-call'), (o) => ({ ...o, args: JSON.stringify(o.args) })),
  'native.3.usage': set(type('usage'), { usage: { input: -1 } }),
  'native.2.reply': twice(type('command-reply')),
  'native.1.cancel': twice(ofTurn('turn-end', 't3')),
  'native.1.line-separator': set(ofTurn('turn-end', 't4'), { outcome: 'cancelled' }),
  'native.1.unknown-members': set(ofTurn('turn-end', 't5'), { outcome: 'cancelled' }),
  'native.2.big-input': set(ofTurn('turn-end', 't6'), { outcome: 'cancelled' }),
}

const ZOT = {
  'zot.5.stdout-objects': banner,
  'zot.5.line-ends': crlf,
  'zot.5.utf-8': mojibake('delta'),
  'zot.5.2.one-response': twice(response('i2')),
  'zot.5.2.response-shape': set(response('i1'), { command: undefined }),
  'zot.11.hello-version': edit(response('h1'), (o) => ({ ...o, data: { ...o.data, protocol_version: 2 } })),
  'zot.5.2.started-first': before(response('p1'), { type: 'turn_start', step: 1 }),
  'zot.5.3.one-done': doneOf('p5', () => ''),
  'zot.5.3.done-last': doneOf('p3', (line) => [line, json({ type: 'turn_start', step: 2 })]),
  'zot.5.3.event-no-id': set(type('turn_start'), { id: 'p1' }),
  'zot.5.3.delta-text': set(type('text_delta'), { delta: '' }),
  'zot.5.3.delta-in-turn': drop(type('turn_start')),
  'zot.5.3.turn-end-stop': set(type('turn_end'), { stop: 'finished' }),
  'zot.5.3.usage-counts': set(type('usage'), { input: -1 }),
  'zot.5.4.message-content': set(type('assistant_message'), { content: 'text' }),
  'zot.5.2.ping-pong': set(response('i1'), { data: {} }),
  'zot.5.2.state': edit(response('s1'), (o) => ({ ...o, data: { ...o.data, busy: undefined } })),
  'zot.5.2.lists': set(response('l1'), { data: {} }),
  'zot.5.2.unknown-command': set(response('u1'), { success: true }),
  'zot.5.malformed-line': drop((o) => o.success === false && o.id === undefined),
  'zot.5.2.abort': set((o) => o.command === 'abort', { success: false }),
  'zot.5.unicode-id': set((o) => o.id?.startsWith('ü'), { id: 'u' }),
  'zot.5.line-separator': cutsAtSeparators,
  'zot.5.big-prompt': set(response('p5'), { success: false }),
  'zot.2.exits-at-end-of-input': hangs(response('p4')),
  'zot.4.wrong-token': set(response('h2'), { success: true }),
  'zot.4.token-first': set(response('i3'), { success: true }),
}

const answerTo = (id) => (o) => o.request_id === id
const refusal = { ok: false, error_code: 'INVALID_REQUEST', error_message: 'no', text: '' }
const ZENE = {
  'zene.2.stdout-objects': banner,
  'zene.2.line-ends': crlf,
  'zene.2.utf-8': mojibake('text'),
  'zene.4.one-answer': twice((o) => o.ok),
  'zene.2.line-is-request': readsAll,
  'zene.4.fields': set((o) => o.ok, { usage: undefined }),
  'zene.4.request-id': set(answerTo('r1'), { request_id: 'r0' }),
  'zene.4.session-id': set(answerTo('r1'), { session_id: 's0' }),
  'zene.4.success': set(answerTo('r1'), { text: ' ' }),
  'zene.4.failure': set(answerTo('r7'), { error_message: null }),
  'zene.6.error-code': set(answerTo('r2'), { ...refusal, error_code: 'OOPS' }),
  'zene.4.usage-counts': set(answerTo('r1'), { usage: { total_tokens: 1.5 } }),
  'zene.4.usage-counted': set(answerTo('r1'), { usage: { total_tokens: 0 } }),
  'zene.5.no-json': set(answerTo('unknown'), { error_code: 'INTERNAL' }),
  'zene.5.missing-field': set(answerTo('r7'), { error_code: 'INTERNAL' }),
  'zene.5.blank-field': set(answerTo('r8'), { error_code: 'INTERNAL' }),
  'zene.3.optional-fields': set(answerTo('r2'), refusal),
  'zene.2.line-separator': cutsAtSeparators,
  'zene.3.big-prompt': set(answerTo('r5'), refusal),
  'zene.7.exits': hangs(answerTo('r2')),
  'zene.8.exit-zero': exits(answerTo('r2'), 1),
  'zene.5.no-crash': exits(answerTo('r7'), 1),
  'zene.7.sigterm': stays(answerTo('r9')),
}

const final = (id) => (o) => o.type === 'final' && o.request_id === id
const STREAM = {
  'zene.stream.2.stdout-objects': banner,
  'zene.stream.2.line-ends': crlf,
  'zene.stream.2.utf-8': mojibake('text'),
  'zene.stream.4.one-final': twice(final('r2')),
  'zene.stream.4.end-last': after(final('r2'), { type: 'ack', request_id: 'r2', status: 'PONG' }),
  'zene.stream.1.accepted-first': drop((o) => o.type === 'ack' && o.request_id === 'r1'),
  'zene.stream.4.final-shape': set(final('r1'), { status: 'DONE' }),
  'zene.stream.4.error-shape': edit(answerTo('r5'), (o) => ({ ...o, error: { ...o.error, retryable: undefined } })),
  'zene.stream.4.session-id': set(final('r1'), { session_id: 's0' }),
  'zene.stream.1.event-seq': set(type('event'), { seq: 1 }),
  'zene.stream.4.usage-counts': set(final('r1'), { usage: { total_tokens: -1 } }),
  'zene.stream.1.ping': set(answerTo('p1'), { status: 'ACCEPTED' }),
  'zene.stream.1.cancel': set(answerTo('c3'), { status: 'ACCEPTED', type: 'ack', error: undefined }),
  'zene.stream.1.cancel-nothing': edit(answerTo('c4'), (o) => ({ ...o, type: 'ack', error: undefined })),
  'zene.stream.5.missing-field': edit(answerTo('r5'), (o) => ({ ...o, error: { ...o.error, code: 'INTERNAL' } })),
  'zene.stream.5.malformed-line': edit(answerTo('unknown'), (o) => ({ ...o, error: { ...o.error, code: 'INTERNAL' } })),
  'zene.stream.7.exits-at-end-of-input': hangs(final('r8')),
}

const { AGENT_MESSAGE = '', AGENT_STREAMING, AGENT_SESSION_ID } = process.env
const isBig = AGENT_MESSAGE.includes('€')
const isQuotes = AGENT_MESSAGE.includes('not an error')
const isPlain = AGENT_MESSAGE === 'Reply with the word ok.' && AGENT_STREAMING === '1'
const only = (isIt, flaw) => (t) => isIt && flaw(t)
const fails = (line, code) => (t) => {
  t.exitWith(code)
  t.lines((own) => (own.startsWith('AGENT_SESSION:') ? own : line))
}
const SENTINELS = {
  'agentproc-0.1.3.line-ends': crlf,
  'agentproc-0.1.3.utf-8': (t) => t.lines((line) => line.replace('> ', '\ufffd')),
  'agentproc-0.1.2.4.stdin-unread': only(isQuotes, (t) => t.hang()),
  'agentproc-0.1.4.exit-code': only(isQuotes, (t) => t.exitWith(3)),
  'agentproc-0.1.3.reply': (t) => t.lines((line) => (line.startsWith('AGENT_SESSION:') ? line : '')),
  'agentproc-0.1.3.1.session-id': (t) => t.lines((line) => line.replace('turn-1', 'turn/1')),
  'agentproc-0.1.3.1.resume': only(AGENT_SESSION_ID, fails('AGENT_ERROR:"no such session"\n', 1)),
  'agentproc-0.1.3.2.partial-json': (t) => t.lines((line) => line.replace(/^AGENT_PARTIAL:.*/, 'AGENT_PARTIAL:hello')),
  'agentproc-0.1.3.2.one-shot': (t) => t.lines((line) => line.replace(/^> .*/, 'AGENT_PARTIAL:"hello"')),
  'agentproc-0.1.3.3.error-json': only(isQuotes, fails('AGENT_ERROR:boom\n', 1)),
  'agentproc-0.1.3.3.error-exit': only(isQuotes, fails('AGENT_ERROR:"boom"\n', 0)),
  'agentproc-0.1.3.3.error-last': only(isQuotes, fails('AGENT_ERROR:"boom"\nmore\n', 1)),
  'agentproc-0.1.3.quoted-sentinel': only(isQuotes, fails('AGENT_ERROR:"not an error"\n', 1)),
  'agentproc-0.1.3.sentinel-column': only(isPlain, (t) => t.lines((line) => ` ${line}`)),
  'agentproc-0.1.2.1.big-message': only(isBig, fails('AGENT_ERROR:"too long"\n', 1)),
  'agentproc-0.1.5.sigterm': only(AGENT_MESSAGE.startsWith('Count'), (t) => {
    process.on('SIGTERM', () => {})
    t.hang()
  }),
}

const result = (text) => (o) => o.type === 'result' && o.text.includes(text)
const failsWith = (text, code) => (t) =>
  t.lines((line, o) => {
    if (!result(text)(o)) return line
    t.exitWith(code)
    return json({ type: 'error', message: 'no', session_id: o.session_id })
  })
const ASKS = { type: 'permission_request', request_id: 'q1', tool_name: 'Bash', input: {} }
const TYPED = {
  'agentproc-0.4.2.stdout-objects': banner,
  'agentproc-0.4.2.line-ends': crlf,
  'agentproc-0.4.2.utf-8': mojibake('text'),
  'agentproc-0.4.2.type': before(type('result'), { type: 'text', text: 'x' }),
  'agentproc-0.4.2.partial-text': set(type('partial'), { text: 1 }),
  'agentproc-0.4.2.result-text': set(type('result'), { text: null }),
  'agentproc-0.4.2.one-result': twice(type('result')),
  'agentproc-0.4.2.ends': drop(result('Again')),
  'agentproc-0.4.2.result-last': after(type('result'), { type: 'partial', text: 'more' }),
  'agentproc-0.4.2.error-message': before(type('result'), { type: 'error', message: '' }),
  'agentproc-0.4.2.error-last': (t) =>
    t.lines((line, o) => {
      if (!result('é')(o)) return line
      t.exitWith(1)
      return [json({ type: 'error', message: 'no' }), line]
    }),
  'agentproc-0.4.2.session-id': (t) =>
    t.lines((line) => line.replaceAll('"turn-1"', '"turn/1"').replaceAll('"turn-2"', '"turn/2"')),
  'agentproc-0.4.2.one-session': set(type('result'), { session_id: 'other' }),
  'agentproc-0.4.2.usage': set(type('result'), { usage: { input_tokens: 0.5 } }),
  'agentproc-0.4.1.no-wait-for-eof': readsAll,
  'agentproc-0.4.4.exits': hangs(result('Again')),
  'agentproc-0.4.4.exit-zero': exits(result('Again'), 3),
  'agentproc-0.4.4.error-exit': failsWith('é', 0),
  'agentproc-0.4.1.malformed': set(says('not JSON'), { type: 'result', text: 'ok' }),
  'agentproc-0.4.1.nothing': drop(says('no turn')),
  'agentproc-0.4.1.unknown-members': failsWith('please', 1),
  'agentproc-0.4.1.resume': failsWith('Again', 1),
  'agentproc-0.4.1.big-message': failsWith('€', 1),
  'agentproc-0.4.3.request': before(result('Run nothing'), { ...ASKS, tool_name: '' }),
  'agentproc-0.4.3.not-asked': before(result('Again'), ASKS),
  'agentproc-0.4.4.sigterm': stays(says('Count')),
}

const body = (text, change) => edit(says(text), change)
const inner = (fields) => (o) => ({ ...o, response: { ...o.response, ...fields } })
const directive = (fields) => (o) =>
  inner({ action_directives: [{ ...o.response.action_directives?.[0], ...fields }] })(o)
const succeeded = (o) => o.response?.status === 'success'
const failed = (o) => o.response?.status === 'error'
const invalid = inner({ status: 'error', error: { code: 'invalid_request' }, action_directives: undefined })
const ENGINE = {
  'openharness.5.2.envelope': (t) => t.lines((line) => (line.includes('€') ? '<html></html>' : line)),
  'openharness.5.2.protocol-version': set(succeeded, { protocol_version: '2' }),
  'openharness.5.2.request-id': set(succeeded, { request_id: undefined }),
  'openharness.5.2.correlation-id': set(succeeded, { correlation_id: undefined }),
  'openharness.5.2.status': edit(succeeded, inner({ status: 'ok' })),
  'openharness.13.error-object': edit(failed, inner({ error: { message: 'no' } })),
  'openharness.13.success-without-error': edit(succeeded, inner({ error: null })),
  'openharness.10.action-type': edit(succeeded, directive({ action_type: '' })),
  'openharness.10.hints': edit(succeeded, directive({ priority: 'urgent' })),
  'openharness.4.unknown-fields': body('unknown', invalid),
  'openharness.5.1.optional-fields': edit((o) => succeeded(o) && o.request_id === undefined, invalid),
  'openharness.9.1.attachments': body('attachments', invalid),
  'openharness.9.big-intent': body('€', invalid),
  'openharness.5.3.answered': set(() => true, { capability_denials: [] }),
  'openharness.3.version-refused': body('protocol_version_unsupported', invalid),
  'openharness.13.bad-request': edit(
    (o) => failed(o) && o.request_id === undefined,
    inner({ status: 'success', error: undefined }),
  ),
  'openharness.7.secrets': edit(
    (o) => o.response.error?.message === 'no context',
    inner({ error: { code: 'invalid_request', message: 'bad token conformance-secret-token' } }),
  ),
  'openharness.5.2.ends': hangs(says('€')),
  'openharness.5.2.utf-8': mojibake('text'),
}

const completion = (o) => o.object === 'chat.completion'
const choice = (fields) => (o) => ({ ...o, choices: [{ ...o.choices[0], ...fields }] })
const RFC = {
  'qwen.8.stdout-objects': banner,
  'qwen.8.line-ends': crlf,
  'qwen.8.utf-8': mojibake('content'),
  'qwen.8.event-kind': before(completion, { type: 'progress' }),
  'qwen.10.ending': (t) =>
    t.lines((line, o) => {
      if (o.event === 'Finished') return ''
      return completion(o) ? json(choice({ finish_reason: null })(o)) : line
    }),
  'qwen.5.one-ending': twice((o) => o.event === 'Finished'),
  'qwen.4.nothing-after-end': after((o) => o.event === 'Finished', {
    object: 'chat.completion',
    id: 'c',
    created: 1,
    choices: [{ index: 0, message: { role: 'assistant' } }],
  }),
  'qwen.4.choices': edit(
    (o) => completion(o) && !says('You said')(o),
    (o) => ({ ...o, choices: [] }),
  ),
  'qwen.4.role-first': edit(completion, choice({ message: { content: 'x' } })),
  'qwen.4.finish-reason': edit(completion, choice({ finish_reason: 'done' })),
  'qwen.4.identity': set(completion, { created: 1.5 }),
  'qwen.4.usage': set((o) => completion(o) && o.usage, { usage: { total_tokens: 1 } }),
  'qwen.10.metadata': edit(
    (o) => o.usage,
    (o) => ({ ...o, metadata: {} }),
  ),
  'qwen.7.heartbeat': set(type('result/heartbeat'), { status: 'fine' }),
  'qwen.7.hint': set(type('result/command_hint'), { suggestions: undefined }),
  'qwen.7.cancel-noop': set(type('result/cancel'), { status: 'cancelled' }),
  'qwen.9.control-request': before(completion, { type: 'control_request', request_id: '', subtype: 'can_use_tool' }),
  'qwen.10.malformed-line': drop((o) => o.metadata?.error),
  'qwen.10.fatal-exit': after((o) => o.event === 'Finished', {
    error: { message: 'no', type: 'x', param: null, code: 'x' },
  }),
  'qwen.8.exits-at-end-of-input': hangs(type('result/heartbeat')),
  'qwen.8.sigterm': stays(says('Count')),
}

const reply = (id) => (o) => o.response?.request_id === id
const SHIPPED = {
  'qwen-code.1.stdout-objects': banner,
  'qwen-code.1.line-ends': crlf,
  'qwen-code.1.utf-8': mojibake('text'),
  'qwen-code.1.type': before(type('assistant'), { type: 'progress' }),
  'qwen-code.1.one-result': twice((o) => o.type === 'result' && o.result.includes('Again')),
  'qwen-code.1.result-shape': set(type('result'), { result: undefined }),
  'qwen-code.1.result-last': after((o) => o.type === 'result' && o.result.includes('€'), {
    type: 'assistant',
    message: { role: 'assistant', content: [] },
  }),
  'qwen-code.1.init-first': (t) => {
    let held = ''
    t.lines((line, o) => {
      if (o.subtype === 'init') {
        held = line
        return ''
      }
      const now = o.type === 'result' ? held : ''
      held = o.type === 'result' ? '' : held
      return [now, line]
    })
  },
  'qwen-code.1.init-shape': set((o) => o.subtype === 'init', { tools: undefined }),
  'qwen-code.1.assistant-shape': edit(type('assistant'), (o) => ({ ...o, message: { ...o.message, content: 'text' } })),
  'qwen-code.1.usage': set(type('result'), { usage: { input_tokens: 'many' } }),
  'qwen-code.1.session-id': set(type('result'), { session_id: 'other' }),
  'qwen-code.1.stream-events': before(type('assistant'), {
    type: 'stream_event',
    event: { type: 'content_block_delta' },
  }),
  'qwen-code.3.reply': edit(reply('ü-😀'), (o) => ({ ...o, response: { ...o.response, request_id: 'u' } })),
  'qwen-code.3.interrupt': edit(reply('int-1'), (o) => ({ ...o, response: { ...o.response, subtype: 'error' } })),
  'qwen-code.3.request-shape': before(type('assistant'), { type: 'control_request', request_id: 'q', request: {} }),
  'qwen-code.4.malformed-line': (t) =>
    process.on('uncaughtException', () =>
      t.write(json({ type: 'result', subtype: 'success', is_error: false, result: '' })),
    ),
  'qwen-code.4.exits-at-end-of-input': hangs(reply('int-1')),
  'qwen-code.4.sigterm': stays(says('Count')),
}

/** Messages of the Agent Client Protocol. */
const answers = (id) => (object) => object.id === id && object.method === undefined
const kind = (name) => (object) => object.params?.update?.sessionUpdate === name
const resultOf = (id, fields) => edit(answers(id), (o) => ({ ...o, result: { ...o.result, ...fields } }))
const updated = (name, fields) =>
  edit(kind(name), (o) => ({ ...o, params: { ...o.params, update: { ...o.params.update, ...fields } } }))
const notice = {
  jsonrpc: '2.0',
  method: 'session/update',
  params: { sessionId: 's', update: { sessionUpdate: 'plan' } },
}
/** The same update once more, behind an answer. */
const repeats = (id) => (t) => {
  let last = ''
  t.lines((line, object) => {
    if (kind('agent_message_chunk')(object)) last = line
    return answers(id)(object) ? [line, last] : line
  })
}
/** Agrees to any version. */
const echoesVersion = (t) => {
  let asked = 1
  t.input((chunk) => {
    if (chunk.includes(':999')) asked = 999
    return chunk
  })
  t.lines((line) => line.replace('"protocolVersion":1', `"protocolVersion":${asked}`))
}
const ACP = {
  'acp.9.stdout-objects': banner,
  'acp.9.line-ends': crlf,
  'acp.9.utf-8': mojibake('text'),
  'acp.1.message': set(answers('n1'), { jsonrpc: undefined }),
  'acp.1.one-answer': twice(answers('l1')),
  'acp.1.ids': set(answers('ü-😀'), { id: '?' }),
  'acp.1.error': edit(answers('x2'), (o) => ({ ...o, error: { message: 'no' } })),
  'acp.2.version': resultOf('i1', { protocolVersion: 2 }),
  'acp.2.capabilities': resultOf('i1', { authMethods: {} }),
  'acp.2.other-version': echoesVersion,
  'acp.3.session-id': resultOf('n1', { sessionId: 7 }),
  'acp.3.no-early-update': before(answers('n1'), notice),
  'acp.3.parameters': edit(answers('x1'), (o) => ({ ...o, error: { ...o.error, code: -32603 } })),
  'acp.3.load': after(answers('l2'), { ...notice, params: { update: { sessionUpdate: 'agent_message_chunk' } } }),
  'acp.4.list': resultOf('l1', { sessions: [{ sessionId: 's' }] }),
  'acp.5.stop-reason': resultOf('p5', { stopReason: 'done' }),
  'acp.5.text': updated('agent_message_chunk', { content: { type: 'image' } }),
  'acp.5.update': edit(kind('agent_message_chunk'), (o) => ({ ...o, params: { ...o.params, sessionId: 'other' } })),
  'acp.5.none-after': repeats('p5'),
  'acp.5.unknown-session': edit(answers('x2'), ({ id }) => ({
    jsonrpc: '2.0',
    id,
    result: { stopReason: 'end_turn' },
  })),
  'acp.5.cancel': resultOf('p3', { stopReason: 'end_turn' }),
  'acp.6.tool-call': updated('tool_call', { kind: 'shell' }),
  'acp.6.tool-call-update': updated('tool_call_update', { toolCallId: 'call-2' }),
  'acp.6.permission': edit(
    (o) => o.method === 'session/request_permission',
    (o) => ({ ...o, params: { ...o.params, options: [] } }),
  ),
  'acp.7.not-offered': before(answers('p6'), { jsonrpc: '2.0', id: 'f1', method: 'fs/read_text_file', params: {} }),
  'acp.8.unknown-method': edit(answers('u1'), (o) => ({ ...o, error: { ...o.error, code: -32600 } })),
  'acp.9.goes-on': drop(answers('u2')),
  'acp.9.parse-error': drop((o) => o.id === null),
  'acp.9.exits': hangs(answers('l1')),
}

/** The flaws of agents by protocol (and suite). */
export const TABLE = {
  native: NATIVE,
  zot: ZOT,
  zene: ZENE,
  'zene@stream': STREAM,
  agentproc: SENTINELS,
  'agentproc@0.4': TYPED,
  openharness: ENGINE,
  qwen: RFC,
  'qwen-code': SHIPPED,
  acp: ACP,
}

/** The flaws of agents by rule. */
export const FLAWS = Object.assign({}, ...Object.values(TABLE))
