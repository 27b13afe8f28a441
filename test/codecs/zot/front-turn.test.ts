import { describe, expect, test } from 'vitest'
import { fault, type TurnEvent } from '../../../src/model/index.ts'
import { plainTurn } from '../../kit/drive.ts'
import { front, linesOf, promptedFront, sentLines } from './kit.ts'

const TIME = '1970-01-01T00:00:01.250Z'
const text = (value: string): object => ({ type: 'text', text: value })
const user = { type: 'user_message', content: [text('hi')], time: TIME }
const zot = (json: string): object => ({ ext: { protocol: 'zot', json } })
const message = (id: string, role = 'assistant'): object => ({ type: 'message-start', message: id, role })
const completed = { type: 'turn-end', outcome: 'completed', stop: 'end' }
const done = { type: 'done' }
const counts = { input: 3, output: 4, cache_read: 0, cache_write: 0, cost_usd: 0 }

describe('a turn written for a zot client', () => {
  test('a plain answer gets a model call around it, and one done', () => {
    const drive = promptedFront()
    drive.play(plainTurn('Hello'))
    expect(sentLines(drive)).toEqual([
      { type: 'response', id: '1', command: 'prompt', success: true, data: { started: true } },
      user,
      { type: 'turn_start', step: 1 },
      { type: 'assistant_start' },
      { type: 'text_delta', delta: 'Hello' },
      { type: 'assistant_message', content: [text('Hello')], time: TIME },
      { type: 'usage', ...counts, cumulative: counts },
      { type: 'turn_end', stop: 'end_turn' },
      done,
    ])
    expect(drive.losses).toEqual([{ kind: 'invented', item: 'usage.costUsd', why: 'required', count: 1 }])
  })

  test('the response waits for the turn to start', () => {
    const drive = promptedFront()
    drive.play(plainTurn('Hello').slice(0, 1))
    expect(drive.sent).toEqual([])
    drive.play(plainTurn('Hello').slice(1, 2))
    expect(drive.sent).toEqual([
      '{"type":"response","id":"1","command":"prompt","success":true,"data":{"started":true}}',
    ])
  })

  test('steps, tools and their drafts keep their order', () => {
    expect(
      linesOf([
        { type: 'step-start', step: 1 },
        message('m1'),
        { type: 'tool-start', tool: 'a', name: 'read', executor: 'agent' },
        { type: 'tool-start', tool: 'b', name: 'bash', executor: 'agent' },
        { type: 'tool-args-delta', tool: 'a', text: '{"n":' },
        {
          type: 'usage',
          scope: 'call',
          usage: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, costUsd: 0.5, reasoning: 6 },
        },
        {
          type: 'message-end',
          message: 'm1',
          parts: [{ type: 'tool-call', tool: 'a', name: 'read', args: '{"n":1.0}' }],
        },
        { type: 'tool-call', tool: 'a', name: 'read', args: '{"n":1.0}', executor: 'agent' },
        { type: 'step-end', step: 1, stop: 'tool-use' },
        { type: 'tool-progress', tool: 'a', parts: [text('ha'), text('lf')] },
        {
          type: 'tool-end',
          tool: 'a',
          status: 'ok',
          parts: [text('x'), { type: 'image', mime: 'image/png', bytes: 7 }],
        },
        { type: 'tool-end', tool: 'b', status: 'error', parts: [text('no')] },
        { type: 'usage', scope: 'turn', usage: { input: 1, output: 2 } },
        { ...completed, ...zot('{"x":1}') },
      ]),
    ).toEqual([
      user,
      { type: 'turn_start', step: 1 },
      { type: 'assistant_start' },
      { type: 'tool_use_start', id: 'a', name: 'read' },
      { type: 'tool_use_start', id: 'b', name: 'bash' },
      { type: 'tool_use_args', id: 'a', delta: '{"n":' },
      { type: 'tool_use_end', id: 'a' },
      { type: 'tool_use_end', id: 'b' },
      {
        type: 'usage',
        ...{ input: 1, output: 2, cache_read: 3, cache_write: 4, cost_usd: 0.5, reasoning: 6 },
        cumulative: { input: 1, output: 2, cache_read: 3, cache_write: 4, cost_usd: 0.5 },
      },
      {
        type: 'assistant_message',
        content: [{ type: 'tool_call', id: 'a', name: 'read', args: { n: 1 } }],
        time: TIME,
      },
      { type: 'tool_call', id: 'a', name: 'read', args: { n: 1 } },
      { type: 'turn_end', stop: 'tool_use' },
      { type: 'tool_progress', id: 'a', text: 'ha' },
      { type: 'tool_progress', id: 'a', text: 'lf' },
      {
        type: 'tool_result',
        id: 'a',
        is_error: false,
        content: [text('x'), { type: 'image', mime_type: 'image/png', bytes: 7 }],
      },
      { type: 'tool_call', id: 'b', name: 'bash', args: {} },
      { type: 'tool_result', id: 'b', is_error: true, content: [text('no')] },
      { type: 'done', x: 1 },
    ])
  })

  test('arguments are spliced, not parsed; a call of pieces is announced whole', () => {
    const drive = promptedFront()
    const args = '{"big":12345678901234567890,"e":1E2,\n"__proto__":{"a":1},"s":"\u2028"}'
    drive.play([
      { turn: 't1', type: 'tool-call', tool: 'a', name: 'n', args, executor: 'agent' },
      { turn: 't1', type: 'tool-start', tool: 'b', name: 'n', executor: 'agent' },
      { turn: 't1', type: 'tool-args-delta', tool: 'b', text: '{"x":1.00}' },
      { turn: 't1', type: 'tool-end', tool: 'b', status: 'ok', parts: [] },
      { turn: 't1', type: 'tool-end', tool: 'none', status: 'ok', parts: [] },
    ])
    expect(drive.sent.slice(3)).toEqual([
      '{"type":"tool_call","id":"a","name":"n","args":{"big":12345678901234567890,"e":1E2, "__proto__":{"a":1},"s":"\\u2028"}}',
      '{"type":"tool_use_start","id":"b","name":"n"}',
      '{"type":"tool_use_args","id":"b","delta":"{\\"x\\":1.00}"}',
      '{"type":"tool_use_end","id":"b"}',
      '{"type":"tool_call","id":"b","name":"n","args":{"x":1.00}}',
      '{"type":"tool_result","id":"b","is_error":false,"content":[]}',
      '{"type":"tool_result","id":"none","is_error":false,"content":[]}',
    ])
  })

  test('a message that was not streamed is shown whole, an empty one not at all', () => {
    expect(
      linesOf([
        message('m1'),
        { type: 'message-end', message: 'm1', parts: [text('Whole')] },
        message('m2'),
        { type: 'message-end', message: 'm2' },
      ]),
    ).toEqual([
      user,
      { type: 'turn_start', step: 1 },
      { type: 'assistant_start' },
      { type: 'text_delta', delta: 'Whole' },
      { type: 'assistant_message', content: [text('Whole')], time: TIME },
      { type: 'assistant_start' },
    ])
  })

  test('deltas are never empty, and split no line', () => {
    const drive = promptedFront()
    drive.play([
      { turn: 't1', type: 'message-start', message: 'm1', role: 'assistant' },
      { turn: 't1', type: 'text-delta', message: 'm1', text: '' },
      { turn: 't1', type: 'text-delta', message: 'm1', text: 'a\u2028\u0085\nb' },
      { turn: 't1', type: 'text-delta', message: 'm1', text: 'c', ext: { protocol: 'zot', json: '{"n":1}' } },
      { turn: 't1', type: 'text-delta', message: 'm1', text: '', ext: { protocol: 'zot', json: '{"n":1}' } },
      { turn: 't1', type: 'text-delta', message: 'gone', text: 'lost' },
      { turn: 't1', type: 'message-end', message: 'gone' },
    ])
    expect(drive.sent.slice(4)).toEqual([
      '{"type":"text_delta","delta":"a\\u2028\\u0085\\nb"}',
      '{"type":"text_delta","delta":"c","n":1}',
    ])
  })

  test("the agent's own user messages replace the one made from the prompt", () => {
    expect(
      linesOf([
        message('u', 'user'),
        {
          type: 'message-end',
          message: 'u',
          parts: [text('hi there')],
          ...zot('{"time":"T","content":[{"type":"text","text":"x","c":1}]}'),
        },
        message('u2', 'user'),
        { type: 'text-delta', message: 'u2', text: 'more' },
        { type: 'message-end', message: 'u2' },
        { type: 'step-start', step: 4, ...zot('{"step":9,"y":1}') },
        message('m'),
        { type: 'step-start', step: 5 },
        completed,
      ]),
    ).toEqual([
      { type: 'user_message', content: [{ type: 'text', text: 'x', c: 1 }], time: 'T' },
      { type: 'user_message', content: [text('more')], time: TIME },
      { type: 'turn_start', step: 4, y: 1 },
      { type: 'assistant_start' },
      { type: 'turn_end', stop: 'end_turn' },
      { type: 'turn_start', step: 5 },
      { type: 'turn_end', stop: 'end_turn' },
      done,
    ])
  })

  test('the prompt is shown with its images', () => {
    const command = {
      type: 'prompt',
      message: '',
      images: [{ mime_type: 'image/gif', data: 'R0lGODlh' }, { data: 'QUI=' }],
    }
    expect(linesOf([completed], command)).toEqual([
      {
        type: 'user_message',
        content: [
          { type: 'image', mime_type: 'image/gif', bytes: 6 },
          { type: 'image', mime_type: '', bytes: 2 },
        ],
        time: TIME,
      },
      done,
    ])
  })
})

