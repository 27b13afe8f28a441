import { describe, expect, test } from 'vitest'
import { fault, type TurnEvent } from '../../../src/model/index.ts'
import { type FrontDrive, plainTurn } from '../../kit/drive.ts'
import { SESSION, say, sentObjects, streamClient } from './kit.ts'

const turn = 't1'
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** A client that was shown these events; without its `init`. */
function shown(events: readonly object[], ...argv: string[]): FrontDrive {
  const front = streamClient('--model', 'big', ...argv)
  front.feed(say('hi'))
  front.play(events.map((event) => ({ turn, ...event }) as TurnEvent))
  return front
}

/** What was sent behind `init`, without ids. */
function lines(front: FrontDrive): Record<string, unknown>[] {
  return sentObjects(front)
    .slice(1)
    .map(({ uuid, session_id, ...line }) => {
      expect(uuid).toMatch(UUID)
      expect(session_id).toBe(SESSION)
      const message = line['message'] as Record<string, unknown> | undefined
      if (message?.['id'] !== undefined) expect(message['id']).toBe(uuid)
      return message ? { ...line, message: { ...message, id: undefined } } : line
    })
}

const zero = { input_tokens: 0, output_tokens: 0 }
const assistant = (block: object, more: object = {}, lane: string | null = null) => ({
  type: 'assistant',
  parent_tool_use_id: lane,
  message: {
    type: 'message',
    role: 'assistant',
    model: 'big',
    content: [block],
    stop_reason: null,
    usage: zero,
    ...more,
  },
})
const user = (block: object, lane: string | null = null) => ({
  type: 'user',
  parent_tool_use_id: lane,
  message: { role: 'user', content: [block] },
})
const event = (held: object) => ({ type: 'stream_event', parent_tool_use_id: null, event: held })
const text = (words: string) => ({ type: 'text', text: words })
const use = (id: string, input: object = {}) => ({ type: 'tool_use', id, name: 'f', input })
const call = (tool: string, args = '{}', more: object = {}) => ({
  type: 'tool-call',
  tool,
  name: 'f',
  args,
  executor: 'agent',
  ...more,
})
const toolResult = (id: string, content: string, is_error = false) =>
  user({ type: 'tool_result', tool_use_id: id, is_error, content })
const end = { type: 'turn-end', outcome: 'completed', stop: 'end' }
const start = (message: string, more: object = {}) => ({ type: 'message-start', message, role: 'assistant', ...more })
const delta = (message: string, words: string) => ({ type: 'text-delta', message, text: words })
const thought = (message: string, words: string) => ({ type: 'reasoning-delta', message, text: words })
const over = (message: string, more: object = {}) => ({ type: 'message-end', message, ...more })

