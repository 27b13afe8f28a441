import { describe, expect, test } from 'vitest'
import { fault } from '../../../src/model/index.ts'
import { chunk, completion, endsOf, event, eventsOf, feed, runningBack, withoutTurn } from './kit.ts'

const done = { type: 'turn-end', outcome: 'completed', stop: 'end' }
const said = (message: string, text: string) => [
  { type: 'message-start', message, role: 'assistant' },
  { type: 'message-end', message, parts: [{ type: 'text', text }] },
]
const call = (id: string, name: string, args: unknown, more: object = {}) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
  ...more,
})

describe('chat.completion', () => {
  test('the three lines of the text, and the event that ends them', () => {
    const common = { id: 'chatcmpl-session-123', created: 1739430000, model: 'qwen-coder' }
    const usage = (input: number, output: number) => ({
      usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
    })
    const drive = runningBack()
    feed(drive, [
      completion({ role: 'assistant', content: 'looking', tool_calls: null }, 'stop', {
        ...common,
        ...usage(1200, 80),
      }),
      completion({ role: 'assistant', tool_calls: [call('tool-1', 'edit_file', '{"n":1.10}')] }, 'tool_calls', common),
      completion({ role: 'assistant', content: 'fixed' }, 'stop', { ...common, ...usage(1600, 200) }),
    ])
    expect(endsOf(drive.events)).toEqual([])
    feed(drive, [event('Finished')])
    expect(withoutTurn(drive.events)).toEqual([
      { type: 'session-bound', agentSession: 'session-123' },
      ...said('b1', 'looking'),
      { type: 'usage', scope: 'call', usage: { input: 1200, output: 80, total: 1280 } },
      { type: 'tool-call', tool: 'tool-1', name: 'edit_file', args: '{"n":1.10}', executor: 'agent' },
      ...said('b2', 'fixed'),
      { type: 'usage', scope: 'call', usage: { input: 1600, output: 200, total: 1800 } },
      { type: 'usage', scope: 'turn', usage: { input: 2800, output: 280, total: 3080 } },
      done,
    ])
    expect(drive.losses).toEqual([])
  })

  test('the total that the last event tells goes before the sum', () => {
    const usage = { prompt_tokens: 1, prompt_tokens_details: { cached_tokens: 2 } }
    expect(
      eventsOf([
        completion({ content: 'a' }, 'stop', { usage }),
        event('Finished', {
          metrics: { prompt_tokens: 9, completion_tokens_details: { reasoning_tokens: 3 } },
          z: 1.5,
        }),
      ]).slice(2),
    ).toEqual([
      { type: 'usage', scope: 'call', usage: { input: 1, cacheRead: 2 } },
      { type: 'usage', scope: 'turn', usage: { input: 9, reasoning: 3 } },
      { ...done, ext: { protocol: 'qwen', json: '{"z":1.5}' } },
    ])
  })

  test('zeros are no usage; metrics of another kind ride along', () => {
    expect(
      eventsOf([
        completion({ content: 'a' }, 'stop', { usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } }),
        event('Finished', { metrics: { original_tokens: 5 } }),
      ]).slice(2),
    ).toEqual([{ ...done, ext: { protocol: 'qwen', json: '{"metrics":{"original_tokens":5}}' } }])
    expect(eventsOf([completion({ content: 'a' }, 'stop'), event('Finished', { metrics: null })]).at(-1)).toEqual(done)
  })

  test('messages of other roles, without content, several choices', () => {
    const drive = runningBack()
    feed(drive, [
      completion({ role: 'user', content: 'u' }, null),
      completion({ role: 'odd', content: 'o' }, null),
      completion(undefined, null),
      { object: 'chat.completion' },
      { object: 'chat.completion', choices: [{ message: { content: 'a' } }, { message: { content: 'b' } }] },
      event('Finished'),
    ])
    const events = withoutTurn(drive.events)
    expect(events.filter((one) => 'role' in one)).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'assistant' },
    ])
    expect(events.at(-1)).toEqual(done)
    expect(drive.losses).toEqual([
      { kind: 'dropped', item: 'message-end', field: 'choices', why: 'no-place', count: 1 },
    ])
  })

  test('unknown fields ride along at their place', () => {
    const line =
      '{"object":"chat.completion","service_tier":1.0,"choices":[{"index":0,"message":{"role":"assistant","content":"a","refusal":null,"tool_calls":[{"id":"c","type":"function","x":2.0,"function":{"name":"n","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"metadata":{"protocol_version":"1.0","tag":1},"annotations":[{"type":"x-qwen-terminal","source":"assistant","spans":[]}]}'
    expect(eventsOf([line]).slice(1)).toEqual([
      {
        type: 'message-end',
        message: 'b1',
        parts: [{ type: 'text', text: 'a' }],
        ext: {
          protocol: 'qwen',
          json: '{"service_tier":1.0,"metadata":{"tag":1},"annotations":[{"type":"x-qwen-terminal","source":"assistant","spans":[]}],"message":{"refusal":null}}',
        },
      },
      {
        type: 'tool-call',
        tool: 'c',
        name: 'n',
        args: '{}',
        executor: 'agent',
        ext: { protocol: 'qwen', json: '{"call":{"x":2.0}}' },
      },
    ])
    const alone = completion({ tool_calls: [call('c', 'n', '{}')] }, 'tool_calls', { z: 1 })
    expect(eventsOf([alone])).toMatchObject([{ type: 'tool-call', ext: { json: '{"z":1}' } }])
  })

  test('arguments: an object, none, and what is no JSON', () => {
    const drive = runningBack()
    const calls = [call('a', 'n', { n: 1 }), call('b', 'n', ''), call('c', 'n', '{"n":'), call('a', 'n', null)]
    feed(drive, [completion({ tool_calls: calls }, 'tool_calls')])
    expect(drive.events).toMatchObject([
      { tool: 'a', args: '{"n":1}' },
      { tool: 'b', args: '{}' },
      { tool: 'c', args: '{}' },
      { tool: 'a#2', args: '{}' },
    ])
    expect(drive.losses).toEqual([
      { kind: 'unparsed', item: 'tool-call', field: 'arguments', why: 'unknown', count: 1 },
    ])
  })

  test('a completion that is none', () => {
    const drive = runningBack()
    feed(drive, [
      { object: 'chat.completion', choices: 1 },
      { object: 'chat.completion.chunk', choices: 1 },
    ])
    expect(drive.events).toEqual([])
    expect(drive.losses.map(({ kind, item }) => [kind, item])).toEqual([
      ['unparsed', 'message-end'],
      ['unparsed', 'text-delta'],
    ])
  })

  test('annotations that are none stay where they are', () => {
    const line = completion({ content: 'a' }, 'stop', { annotations: [[], { type: 'odd' }] })
    expect(eventsOf([line]).at(-1)).toHaveProperty('ext.json', '{"annotations":[[],{"type":"odd"}]}')
  })
})