describe('how a turn ends', () => {
  const failed = { type: 'turn-end', outcome: 'failed', stop: 'error', fault: fault('internal', 'It broke.') }
  const cancelled = { type: 'turn-end', outcome: 'cancelled', stop: 'aborted' }
  const error = { type: 'error', message: 'It broke.' }

  test('a failure is an error event before done', () => {
    expect(linesOf([failed])).toEqual([user, error, done])
    expect(linesOf([message('m'), failed]).slice(3)).toEqual([
      { type: 'turn_end', stop: 'error', error: 'It broke.' },
      error,
      done,
    ])
    expect(linesOf([{ ...failed, fault: undefined }])).toEqual([
      user,
      { type: 'error', message: 'The turn failed.' },
      done,
    ])
    expect(linesOf([{ ...failed, fault: fault('internal', 'It broke.', zot('{"code":7}')) }])).toEqual([
      user,
      { ...error, code: 7 },
      done,
    ])
  })

  test('what another protocol said of a failure is a loss', () => {
    const drive = promptedFront()
    const broken = fault('internal', 'It broke.', { ext: { protocol: 'zene', json: '{"a":1}' } })
    drive.play([{ ...failed, turn: 't1', fault: broken } as TurnEvent])
    expect(drive.losses).toEqual([{ kind: 'dropped', item: 'ext', field: 'zene', why: 'no-place', count: 1 }])
  })

  test('a cancelled turn says so once', () => {
    expect(linesOf([cancelled])).toEqual([user, { type: 'turn_end', stop: 'aborted' }, done])
    expect(linesOf([message('m'), cancelled]).slice(3)).toEqual([{ type: 'turn_end', stop: 'aborted' }, done])
    expect(
      linesOf([
        { type: 'step-start', step: 1 },
        { type: 'step-end', step: 1, stop: 'aborted', ...zot('{"error":"context canceled"}') },
        cancelled,
      ]).slice(2),
    ).toEqual([{ type: 'turn_end', stop: 'aborted', error: 'context canceled' }, done])
  })

  test('nothing follows done', () => {
    const drive = promptedFront()
    drive.play(plainTurn('a'))
    const count = drive.sent.length
    drive.play([...plainTurn('b'), { turn: 't1', type: 'text-delta', message: 'm1', text: 'late' }])
    drive.link.encodeFault(fault('internal', 'late'), drive.commands[0]!.exchange, 'continues')
    expect(drive.sent).toHaveLength(count)
  })

  test('a compact ends with its summary, or with the text when there is none', () => {
    const compact = { id: '1', type: 'compact' }
    expect(linesOf([{ ...completed, summary: 'short' }], compact)).toEqual([
      { type: 'compact_done', summary: 'short' },
      done,
    ])
    expect(linesOf(plainTurn('text'), compact).slice(-2)).toEqual([{ type: 'compact_done', summary: 'text' }, done])
    expect(linesOf([failed], compact)).toEqual([error, done])
    expect(linesOf([cancelled], compact)).toEqual([{ type: 'turn_end', stop: 'aborted' }, done])
  })

  test('a refused prompt is started, failed and done: what its clients wait for', () => {
    const drive = promptedFront()
    drive.link.encodeFault(fault('agent-not-found', 'There is no agent "x".'), drive.commands[0]!.exchange, 'continues')
    expect(sentLines(drive)).toEqual([
      { type: 'response', id: '1', command: 'prompt', success: true, data: { started: true } },
      { type: 'error', message: 'There is no agent "x".' },
      done,
    ])
  })

  test.each([
    ['end', 'end_turn'],
    ['stop-sequence', 'end_turn'],
    ['refusal', 'end_turn'],
    ['content-filter', 'end_turn'],
    ['max-tokens', 'length'],
    ['max-turns', 'error'],
    ['error', 'error'],
    ['aborted', 'aborted'],
  ] as const)('stop %s is %s', (stop, said) => {
    const drive = promptedFront()
    drive.play([
      { turn: 't1', type: 'step-start', step: 1 },
      { turn: 't1', type: 'step-end', step: 1, stop, ext: { protocol: 'zot', json: '{"x":1}' } },
    ])
    expect(sentLines(drive).at(-1)).toEqual({ type: 'turn_end', stop: said, x: 1 })
    const narrow = ['stop-sequence', 'refusal', 'content-filter', 'max-turns'].includes(stop)
    expect(drive.losses).toEqual(
      narrow ? [{ kind: 'weakened', item: 'step-end', field: 'stop', why: 'too-narrow', count: 1 }] : [],
    )
  })

  test('a turn that stopped for its length says so where no step did', () => {
    expect(linesOf([message('m'), { type: 'turn-end', outcome: 'completed', stop: 'max-tokens' }]).at(-2)).toEqual({
      type: 'turn_end',
      stop: 'length',
    })
    expect(linesOf([message('m'), { type: 'turn-end', outcome: 'completed' }]).at(-2)).toEqual({
      type: 'turn_end',
      stop: 'end_turn',
    })
  })
})

