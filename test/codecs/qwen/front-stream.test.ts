import { describe, expect, test } from 'vitest'
import { fault } from '../../../src/model/index.ts'
import { plainTurn } from '../../kit/drive.ts'
import { bare, chat, completed, finished, front, JSON_ARGS, linesOf, play, sentLines } from './kit.ts'

const accepted = { type: 'turn-accepted', how: 'new', session: 's' }
const message = (content: string | null, finish: string | null, more: object = {}, calls: unknown = null) => ({
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content, tool_calls: calls }, finish_reason: finish }],
  ...more,
})
const call = (id: string, name: string, args: string, more: object = {}) => ({
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [{ id, type: 'function', function: { name, arguments: args } }],
      },
      finish_reason: 'tool_calls',
    },
  ],
  ...more,
})
const display = (id: string, status: string, shown: unknown, more: object = {}) => ({
  type: 'x-qwen-tool-display',
  tool_call_id: id,
  status,
  result_display: shown,
  confirmation: null,
  pending: false,
  ...more,
})
const say = (id: string, text: string) => [
  { type: 'message-start', message: id, role: 'assistant' },
  { type: 'text-delta', message: id, text },
  { type: 'message-end', message: id },
]
const sessionEvent = (event: string, text: string, more: object = {}) => ({
  type: 'x-qwen-session-event',
  event,
  message: text,
  ...more,
})