describe('a turn', () => {
  test('is init, its messages, one result', () => {
    const front = streamClient('--model', 'big')
    front.feed(say('hi'))
    front.play(plainTurn('Hello'))
    const [init, ...rest] = sentObjects(front)
    expect(init).toEqual({
      type: 'system',
      subtype: 'init',
      uuid: SESSION,
      session_id: SESSION,
      cwd: '',
      tools: [],
      mcp_servers: [],
      model: 'big',
      permission_mode: 'default',
      slash_commands: [],
      qwen_code_version: '0.24.4+turnpike',
      agents: [],
    })
    expect(rest).toHaveLength(2)
    expect(lines(front)).toEqual([
      assistant(text('Hello')),
      {
        type: 'result',
        subtype: 'success',
        is_error: false,
        duration_ms: 250,
        duration_api_ms: 0,
        num_turns: 1,
        result: 'Hello',
        usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
        permission_denials: [],
      },
    ])
    expect(front.losses).toEqual([])
  })

  test('words that came whole are one piece for a client that shows pieces', () => {
    const parts = [
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'Hello' },
    ]
    const piece = (block: object, delta: object) => [
      event({ type: 'content_block_start', index: 0, content_block: block }),
      event({ type: 'content_block_delta', index: 0, delta }),
      event({ type: 'content_block_stop', index: 0 }),
    ]
    const front = shown([start('m'), over('m', { parts }), end], '--include-partial-messages')
    expect(lines(front).slice(0, -1)).toEqual([
      event({
        type: 'message_start',
        message: { id: expect.stringMatching(UUID), role: 'assistant', model: 'big', content: [] },
      }),
      ...piece({ type: 'thinking', thinking: '', signature: '' }, { type: 'thinking_delta', thinking: 'hm' }),
      assistant({ type: 'thinking', thinking: 'hm', signature: '' }),
      ...piece({ type: 'text', text: '' }, { type: 'text_delta', text: 'Hello' }),
      assistant(text('Hello')),
      event({ type: 'message_stop' }),
    ])
  })

  test('counts tokens over the session', () => {
    const front = streamClient()
    for (const words of ['a', 'b']) {
      front.feed(say('hi'))
      front.play(plainTurn(words))
    }
    front.feed(say('hi'))
    front.play([{ type: 'turn-end', turn, outcome: 'completed' }])
    const counted = sentObjects(front).flatMap(({ type, usage }) => (type === 'result' ? [usage] : []))
    expect(counted).toEqual([
      { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
      { input_tokens: 6, output_tokens: 8, total_tokens: 14 },
      { input_tokens: 6, output_tokens: 8, total_tokens: 14 },
    ])
  })

  test('of an agent of the same dialect keeps what it said of itself', () => {
    const ext = (json: string) => ({ ext: { protocol: 'qwen-code', json } })
    const front = shown([
      { type: 'turn-started', ...ext('{"model":"own","tools":["a"],"permission_mode":"yolo"}') },
      start('m1'),
      over('m1', { parts: [text('x')], ...ext('{"when":1.0,"message":{"mood":2}}') }),
      { ...end, ...ext('{"num_turns":5,"duration_api_ms":9,"permission_denials":[{}],"stats":{}}') },
    ])
    expect(sentObjects(front)[0]).toEqual({
      type: 'system',
      subtype: 'init',
      uuid: SESSION,
      session_id: SESSION,
      model: 'own',
      tools: ['a'],
      permission_mode: 'yolo',
    })
    expect(String(front.sent[1])).toContain('"mood":2},"when":1.0}')
    expect(lines(front)).toMatchObject([
      { message: { model: 'own' } },
      { num_turns: 5, duration_api_ms: 9, permission_denials: [{}], stats: {} },
    ])
    expect(front.losses).toEqual([])
  })

  test('without a model invents none, and says so', () => {
    const front = streamClient()
    front.feed(say('hi'))
    front.play(plainTurn('x'))
    expect(sentObjects(front)[0]!['model']).toBe('')
    expect(front.losses).toEqual([
      { kind: 'invented', item: 'turn-started', field: 'model', why: 'required', count: 1 },
    ])
  })

  test('reports what of others has no place', () => {
    const front = shown([
      { type: 'turn-started', ext: { protocol: 'zot', json: '{"a":1}' } },
      { type: 'foreign', protocol: 'zot', frame: '{}' },
      { type: 'usage', scope: 'turn', usage: { input: 1, reasoning: 2, cacheWrite: 3, costUsd: 4 }, estimated: true },
      {
        type: 'turn-end',
        outcome: 'failed',
        fault: fault('internal', 'x', { ext: { protocol: 'zot', json: '{}' } }),
      },
    ])
    const drop = (item: string, field?: string) => ({
      kind: 'dropped',
      item,
      ...(field && { field }),
      why: 'no-place',
      count: 1,
    })
    expect(front.losses).toEqual([drop('ext', 'zot'), drop('foreign', 'zot'), drop('ext', 'zot')])
    expect(front.dropped).toEqual([
      drop('usage.estimated'),
      drop('usage.reasoning'),
      drop('usage.cacheWrite'),
      drop('usage.costUsd'),
    ])
  })

  test('after its result, nothing more is written', () => {
    const front = shown([end])
    const sent = front.sent.length
    front.link.encodeFault(fault('internal', 'late'), 'f2', 'continues')
    front.play([{ type: 'text-delta', turn, message: 'm1', text: 'late' }], 'f2')
    expect(front.sent.slice(sent).map((line) => JSON.parse(String(line)).type)).toEqual(['result'])
  })

  test.each([
    [
      { outcome: 'failed', fault: fault('timeout', 'Too slow.') },
      'error_during_execution',
      'Too slow.',
      'QWEN_TIMEOUT',
    ],
    [{ outcome: 'failed' }, 'error_during_execution', 'The turn failed.', undefined],
    [
      { outcome: 'failed', stop: 'max-turns', fault: fault('internal', 'M.') },
      'error_max_turns',
      'M.',
      'QWEN_INTERNAL',
    ],
    [
      { outcome: 'cancelled', fault: fault('cancelled', 'C.') },
      'error_during_execution',
      'Operation cancelled.',
      undefined,
    ],
  ])('that ends with %j', (ending, subtype, message, code) => {
    const front = shown([start('m1'), delta('m1', 'part'), { type: 'turn-end', ...ending }])
    const result = lines(front).at(-1)!
    expect(result).toMatchObject({ subtype, is_error: true })
    expect(result['error']).toEqual({ message, ...(code && { code }) })
    expect('result' in result).toBe(false)
  })

  test('with a shape that was asked for gives the answer as one', () => {
    const schema = ['--json-schema', '{"type":"object"}']
    const answer = (words: string) =>
      lines(shown([start('m1'), over('m1', { parts: [text(words)] }), end], ...schema)).at(-1)!['structured_result']
    expect(answer('{"a":1}')).toEqual({ a: 1 })
    expect(answer('no json')).toBeUndefined()
  })
})

