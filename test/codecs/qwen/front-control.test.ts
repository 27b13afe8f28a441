import { describe, expect, test } from 'vitest'
import { fault } from '../../../src/model/index.ts'
import { bare, CHUNK_ARGS, chat, completed, feed, front, http, JSON_ARGS, play, sentLines } from './kit.ts'

const accepted = { type: 'turn-accepted', how: 'new', session: 's' }
const cancel = (more: object = {}) => JSON.stringify({ type: 'control/cancel', ...more })
const cancelled = (request: string, status: string, reason: string) => [
  { type: 'result/cancel', status, reason },
  { type: 'control_response', request_id: request, response: { subtype: 'success', result: { status } } },
]
const NOOP = 'There is no turn to cancel: it has ended, or never ran.'
const approval = {
  kind: 'approval',
  tool: 'c1',
  name: 'edit_file',
  args: '{"n":1.10}',
  description: 'apply_diff',
  options: [
    { id: 'always', kind: 'allow', scope: 'always', label: 'Always' },
    { id: 'yes', kind: 'allow', scope: 'once' },
    { id: 'no', kind: 'deny', scope: 'once' },
  ],
}

/** A front with a turn that asks this. */
function asking(question: object, more: object = {}, argv = JSON_ARGS) {
  const drive = front(argv)
  drive.feed(chat('x'))
  play(drive, [accepted, { type: 'ask', ask: 'a1', question, ...more }])
  const asked = bare(sentLines(drive)).slice(1)
  drive.sent.length = 0
  return { drive, asked }
}

const reply = (response: object, request = 'a1') =>
  JSON.stringify({ type: 'control_response', request_id: request, response })

/** The reply that a question gets for this `response`. */
function replyTo(question: object, response: object) {
  const { drive } = asking(question)
  drive.feed(reply(response))
  const command = drive.commands.at(-1)!
  return command.type === 'ask-reply' ? command.reply : undefined
}

describe('cancel', () => {
  test('what runs is cancelled; both channels answer when it has its end', () => {
    const drive = front()
    drive.feed(chat('x'))
    play(drive, [accepted])
    drive.sent.length = 0
    drive.feed(cancel({ session_id: 's', prompt_id: 's########1', reason: 'escape' }))
    expect(drive.commands.at(-1)).toEqual({
      exchange: 'f3',
      session: { id: 's' },
      type: 'turn-cancel',
      target: { turn: 'f2' },
    })
    expect(drive.sent).toEqual([])
    play(drive, [{ type: 'turn-end', outcome: 'cancelled', stop: 'aborted' }])
    expect(bare(sentLines(drive))).toEqual([
      ...cancelled('s########1', 'ok', 'escape'),
      { type: 'x-qwen-session-event', event: 'USER_CANCELLED', message: 'The turn was cancelled.' },
    ])
    expect(sentLines(drive)[0]).toMatchObject({ session_id: 's', prompt_id: 's########1' })
  })

  test('a turn that completes or fails all the same was not cancelled', () => {
    for (const end of [completed, { type: 'turn-end', outcome: 'failed' }]) {
      const drive = front()
      drive.feed(chat('x'), cancel({ request_id: 'r1' }))
      expect(drive.commands).toHaveLength(1)
      play(drive, [accepted])
      expect(drive.commands[1]).toMatchObject({ type: 'turn-cancel', target: { turn: 'f2' } })
      play(drive, [end], 'f1')
      expect(bare(sentLines(drive)).slice(1, 3)).toEqual(cancelled('r1', 'noop', NOOP))
    }
  })

  test('nothing there to cancel', () => {
    const drive = front()
    drive.feed(cancel({ session_id: 's', prompt_id: 'p' }), cancel())
    expect(drive.commands).toEqual([])
    expect(sentLines(drive)[0]).toEqual({
      type: 'result/cancel',
      session_id: 's',
      prompt_id: 'p',
      status: 'noop',
      reason: NOOP,
    })
    expect(bare(sentLines(drive))).toEqual([...cancelled('p', 'noop', NOOP), ...cancelled('f1', 'noop', NOOP)])
  })

  test('another turn or session than the one that runs', () => {
    const drive = front()
    drive.feed(chat('x'), cancel({ prompt_id: 'other' }), cancel({ session_id: 'other' }))
    expect(drive.commands).toHaveLength(1)
    expect(sentLines(drive).filter(({ status }) => status === 'noop')).toHaveLength(2)
  })

  test('what waits ends at once', () => {
    const drive = front()
    drive.feed(chat('x'), chat('y', { prompt_id: 'p2' }), cancel({ prompt_id: 'p2' }))
    expect(bare(sentLines(drive)).slice(1)).toEqual([
      ...cancelled('p2', 'ok', 'escape'),
      { type: 'x-qwen-session-event', event: 'USER_CANCELLED', message: 'The turn was cancelled.' },
    ])
    play(drive, [completed])
    expect(drive.commands).toHaveLength(1)
    const chunks = front(CHUNK_ARGS)
    chunks.feed(chat('x'), chat('y', { prompt_id: 'p2' }), cancel({ prompt_id: 'p2' }))
    expect(sentLines(chunks).at(-1)).toMatchObject({ choices: [{ delta: {}, finish_reason: 'stop' }] })
  })

  test('a turn that never ran answers its cancellation too', () => {
    const drive = front()
    drive.feed(chat('x'), cancel({ prompt_id: 's########1' }))
    drive.link.encodeFault(fault('session-busy', 'busy'), 'f1', 'continues')
    expect(bare(sentLines(drive)).slice(0, 2)).toEqual(cancelled('s########1', 'noop', NOOP))
  })

  test('a clear cannot be cancelled', () => {
    const drive = front()
    drive.feed(chat('/clear'), cancel())
    expect(drive.commands).toHaveLength(1)
    expect(sentLines(drive)[0]).toMatchObject({ session_id: 's', status: 'noop' })
  })
})