describe('chat.completion.chunk', () => {
  test('a plain turn: text as it comes, the last piece ends it', () => {
    const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
    expect(
      eventsOf([
        chunk({ role: 'assistant' }),
        chunk({ content: 'hel' }),
        chunk({ content: '' }),
        chunk({ content: 'lo' }),
        chunk({}, 'stop', { usage, z: 1 }),
      ]),
    ).toEqual([
      { type: 'message-start', message: 'b1', role: 'assistant' },
      { type: 'text-delta', message: 'b1', text: 'hel' },
      { type: 'text-delta', message: 'b1', text: 'lo' },
      { type: 'message-end', message: 'b1' },
      { type: 'usage', scope: 'turn', usage: { input: 3, output: 4, total: 7 } },
      { ...done, ext: { protocol: 'qwen', json: '{"z":1}' } },
    ])
  })

  test('a role that is named again begins a message; the gap that comes with it is none of its text', () => {
    const events = eventsOf([
      chunk({ role: 'assistant', content: 'one' }),
      chunk({ role: 'assistant', content: '\n\n' }),
      chunk({ content: 'two' }, 'length'),
    ])
    expect(events.filter((one) => 'text' in one)).toEqual([
      { type: 'text-delta', message: 'b1', text: 'one' },
      { type: 'text-delta', message: 'b2', text: 'two' },
    ])
    expect(events.at(-1)).toEqual({ ...done, stop: 'max-tokens' })
  })

  test('pieces of calls, in parallel, and whole ones', () => {
    const piece = (index: number | undefined, more: object) => chunk({ tool_calls: [{ index, ...more }] })
    const drive = runningBack()
    feed(drive, [
      chunk({ content: 'x' }),
      piece(0, { id: 'a', type: 'function', function: { name: 'read', arguments: '' }, extra: 1 }),
      piece(1, { id: 'b', function: { name: 'run', arguments: '{"n"' } }),
      piece(0, { function: { arguments: '{"m":1.0}' } }),
      piece(undefined, { function: { arguments: '' } }),
      piece(1, {}),
      piece(7, { function: { arguments: '1' } }),
      piece(8, { function: { name: 'nameless' } }),
      chunk({}, 'tool_calls', { usage: { prompt_tokens: 1 } }),
      chunk({ content: 'y' }),
      chunk({}, 'stop'),
    ])
    expect(withoutTurn(drive.events).slice(2)).toEqual([
      { type: 'message-end', message: 'b1' },
      {
        type: 'tool-start',
        tool: 'a',
        name: 'read',
        executor: 'agent',
        ext: { protocol: 'qwen', json: '{"call":{"extra":1}}' },
      },
      { type: 'tool-start', tool: 'b', name: 'run', executor: 'agent' },
      { type: 'tool-args-delta', tool: 'b', text: '{"n"' },
      { type: 'tool-args-delta', tool: 'a', text: '{"m":1.0}' },
      { type: 'tool-start', tool: 'b2', name: 'nameless', executor: 'agent' },
      { type: 'tool-call', tool: 'a', name: 'read', args: '{"m":1.0}', executor: 'agent' },
      { type: 'tool-call', tool: 'b', name: 'run', args: '{}', executor: 'agent' },
      { type: 'tool-call', tool: 'b2', name: 'nameless', args: '{}', executor: 'agent' },
      { type: 'usage', scope: 'call', usage: { input: 1 } },
      { type: 'message-start', message: 'b3', role: 'assistant' },
      { type: 'text-delta', message: 'b3', text: 'y' },
      { type: 'message-end', message: 'b3' },
      { type: 'usage', scope: 'turn', usage: { input: 1 } },
      done,
    ])
    expect(drive.losses).toEqual([{ kind: 'unparsed', item: 'tool-args-delta', why: 'unknown', count: 1 }])
  })

  test('unknown fields of a piece, and of one without text', () => {
    expect(eventsOf([chunk({ content: 'a', logit: 1 }, null, { z: 2 }), chunk({ content: 3 })]).slice(1)).toEqual([
      {
        type: 'text-delta',
        message: 'b1',
        text: 'a',
        ext: { protocol: 'qwen', json: '{"z":2,"delta":{"logit":1}}' },
      },
    ])
  })

  test('usage without a choice, before the last piece', () => {
    const usage = { object: 'chat.completion.chunk', choices: [], usage: { total_tokens: 5 } }
    expect(eventsOf([chunk({ content: 'a' }), usage, chunk({}, 'content_filter')]).slice(2)).toEqual([
      { type: 'message-end', message: 'b1' },
      { type: 'usage', scope: 'turn', usage: { total: 5 } },
      { ...done, stop: 'content-filter' },
    ])
  })

  test('an odd finish reason is an end like any other', () => {
    expect(eventsOf([chunk({ content: 'a' }, 'whatever')]).at(-1)).toEqual(done)
  })
})

