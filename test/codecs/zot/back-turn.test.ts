import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/zot/index.ts'
import { answer, endsOf, eventsOf, readyBack, runningBack, sentLines } from './kit.ts'

const usage = (input: number, output: number, cost: number, more: object = {}): Record<string, unknown> => ({
  type: 'usage',
  input,
  output,
  cache_read: 0,
  cache_write: 0,
  cost_usd: cost,
  cumulative: { cost_usd: cost },
  ...more,
})
const counted = (input: number, output: number, costUsd: number): object => ({
  input,
  output,
  cacheRead: 0,
  cacheWrite: 0,
  costUsd,
})
const ext = (json: string): object => ({ ext: { protocol: 'zot', json } })
const text = (value: string): object => ({ type: 'text', text: value })

describe('a prompt read from a zot agent', () => {
  test('a text answer keeps its order, its parts and one usage of the turn', () => {
    expect(
      eventsOf([
        '{"content":[{"text":"hi","type":"text"}],"time":"2026-11-28T00:04:46.853859499Z","type":"user_message"}',
        { type: 'turn_start', step: 1 },
        { type: 'assistant_start' },
        { type: 'text_delta', delta: 'Hel' },
        { type: 'text_delta', delta: '' },
        { type: 'text_delta', delta: 'lo' },
        usage(10, 2, 0.5),
        '{"type":"assistant_message","content":[{"type":"text","text":"Hello"}],"time":"T"}',
        { type: 'turn_end', stop: 'end' },
        { type: 'done' },
      ]),
    ).toEqual([
      { type: 'message-start', message: 'b3', role: 'user' },
      { type: 'message-end', message: 'b3', parts: [text('hi')], ...ext('{"time":"2026-11-28T00:04:46.853859499Z"}') },
      { type: 'step-start', step: 1 },
      { type: 'message-start', message: 'b4', role: 'assistant' },
      { type: 'text-delta', message: 'b4', text: 'Hel' },
      { type: 'text-delta', message: 'b4', text: 'lo' },
      { type: 'usage', scope: 'call', usage: counted(10, 2, 0.5), ...ext('{"cumulative":{"cost_usd":0.5}}') },
      { type: 'message-end', message: 'b4', parts: [text('Hello')], ...ext('{"time":"T"}') },
      { type: 'step-end', step: 1, stop: 'end' },
      { type: 'usage', scope: 'turn', usage: counted(10, 2, 0.5) },
      { type: 'turn-end', outcome: 'completed', stop: 'end' },
    ])
  })

  test('several model calls with a tool: steps, one summed usage, raw arguments', () => {
    const events = eventsOf([
      { type: 'turn_start', step: 1 },
      { type: 'assistant_start' },
      { type: 'tool_use_start', id: 'c1', name: 'read' },
      { type: 'tool_use_args', id: 'c1', delta: '{"n":1.0' },
      { type: 'tool_use_end', id: 'c1' },
      usage(10, 2, 0.5),
      '{"type":"assistant_message","content":[{"type":"tool_call","id":"c1","name":"read","args":{"n":1.0, "__proto__":1e2}}]}',
      '{"type":"tool_call","id":"c1","name":"read","args":{"n":1.0, "__proto__":1e2}}',
      { type: 'turn_end', stop: 'tool_use' },
      { type: 'tool_progress', id: 'c1', text: 'half a li' },
      {
        type: 'tool_result',
        id: 'c1',
        is_error: false,
        content: [text('ok'), { type: 'image', mime_type: 'image/png', bytes: 7 }],
      },
      { type: 'turn_start', step: 2 },
      { type: 'assistant_start' },
      { type: 'text_delta', delta: 'Done' },
      usage(20, 3, 0.25, { reasoning: 4, auxiliary: { x: 1 } }),
      { type: 'assistant_message', content: [text('Done')] },
      { type: 'turn_end', stop: 'end_turn' },
      { type: 'done' },
    ])
    const args = '{"n":1.0, "__proto__":1e2}'
    expect(events.slice(2)).toEqual([
      { type: 'tool-start', tool: 'c1', message: 'b3', name: 'read', executor: 'agent' },
      { type: 'tool-args-delta', tool: 'c1', text: '{"n":1.0' },
      { type: 'usage', scope: 'call', usage: counted(10, 2, 0.5), ...ext('{"cumulative":{"cost_usd":0.5}}') },
      { type: 'message-end', message: 'b3', parts: [{ type: 'tool-call', tool: 'c1', name: 'read', args }] },
      { type: 'tool-call', tool: 'c1', name: 'read', args, executor: 'agent' },
      { type: 'step-end', step: 1, stop: 'tool-use' },
      { type: 'tool-progress', tool: 'c1', parts: [text('half a li')] },
      {
        type: 'tool-end',
        tool: 'c1',
        status: 'ok',
        parts: [text('ok'), { type: 'image', mime: 'image/png', bytes: 7 }],
      },
      { type: 'step-start', step: 2 },
      { type: 'message-start', message: 'b4', role: 'assistant' },
      { type: 'text-delta', message: 'b4', text: 'Done' },
      {
        type: 'usage',
        scope: 'call',
        usage: { ...counted(20, 3, 0.25), reasoning: 4 },
        ...ext('{"cumulative":{"cost_usd":0.25},"auxiliary":{"x":1}}'),
      },
      { type: 'message-end', message: 'b4', parts: [text('Done')] },
      { type: 'step-end', step: 2, stop: 'end' },
      { type: 'usage', scope: 'turn', usage: { ...counted(30, 5, 0.75), reasoning: 4 } },
      { type: 'turn-end', outcome: 'completed', stop: 'end' },
    ])
  })

  test('calls that share an id stay apart, at once and one after the other', () => {
    const events = eventsOf([
      { type: 'tool_use_start', id: 'x', name: 'a' },
      { type: 'tool_use_start', id: 'x', name: 'b' },
      { type: 'tool_use_args', id: 'x', delta: '{' },
      {
        type: 'assistant_message',
        content: [
          { type: 'tool_call', id: 'x', name: 'a', args: 1 },
          { type: 'tool_call', id: 'x', name: 'b', args: 2 },
          { type: 'tool_call', id: 'x', name: 'c', args: 3 },
        ],
      },
      { type: 'tool_call', id: 'x', name: 'a', args: 1 },
      { type: 'tool_call', id: 'x', name: 'b', args: 2 },
      { type: 'tool_call', id: 'x', name: 'c', args: 3 },
      { type: 'tool_progress', id: 'x', text: 'p' },
      { type: 'tool_result', id: 'x', is_error: true, content: [] },
      { type: 'tool_result', id: 'x', content: null },
      { type: 'tool_call', id: 'x', name: 'd' },
      { type: 'tool_use_start', id: 'x#5', name: 'e' },
      { type: 'tool_use_start', id: 'x', name: 'f' },
    ])
    expect(events.filter((event) => 'tool' in event)).toEqual([
      { type: 'tool-start', tool: 'x', name: 'a', executor: 'agent' },
      { type: 'tool-start', tool: 'x#2', name: 'b', executor: 'agent' },
      { type: 'tool-args-delta', tool: 'x#2', text: '{' },
      { type: 'tool-call', tool: 'x', name: 'a', args: '1', executor: 'agent' },
      { type: 'tool-call', tool: 'x#2', name: 'b', args: '2', executor: 'agent' },
      { type: 'tool-call', tool: 'x#3', name: 'c', args: '3', executor: 'agent' },
      { type: 'tool-progress', tool: 'x', parts: [text('p')] },
      { type: 'tool-end', tool: 'x', status: 'error', parts: [] },
      { type: 'tool-end', tool: 'x#2', status: 'ok', parts: [] },
      { type: 'tool-call', tool: 'x#4', name: 'd', args: '{}', executor: 'agent' },
      { type: 'tool-start', tool: 'x#5', name: 'e', executor: 'agent' },
      { type: 'tool-start', tool: 'x#6', name: 'f', executor: 'agent' },
    ])
    expect(events[4]).toEqual({
      type: 'message-end',
      message: 'b3',
      parts: [
        { type: 'tool-call', tool: 'x', name: 'a', args: '1' },
        { type: 'tool-call', tool: 'x#2', name: 'b', args: '2' },
        { type: 'tool-call', tool: 'x#3', name: 'c', args: '3' },
      ],
    })
  })

  test('what names a call that is not there passes on as it came', () => {
    for (const line of [
      '{"type":"tool_use_args","id":"no","delta":"x"}',
      '{"type":"tool_progress","id":"no","text":"x"}',
      '{"type":"tool_result","id":"no","content":[]}',
      '{"type":"compact_done","summary":"of nothing"}',
      '{"type":"thinking_delta","delta":"new"}',
      '{"no":"type"}',
    ]) {
      expect(eventsOf([line])).toEqual([{ type: 'foreign', protocol: 'zot', frame: line }])
    }
  })

  test('unknown fields ride in ext, unknown content as it came', () => {
    const content = '[{"type":"text","text":"a","cache":true},{"type":"video","url":"u"},7]'
    expect(
      eventsOf([
        '{"type":"assistant_start","x":1}',
        '{"type":"text_delta","delta":"a","n":1.50}',
        '{"type":"assistant_message","content":[{"type":"text","text":"a","cache":true},{"type":"video","url":"u"}]}',
        '{"type":"tool_call","id":"c","name":"n"}',
        '{"type":"tool_result","id":"c","content":[{"type":"tool_result","call_id":"d","is_error":true,"content":[{"type":"image","bytes":"?"}]},{"type":"tool_result","call_id":"e","content":[{"type":"x"}]}],"y":2}',
      ]),
    ).toEqual([
      { type: 'message-start', message: 'b3', role: 'assistant', ...ext('{"x":1}') },
      { type: 'text-delta', message: 'b3', text: 'a', ...ext('{"n":1.50}') },
      {
        type: 'message-end',
        message: 'b3',
        parts: [text('a'), { type: 'data', json: '{"type":"video","url":"u"}' }],
        ...ext(`{"content":${content.replace(',7', '')}}`),
      },
      { type: 'tool-call', tool: 'c', name: 'n', args: '{}', executor: 'agent' },
      {
        type: 'tool-end',
        tool: 'c',
        status: 'ok',
        parts: [
          { type: 'tool-reply', tool: 'd', status: 'error', parts: [{ type: 'image' }] },
          { type: 'tool-reply', tool: 'e', status: 'ok', parts: [{ type: 'data', json: '{"type":"x"}' }] },
        ],
        ...ext(
          '{"y":2,"content":[{"type":"tool_result","call_id":"d","is_error":true,"content":[{"type":"image","bytes":"?"}]},{"type":"tool_result","call_id":"e","content":[{"type":"x"}]}]}',
        ),
      },
    ])
    // Content that is no list of objects does not fit the message at all.
    const drive = runningBack()
    drive.feed(`{"type":"assistant_message","content":${content}}`)
    expect(drive.losses).toEqual([{ kind: 'unparsed', item: 'message-end', why: 'unknown', count: 1 }])
  })

  test('a part whose id cannot be one is data', () => {
    const part = '{"type":"tool_result","call_id":{"a":1},"content":[]}'
    const content = (id: string) =>
      `{"type":"assistant_message","content":[{"type":"tool_result","call_id":${id},"content":[]}]}`
    const partsOf = (line: string) =>
      eventsOf([line]).flatMap((event) => ('parts' in event ? (event.parts as object[]) : []))
    expect(partsOf(content('{"a":1}'))).toEqual([{ type: 'data', json: part }])
    expect(partsOf(content('7'))).toEqual([{ type: 'tool-reply', tool: '7', status: 'ok', parts: [] }])
  })

  test('what is absent or null stays absent', () => {
    expect(
      eventsOf([
        { type: 'assistant_message' },
        '{"type":"assistant_message","content":[{"type":"tool_call","id":"c","name":"n"}]}',
        '{"type":"tool_call","id":"c","name":"n"}',
        '{"type":"tool_result","id":"c","content":[{"type":"tool_result","call_id":"d"},{"type":"tool_result","call_id":"e","content":[7]}]}',
        { type: 'usage', input: null, output: 2, cache_read: null },
        { type: 'usage', input: 1 },
      ]).filter((event) => !('type' in event && event.type === 'message-start')),
    ).toEqual([
      { type: 'message-end', message: 'b3', parts: [] },
      { type: 'message-end', message: 'b4', parts: [{ type: 'tool-call', tool: 'c', name: 'n', args: '{}' }] },
      { type: 'tool-call', tool: 'c', name: 'n', args: '{}', executor: 'agent' },
      {
        type: 'tool-end',
        tool: 'c',
        status: 'ok',
        parts: [
          { type: 'tool-reply', tool: 'd', status: 'ok', parts: [] },
          { type: 'tool-reply', tool: 'e', status: 'ok', parts: [{ type: 'data', json: '7' }] },
        ],
        ...ext('{"content":[{"type":"tool_result","call_id":"d"},{"type":"tool_result","call_id":"e","content":[7]}]}'),
      },
      { type: 'usage', scope: 'call', usage: { output: 2 } },
      { type: 'usage', scope: 'call', usage: { input: 1 } },
    ])
  })

  test('messages of another shape are losses and nothing else', () => {
    const odd: [string, string][] = [
      ['{"type":"text_delta","delta":5}', 'text-delta'],
      ['{"type":"turn_start","step":"one"}', 'step-start'],
      ['{"type":"tool_use_start","id":1}', 'tool-start'],
      ['{"type":"turn_end","stop":1}', 'step-end'],
      ['{"type":"ext_notify"}', 'notice'],
      ['{"type":"ext_display","text":1}', 'notice'],
      ['{"type":"response","id":"nobody","success":true}', 'command-reply'],
      ['{"type":"response","id":5}', 'command-reply'],
      ['{"type":"response","command":"","success":false,"error":"malformed json"}', 'command-reply'],
      ['not json', 'foreign'],
      ['[1]', 'foreign'],
    ]
    const drive = runningBack()
    for (const [line] of odd) drive.feed(line)
    expect(drive.events).toEqual([])
    expect(drive.losses).toEqual(odd.map(([, item]) => ({ kind: 'unparsed', item, why: 'unknown', count: 1 })))
  })

  test('text without assistant_start, a step without its end and odd stops are mended', () => {
    expect(
      eventsOf([
        { type: 'turn_start', step: 1 },
        { type: 'text_delta', delta: 'a' },
        { type: 'turn_start', step: 2 },
        { type: 'text_delta', delta: 'b' },
        { type: 'turn_end', stop: 'pause', error: 'e' },
        { type: 'turn_end' },
        { type: 'done', x: 1 },
      ]),
    ).toEqual([
      { type: 'step-start', step: 1 },
      { type: 'message-start', message: 'b3', role: 'assistant' },
      { type: 'text-delta', message: 'b3', text: 'a' },
      { type: 'message-end', message: 'b3' },
      { type: 'step-end', step: 1, stop: 'end' },
      { type: 'step-start', step: 2 },
      { type: 'message-start', message: 'b4', role: 'assistant' },
      { type: 'text-delta', message: 'b4', text: 'b' },
      { type: 'message-end', message: 'b4' },
      { type: 'step-end', step: 2, stop: 'end', ...ext('{"error":"e","stop":"pause"}') },
      { type: 'turn-end', outcome: 'completed', stop: 'end', ...ext('{"x":1}') },
    ])
  })
})