describe('usage', () => {
  const usage = (usage: object, more: object = {}): object => ({ type: 'usage', scope: 'call', usage, ...more })

  test("the total runs over the wire, and gives way to the agent's own when readers can use it", () => {
    const drive = promptedFront()
    const cumulative = (events: readonly object[]): unknown[] => {
      drive.play(events.map((event) => ({ turn: 't1', ...event }) as TurnEvent))
      return sentLines(drive)
        .filter((line) => line['type'] === 'usage')
        .map((line) => line['cumulative'])
    }
    const own = { ...counts, cost_usd: 0.5 }
    expect(cumulative([usage({ input: 3, output: 4, costUsd: 0.5 })])).toEqual([own])
    expect(
      cumulative([
        usage({ input: 1, output: 0, costUsd: Number.NaN }, zot('{"cumulative":{"cost_usd":9,"new":1}}')),
      ])[1],
    ).toEqual({ cost_usd: 9, new: 1 })
    expect(
      cumulative([usage({ input: 0, output: 0, costUsd: 0 }, zot('{"cumulative":{"cost_usd":"?"}}'))])[2],
    ).toMatchObject({ input: 4, cost_usd: 0 })
    expect(cumulative([usage({ input: 0, output: 0, costUsd: 0 }, zot('{"x":1}'))])).toHaveLength(4)
  })

  test('what has no tokens is not said; what is made up or dropped is reported', () => {
    const drive = promptedFront()
    drive.play([
      { turn: 't1', type: 'usage', scope: 'session', usage: { input: 1 } },
      { turn: 't1', type: 'usage', scope: 'turn', usage: { total: 7 }, estimated: true },
      { turn: 't1', type: 'usage', scope: 'turn', usage: { cacheRead: 7 } },
      { turn: 't1', type: 'usage', scope: 'turn', usage: { output: 7, costUsd: 1 } },
      {
        turn: 't1',
        type: 'usage',
        scope: 'turn',
        usage: { input: 7, costUsd: 1 },
        ext: { protocol: 'qwen', json: '{"cumulative":{}}' },
      },
    ])
    expect(sentLines(drive).filter((line) => line['type'] === 'usage')).toHaveLength(2)
    expect(drive.losses).toEqual([
      { kind: 'dropped', item: 'usage', why: 'no-place', count: 1 },
      { kind: 'invented', item: 'usage.input', why: 'required', count: 1 },
      { kind: 'dropped', item: 'ext', field: 'qwen', why: 'no-place', count: 1 },
      { kind: 'invented', item: 'usage.output', why: 'required', count: 1 },
    ])
    expect(drive.dropped).toEqual([
      { kind: 'dropped', item: 'usage.session', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'usage.estimated', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'usage.total', why: 'no-place', count: 1 },
    ])
  })
})