describe('messages', () => {
  test('one line for each run of thought and of text', () => {
    const events = [start('m1'), thought('m1', 'H'), thought('m1', 'm'), delta('m1', 'Yes'), over('m1'), end]
    expect(lines(shown(events)).slice(0, -1)).toEqual([
      assistant({ type: 'thinking', thinking: 'Hm', signature: '' }),
      assistant(text('Yes')),
    ])
  })

  test('in pieces when they are asked for', () => {
    const id = '00000000-0000-4000-8000-000000000007'
    const front = shown(
      [
        start(id),
        thought(id, 'Hm'),
        delta(id, 'a'),
        { type: 'text-delta', message: id, text: 'b', ext: { protocol: 'qwen-code', json: '{"w":1,"event":{"s":2}}' } },
        delta(id, ''),
        over(id),
        call('c1', '{"a":1.0}'),
        call('c2'),
        { type: 'tool-end', tool: 'c1', status: 'ok', parts: [text('one')] },
        start('m2'),
        delta('m2', 'end'),
        over('m2'),
        end,
      ],
      '--include-partial-messages',
    )
    const block = (index: number, held: object) => event({ type: 'content_block_start', index, content_block: held })
    const piece = (index: number, held: object) => event({ type: 'content_block_delta', index, delta: held })
    const stop = (index: number) => event({ type: 'content_block_stop', index })
    const answer = (message: unknown) =>
      event({ type: 'message_start', message: { id: message, role: 'assistant', model: 'big', content: [] } })
    const second = (sentObjects(front)[21]!['event'] as { message: { id: string } }).message.id
    expect(lines(front).slice(0, -1)).toEqual([
      answer(id),
      block(0, { type: 'thinking', thinking: '', signature: '' }),
      piece(0, { type: 'thinking_delta', thinking: 'Hm' }),
      stop(0),
      assistant({ type: 'thinking', thinking: 'Hm', signature: '' }),
      block(0, text('')),
      piece(0, { type: 'text_delta', text: 'a' }),
      { ...event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'b' }, s: 2 }), w: 1 },
      stop(0),
      assistant(text('ab')),
      block(0, { ...use('c1'), input: {} }),
      piece(0, { type: 'input_json_delta', partial_json: '{"a":1.0}' }),
      stop(0),
      assistant(use('c1', { a: 1 }), { stop_reason: 'tool_use' }),
      block(1, use('c2')),
      piece(1, { type: 'input_json_delta', partial_json: '{}' }),
      stop(1),
      assistant(use('c2'), { stop_reason: 'tool_use' }),
      event({ type: 'message_stop' }),
      toolResult('c1', 'one'),
      answer(second),
      block(0, text('')),
      piece(0, { type: 'text_delta', text: 'end' }),
      stop(0),
      assistant(text('end')),
      event({ type: 'message_stop' }),
    ])
    expect(sentObjects(front).at(-3)!['uuid']).toBe(second)
    expect(sentObjects(front)[5]!['uuid']).toBe(id)
    expect(lines(front).at(-1)).toMatchObject({ num_turns: 2, result: 'end' })
  })

  test('from their parts when no pieces came', () => {
    const front = shown([
      start('m1'),
      thought('m1', 'shown already'),
      over('m1', {
        parts: [
          { type: 'reasoning', text: 'shown already' },
          text(''),
          text('Yes'),
          { type: 'tool-call', tool: 'c1', name: 'f', args: '{}' },
          { type: 'data', json: '{}' },
          { type: 'image', base64: '' },
        ],
      }),
      start('m2'),
      over('m2', { parts: [{ type: 'reasoning', text: 'new', seal: { provider: 'qwen-code', data: 'sig' } }] }),
      start('m3'),
      over('m3', { parts: [{ type: 'reasoning', text: 'bare' }] }),
      start('m4'),
      delta('m4', 'streamed'),
      over('m4', { parts: [text('streamed')] }),
      end,
    ])
    expect(lines(front).slice(0, -1)).toEqual([
      assistant({ type: 'thinking', thinking: 'shown already', signature: '' }),
      assistant(text('Yes')),
      assistant({ type: 'thinking', thinking: 'new', signature: 'sig' }),
      assistant({ type: 'thinking', thinking: 'bare', signature: '' }),
      assistant(text('streamed')),
    ])
    expect(front.losses).toEqual([{ kind: 'dropped', item: 'part.data', why: 'no-place', count: 1 }])
    expect(front.dropped).toEqual([
      { kind: 'dropped', item: 'part.tool-call', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'part.image', why: 'no-place', count: 1 },
    ])
  })

  test('tokens of a model call stand on its next line', () => {
    const front = shown([
      start('m1'),
      delta('m1', 'a'),
      { type: 'usage', scope: 'call', usage: { input: 5, output: 6, cacheRead: 1, total: 11 } },
      { type: 'usage', scope: 'call', lane: 'c9', usage: { input: 99 } },
      over('m1'),
      { type: 'step-end', step: 1, stop: 'tool-use' },
      { type: 'step-start', step: 2 },
      { type: 'step-start', step: 3, lane: 'c9' },
      start('m2'),
      delta('m2', 'b'),
      over('m2'),
      end,
    ])
    expect(lines(front)).toMatchObject([
      { message: { usage: { input_tokens: 5, output_tokens: 6, cache_read_input_tokens: 1, total_tokens: 11 } } },
      { message: { usage: zero } },
      { num_turns: 2 },
    ])
  })

  test('the prompt is not repeated, what the agent puts in later is shown', () => {
    const note = (message: string, role: string, more: object = {}) => [
      { type: 'message-start', message, role, ...more },
      over(message, { parts: [text(message)], ...more }),
    ]
    const front = shown([
      ...note('echo', 'user'),
      start('m1'),
      over('m1', { parts: [text('a')] }),
      ...note('note', 'user'),
      ...note('in-lane', 'user', { lane: 'c1' }),
      ...note('rules', 'system'),
      over('nobody'),
      end,
    ])
    expect(lines(front).slice(0, -1)).toEqual([assistant(text('a')), user(text('note')), user(text('in-lane'), 'c1')])
    expect(front.losses).toEqual([{ kind: 'dropped', item: 'message-end', field: 'role', why: 'no-place', count: 1 }])
  })

  test('pieces of others than the assistant are not shown as its words', () => {
    const front = shown([
      { type: 'message-start', message: 'u1', role: 'user' },
      delta('u1', 'prompt'),
      over('u1'),
      end,
    ])
    expect(lines(front)).toHaveLength(1)
  })
})