describe('notices of extensions', () => {
  test('within a turn, and outside of one', () => {
    const notify = '{"type":"ext_notify","extension":"probe","level":"warn","message":"seen"}'
    const drive = runningBack()
    drive.feed(notify, '{"type":"ext_display","extension":"probe","text":"shown"}', '{"type":"ext_display","text":"t"}')
    drive.feed('{"type":"ext_notify","message":"m","level":"error"}', '{"type":"ext_notify","message":"m"}')
    drive.feed('{"type":"done"}')
    drive.feed(notify, '{"type":"error","message":"late"}', '{"type":"error"}', '{"type":"text_delta","delta":"late"}')
    drive.feed('{"type":"done"}', '{"type":"later_event"}')
    expect(drive.events.filter((event) => event.type !== 'turn-end')).toEqual([
      {
        turn: 't1',
        type: 'notice',
        severity: 'warning',
        code: 'ext-notify',
        text: 'seen',
        ...ext('{"extension":"probe","level":"warn"}'),
      },
      {
        turn: 't1',
        type: 'notice',
        severity: 'info',
        code: 'ext-display',
        text: 'shown',
        ...ext('{"extension":"probe"}'),
      },
      { turn: 't1', type: 'notice', severity: 'info', code: 'ext-display', text: 't' },
      { turn: 't1', type: 'notice', severity: 'error', code: 'ext-notify', text: 'm', ...ext('{"level":"error"}') },
      { turn: 't1', type: 'notice', severity: 'info', code: 'ext-notify', text: 'm' },
      {
        turn: 't1',
        type: 'notice',
        severity: 'info',
        code: 'empty-answer',
        text: 'The agent ended the turn without any text.',
      },
      {
        turn: null,
        type: 'notice',
        severity: 'warning',
        code: 'ext-notify',
        text: 'seen',
        ...ext('{"extension":"probe","level":"warn"}'),
      },
      { turn: null, type: 'notice', severity: 'error', code: 'agent-error', text: 'late' },
      { turn: null, type: 'notice', severity: 'info', code: 'unasked-output', text: 'late' },
      { turn: null, type: 'foreign', protocol: 'zot', frame: '{"type":"later_event"}' },
    ])
    expect(endsOf(drive.events)).toHaveLength(1)
  })
})