describe('ends', () => {
  const end = (lines: object[], more: Parameters<typeof eventsOf>[1] = {}) => eventsOf(lines as [], more).at(-1)

  test.each([
    ['Finished', { outcome: 'completed', stop: 'end' }],
    ['finished', { outcome: 'completed', stop: 'end' }],
    ['MAX_TOKENS', { outcome: 'completed', stop: 'max-tokens' }],
    ['MaxSessionTurns', { outcome: 'completed', stop: 'max-turns' }],
    ['max_session_turns', { outcome: 'completed', stop: 'max-turns' }],
    ['USER_CANCELLED', { outcome: 'cancelled', stop: 'aborted' }],
  ])('the event %s', (name, expected) => {
    expect(end([completion({ content: 'a' }, 'stop'), event(name)])).toEqual({ type: 'turn-end', ...expected })
  })

  test('the finish reason of the last completion is the stop', () => {
    expect(end([completion({ content: 'a' }, 'length'), event('Finished')])).toMatchObject({ stop: 'max-tokens' })
    const calls = completion({ tool_calls: [call('c', 'n', '{}')] }, 'tool_calls')
    expect(end([calls, event('Finished')])).toMatchObject({ outcome: 'completed', stop: 'tool-use' })
  })

  test('an empty answer that was said is a success, one that was not is none', () => {
    expect(eventsOf([completion({ content: '' }, 'stop'), event('Finished')])).toEqual([
      {
        type: 'notice',
        severity: 'info',
        code: 'empty-answer',
        text: 'The agent ended the turn without any text.',
      },
      done,
    ])
    expect(end([event('Finished')])).toMatchObject({
      outcome: 'failed',
      stop: 'error',
      fault: { code: 'protocol-violation', message: 'The agent ended the turn without any answer.' },
    })
  })

  test('a turn that was to be cancelled is cancelled, however it ends', () => {
    for (const line of [event('Finished'), chunk({}, 'stop'), completion({ content: 'x' }, 'error')]) {
      const drive = runningBack()
      drive.link.encode({ type: 'turn-cancel', exchange: 'x', target: { turn: 't1' } })
      feed(drive, [line])
      expect(endsOf(drive.events)).toMatchObject([{ outcome: 'cancelled', stop: 'aborted' }])
    }
  })

  test('an error in the metadata fails the turn, or is told where calls follow', () => {
    const error = { message: 'Bad input.', type: 'invalid_request_error', code: 'QWEN_INVALID_TOOL_ARGS', param: 'p' }
    const line = (finish: string) => completion({ content: 'Bad input.' }, finish, { metadata: { error } })
    expect(eventsOf([line('stop')])).toEqual([
      {
        type: 'turn-end',
        outcome: 'failed',
        stop: 'error',
        fault: fault('invalid-request', 'Bad input.', {
          ext: { protocol: 'qwen', json: '{"code":"QWEN_INVALID_TOOL_ARGS","param":"p"}' },
        }),
      },
    ])
    expect(eventsOf([line('tool_calls')])).toEqual([
      { type: 'notice', severity: 'error', code: 'agent-error', text: 'Bad input.' },
    ])
    expect(end([chunk({}, null, { metadata: { error: { code: 'QWEN_TIMEOUT', retryable: false } } })])).toMatchObject({
      fault: { code: 'timeout', message: 'The agent failed without saying why.', retryable: false },
    })
  })

  test('an error as a front of this dialect writes it', () => {
    const error = { message: 'Slow.', type: 'timeout_error', param: null, code: 'QWEN_TIMEOUT', retryable: true }
    expect(end([completion({ content: 'Slow.' }, 'stop', { metadata: { error } })])).toHaveProperty(
      'fault',
      fault('timeout', 'Slow.'),
    )
    const control_errors = [1]
    expect(eventsOf([completion({ content: '' }, 'stop', { metadata: { control_errors } })])).toMatchObject([
      { code: 'control-error', text: 'The agent failed without saying why.' },
    ])
  })

  test('unsupported_protocol, and an error without a word', () => {
    const metadata = { protocol_version: '1.0', error: { message: 'No.', code: 'unsupported_protocol' } }
    expect(end([completion({ content: 'No.' }, 'error', { metadata })])).toMatchObject({
      outcome: 'failed',
      fault: { code: 'unsupported-version', message: 'No.' },
    })
    expect(end([chunk({}, 'error')])).toMatchObject({
      fault: { code: 'internal', message: 'The agent ended the turn with an error.' },
    })
  })

  test('faults of the control channel are told, and their text is no answer', () => {
    const metadata = { control_errors: [{ message: 'Late.' }, { message: 'Later.' }] }
    for (const line of [completion({ content: 'Late.' }, 'stop', { metadata }), chunk({}, 'stop', { metadata })]) {
      expect(eventsOf([line])).toEqual([
        { type: 'notice', severity: 'error', code: 'control-error', text: 'Late.' },
        { type: 'notice', severity: 'error', code: 'control-error', text: 'Later.' },
      ])
    }
  })
})