test('notices and unknown messages', () => {
  const notice = (severity: string, code: string, more: object = {}): object => ({
    type: 'notice',
    severity,
    code,
    text: 'T',
    ...more,
  })
  const events = [
    notice('info', 'ext-notify', zot('{"extension":"probe","level":"success"}')),
    notice('warning', 'retrying'),
    notice('error', 'agent-error'),
    notice('info', 'ext-display', zot('{"extension":"probe"}')),
    notice('info', 'empty-answer'),
    { type: 'foreign', protocol: 'zot', frame: '{"type":"thinking","delta":"\u2029"}' },
    { type: 'foreign', protocol: 'qwen', frame: '{}' },
  ]
  const drive = promptedFront()
  drive.play(events.map((event) => ({ turn: 't1', ...event }) as TurnEvent))
  expect(drive.sent.slice(1)).toEqual([
    '{"type":"ext_notify","extension":"probe","level":"success","message":"T"}',
    '{"type":"ext_notify","extension":"turnpike","level":"warn","message":"T"}',
    '{"type":"ext_notify","extension":"turnpike","level":"error","message":"T"}',
    '{"type":"ext_display","extension":"probe","text":"T"}',
    '{"type":"thinking","delta":"\\u2029"}',
  ])
  expect(drive.losses).toEqual([
    { kind: 'weakened', item: 'notice.code', why: 'no-place', count: 1 },
    { kind: 'dropped', item: 'foreign', field: 'qwen', why: 'no-place', count: 1 },
  ])
  const idle = front()
  idle.link.encodeLink!({ turn: null, type: 'notice', severity: 'info', code: 'ext-notify', text: 'T' })
  idle.link.encodeLink!({ turn: null, type: 'foreign', protocol: 'zot', frame: '{"type":"x"}' })
  idle.link.encodeLink!({ turn: null, type: 'foreign', protocol: 'qwen', frame: '{}' })
  expect(idle.sent).toEqual([
    '{"type":"ext_notify","extension":"turnpike","level":"info","message":"T"}',
    '{"type":"x"}',
  ])
})