describe('lanes', () => {
  test('name their call on whole lines', () => {
    const lane = { lane: 'c1' }
    const front = shown(
      [
        start('m1', lane),
        { ...thought('m1', 'Hm'), ...lane },
        { ...delta('m1', 'sub'), ...lane },
        over('m1', lane),
        call('c2', '{"a":1}', lane),
        { type: 'tool-end', tool: 'c2', status: 'ok', parts: [text('r')], ...lane },
        start('m2', lane),
        over('m2', lane),
        { type: 'message-retract', message: 'm1', keepText: false, ...lane },
        end,
      ],
      '--include-partial-messages',
    )
    expect(lines(front).slice(0, -1)).toEqual([
      assistant({ type: 'thinking', thinking: 'Hm', signature: '' }, {}, 'c1'),
      assistant(text('sub'), {}, 'c1'),
      assistant(use('c2', { a: 1 }), { stop_reason: 'tool_use' }, 'c1'),
      user({ type: 'tool_result', tool_use_id: 'c2', is_error: false, content: 'r' }, 'c1'),
    ])
    expect(front.losses).toEqual([
      { kind: 'dropped', item: 'message-retract', field: 'lane', why: 'no-place', count: 1 },
    ])
  })
})

describe('tools', () => {
  test('of which only pieces came are shown before their result', () => {
    const front = shown([
      { type: 'tool-start', tool: 'c1', name: 'f', executor: 'agent' },
      { type: 'tool-args-delta', tool: 'c1', text: '{"a":' },
      { type: 'tool-args-delta', tool: 'c1', text: '1}' },
      { type: 'tool-end', tool: 'c1', status: 'error', parts: [text('no')] },
      { type: 'tool-end', tool: 'c9', status: 'denied', parts: [] },
      end,
    ])
    expect(lines(front).slice(0, -1)).toEqual([
      assistant(use('c1', { a: 1 }), { stop_reason: 'tool_use' }),
      toolResult('c1', 'no', true),
      toolResult('c9', '', true),
    ])
  })

  test('arguments that are no object are none', () => {
    const front = shown([call('c1', '[1]'), end])
    expect(lines(front)[0]).toEqual(assistant(use('c1'), { stop_reason: 'tool_use' }))
    expect(front.losses).toEqual([{ kind: 'weakened', item: 'tool-call', field: 'input', why: 'too-narrow', count: 1 }])
  })

  test('results are text', () => {
    const front = shown([
      call('c1'),
      {
        type: 'tool-end',
        tool: 'c1',
        status: 'ok',
        parts: [
          text('a'),
          { type: 'data', json: '{"b":1}' },
          { type: 'diff', path: 'p', before: null, after: 'c' },
          { type: 'diff', path: 'p', before: 'c', after: '' },
          { type: 'reasoning', text: 'r' },
        ],
      },
      end,
    ])
    expect(lines(front)[1]).toEqual(toolResult('c1', 'a\n{"b":1}\nc\n\n'))
    expect(front.losses).toEqual([
      { kind: 'weakened', item: 'part.data', field: 'tool_result', why: 'no-place', count: 1 },
      { kind: 'weakened', item: 'part.diff', field: 'tool_result', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'part.diff', field: 'tool_result', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'part.reasoning', field: 'tool_result', why: 'no-place', count: 1 },
    ])
  })

  test('that were refused are listed, over all turns', () => {
    const front = shown([call('c1', '{"a":1}'), { type: 'tool-end', tool: 'c1', status: 'denied', parts: [] }, end])
    front.feed(say('more'))
    const bad = { type: 'tool-start', tool: 'c2', name: 'g', executor: 'agent' }
    const denied = { type: 'tool-end', tool: 'c2', status: 'denied', parts: [] }
    front.play([bad, denied, end].map((held) => ({ turn, ...held }) as TurnEvent))
    expect(lines(front).at(-1)!['permission_denials']).toEqual([
      { tool_name: 'f', tool_use_id: 'c1', tool_input: { a: 1 } },
      { tool_name: 'g', tool_use_id: 'c2', tool_input: {} },
    ])
  })

  test('progress is one of the pieces', () => {
    const DIFF = { type: 'diff', path: 'p', before: null, after: 'c' }
    const parts = [text('50 %'), { type: 'data', json: '{"elapsedMs":1}' }, DIFF]
    const events = [call('c1'), { type: 'tool-progress', tool: 'c1', parts }, end]
    const progress = (content: object) => event({ type: 'tool_progress', tool_use_id: 'c1', content })
    const front = shown(events, '--include-partial-messages')
    expect(lines(front).slice(5, 7)).toEqual([progress(text('50 %')), progress({ elapsedMs: 1 })])
    expect(front.losses).toEqual([
      { kind: 'dropped', item: 'part.diff', field: 'tool_progress', why: 'no-place', count: 1 },
    ])
    expect(lines(shown(events))).toHaveLength(2)
  })
})