describe('what stands beside the answer', () => {
  test('thoughts are messages of their own', () => {
    expect(
      eventsOf([
        { type: 'x-qwen-thought', subject: 'Look', description: 'at it' },
        { type: 'x-qwen-thought', description: 'only' },
        { type: 'x-qwen-thought', subject: 'Bare' },
        { type: 'x-qwen-thought' },
      ]).filter((one) => 'text' in one),
    ).toEqual([
      { type: 'reasoning-delta', message: 'b1', text: '**Look** at it' },
      { type: 'reasoning-delta', message: 'b2', text: 'only' },
      { type: 'reasoning-delta', message: 'b3', text: '**Bare**' },
    ])
  })

  test('tools by their displays, found by either form of their id', () => {
    const display = (id: string, status: string, shown?: unknown, more: object = {}) => ({
      type: 'x-qwen-tool-display',
      tool_call_id: id,
      status,
      ...(shown !== undefined && { result_display: shown }),
      ...more,
    })
    const diff = {
      kind: 'file_diff',
      file_name: 'm.py',
      diff: '--- a/m.py\n+++ b/m.py\n@@ -1 +1 @@\n-a\n+b',
      original: 'a\n',
      modified: 'b\n',
    }
    const drive = runningBack()
    feed(drive, [
      completion({ tool_calls: ['tool-1', 'c2', 'c3', 'c4'].map((id) => call(id, 'n', '{}')) }, 'tool_calls'),
      display('call_tool-1', 'executing', null, { pending: false, confirmation: null, timestamp: 1 }),
      display('call_tool-1', 'Executing', 'half'),
      display('call_tool-1', 'Success', diff),
      display('c2', 'Error', { ...diff, stat: { ai_added_lines: 1 } }, { confirmation: { type: 'edit' } }),
      display('c3', 'Executing', { ...diff, diff: '' }),
      display('c3', 'Canceled', { kind: 'todo_list', n: 1 }),
      display('c4', 'Cancelled', ''),
      display('c4', 'Success'),
      display('nobody', 'Success', 'x'),
      { type: 'x-qwen-tool-display', status: 1 },
    ])
    const part = { type: 'diff', path: 'm.py', before: 'a\n', after: 'b\n' }
    expect(withoutTurn(drive.events).slice(4)).toEqual([
      { type: 'tool-progress', tool: 'tool-1', parts: [{ type: 'text', text: 'half' }] },
      { type: 'tool-end', tool: 'tool-1', status: 'ok', parts: [part] },
      {
        type: 'tool-end',
        tool: 'c2',
        status: 'error',
        parts: [part],
        ext: {
          protocol: 'qwen',
          json: `{"result_display":${JSON.stringify({ ...diff, stat: { ai_added_lines: 1 } })},"confirmation":{"type":"edit"}}`,
        },
      },
      {
        type: 'tool-progress',
        tool: 'c3',
        parts: [part],
        ext: { protocol: 'qwen', json: `{"result_display":${JSON.stringify({ ...diff, diff: '' })}}` },
      },
      {
        type: 'tool-end',
        tool: 'c3',
        status: 'cancelled',
        parts: [{ type: 'data', json: '{"kind":"todo_list","n":1}' }],
      },
      { type: 'tool-end', tool: 'c4', status: 'cancelled', parts: [] },
      {
        type: 'foreign',
        protocol: 'qwen',
        frame: '{"type":"x-qwen-tool-display","tool_call_id":"c4","status":"Success"}',
      },
      {
        type: 'foreign',
        protocol: 'qwen',
        frame: '{"type":"x-qwen-tool-display","tool_call_id":"nobody","status":"Success","result_display":"x"}',
      },
    ])
    expect(drive.losses).toEqual([{ kind: 'unparsed', item: 'tool-progress', why: 'unknown', count: 1 }])
  })

  test('a tool whose call came in pieces is whole when it is shown', () => {
    expect(
      eventsOf([
        chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'n', arguments: '{"a":1}' } }] }),
        { type: 'x-qwen-tool-display', tool_call_id: 'c', status: 'Success' },
      ]).slice(2),
    ).toEqual([
      { type: 'tool-call', tool: 'c', name: 'n', args: '{"a":1}', executor: 'agent' },
      { type: 'tool-end', tool: 'c', status: 'ok', parts: [] },
    ])
  })

  test('terminals with text; others go on as they are', () => {
    const terminal = (more: object) => ({ type: 'x-qwen-terminal', ...more })
    const exit = terminal({ source: 'system', exit_code: 0 })
    expect(
      eventsOf([
        terminal({ channel: 'stderr', source: 'console', text: 'w', console_level: 'warn' }),
        terminal({ text: 'out' }),
        terminal({ text: '' }),
        exit,
      ]),
    ).toEqual([
      {
        type: 'terminal-output',
        stream: 'stderr',
        text: 'w',
        ext: { protocol: 'qwen', json: '{"source":"console","console_level":"warn"}' },
      },
      { type: 'terminal-output', stream: 'stdout', text: 'out' },
      { type: 'foreign', protocol: 'qwen', frame: JSON.stringify(exit) },
    ])
  })

  test('annotations: what has a line of its own elsewhere is taken as such', () => {
    const tool = completion({ tool_calls: [call('c', 'n', '{}')] }, 'tool_calls')
    const annotations = [
      { type: 'x-qwen-thought', description: 'hm' },
      { type: 'x-qwen-tool-display', tool_call_id: 'c', status: 'Success' },
      { type: 'x-qwen-tool-display', tool_call_id: 'd', status: 'Success' },
      { type: 'x-qwen-session-event', event: 'Finished' },
    ]
    const drive = runningBack()
    feed(drive, [tool, completion({ content: 'a', annotations }, 'stop')])
    expect(withoutTurn(drive.events).slice(1)).toEqual([
      { type: 'message-start', message: 'b1', role: 'assistant' },
      { type: 'reasoning-delta', message: 'b1', text: 'hm' },
      { type: 'message-end', message: 'b1' },
      { type: 'tool-end', tool: 'c', status: 'ok', parts: [] },
      { type: 'message-start', message: 'b2', role: 'assistant' },
      {
        type: 'message-end',
        message: 'b2',
        parts: [{ type: 'text', text: 'a' }],
        ext: {
          protocol: 'qwen',
          json: '{"annotations":[{"type":"x-qwen-tool-display","tool_call_id":"d","status":"Success"}]}',
        },
      },
      done,
    ])
  })

  test('content that a terminal wrote is no answer', () => {
    const annotations = [{ type: 'x-qwen-terminal', channel: 'stderr', source: 'console' }]
    const output = {
      type: 'terminal-output',
      stream: 'stderr',
      text: 'w',
      ext: { protocol: 'qwen', json: '{"source":"console"}' },
    }
    expect(eventsOf([chunk({ content: 'w' }, null, { annotations })])).toEqual([output])
    expect(eventsOf([completion({ content: 'w' }, null, { annotations })])).toEqual([output])
  })

  test('a session event within the last piece ends the turn once', () => {
    const annotations = [{ type: 'x-qwen-session-event', event: 'MAX_TOKENS' }]
    const events = eventsOf([chunk({ content: 'a' }, 'length', { annotations })])
    expect(events.filter((one) => 'outcome' in one)).toEqual([{ ...done, stop: 'max-tokens' }])
  })

  test('session events that end nothing are notices in words of their own', () => {
    expect(
      eventsOf([
        event('ChatCompressed', { message: 'm', metrics: { original_tokens: 2 }, level: 'warning' }),
        event('LOOP_DETECTED', { level: 'error', z: 1, message: 2 }),
        event('LoopDetected', { message: null }),
      ]),
    ).toEqual([
      {
        type: 'notice',
        severity: 'warning',
        code: 'chat-compressed',
        text: 'm',
        ext: { protocol: 'qwen', json: '{"event":"ChatCompressed","metrics":{"original_tokens":2}}' },
      },
      {
        type: 'notice',
        severity: 'info',
        code: 'loop-detected',
        text: '',
        ext: { protocol: 'qwen', json: '{"event":"LoopDetected"}' },
      },
    ])
  })

  test('a thought or an event that is none', () => {
    const drive = runningBack()
    feed(drive, [
      { type: 'x-qwen-thought', subject: 1 },
      { type: 'x-qwen-session-event', event: 1 },
      { type: 'result/command', result: 1 },
    ])
    expect(drive.losses.map(({ item }) => item)).toEqual(['reasoning-delta', 'notice', 'command-reply'])
  })

  test('messages that are not known go on as they are', () => {
    expect(eventsOf(['{"type":"x-qwen-new","n":1.0}', '{"object":"new"}', '{}'])).toEqual([
      { type: 'foreign', protocol: 'qwen', frame: '{"type":"x-qwen-new","n":1.0}' },
      { type: 'foreign', protocol: 'qwen', frame: '{"object":"new"}' },
      { type: 'foreign', protocol: 'qwen', frame: '{}' },
    ])
  })

  test('what is no object is lost', () => {
    const drive = runningBack()
    drive.feed('Welcome!', '[1]', 'null')
    expect(drive.events).toEqual([])
    expect(drive.losses).toEqual([1, 2, 3].map(() => ({ kind: 'unparsed', item: 'foreign', why: 'unknown', count: 1 })))
  })
})