describe('questions', () => {
  test('an approval in the shape of the text, with the choices of the agent', () => {
    const { drive, asked } = asking(approval)
    expect(asked).toEqual([
      {
        type: 'control_request',
        request_id: 'a1',
        subtype: 'can_use_tool',
        tool: { id: 'c1', name: 'edit_file', arguments: { n: 1.1 } },
        metadata: { reason: 'apply_diff', options: approval.options },
      },
    ])
    drive.feed(reply({ subtype: 'success', result: { behavior: 'approve', message: 'fine' } }))
    expect(drive.commands.at(-1)).toEqual({
      exchange: 'f3',
      session: { id: 's' },
      type: 'ask-reply',
      target: { turn: 'f2' },
      ask: 'a1',
      reply: { kind: 'approval', option: 'yes', message: 'fine' },
    })
  })

  test('an id that an earlier turn had gets a number: a late answer to that one is none', () => {
    const drive = front()
    const asks = [accepted, { type: 'ask', ask: 'a1', question: approval }] as const
    drive.feed(chat('x'))
    play(drive, [...asks, { type: 'ask-settled', ask: 'a1', how: 'timeout' }, completed])
    drive.feed(chat('y'))
    play(drive, [...asks])
    expect(sentLines(drive).at(-1)).toMatchObject({ type: 'control_request', request_id: 'a1#2' })
    const allow = { subtype: 'success', result: { behavior: 'approve' } }
    const before = drive.commands.length
    drive.feed(reply(allow))
    expect(drive.commands).toHaveLength(before)
    drive.feed(reply(allow, 'a1#2'))
    expect(drive.commands.at(-1)).toMatchObject({ type: 'ask-reply', ask: 'a1', reply: { option: 'yes' } })
    drive.feed(reply(allow, 'a1#2'))
    expect(drive.commands).toHaveLength(before + 1)
    play(drive, [
      { type: 'ask', ask: 'a1#2', question: approval },
      { type: 'ask', ask: 'a1', question: approval },
    ])
    expect(sentLines(drive).slice(-2)).toMatchObject([{ request_id: 'a1#2#2' }, { request_id: 'a1#3' }])
  })

  test('the arguments keep their digits', () => {
    const drive = front()
    drive.feed(chat('x'))
    play(drive, [accepted, { type: 'ask', ask: 'a1', question: approval }])
    expect(drive.sent.at(-1)).toContain('"arguments":{"n":1.10}')
  })

  test('an approval of an agent of this dialect keeps its metadata', () => {
    const plain = { kind: 'approval', name: 'x', args: '{}', options: [] }
    const { asked } = asking(plain, { ext: { protocol: 'qwen', json: '{"metadata":{"reason":"r","n":1},"z":1}' } })
    expect(asked).toEqual([
      {
        type: 'control_request',
        request_id: 'a1',
        subtype: 'can_use_tool',
        tool: { name: 'x', arguments: {} },
        metadata: { reason: 'r', n: 1 },
        z: 1,
      },
    ])
    expect(asking(plain).asked[0]).toHaveProperty('metadata', { options: [] })
  })

  test.each([
    [{ subtype: 'success', result: { behavior: 'allow' } }, { option: 'yes' }],
    [{ result: { behavior: 'approve', option: 'always' } }, { option: 'always' }],
    [{ result: { behavior: 'approve', option: 'no' } }, { option: 'yes' }],
    [{ result: { behavior: 'approve', updated_arguments: { n: 2 } } }, { option: 'yes', edited: '{"n":2}' }],
    [{ result: { behavior: 'approve', updated_arguments: 1 } }, { option: 'yes' }],
    [{ result: { behavior: 'deny', message: 'no way' } }, { option: 'no', message: 'no way' }],
    [{ result: { behavior: 'deny', option: 'no' } }, { option: 'no' }],
    [{ result: { behavior: 'ok' } }, { option: 'no' }],
    [{ result: 'approve' }, { option: 'no' }],
    [{}, { option: 'no' }],
    [
      { subtype: 'error', error: { message: 'broke', retryable: false } },
      { option: 'no', message: 'broke' },
    ],
    [
      { subtype: 'error', error: 'broke' },
      { option: 'no', message: 'broke' },
    ],
    [{ subtype: 'error' }, { option: 'no' }],
    [{ error: { retryable: true }, result: { behavior: 'approve' } }, { option: 'no' }],
    [{ error: null, result: { behavior: 'approve' } }, { option: 'yes' }],
  ])('the response %j', (response, expected) => {
    expect(replyTo(approval, response)).toEqual({ kind: 'approval', ...expected })
  })

  test('choices that lack a kind', () => {
    const narrow = { ...approval, options: [{ id: 'all', kind: 'allow', scope: 'always' }] }
    expect(replyTo(narrow, { result: { behavior: 'approve' } })).toEqual({ kind: 'approval', option: 'all' })
    expect(replyTo(narrow, { result: { behavior: 'deny' } })).toEqual({ kind: 'approval', option: 'deny' })
  })

  test('hooks and MCP messages', () => {
    const mcp = { kind: 'client', method: 'mcp_message', params: '{"method":"tools/list","id":1}' }
    expect(asking(mcp).asked).toEqual([
      { type: 'control_request', request_id: 'a1', subtype: 'mcp_message', payload: { method: 'tools/list', id: 1 } },
    ])
    const result = { subtype: 'success', result: { mcp_response: { id: 1 } } }
    expect(replyTo(mcp, result)).toEqual({ kind: 'client', result: '{"id":1}' })
    expect(replyTo(mcp, { mcp_response: { id: 2 } })).toEqual({ kind: 'client', result: '{"id":2}' })
    const hook = { kind: 'client', method: 'hook_callback', params: '{}' }
    expect(replyTo(hook, { result: { decision: 'go' } })).toEqual({ kind: 'client', result: '{"decision":"go"}' })
    expect(replyTo(hook, {})).toEqual({ kind: 'client', result: 'null' })
    expect(replyTo(hook, { error: { message: 'm', code: 1 } })).toEqual({
      kind: 'client',
      error: '{"message":"m","code":1}',
    })
    expect(replyTo(hook, { error: 'm' })).toEqual({ kind: 'client', error: '{"message":"m"}' })
    expect(replyTo(hook, { subtype: 'error' })).toEqual({ kind: 'client', error: '{"message":"Refused."}' })
  })

  test('a tool of the client: the result comes as a tool response and the turn goes on', () => {
    const drive = front()
    drive.feed(chat('x'))
    play(drive, [
      accepted,
      { type: 'tool-call', tool: 'c1', name: 'ask', args: '{}', executor: 'client' },
      { type: 'ask', ask: 'a1', question: { kind: 'tool', tool: 'c1' } },
      { type: 'ask', ask: 'a2', question: { kind: 'tool', tool: 'c2' } },
      { type: 'ask', ask: 'a3', question: approval },
    ])
    expect(sentLines(drive).filter(({ type }) => type === 'control_request')).toHaveLength(1)
    const response = (tool: string, parts: unknown) =>
      chat('', { tool_call_id: tool, input: { origin: 'tool_response', parts } })
    drive.feed(response('c2', [{ function_response: { id: 'c2', response: { error: 'bad' } } }]))
    expect(drive.commands.at(-1)).toMatchObject({
      type: 'ask-reply',
      ask: 'a2',
      reply: { kind: 'tool', status: 'error', parts: [{ type: 'text', text: 'bad' }] },
    })
    drive.feed(reply({ result: {} }, 'a1'), response('c1', 'fine'))
    expect(drive.commands.at(-1)).toMatchObject({
      ask: 'a1',
      reply: { kind: 'tool', status: 'ok', parts: [{ type: 'text', text: 'fine' }] },
    })
    drive.feed(response('c1', 'again'))
    expect(drive.commands.filter(({ type }) => type === 'ask-reply')).toHaveLength(2)
  })

  test('an answer that nothing waits for is a fault of the control channel', () => {
    const { drive } = asking(approval)
    play(drive, [{ type: 'ask-settled', ask: 'a1', how: 'timeout' }])
    drive.feed(reply({ result: { behavior: 'approve' } }))
    feed(drive, [{ type: 'control_response', request_id: 1 }])
    feed(drive, [{ type: 'control_request', request_id: 'x', subtype: 'initialize' }])
    const error = (message: string) => ({
      control_errors: [
        { message, type: 'invalid_request_error', param: null, code: 'QWEN_INVALID_REQUEST', retryable: false },
      ],
    })
    expect(sentLines(drive).map(({ metadata }) => metadata)).toEqual([
      error('No control request with this request_id waits for an answer.'),
      error('request_id Invalid type: Expected string but received 1.'),
      error('A client of this protocol answers control requests and sends none.'),
    ])
    // None of them is part of the answer, or ends it.
    const said = sentLines(drive).map(({ choices }) => choices)
    const nothing = [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: null }]
    expect(said).toEqual([nothing, nothing, nothing])
    expect(drive.exitCode).toBeUndefined()
    const idle = front()
    idle.feed(reply({ result: { behavior: 'approve' } }))
    expect(sentLines(idle)[0]).toMatchObject({ metadata: { control_errors: [{ code: 'QWEN_INVALID_REQUEST' }] } })
  })

  test('what is open when the client closes its input is answered by others; what it asked for then asks nobody', () => {
    const { drive } = asking(approval)
    drive.feed(chat('y', { prompt_id: 's########2' }))
    drive.link.decodeEnd!('eof')
    expect(drive.commands.map(({ type }) => type)).toEqual(['turn-start'])
    play(drive, [completed])
    const [first, second] = drive.commands.map(({ exchange }) => drive.answers.get(exchange)?.asks)
    expect([first, second, drive.exitCode]).toEqual(['inline', 'never', undefined])
    play(drive, [completed])
    expect(drive.exitCode).toBe(0)
  })

  test('a client that cannot answer on its wire is never asked', () => {
    const drive = http()
    drive.feed(chat('x'))
    expect(drive.answers.get('f1')).toMatchObject({ asks: 'never' })
    const socket = front([], { transport: 'socket' })
    socket.feed(chat('x'))
    expect(socket.answers.get('f1')).toMatchObject({ asks: 'inline' })
  })
})