describe('what else is said', () => {
  const retry = (preserveText: boolean, more: object = {}) => ({
    type: 'system',
    subtype: 'retry',
    parent_tool_use_id: null,
    data: { reason: 'retry', discardedToolCalls: 0, preserveText, ...more },
  })

  test('a retraction is a retry', () => {
    const front = shown(
      [
        start('m1'),
        delta('m1', 'no'),
        { type: 'message-retract', message: 'm1', keepText: false },
        { type: 'message-retract', message: 'm0', keepText: false },
        delta('m1', 'yes'),
        { type: 'message-retract', message: 'm1', keepText: true },
        over('m1'),
        end,
      ],
      '--include-partial-messages',
    )
    expect(
      lines(front).map(
        (line) => (line['event'] as { type: string } | undefined)?.type ?? line['subtype'] ?? line['type'],
      ),
    ).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_stop',
      'retry',
      'message_start',
      'content_block_start',
      'content_block_delta',
      'retry',
      'content_block_stop',
      'assistant',
      'message_stop',
      'success',
    ])
    expect(lines(front)[5]).toEqual(retry(false))
    expect(lines(front)[9]).toEqual(retry(true))
    expect(lines(front)[11]).toEqual(assistant(text('yes')))
  })

  test('of an agent of the same dialect in its own words, once', () => {
    const json = '{"subtype":"retry","data":{"reason":"retry","preserveText":false,"attempt":2}}'
    const front = shown([
      start('m1'),
      over('m1', { parts: [text('no')] }),
      { type: 'notice', severity: 'warning', code: 'retrying', text: 't', ext: { protocol: 'qwen-code', json } },
      { type: 'message-retract', message: 'm1', keepText: false },
      end,
    ])
    expect(lines(front).slice(1, -1)).toEqual([
      {
        type: 'system',
        subtype: 'retry',
        parent_tool_use_id: null,
        data: { reason: 'retry', preserveText: false, attempt: 2 },
      },
    ])
  })

  test('a notice is a system line', () => {
    const front = shown([
      { type: 'notice', severity: 'info', code: 'hello', text: 'Hi.' },
      { type: 'notice', severity: 'info', code: 'empty-answer', text: 'Nothing.' },
      end,
    ])
    expect(lines(front).slice(0, -1)).toEqual([
      {
        type: 'system',
        subtype: 'notice',
        parent_tool_use_id: null,
        data: { severity: 'info', code: 'hello', text: 'Hi.' },
      },
    ])
  })

  test('lines of an agent of the same dialect go out as they came, in this session', () => {
    const front = shown([
      {
        type: 'foreign',
        protocol: 'qwen-code',
        frame: '{"type":"system","session_id":"theirs","n":1.0,\n"x":"\u2028"}',
      },
      { type: 'foreign', protocol: 'qwen-code', frame: '{"type":"keep_alive"}' },
      end,
    ])
    expect(front.sent.slice(1, 3)).toEqual([
      `{"session_id":"${SESSION}","type":"system","n":1.0,"x":"\\u2028"}`,
      '{"type":"keep_alive"}',
    ])
  })

  test('text that some readers split is escaped', () => {
    const front = shown([start('m1'), delta('m1', 'a\u2028b'), over('m1'), end], '--include-partial-messages')
    expect(front.sent.join('')).not.toMatch(/[\u2028\u2029\u0085]/)
    expect(lines(front).at(-1)!['result']).toBe('a\u2028b')
  })
})