test('the prompt carries text, images and unknown fields, and says what it loses', () => {
  const drive = runningBack({
    input: [
      text('a') as never,
      { type: 'data', json: '{"k":1}' },
      { type: 'image', mime: 'image/png', base64: 'iVBO' },
      { type: 'image', base64: 'R0lG' },
      { type: 'image', url: 'https://example.org/x.png' },
      { type: 'file', name: 'f' },
    ],
    ext: { protocol: 'zot', json: '{"type":"abort","id":"z","flag":true}' },
  })
  expect(drive.sent[1]).toBe(
    '{"type":"prompt","id":"b2","message":"a\\n{\\"k\\":1}","images":[{"mime_type":"image/png","data":"iVBO"},{"data":"R0lG"}],"flag":true}',
  )
  expect(drive.losses).toEqual([
    { kind: 'weakened', item: 'part.data', why: 'no-place', count: 1 },
    { kind: 'dropped', item: 'part.image', why: 'no-place', count: 1 },
    { kind: 'dropped', item: 'part.file', why: 'no-place', count: 1 },
  ])
})

test('a system prompt is folded into the first prompt that has it, and again after clear and compact', () => {
  const drive = runningBack({ options: { systemPrompt: 'Be short.' }, ext: { protocol: 'zene', json: '{"a":1}' } })
  const folded = 'System instruction:\nBe short.\n\nUser message:\nhi'
  const next = (): unknown => {
    drive.feed('{"type":"done"}')
    drive.start('hi', { options: { systemPrompt: 'Be short.' } })
    const message = sentLines(drive).at(-1)!['message']
    answer(drive, 'prompt')
    return message
  }
  expect(sentLines(drive).at(-1)!['message']).toBe(folded)
  expect(drive.losses).toEqual([
    { kind: 'dropped', item: 'ext', field: 'zene', why: 'no-place', count: 1 },
    { kind: 'weakened', item: 'option.systemPrompt', why: 'no-place', count: 1 },
  ])
  expect(next()).toBe('hi')
  drive.link.encode({ exchange: 'x', type: 'session-clear' })
  answer(drive, 'clear')
  expect(next()).toBe(folded)
  drive.feed('{"type":"done"}')
  drive.start('', { task: 'compact' })
  answer(drive, 'compact')
  drive.feed('{"type":"compact_done","summary":"s"}')
  expect(next()).toBe(folded)
})

test('a system prompt that was in a refused prompt is said again', () => {
  const drive = readyBack()
  const options = { systemPrompt: 'Be short.' }
  drive.start('one', { options })
  answer(drive, 'prompt', { success: false, error: 'images: not base64' })
  drive.start('two', { turn: 't2', options })
  expect(sentLines(drive).at(-1)!['message']).toBe('System instruction:\nBe short.\n\nUser message:\ntwo')
})

test('the capabilities name every item', () => {
  expect(Object.keys(codec.dialects['rpc']!.back!.capabilities)).toEqual(
    Object.keys(codec.dialects['rpc']!.front!.capabilities),
  )
})