describe('hints and heartbeats', () => {
  const hint = {
    type: 'command_hint_request',
    session_id: 'session-123',
    prompt_id: 'session-123########preview',
    trigger: 'slash',
    text: '/c',
    cursor: 2,
    context: { cwd: '/workspace/demo', selected_text: '' },
  }
  const where = { session_id: hint.session_id, prompt_id: hint.prompt_id }
  const replied = { turn: null, type: 'command-reply' } as const

  test('hints of an agent of this dialect go back as they came', () => {
    const drive = front()
    feed(drive, [hint])
    expect(drive.commands).toEqual([
      {
        exchange: 'f1',
        session: { id: 'session-123' },
        type: 'query',
        what: 'hints',
        args: '{"trigger":"slash","text":"/c","cursor":2,"context":{"cwd":"/workspace/demo","selected_text":""}}',
      },
    ])
    const data = '{"suggestions":[{"label":"chat","value":"chat","description":"d"}]}'
    const ext = { protocol: 'qwen', json: '{"metadata":{"is_perfect_match":true},"z":1}' }
    drive.link.encodeLink!({ ...replied, exchange: 'f1', data, ext })
    expect(sentLines(drive)).toEqual([
      {
        type: 'result/command_hint',
        ...where,
        trigger: 'slash',
        status: 'ok',
        suggestions: [{ label: 'chat', value: 'chat', description: 'd' }],
        metadata: { is_perfect_match: true },
        z: 1,
      },
    ])
  })

  test('an agent without hints', () => {
    const drive = front()
    feed(drive, [hint, { ...hint, trigger: undefined, text: '@m' }, { type: 'command_hint_request', text: '/' }])
    drive.link.encodeLink!({ ...replied, exchange: 'f1', fault: fault('invalid-request', 'No.') })
    drive.link.encodeLink!({ ...replied, exchange: 'f2', data: '{"suggestions":1}' })
    drive.link.encodeLink!({ ...replied, exchange: 'f4' })
    const common = { status: 'error', suggestions: [], metadata: { is_perfect_match: false } }
    const none = 'The agent behind this gateway offers no hints.'
    expect(sentLines(drive)).toEqual([
      { type: 'result/command_hint', ...where, trigger: 'slash', message: 'No.', ...common },
      { type: 'result/command_hint', ...where, trigger: 'at', message: none, ...common },
      { type: 'result/command_hint', session_id: 'f3', trigger: 'slash', message: none, ...common },
    ])
  })

  test('hints that are not wanted any more', () => {
    const drive = front()
    feed(drive, [hint, { ...hint, prompt_id: 'p' }, { type: 'heartbeat_request', ...where }])
    feed(drive, [{ type: 'command_hint_cancel', ...where }])
    drive.link.encodeLink!({ ...replied, exchange: 'f1', data: '{"suggestions":[]}' })
    expect(drive.sent).toEqual([])
    drive.link.encodeLink!({ ...replied, exchange: 'f2', data: '{"suggestions":[]}' })
    expect(sentLines(drive)[0]).toMatchObject({ prompt_id: 'p', status: 'ok' })
  })

  test('a heartbeat is answered by whoever is behind', () => {
    const drive = front()
    const beat = { type: 'heartbeat_request', session_id: 's' }
    feed(drive, [beat, beat, beat])
    expect(drive.commands[0]).toEqual({ exchange: 'f1', session: { id: 's' }, type: 'query', what: 'health' })
    const ext = { protocol: 'qwen', json: '{"z":1}' }
    drive.link.encodeLink!({ ...replied, exchange: 'f1', data: '{"ok":true}', ext })
    drive.link.encodeLink!({ ...replied, exchange: 'f2', data: '{"ok":false}' })
    drive.link.encodeFault(fault('agent-unavailable', 'gone'), 'f3', 'continues')
    const common = { type: 'result/heartbeat', session_id: 's' }
    expect(sentLines(drive)).toEqual([
      { ...common, status: 'ok', ts: 0, z: 1 },
      { ...common, status: 'error', ts: 0 },
      { ...common, status: 'error', ts: 0, message: 'gone' },
    ])
  })

  test('a heartbeat that nobody asked for, at the time of the last event', () => {
    const drive = front()
    drive.link.keepAlive!()
    expect(drive.sent).toEqual([])
    drive.feed(chat('x'))
    play(drive, [accepted])
    drive.sent.length = 0
    drive.link.keepAlive!()
    expect(sentLines(drive)).toEqual([{ type: 'result/heartbeat', session_id: 'f3', status: 'ok', ts: 1 }])
    const text = front(['--output-format', 'text'])
    text.feed(chat('x'))
    text.link.keepAlive!()
    expect(text.sent).toEqual([])
  })

  test('a request of this kind with a wrong field', () => {
    const drive = front()
    feed(drive, [{ type: 'heartbeat_request', session_id: 1 }])
    expect(drive.faults[0]!.fault.message).toBe('session_id must be a string.')
  })

  test('the wire closes when all are answered', () => {
    const drive = front()
    feed(drive, [{ type: 'heartbeat_request' }])
    drive.link.decodeEnd!('eof')
    expect(drive.exitCode).toBeUndefined()
    drive.link.encodeLink!({ ...replied, exchange: drive.commands[0]!.exchange })
    expect(drive.exitCode).toBe(0)
    drive.link.encodeLink!({ ...replied, exchange: 'nobody' })
    expect(drive.sent).toHaveLength(1)
  })
})

test('what no turn owns: notices and messages of this protocol', () => {
  const drive = front()
  drive.feed(chat('x'))
  drive.link.encodeLink!({ turn: null, type: 'notice', severity: 'info', code: 'c', text: 't' })
  drive.link.encodeLink!({ turn: null, type: 'foreign', protocol: 'qwen', frame: '{"a":1}' })
  drive.link.encodeLink!({ turn: null, type: 'foreign', protocol: 'zot', frame: '{"b":1}' })
  drive.link.encodeLink!({ turn: null, type: 'session-bound', agentSession: 's' })
  expect(bare(sentLines(drive))).toEqual([
    { type: 'x-qwen-session-event', event: 'c', message: 't', level: 'info' },
    { a: 1 },
  ])
})
