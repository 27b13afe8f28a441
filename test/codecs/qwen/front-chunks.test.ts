import { describe, expect, test } from 'vitest'
import { plainTurn } from '../../kit/drive.ts'
import { bare, CHUNK_ARGS, chat, completed, front, linesOf, play, sentLines } from './kit.ts'

const chunk = (delta: object, finish: string | null = null, more: object = {}) => ({
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
})
const lines = (events: readonly object[]) => linesOf(events, CHUNK_ARGS)
const display = (id: string, status: string, shown: unknown, pending = false) => ({
  type: 'x-qwen-tool-display',
  tool_call_id: id,
  status,
  result_display: shown,
  confirmation: null,
  pending,
})
const start = (message: string) => ({ type: 'message-start', message, role: 'assistant' })
const delta = (message: string, text: string, more: object = {}) => ({ type: 'text-delta', message, text, ...more })

describe('stream-chunk-json', () => {
  test('a plain turn, every byte of it', () => {
    const drive = front([...CHUNK_ARGS, '--model', 'qwen-coder'])
    drive.feed(chat('hi'))
    drive.play(plainTurn('hel\u2028lo'))
    const head =
      '{"object":"chat.completion.chunk","id":"chatcmpl-s","created":1,"model":"qwen-coder","session_id":"s","prompt_id":"s########1","choices":[{"index":0,"delta":'
    expect(drive.sent).toEqual([
      `${head}{"role":"assistant"},"finish_reason":null}],"metadata":{"protocol_version":"1.0","input_format":"stream-json","output_format":"stream-chunk-json","capabilities":["commands","command_hint","heartbeat","cancel","annotations","can_use_tool","hook_callback","mcp_message","tool_response"]}}`,
      `${head}{"content":"hel\\u2028lo"},"finish_reason":null}]}`,
      `${head}{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}`,
    ])
  })

  test('messages are parted by a piece that names the role again', () => {
    expect(
      lines([
        start('a'),
        delta('a', 'one'),
        delta('a', ''),
        delta('a', ' more'),
        { type: 'message-end', message: 'a' },
        start('b'),
        { type: 'message-end', message: 'b', parts: [{ type: 'text', text: 'two' }] },
        start('c'),
        { type: 'message-end', message: 'c', parts: [] },
        { type: 'message-start', message: 'u', role: 'user' },
        delta('u', 'not mine'),
        completed,
      ]),
    ).toEqual([
      chunk({ content: 'one' }),
      chunk({ content: ' more' }),
      chunk({ role: 'assistant', content: '\n\n' }),
      chunk({ content: 'two' }),
      chunk({}, 'stop'),
    ])
  })

  test('calls in pieces, a whole call, one without pieces of arguments; the round ends before what follows', () => {
    expect(
      lines([
        start('a'),
        delta('a', 'x'),
        { type: 'tool-start', tool: 'c1', name: 'edit', executor: 'agent' },
        { type: 'tool-args-delta', tool: 'c1', text: '{"n":' },
        { type: 'tool-args-delta', tool: 'c1', text: '1}' },
        { type: 'tool-args-delta', tool: 'unknown', text: '1}' },
        { type: 'tool-call', tool: 'c1', name: 'edit', args: '{"n":1}', executor: 'agent' },
        { type: 'tool-start', tool: 'c2', name: 'read', executor: 'agent' },
        { type: 'tool-call', tool: 'c2', name: 'read', args: '{"m":1.0}', executor: 'agent' },
        { type: 'tool-call', tool: 'c3', name: 'run', args: '{}', executor: 'client' },
        { type: 'usage', scope: 'call', usage: { input: 1 } },
        delta('a', 'y'),
        completed,
      ]),
    ).toEqual([
      chunk({ content: 'x' }),
      chunk({ tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'edit', arguments: '' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"n":' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
      display('c1', 'Executing', null),
      chunk({ tool_calls: [{ index: 1, id: 'c2', type: 'function', function: { name: 'read', arguments: '' } }] }),
      chunk({ tool_calls: [{ index: 1, function: { arguments: '{"m":1.0}' } }] }),
      display('c2', 'Executing', null),
      chunk({ tool_calls: [{ index: 2, id: 'c3', type: 'function', function: { name: 'run', arguments: '{}' } }] }),
      display('c3', 'Pending', null, true),
      chunk({}, 'tool_calls', { usage: { prompt_tokens: 1 } }),
      chunk({ content: 'y' }),
      chunk({}, 'stop'),
    ])
  })

  test('a turn that ends with calls', () => {
    expect(
      lines([
        { type: 'tool-call', tool: 'c', name: 'x', args: '{}', executor: 'agent' },
        { type: 'tool-end', tool: 'c', status: 'ok', parts: [{ type: 'text', text: 'r' }] },
        completed,
      ]).slice(1),
    ).toEqual([
      display('c', 'Executing', null),
      chunk({}, 'tool_calls'),
      display('c', 'Success', 'r'),
      chunk({}, 'stop'),
    ])
  })

  test('an end other than the usual one is told before the last piece', () => {
    expect(lines([{ type: 'turn-end', outcome: 'cancelled' }])).toEqual([
      { type: 'x-qwen-session-event', event: 'USER_CANCELLED', message: 'The turn was cancelled.' },
      chunk({}, 'stop'),
    ])
    expect(
      lines([
        { type: 'usage', scope: 'turn', usage: { total: 9 } },
        { type: 'turn-end', outcome: 'completed', stop: 'max-tokens', ext: { protocol: 'qwen', json: '{"z":1}' } },
      ]),
    ).toEqual([
      {
        type: 'x-qwen-session-event',
        event: 'MAX_TOKENS',
        message: 'The answer was cut off at the limit of tokens.',
        metrics: { total_tokens: 9 },
      },
      chunk({}, 'length', { usage: { total_tokens: 9 }, z: 1 }),
    ])
  })

  test('a failure is the last line, without a last piece', () => {
    expect(lines([start('a'), delta('a', 'x'), { type: 'turn-end', outcome: 'failed' }]).slice(1)).toMatchObject([
      { error: { code: 'QWEN_INTERNAL' } },
    ])
  })

  test('thoughts as they come, and unknown fields where they came from', () => {
    const ext = { protocol: 'qwen', json: '{"delta":{"logit":1},"service_tier":"a","annotations":[{"type":"z"}]}' }
    expect(
      lines([
        start('a'),
        { type: 'reasoning-delta', message: 'a', text: '**Look**' },
        { type: 'reasoning-delta', message: 'a', text: 'on' },
        delta('a', 'x', { ext }),
        completed,
      ]),
    ).toEqual([
      { type: 'x-qwen-thought', subject: 'Look', description: '' },
      { type: 'x-qwen-thought', subject: '', description: 'on' },
      chunk({ content: 'x', logit: 1 }, null, { service_tier: 'a', annotations: [{ type: 'z' }] }),
      chunk({}, 'stop'),
    ])
  })

  test('a message that was shown cannot be taken back', () => {
    const drive = front(CHUNK_ARGS)
    drive.feed(chat('x'))
    const retract = (message: string) => ({ type: 'message-retract', message, keepText: false })
    play(drive, [start('a'), retract('a'), delta('a', 'x'), retract('a'), { type: 'message-end', message: 'a' }])
    play(drive, [start('b'), { type: 'message-end', message: 'b', parts: [{ type: 'text', text: 'y' }] }, retract('b')])
    play(drive, [start('c'), delta('c', 'z'), start('d'), delta('d', 'z'), retract('c'), completed])
    expect(drive.losses).toEqual(
      [1, 2, 3].map(() => ({ kind: 'weakened', item: 'message-retract', why: 'too-narrow', count: 1 })),
    )
  })

  test('what cannot be taken back, and a summary of a prompt, are losses', () => {
    const drive = front(CHUNK_ARGS)
    drive.feed(chat('hi'))
    const revised = { type: 'message-end', message: 'a', revised: true, parts: [{ type: 'text', text: 'two' }] }
    play(drive, [start('a'), delta('a', 'one'), revised, { ...completed, summary: 'All of it.' }])
    expect(drive.losses).toEqual([
      { kind: 'weakened', item: 'message-end', field: 'text', why: 'policy', count: 1 },
      { kind: 'dropped', item: 'end.summary', why: 'no-place', count: 1 },
    ])
  })

  test('the round of a call that was dropped never ends with calls', () => {
    const tool = { tool: 'c', name: 'look', executor: 'agent' }
    const cancelled = { type: 'turn-end', outcome: 'cancelled', stop: 'aborted' }
    expect(
      lines([
        { type: 'tool-start', ...tool },
        { type: 'tool-end', tool: 'c', status: 'cancelled', parts: [] },
        cancelled,
      ]),
    ).toEqual([
      chunk({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'look', arguments: '' } }] }),
      { type: 'x-qwen-session-event', event: 'USER_CANCELLED', message: 'The turn was cancelled.' },
      chunk({}, 'stop'),
    ])
  })

  test('a command without a control channel says so', () => {
    const drive = front(CHUNK_ARGS.slice(2), { transport: 'http' })
    expect(drive.exitCode).toBeUndefined()
    drive.feed(chat('/init'))
    play(drive, [{ type: 'turn-accepted', how: 'new', session: 's' }, start('a'), delta('a', 'x'), completed])
    expect(bare(sentLines(drive))[1]).toEqual({
      type: 'result/command',
      command: { kind: 'slash', path: ['init'], args: '' },
      result: {
        type: 'submit_prompt',
        content: 'This wire has no control channel: what needs an approval follows the route of the gateway.',
        control_channel: false,
      },
    })
  })
})