test('turns that the gateway refuses at once are all answered, in order', () => {
  const front = streamClient()
  const push = front.commands.push.bind(front.commands)
  front.commands.push = (...commands) => {
    const count = push(...commands)
    for (const { exchange } of commands)
      front.link.encodeFault(fault('overloaded', 'Too many turns.'), exchange, 'continues')
    return count
  }
  front.feed(say('one'), say('two'), say('three'))
  expect(front.commands).toHaveLength(3)
  const results = sentObjects(front).filter(({ type }) => type === 'result')
  expect(results.map(({ is_error }) => is_error)).toEqual([true, true, true])
})

describe('what this wire has no line for is told', () => {
  const step = (type: 'step-start' | 'step-end', more: object = {}): object => ({ type, step: 1, ...more })
  const end = { type: 'turn-end', outcome: 'completed', stop: 'end' }
  const said: object[] = [
    { type: 'message-start', message: 'm', role: 'assistant' },
    { type: 'text-delta', message: 'm', text: 'x' },
    { type: 'message-end', message: 'm' },
  ]
  const loss = (item: string, field?: string, why = 'no-place'): object => ({
    kind: 'weakened',
    item,
    ...(field && { field }),
    why,
    count: 1,
  })
  const losses = (events: object[], ...argv: string[]): object[] =>
    shown([{ type: 'turn-started' }, ...events, end], ...argv).losses.filter(({ kind }) => kind !== 'invented')

  test('of model calls: one without a word, and how one ended', () => {
    expect(losses([step('step-start'), ...said, step('step-end', { stop: 'end' })])).toEqual([])
    expect(losses([step('step-start'), ...said, step('step-end', { stop: 'tool-use' })])).toEqual([])
    expect(losses([step('step-start'), ...said, step('step-end', { stop: 'max-tokens' })])).toEqual([
      loss('step-end', 'stop'),
    ])
    expect(losses([step('step-start'), step('step-end', { stop: 'end' })])).toEqual([loss('step-start')])
    expect(losses([step('step-start', { lane: 'l' }), step('step-end', { stop: 'refusal', lane: 'l' })])).toEqual([
      { ...loss('step-start', 'lane'), kind: 'dropped' },
      loss('step-end', 'lane'),
      loss('step-end', 'stop'),
    ])
  })

  test('of turns: a limit that a result does not tell, and whose notice it was', () => {
    const ends = (stop: string, outcome = 'completed') =>
      shown([{ type: 'turn-started' }, { ...end, outcome, stop }]).losses.filter(({ kind }) => kind !== 'invented')
    expect(ends('end')).toEqual([])
    expect(ends('max-tokens')).toEqual([loss('end.stop')])
    expect(ends('max-turns')).toEqual([loss('end.stop')])
    expect(ends('max-turns', 'failed')).toEqual([])
    const notice = { type: 'notice', severity: 'info', code: 'c', text: 'T' }
    expect(losses([notice])).toEqual([])
    expect(losses([{ ...notice, lane: 'l' }])).toEqual([loss('notice', 'lane')])
  })

  test('of tools: what they say while they run when nobody wants pieces', () => {
    const tool = { tool: 'c', name: 'look', executor: 'agent' }
    const events = [
      { type: 'tool-start', ...tool },
      { type: 'tool-call', ...tool, args: '{}' },
      { type: 'tool-progress', tool: 'c', parts: [{ type: 'text', text: 'half' }] },
      { type: 'tool-end', tool: 'c', status: 'ok', parts: [] },
    ]
    expect(losses(events)).toEqual([loss('tool-progress', undefined, 'policy')])
    expect(losses(events, '--include-partial-messages')).toEqual([])
  })

  test('a call that was dropped while its arguments came is not shown', () => {
    const tool = { tool: 'c', name: 'look', executor: 'agent' }
    const front = shown([
      { type: 'turn-started' },
      { type: 'tool-start', ...tool },
      { type: 'tool-args-delta', tool: 'c', text: '{"a' },
      { type: 'tool-end', tool: 'c', status: 'cancelled', parts: [] },
      { type: 'turn-end', outcome: 'cancelled', stop: 'aborted' },
    ])
    expect(lines(front).map(({ type }) => type)).toEqual(['result'])
  })

  test('a text that was revised replaces its pieces, or is a line of its own once they are one', () => {
    const revised = { revised: true, parts: [text('Better')] }
    const open = shown([start('m'), delta('m', 'One'), delta('m', ' two'), over('m', revised), end])
    expect(lines(open).slice(0, -1)).toEqual([assistant(text('Better'))])
    const closed = shown([start('m'), delta('m', 'One'), thought('m', 'Hm'), over('m', revised), end])
    expect(lines(closed).slice(0, -1)).toEqual([
      assistant(text('One')),
      assistant({ type: 'thinking', thinking: 'Hm', signature: '' }),
      assistant(text('Better')),
    ])
  })

  test('a call of a sub-agent of which only pieces came is written before its result, once', () => {
    const lane = 'l'
    const tool = { tool: 'c', name: 'look', executor: 'agent', lane }
    const drafted = [
      { type: 'tool-start', ...tool },
      { type: 'tool-args-delta', tool: 'c', text: '{"a":1}', lane },
    ]
    const result = { type: 'tool-end', tool: 'c', status: 'ok', parts: [], lane }
    for (const events of [drafted, [...drafted, { type: 'tool-call', ...tool, args: '{"a":1}' }]]) {
      const calls = lines(shown([{ type: 'turn-started' }, ...events, result, end])).filter(
        ({ type }) => type === 'assistant',
      )
      expect(calls).toEqual([
        assistant({ type: 'tool_use', id: 'c', name: 'look', input: { a: 1 } }, { stop_reason: 'tool_use' }, lane),
      ])
    }
  })
})