describe('commands', () => {
  const command = { kind: 'slash', path: ['chat', 'list'], args: '' }
  const result = (more: object) => ({ type: 'result/command', session_id: 's', prompt_id: 'p', command, result: more })
  const ext = (more: object) => ({ protocol: 'qwen', json: JSON.stringify({ command, result: more }) })

  test('a message is the whole answer, and what else comes of the turn is late', () => {
    const said = { type: 'message', level: 'info', content: '3 entries' }
    const drive = runningBack({ request: 'p' })
    feed(drive, [result(said), { ...event('Finished'), prompt_id: 'p' }])
    expect(withoutTurn(drive.events)).toEqual([
      { type: 'session-bound', agentSession: 's' },
      { type: 'message-start', message: 'b1', role: 'assistant', ext: ext(said) },
      { type: 'message-end', message: 'b1', parts: [{ type: 'text', text: '3 entries' }] },
      done,
    ])
  })

  test('a dialog too, in its own words', () => {
    const dialog = { type: 'dialog', dialog: 'auth' }
    expect(eventsOf([result(dialog)], { request: 'p' })).toContainEqual({
      type: 'message-end',
      message: 'b1',
      parts: [{ type: 'text', text: '{"type":"dialog","dialog":"auth"}' }],
    })
  })

  test.each([['submit_prompt'], ['tool']])('with a %s the turn goes on', (type) => {
    for (const [level, severity] of [
      ['error', 'error'],
      ['warning', 'warning'],
      ['info', 'info'],
      [undefined, 'info'],
    ]) {
      const more = { type, content: 'p', ...(level && { level }) }
      expect(eventsOf([result(more)], { request: 'p' }).slice(1)).toEqual([
        { type: 'notice', severity, code: 'command-result', text: 'p', ext: ext(more) },
      ])
    }
  })

  test('a piece with another id than the call of its number begins a call of its own', () => {
    const piece = (id: string | undefined, name: string | undefined, args: string) =>
      chunk({ tool_calls: [{ index: 0, ...(id && { id }), function: { ...(name && { name }), arguments: args } }] })
    const events = eventsOf([
      piece('a', 'look', '{'),
      piece('a', undefined, '}'),
      piece('b', 'look', '{}'),
      piece('c', undefined, '{}'),
      chunk({}, 'stop'),
    ])
    expect(events.filter((one) => /tool/.test(JSON.stringify(one)))).toEqual([
      { type: 'tool-start', tool: 'a', name: 'look', executor: 'agent' },
      { type: 'tool-args-delta', tool: 'a', text: '{' },
      { type: 'tool-args-delta', tool: 'a', text: '}' },
      { type: 'tool-start', tool: 'b', name: 'look', executor: 'agent' },
      { type: 'tool-args-delta', tool: 'b', text: '{}' },
      { type: 'tool-call', tool: 'b', name: 'look', args: '{}', executor: 'agent' },
    ])
  })

  test('a compaction: its result, or else its event, is the summary', () => {
    const more = { task: 'compact', input: [], request: 'p' } as const
    expect(eventsOf([result({ type: 'message', content: 'All.' })], more).at(-1)).toEqual({ ...done, summary: 'All.' })
    const compressed = [event('ChatCompressed', { message: 'Short.' }), event('Finished')]
    expect(eventsOf(compressed, more).at(-1)).toEqual({ ...done, summary: 'Short.' })
    expect(eventsOf([event('ChatCompressed', { message: null }), event('Finished')], more).at(-1)).toEqual({
      ...done,
      summary: '',
    })
    expect(eventsOf([completion({ content: 'x' }, 'stop'), event('Finished')], more).at(-1)).toEqual(done)
  })
})