describe('stream-json', () => {
  test('a plain turn, every field of it', () => {
    const drive = front([...JSON_ARGS, '-m', 'qwen-coder'])
    drive.feed(chat('hi'))
    drive.play(plainTurn('hello'))
    const head = {
      object: 'chat.completion',
      id: 'chatcmpl-s',
      created: 1,
      model: 'qwen-coder',
      session_id: 's',
      prompt_id: 's########1',
    }
    const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
    expect(sentLines(drive)).toEqual([
      {
        ...head,
        choices: [{ index: 0, message: { role: 'assistant', content: '', tool_calls: null }, finish_reason: null }],
        metadata: {
          protocol_version: '1.0',
          input_format: 'stream-json',
          output_format: 'stream-json',
          capabilities: [
            'commands',
            'command_hint',
            'heartbeat',
            'cancel',
            'annotations',
            'can_use_tool',
            'hook_callback',
            'mcp_message',
            'tool_response',
          ],
        },
      },
      {
        ...head,
        choices: [
          { index: 0, message: { role: 'assistant', content: 'hello', tool_calls: null }, finish_reason: 'stop' },
        ],
        usage,
      },
      { session_id: 's', prompt_id: 's########1', ...finished, metrics: usage },
    ])
    expect(drive.exitCode).toBeUndefined()
    expect(drive.losses).toEqual([])
  })

  test('what the agent is told once, the second turn does not repeat', () => {
    const drive = front()
    drive.feed(chat('one'))
    drive.play(plainTurn('1'))
    drive.sent.length = 0
    drive.feed(chat('two', { prompt_id: 'p2' }))
    play(drive, [accepted, ...say('m9', '2'), completed])
    expect(bare(sentLines(drive))).toEqual([message('2', 'stop'), finished])
  })

  test('only the last message has a finish reason; the usage of calls stands with them', () => {
    expect(
      linesOf([
        ...say('m1', 'first'),
        { type: 'usage', scope: 'call', usage: { input: 1, output: 2, cacheRead: 3, reasoning: 4 } },
        { type: 'tool-call', tool: 'c', name: 'edit', args: '{"n":1.10}', executor: 'agent' },
        { type: 'tool-end', tool: 'c', status: 'ok', parts: [] },
        ...say('m2', 'second'),
        { type: 'usage', scope: 'call', usage: { input: 5, output: 6 } },
        { type: 'usage', scope: 'turn', usage: { input: 6, output: 8 } },
        completed,
      ]),
    ).toEqual([
      message('first', null, {
        usage: {
          prompt_tokens: 1,
          completion_tokens: 2,
          total_tokens: 3,
          prompt_tokens_details: { cached_tokens: 3 },
          completion_tokens_details: { reasoning_tokens: 4 },
        },
      }),
      call('c', 'edit', '{"n":1.10}'),
      display('c', 'Executing', null),
      display('c', 'Success', null),
      message('second', 'stop', { usage: { prompt_tokens: 5, completion_tokens: 6, total_tokens: 11 } }),
      { ...finished, metrics: { prompt_tokens: 6, completion_tokens: 8, total_tokens: 14 } },
    ])
  })

  test('the total is not repeated where calls were counted and none is left', () => {
    const lines = linesOf([
      { type: 'usage', scope: 'call', usage: { input: 1 } },
      { type: 'tool-call', tool: 'c', name: 'x', args: '{}', executor: 'agent' },
      { type: 'usage', scope: 'turn', usage: { input: 1 } },
      completed,
    ])
    expect(lines[0]).toHaveProperty('usage', { prompt_tokens: 1 })
    expect(lines.at(-2)).toEqual(message('', 'stop'))
    expect(lines.at(-1)).toEqual({ ...finished, metrics: { prompt_tokens: 1 } })
  })

  test('usage that has no place, and usage of the session', () => {
    const drive = front()
    drive.feed(chat('x'))
    play(drive, [
      accepted,
      { type: 'usage', scope: 'session', usage: { input: 9 } },
      { type: 'usage', scope: 'turn', usage: { costUsd: 1, cacheWrite: 2 }, estimated: true },
      completed,
    ])
    expect(bare(sentLines(drive)).slice(1)).toEqual([message('', 'stop'), finished])
    expect(drive.losses).toEqual([])
    expect(drive.dropped).toEqual([
      { kind: 'dropped', item: 'usage.session', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'usage.estimated', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'usage.costUsd', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'usage.cacheWrite', why: 'no-place', count: 1 },
    ])
  })

  test.each([
    [{ stop: 'max-tokens' }, 'length', sessionEvent('MAX_TOKENS', 'The answer was cut off at the limit of tokens.')],
    [{ stop: 'max-turns' }, 'stop', sessionEvent('MaxSessionTurns', 'The turn was ended at the limit of model calls.')],
    [{ stop: 'content-filter' }, 'content_filter', sessionEvent('Finished', 'The answer was withheld by a filter.')],
    [{ stop: 'refusal' }, 'content_filter', sessionEvent('Finished', 'The model refused to answer.')],
    [{ stop: 'tool-use' }, 'tool_calls', sessionEvent('Finished', 'The turn waits for the result of a tool.')],
    [{ stop: 'stop-sequence' }, 'stop', finished],
    [{}, 'stop', finished],
  ])('a turn that completes with %j', (end, reason, last) => {
    expect(linesOf([...say('m', 'x'), { type: 'turn-end', outcome: 'completed', ...end }])).toEqual([
      message('x', reason),
      last,
    ])
  })

  test('a cancelled turn keeps its partial answer, which has no finish reason', () => {
    expect(linesOf([...say('m', 'par'), { type: 'turn-end', outcome: 'cancelled', stop: 'aborted' }])).toEqual([
      message('par', null),
      sessionEvent('USER_CANCELLED', 'The turn was cancelled.'),
    ])
    expect(linesOf([{ type: 'turn-end', outcome: 'cancelled' }])).toEqual([
      sessionEvent('USER_CANCELLED', 'The turn was cancelled.'),
    ])
  })

  test('a failed turn ends the process with an error object, behind what was said', () => {
    const drive = front()
    drive.feed(chat('one'), chat('two', { prompt_id: 'p2' }))
    play(drive, [
      accepted,
      ...say('m', 'par'),
      { type: 'turn-end', outcome: 'failed', stop: 'error', fault: fault('provider-rate-limit', 'Too many.') },
    ])
    expect(bare(sentLines(drive)).slice(1)).toEqual([
      message('par', null),
      { error: { message: 'Too many.', type: 'rate_limit_error', param: null, code: 'QWEN_PROVIDER_RATE_LIMIT' } },
    ])
    expect(drive.exitCode).toBe(1)
    expect(drive.commands).toHaveLength(1)
  })

  test('a failure without a fault, and one in the words of an agent of this dialect', () => {
    expect(linesOf([{ type: 'turn-end', outcome: 'failed' }]).at(-1)).toEqual({
      error: {
        message: 'The turn failed; see the log of the gateway.',
        type: 'server_error',
        param: null,
        code: 'QWEN_INTERNAL',
      },
    })
    const own = { protocol: 'qwen', json: '{"code":"QWEN_X","type":"odd","param":"tools[0]"}' }
    expect(
      linesOf([{ type: 'turn-end', outcome: 'failed', fault: fault('internal', 'no', { ext: own }) }]).at(-1),
    ).toEqual({ error: { message: 'no', type: 'odd', param: 'tools[0]', code: 'QWEN_X' } })
  })

  test('what another protocol said of a failure is a loss', () => {
    const drive = front()
    drive.feed(chat('x'))
    const failed = fault('internal', 'no', { ext: { protocol: 'zene', json: '{"a":1}' } })
    play(drive, [accepted, { type: 'turn-end', outcome: 'failed', fault: failed }])
    expect(drive.losses).toEqual([{ kind: 'dropped', item: 'ext', field: 'zene', why: 'no-place', count: 1 }])
  })

  test('whole messages, empty ones, and those of others', () => {
    const drive = front()
    drive.feed(chat('x'))
    play(drive, [
      accepted,
      { type: 'message-start', message: 'u', role: 'user' },
      { type: 'message-end', message: 'u', parts: [{ type: 'text', text: 'x' }] },
      { type: 'message-start', message: 'y', role: 'system' },
      { type: 'message-end', message: 'y', parts: [{ type: 'text', text: 'sys' }] },
      { type: 'message-start', message: 'e', role: 'assistant' },
      { type: 'message-end', message: 'e', parts: [] },
      { type: 'message-start', message: 'l', role: 'assistant', lane: 'sub' },
      { type: 'text-delta', message: 'l', text: 'sub', lane: 'sub' },
      { type: 'message-end', message: 'l', lane: 'sub' },
      { type: 'message-start', message: 'm', role: 'assistant' },
      {
        type: 'message-end',
        message: 'm',
        parts: [
          { type: 'reasoning', text: 'hmm' },
          { type: 'text', text: 'a' },
          { type: 'tool-call', tool: 'c', name: 'n', args: '{}' },
          { type: 'image', url: 'u' },
        ],
      },
      { type: 'message-end', message: 'unknown' },
      completed,
    ])
    expect(bare(sentLines(drive)).slice(1)).toEqual([
      { type: 'x-qwen-thought', subject: '', description: 'hmm' },
      message('a', 'stop'),
      finished,
    ])
    expect(drive.losses).toEqual([
      { kind: 'dropped', item: 'message-start', field: 'role', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'message-start', field: 'lane', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'text-delta', field: 'lane', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'message-end', field: 'lane', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'part.image', why: 'no-place', count: 1 },
    ])
  })

  test('a message is taken back as long as it was not written', () => {
    const retract = (message: string, keepText = false) => ({ type: 'message-retract', message, keepText })
    const drive = front()
    drive.feed(chat('x'))
    const start = { type: 'message-start', message: 'o', role: 'assistant' }
    play(drive, [
      accepted,
      ...say('a', 'held'),
      retract('a'),
      ...say('b', 'kept'),
      retract('b', true),
      ...say('c', 'x'),
    ])
    play(drive, [start, { type: 'text-delta', message: 'o', text: 'open' }, retract('o'), retract('b'), completed])
    expect(bare(sentLines(drive)).slice(1)).toEqual([message('kept', null), message('x', 'stop'), finished])
    expect(drive.losses).toEqual([{ kind: 'weakened', item: 'message-retract', why: 'too-narrow', count: 1 }])
  })

  test('thoughts: one for what a message thought before something else, the heading as its subject', () => {
    expect(
      linesOf([
        { type: 'message-start', message: 'm', role: 'assistant' },
        { type: 'reasoning-delta', message: 'm', text: '**Plan**' },
        { type: 'reasoning-delta', message: 'm', text: ' look\nthen act' },
        { type: 'tool-call', tool: 'c', name: 'x', args: '{}', executor: 'agent' },
        { type: 'reasoning-delta', message: 'm', text: 'more' },
        { type: 'message-end', message: 'm' },
        completed,
      ]),
    ).toEqual([
      { type: 'x-qwen-thought', subject: 'Plan', description: 'look\nthen act' },
      call('c', 'x', '{}'),
      display('c', 'Executing', null),
      { type: 'x-qwen-thought', subject: '', description: 'more' },
      message('', 'stop'),
      finished,
    ])
  })

  test('tools: pieces of a call, progress, results of every kind', () => {
    const drive = front()
    drive.feed(chat('x'))
    play(drive, [
      accepted,
      { type: 'tool-start', tool: 'c1', name: 'edit', title: 'Edit', executor: 'agent' },
      { type: 'tool-args-delta', tool: 'c1', text: '{"a":1}' },
      { type: 'tool-start', tool: 'c2', name: 'odd', executor: 'agent' },
      { type: 'tool-args-delta', tool: 'c2', text: '{"a"' },
      { type: 'tool-progress', tool: 'c1', parts: [{ type: 'text', text: 'half' }] },
      {
        type: 'tool-end',
        tool: 'c1',
        status: 'ok',
        parts: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
          { type: 'diff', path: 'f', before: null, after: 'n\n' },
          { type: 'diff', path: 'g', before: 'a\n', after: 'b\n' },
          { type: 'data', json: '{"kind":"todo_list","n":1.0}' },
        ],
      },
      { type: 'tool-end', tool: 'c2', status: 'denied', parts: [{ type: 'data', json: '[1]' }, { type: 'image' }] },
      { type: 'tool-end', tool: 'gone', status: 'error', parts: [] },
      completed,
    ])
    const lines = bare(sentLines(drive)).slice(1)
    expect(lines).toEqual([
      display('c1', 'Executing', 'half'),
      call('c1', 'edit', '{"a":1}'),
      display('c1', 'Executing', null),
      display('c1', 'Executing', 'a\nb'),
      display('c1', 'Executing', {
        kind: 'file_diff',
        file_name: 'f',
        diff: '--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+n',
        original: null,
        modified: 'n\n',
      }),
      display('c1', 'Executing', {
        kind: 'file_diff',
        file_name: 'g',
        diff: '--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b',
        original: 'a\n',
        modified: 'b\n',
      }),
      display('c1', 'Success', { kind: 'todo_list', n: 1 }),
      call('c2', 'odd', '{}'),
      display('c2', 'Executing', null),
      display('c2', 'Canceled', '[1]'),
      display('gone', 'Error', null),
      message('', 'stop'),
      finished,
    ])
    expect(sentLines(drive).find(({ status }) => status === 'Success')).toHaveProperty('timestamp', 1)
    expect(drive.losses).toEqual([
      { kind: 'weakened', item: 'tool-end', field: 'parts', why: 'too-narrow', count: 1 },
      { kind: 'weakened', item: 'tool-end', field: 'status', why: 'too-narrow', count: 1 },
      { kind: 'weakened', item: 'part.data', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'part.image', why: 'no-place', count: 1 },
    ])
  })

  test('a display that an agent of this dialect made goes on as it came', () => {
    const drive = front()
    drive.feed(chat('x'))
    const json = '{"result_display":{"kind":"plan_summary","n":1.0},"confirmation":{"a":1},"z":"\u2028"}'
    play(drive, [
      accepted,
      { type: 'tool-end', tool: 'c', status: 'ok', parts: [], ext: { protocol: 'qwen', json } },
      { type: 'foreign', protocol: 'qwen', frame: '{"type":"x",\n"n":"\u2028"}' },
    ])
    expect(drive.sent[1]).toBe(
      '{"type":"x-qwen-tool-display","session_id":"s","prompt_id":"s########1","tool_call_id":"c","status":"Success","result_display":{"kind":"plan_summary","n":1.0},"confirmation":{"a":1},"pending":false,"timestamp":1,"z":"\\u2028"}',
    )
    expect(drive.sent[2]).toBe('{"type":"x", "n":"\\u2028"}')
  })

  test('terminals, notices and messages of this protocol', () => {
    const drive = front()
    drive.feed(chat('x'))
    const own = (json: object) => ({ protocol: 'qwen', json: JSON.stringify(json) })
    play(drive, [
      accepted,
      { type: 'terminal-output', stream: 'stderr', text: 'warn\u2028' },
      {
        type: 'terminal-output',
        stream: 'stdout',
        text: 'out',
        ext: own({ source: 'tool', console_level: 'debug', n: 1 }),
      },
      { type: 'notice', severity: 'warning', code: 'session-reset', text: 'anew' },
      { type: 'notice', severity: 'info', code: 'chat-compressed', text: '', ext: own({ event: 'ChatCompressed' }) },
      { type: 'notice', severity: 'info', code: 'empty-answer', text: 'nothing' },
      { type: 'foreign', protocol: 'qwen', frame: '{"type":"x-qwen-new",\n"n":1}' },
      { type: 'foreign', protocol: 'zot', frame: '{}' },
      { type: 'notice', severity: 'info', code: 'a', text: '', ext: { protocol: 'zot', json: '{}' } },
      { type: 'text-delta', message: 'm', text: 'x', ext: { protocol: 'zot', json: '{}' } },
      { ...completed, ext: own({ more: 1 }) },
    ])
    expect(drive.sent[1]).toContain('"text":"warn\\u2028"')
    expect(bare(sentLines(drive)).slice(1)).toEqual([
      { type: 'x-qwen-terminal', channel: 'stderr', source: 'system', text: 'warn\u2028', console_level: 'error' },
      { type: 'x-qwen-terminal', channel: 'stdout', source: 'tool', text: 'out', console_level: 'debug', n: 1 },
      sessionEvent('session-reset', 'anew', { level: 'warning' }),
      sessionEvent('ChatCompressed', '', { level: 'info' }),
      { type: 'x-qwen-new', n: 1 },
      sessionEvent('a', '', { level: 'info' }),
      message('', 'stop'),
      { ...finished, more: 1 },
    ])
    expect(drive.losses).toEqual([
      { kind: 'dropped', item: 'foreign', field: 'zot', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'ext', field: 'zot', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'ext', field: 'zot', why: 'no-place', count: 1 },
    ])
  })

  test('the result of a command that an agent of this dialect gave is the whole answer', () => {
    const ext = {
      protocol: 'qwen',
      json: '{"command":{"kind":"slash","path":["chat"]},"result":{"type":"dialog","n":1.0},"z":2}',
    }
    const lines = linesOf(
      [
        { type: 'message-start', message: 'm', role: 'assistant', ext },
        { type: 'message-end', message: 'm', parts: [{ type: 'text', text: 'list' }] },
        completed,
      ],
      JSON_ARGS,
      chat('/chat'),
    )
    expect(lines).toEqual([
      { type: 'result/command', command: { kind: 'slash', path: ['chat'] }, result: { type: 'dialog', n: 1 }, z: 2 },
      finished,
    ])
  })

  test('a command that the agent answers with a prompt goes on with an answer', () => {
    const ext = { protocol: 'qwen', json: '{"result":{"type":"submit_prompt","content":"p"}}' }
    const lines = linesOf(
      [{ type: 'notice', severity: 'info', code: 'command-result', text: 'p', ext }, ...say('m', 'a'), completed],
      JSON_ARGS,
      chat('/init'),
    )
    expect(lines).toEqual([
      {
        type: 'result/command',
        command: { kind: 'slash', path: ['init'], args: '' },
        result: { type: 'submit_prompt', content: 'p' },
      },
      message('a', 'stop'),
      finished,
    ])
  })

  test('a result of a command behind an answer', () => {
    const ext = { protocol: 'qwen', json: '{"result":{"type":"message"}}' }
    const lines = linesOf([
      ...say('m', 'a'),
      { type: 'message-start', message: 'r', role: 'assistant', ext },
      { type: 'message-end', message: 'r', parts: [{ type: 'text', text: 'list' }] },
      ...say('n', 'b'),
      completed,
    ])
    expect(lines).toEqual([
      message('a', null),
      { type: 'result/command', result: { type: 'message' } },
      message('b', 'stop'),
      finished,
    ])
  })

  test('unknown fields of a message and a call go back where they came from', () => {
    const own = (json: object) => ({ protocol: 'qwen', json: JSON.stringify(json) })
    const lines = linesOf([
      {
        type: 'tool-call',
        tool: 'c',
        name: 'x',
        args: '{}',
        executor: 'agent',
        ext: own({ call: { extra: 1 }, message: { refusal: null }, service_tier: 'a', error: 'no' }),
      },
      { type: 'message-start', message: 'm', role: 'assistant' },
      {
        type: 'message-end',
        message: 'm',
        parts: [{ type: 'text', text: 'a' }],
        ext: own({ message: { audio: 2 }, id: 'z' }),
      },
      completed,
    ]) as { service_tier?: string; error?: unknown; choices: { message: { tool_calls: object[]; refusal?: null } }[] }[]
    expect(lines[0]!.choices[0]!.message.tool_calls[0]).toHaveProperty('extra', 1)
    expect(lines[0]!.choices[0]!.message).toHaveProperty('refusal', null)
    expect(lines[0]).toHaveProperty('service_tier', 'a')
    expect(lines[0]).not.toHaveProperty('error')
    expect(lines[2]!.choices[0]!.message).toHaveProperty('audio', 2)
  })

  test('what other turns say is not written', () => {
    const drive = front()
    drive.feed(chat('x'))
    play(drive, [accepted], 'nobody')
    expect(drive.sent).toEqual([])
    play(drive, [
      { type: 'turn-parked', asks: [], continuation: 'c', deadline: 1 },
      { type: 'step-start', step: 1 },
      { type: 'directive', action: 'a', json: '{}' },
    ])
    expect(drive.sent).toEqual([])
  })
})