test('what this wire has no place for is reported', () => {
  const drive = promptedFront()
  drive.play([
    { turn: 't1', type: 'message-start', message: 'l', role: 'assistant', lane: 'sub' },
    { turn: 't1', type: 'text-delta', message: 'l', text: 'nested', lane: 'sub' },
    { turn: 't1', type: 'text-delta', message: 'l', text: 'nested' },
    { turn: 't1', type: 'message-end', message: 'l' },
    { turn: 't1', type: 'message-start', message: 'tool', role: 'tool' },
    { turn: 't1', type: 'text-delta', message: 'tool', text: 'x' },
    { turn: 't1', type: 'message-end', message: 'tool' },
    { turn: 't1', type: 'message-retract', message: 'tool', keepText: true },
    { turn: 't1', type: 'message-start', message: 'm', role: 'assistant' },
    { turn: 't1', type: 'message-retract', message: 'm', keepText: false },
    { turn: 't1', type: 'text-delta', message: 'm', text: 'shown' },
    { turn: 't1', type: 'message-retract', message: 'm', keepText: false },
    { turn: 't1', type: 'tool-start', tool: 'a', name: 'n', kind: 'read', title: 'T', executor: 'agent' },
    { turn: 't1', type: 'tool-progress', tool: 'a', parts: [{ type: 'data', json: '1' }] },
    { turn: 't1', type: 'tool-end', tool: 'a', status: 'denied', parts: [{ type: 'audio', name: 'a' }] },
    { turn: 't1', type: 'tool-end', tool: 'a', status: 'cancelled', parts: [{ type: 'text', text: 'no' }] },
    {
      turn: 't1',
      type: 'message-end',
      message: 'm',
      parts: [
        { type: 'reasoning', text: 'r' },
        { type: 'file', name: 'f' },
        { type: 'data', json: '{"k":1}' },
        { type: 'image', url: 'u' },
        { type: 'tool-reply', tool: 'a', status: 'denied', parts: [] },
      ],
    },
  ])
  expect(sentLines(drive).slice(-1)).toEqual([
    {
      type: 'assistant_message',
      content: [
        text('{"k":1}'),
        { type: 'image', mime_type: '', bytes: 0 },
        { type: 'tool_result', call_id: 'a', is_error: true, content: [] },
      ],
      time: TIME,
    },
  ])
  expect(drive.sent.join('\n')).not.toContain('nested')
  const loss = (kind: string, item: string, field: string | undefined, why = 'no-place'): object => ({
    kind,
    item,
    ...(field && { field }),
    why,
    count: 1,
  })
  expect(drive.losses).toEqual([
    loss('dropped', 'message-start', 'lane'),
    loss('dropped', 'text-delta', 'lane'),
    loss('dropped', 'message-end', 'role'),
    loss('weakened', 'message-retract', undefined, 'too-narrow'),
    loss('dropped', 'part.data', 'tool_progress'),
    loss('weakened', 'tool-end', 'status', 'too-narrow'),
    loss('weakened', 'tool-end', 'status', 'too-narrow'),
    loss('weakened', 'part.data', undefined),
    loss('invented', 'part.image', 'bytes', 'required'),
    loss('weakened', 'part.image', 'url'),
  ])
  expect(drive.dropped).toEqual([
    loss('dropped', 'tool.kind', undefined),
    loss('dropped', 'tool.title', undefined),
    loss('dropped', 'part.audio', undefined),
    loss('dropped', 'part.reasoning', undefined),
    loss('dropped', 'part.file', undefined),
  ])
})

test('content that came on this wire goes out as it was, and nothing of it is lost', () => {
  const json = '{"content":[{"type":"audio","bytes":1.0}]}'
  const parts = [{ type: 'data', json: '{"type":"audio","bytes":1.0}' }]
  const own = { protocol: 'zot', json }
  const other = { protocol: 'zene', json }
  for (const [ext, content, losses] of [
    [own, '[{"type":"audio","bytes":1.0}]', 0],
    [other, '[{"type":"text","text":"{\\"type\\":\\"audio\\",\\"bytes\\":1.0}"}]', 2],
  ] as const) {
    const drive = promptedFront()
    drive.play(
      [
        { type: 'message-start', message: 'm', role: 'assistant' },
        { type: 'message-end', message: 'm', parts, ext },
        { type: 'tool-call', tool: 'c', name: 'listen', args: '{}', executor: 'agent' },
        { type: 'tool-end', tool: 'c', status: 'ok', parts, ext },
      ].map((event) => ({ turn: 't1', ...event }) as TurnEvent),
    )
    const told = drive.sent.map(String).filter((line) => line.includes('audio'))
    expect(told.filter((line) => line.includes(`"content":${content}`))).toHaveLength(2)
    expect(drive.losses.filter(({ item }) => item === 'part.data')).toHaveLength(losses)
  }
})
