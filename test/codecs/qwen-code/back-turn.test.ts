import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  assistant,
  blockStop,
  endOf,
  failure,
  greeted,
  init,
  messageStart,
  messageStop,
  running,
  SESSION,
  stream,
  success,
  system,
  textDelta,
  thinkingDelta,
  turnEvents,
  user,
} from './kit.ts'

/** What the agent says of itself in `init`. */
const started = {
  type: 'turn-started',
  ext: { protocol: 'qwen-code', json: '{"model":"big","qwen_code_version":"0.24.4"}' },
}
const usage = { input_tokens: 7, output_tokens: 2, cache_read_input_tokens: 0, total_tokens: 9 }

describe('an answer in pieces', () => {
  test('is one message, whatever lines repeat it', () => {
    const drive = running()
    drive.feed(
      messageStart('m1'),
      stream({ type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } }),
      thinkingDelta('Hm'),
      thinkingDelta(''),
      blockStop,
      assistant([{ type: 'thinking', thinking: 'Hm', signature: '' }], { id: 'm1' }),
      textDelta('He'),
      textDelta('llo'),
      blockStop,
      assistant([{ type: 'text', text: 'Hello' }], { id: 'm2', usage }),
      messageStop,
      success('Hello', { usage }),
    )
    expect(turnEvents(drive)).toEqual([
      started,
      { type: 'message-start', message: 'm1', role: 'assistant' },
      { type: 'reasoning-delta', message: 'm1', text: 'Hm' },
      { type: 'text-delta', message: 'm1', text: 'He' },
      { type: 'text-delta', message: 'm1', text: 'llo' },
      { type: 'usage', scope: 'call', usage: { input: 7, output: 2, cacheRead: 0, total: 9 } },
      { type: 'message-end', message: 'm1' },
      { type: 'usage', scope: 'turn', usage: { input: 7, output: 2, cacheRead: 0, total: 9 } },
      { type: 'turn-end', outcome: 'completed', stop: 'end' },
    ])
  })

  test('goes on in another message behind a tool call', () => {
    const drive = running()
    drive.feed(
      messageStart('m1'),
      textDelta('before'),
      stream({ type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 'c1', name: 'glob' } }),
      stream({ type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{}' } }),
      assistant([{ type: 'tool_use', id: 'c1', name: 'glob', input: {} }], { stop_reason: 'tool_use' }),
      textDelta('behind'),
      messageStop,
      user([{ type: 'tool_result', tool_use_id: 'c1', is_error: false, content: 'found' }]),
      success('behind'),
    )
    expect(turnEvents(drive)).toEqual([
      started,
      { type: 'message-start', message: 'm1', role: 'assistant' },
      { type: 'text-delta', message: 'm1', text: 'before' },
      { type: 'message-end', message: 'm1' },
      { type: 'tool-start', tool: 'c1', name: 'glob', executor: 'agent' },
      { type: 'tool-args-delta', tool: 'c1', text: '{}' },
      { type: 'tool-call', tool: 'c1', name: 'glob', args: '{}', executor: 'agent' },
      { type: 'message-start', message: 'b2', role: 'assistant' },
      { type: 'text-delta', message: 'b2', text: 'behind' },
      { type: 'message-end', message: 'b2' },
      { type: 'tool-end', tool: 'c1', status: 'ok', parts: [{ type: 'text', text: 'found' }] },
      { type: 'turn-end', outcome: 'completed', stop: 'end' },
    ])
  })

  test('joins the halves of a character, and passes on one that stays half', () => {
    const drive = running()
    drive.feed(
      messageStart('m1'),
      textDelta('a\ud83d'),
      textDelta('\ude00'),
      textDelta('\ud83d'),
      blockStop,
      messageStop,
    )
    drive.feed(success('x'))
    expect(texts(drive)).toEqual(['a', '\ud83d\ude00', '\ud83d'])
  })

  test('an id that is there already, or none, gives a fresh one', () => {
    const drive = running()
    drive.feed(messageStart('m1'), textDelta('a'), messageStop, messageStart('m1'), textDelta('b'), messageStop)
    drive.feed(messageStart(), textDelta('c'), messageStart(''), textDelta('d'), success('d'))
    expect(ids(drive)).toEqual(['m1', 'b2', 'b3', 'b4'])
  })

  test('without init before it, its first piece starts the turn', () => {
    const drive = greeted()
    drive.start('hi')
    drive.feed(textDelta('now'), success('now'))
    expect(turnEvents(drive).map((event) => (event as { type: string }).type)).toEqual([
      'turn-started',
      'message-start',
      'text-delta',
      'message-end',
      'turn-end',
    ])
  })
})

describe('an answer in whole lines', () => {
  test('is a message a line, with the seal of thoughts', () => {
    const drive = running()
    drive.feed(assistant([{ type: 'thinking', thinking: 'Hm', signature: 'sig' }], { id: 'm1' }))
    drive.feed(assistant([{ type: 'text', text: 'Yes' }], { id: 'm2' }), success('Yes'))
    expect(turnEvents(drive)).toEqual([
      started,
      { type: 'message-start', message: 'm1', role: 'assistant' },
      {
        type: 'message-end',
        message: 'm1',
        parts: [{ type: 'reasoning', text: 'Hm', seal: { provider: 'qwen-code', data: 'sig' } }],
      },
      { type: 'message-start', message: 'm2', role: 'assistant' },
      { type: 'message-end', message: 'm2', parts: [{ type: 'text', text: 'Yes' }] },
      { type: 'turn-end', outcome: 'completed', stop: 'end' },
    ])
  })

  test('of the result alone', () => {
    const drive = running()
    drive.feed(success('only here'))
    expect(turnEvents(drive).slice(1)).toEqual([
      { type: 'message-start', message: 'b2', role: 'assistant' },
      { type: 'message-end', message: 'b2', parts: [{ type: 'text', text: 'only here' }] },
      { type: 'turn-end', outcome: 'completed', stop: 'end' },
    ])
  })

  test.each([[''], [undefined]])('an empty one (%j) is a success with a notice', (result) => {
    const drive = running()
    drive.feed(assistant([{ type: 'thinking', thinking: 'Hm' }]), success(result))
    expect(turnEvents(drive).slice(3)).toEqual([
      { type: 'notice', severity: 'info', code: 'empty-answer', text: 'The agent ended the turn without any text.' },
      { type: 'turn-end', outcome: 'completed', stop: 'end' },
    ])
  })

  test('keeps the digits and the order of arguments', () => {
    const drive = running()
    const args = '{"b":1.50e+3,"__proto__":{"x":12345678901234567890},"a":[]}'
    drive.feed(assistant([{ type: 'tool_use', id: 'c1', name: 'f', input: 'HERE' }]).replace('"HERE"', args))
    drive.feed(assistant([{ type: 'tool_use', id: 'c2', name: 'g' }]))
    expect(turnEvents(drive).slice(1)).toEqual([
      { type: 'tool-call', tool: 'c1', name: 'f', args, executor: 'agent' },
      { type: 'tool-call', tool: 'c2', name: 'g', args: '{}', executor: 'agent' },
    ])
  })

  test('names blocks that it does not know', () => {
    const drive = running()
    drive.feed(assistant([{ type: 'martian' }]), user([{ type: 'venusian' }]))
    expect(drive.losses).toEqual([
      { kind: 'unparsed', item: 'message-end', field: 'martian', why: 'unknown', count: 1 },
      { kind: 'unparsed', item: 'message-end', field: 'venusian', why: 'unknown', count: 1 },
    ])
  })
})

describe('the text of an error', () => {
  const error = '[API Error: 503 busy]'

  test('in a piece of its own is told by the end alone', () => {
    const drive = running()
    drive.feed(messageStart('m1'), textDelta('half '), textDelta(error), blockStop, messageStop, failure(error))
    expect(texts(drive)).toEqual(['half '])
    expect(endOf(drive.events).fault).toEqual({ code: 'provider-down', message: '503 busy', retryable: true })
  })

  test.each([
    ['as it was said', error],
    ['without its frame', '503 busy'],
    ['with advice', `${error}\nTry later.`],
    ['of nothing', undefined],
  ])('in any pieces, with advice after it; the result tells it %s', (_how, said) => {
    const whole = `${error}\nTry later.`
    fc.assert(
      fc.property(fc.integer({ min: 1, max: whole.length }), fc.integer({ min: 0, max: 6 }), (size, before) => {
        const drive = running()
        drive.feed(messageStart('m1'))
        const text = `${'half '.slice(0, before)}${whole}`
        for (let at = 0; at < text.length; at += size) drive.feed(textDelta(text.slice(at, at + size)))
        drive.feed(blockStop, messageStop, failure(said))
        expect(texts(drive).join('')).toBe('half '.slice(0, before))
      }),
    )
  })

  test('at the end of a whole line, with advice after it', () => {
    const drive = running()
    drive.feed(assistant([{ type: 'text', text: `half ${error}\nTry later.` }], { id: 'm1' }), failure(error))
    expect(texts(drive)).toEqual(['half '])
  })

  test('quoted in an answer it is text', () => {
    const drive = running()
    drive.feed(messageStart('m1'), textDelta(error), textDelta(' is what it said'), textDelta(': ['), textDelta('1]'))
    drive.feed(blockStop, messageStop, success(''))
    expect(texts(drive).join('')).toBe(`${error} is what it said: [1]`)
  })

  test('at the end of a whole line too', () => {
    const drive = running()
    drive.feed(
      assistant(
        [
          { type: 'thinking', thinking: 'Hm' },
          { type: 'text', text: `half ${error}` },
        ],
        { id: 'm1' },
      ),
    )
    drive.feed(failure(error))
    expect(turnEvents(drive).slice(1)).toEqual([
      { type: 'message-start', message: 'm1', role: 'assistant' },
      { type: 'reasoning-delta', message: 'm1', text: 'Hm' },
      { type: 'text-delta', message: 'm1', text: 'half ' },
      { type: 'message-end', message: 'm1' },
      {
        type: 'turn-end',
        outcome: 'failed',
        stop: 'error',
        fault: { code: 'provider-down', message: '503 busy', retryable: true },
      },
    ])
  })

  test('behind another text of its line', () => {
    const drive = running()
    const words = [
      { type: 'text', text: 'a' },
      { type: 'text', text: error },
    ]
    drive.feed(assistant(words), failure(error))
    expect(texts(drive)).toEqual(['a'])
  })

  test('is part of the answer of a version to come', () => {
    const drive = running('hi', '1.0.0')
    drive.feed(messageStart('m1'), textDelta(error), success(error))
    expect(endOf(drive.events).outcome).toBe('completed')
  })

  test('is a failure when nobody told the version', () => {
    const drive = greeted()
    drive.start('hi')
    drive.feed(init({ model: undefined, qwen_code_version: undefined }), textDelta(error))
    drive.feed(success(error, { session_id: undefined }))
    expect(endOf(drive.events).outcome).toBe('failed')
  })

  test('alone in a line gives no message', () => {
    const drive = running()
    drive.feed(assistant([{ type: 'text', text: error }]), failure(error))
    expect(texts(drive)).toEqual([])
    expect(ids(drive)).toEqual([])
  })

  test('is part of the answer when the result is a success of 0.24', () => {
    const drive = running()
    drive.feed(messageStart('m1'), textDelta(error), messageStop, success(error))
    expect(texts(drive)).toEqual([error])
    expect(endOf(drive.events).outcome).toBe('completed')
  })

  test('is a failure when the result is a success of 0.15', () => {
    const drive = running('hi', '0.15.10')
    drive.feed(messageStart('m1'), textDelta(error), messageStop, success(error))
    expect(texts(drive)).toEqual([])
    expect(endOf(drive.events)).toMatchObject({ outcome: 'failed', fault: { message: '503 busy' } })
  })

  test('is part of the answer when the answer goes on', () => {
    const drive = running('hi', '0.15.10')
    drive.feed(messageStart('m1'), textDelta(error), textDelta(' is what it said'), messageStop, success('x'))
    expect(texts(drive)).toEqual([error, ' is what it said'])
  })

  test('or when another answer follows', () => {
    const drive = running()
    drive.feed(assistant([{ type: 'text', text: error }], { id: 'm1' }))
    drive.feed(assistant([{ type: 'text', text: 'more' }], { id: 'm2' }), failure('[API Error: other]'))
    expect(texts(drive)).toEqual([error])
    expect(ids(drive)).toEqual(['m1', 'm2'])
  })

  test('another one than the result tells stays', () => {
    const drive = running()
    drive.feed(messageStart('m1'), textDelta(error), failure('Operation broken.'))
    expect(texts(drive)).toEqual([error])
  })

  test.each([
    ['[API Error: 401 no]', 'provider-auth', '401 no'],
    ['[API Error: 403 no]', 'provider-auth', '403 no'],
    ['[API Error: 429 slow down]', 'provider-rate-limit', '429 slow down'],
    ['[API Error: 408 late]', 'provider-down', '408 late'],
    ['[API Error: 400 what]', 'provider-error', '400 what'],
    ['Model stream ended without a finish reason.', 'provider-down', 'Model stream ended without a finish reason.'],
    ['[API Error: ', 'provider-error', '[API Error: '],
    ['[API Error: Chat not initialized]', 'internal', 'Chat not initialized'],
    ['[API Error: Unheard of]', 'provider-error', 'Unheard of'],
    ['[API Error: ]', 'provider-error', 'The agent ended the turn with an error and did not say which.'],
    ['[API Error: 429 wait]\nAdvice.\n', 'provider-rate-limit', '429 wait\nAdvice.'],
    ['', 'internal', 'The agent ended the turn with an error and did not say which.'],
    [undefined, 'internal', 'The agent ended the turn with an error and did not say which.'],
    ['x'.repeat(3000), 'internal', `${'x'.repeat(1744)}…`],
  ])('%j is %s', (said, code, message) => {
    const drive = running()
    drive.feed(failure(said))
    expect(endOf(drive.events)).toMatchObject({ outcome: 'failed', stop: 'error', fault: { code, message } })
  })

  test('too many model calls', () => {
    const drive = running()
    drive.feed(failure('Too many.', { subtype: 'error_max_turns' }))
    expect(endOf(drive.events)).toMatchObject({ stop: 'max-turns', fault: { code: 'internal', message: 'Too many.' } })
    const silent = running()
    silent.feed(failure(undefined, { subtype: 'error_max_turns' }))
    expect(endOf(silent.events).fault!.message).toBe('The agent stopped at its limit of model calls.')
  })

  test('a turn that was stopped from elsewhere is cancelled', () => {
    const drive = running()
    drive.feed(failure('Operation cancelled.'))
    expect(endOf(drive.events)).toEqual({ turn: 't1', type: 'turn-end', outcome: 'cancelled', stop: 'aborted' })
  })
})

describe('a retry', () => {
  const notice = {
    type: 'notice',
    severity: 'warning',
    code: 'retrying',
    text: 'The agent asks its model once more.',
  }
  const again = (preserveText: boolean) => system('retry', { reason: 'retry', preserveText })
  const ext = (keep: boolean) => ({
    ext: { protocol: 'qwen-code', json: `{"subtype":"retry","data":{"reason":"retry","preserveText":${keep}}}` },
  })

  test('takes the current answer back, also one that is complete', () => {
    const drive = running()
    drive.feed(messageStart('m1'), textDelta('no'), messageStop, again(false))
    drive.feed(
      messageStart('m2'),
      textDelta('x\ud83d'),
      again(false),
      messageStart('m3'),
      textDelta('yes'),
      success('yes'),
    )
    expect(turnEvents(drive).slice(1)).toEqual([
      { type: 'message-start', message: 'm1', role: 'assistant' },
      { type: 'text-delta', message: 'm1', text: 'no' },
      { type: 'message-end', message: 'm1' },
      { ...notice, ...ext(false) },
      { type: 'message-retract', message: 'm1', keepText: false },
      { type: 'message-start', message: 'm2', role: 'assistant' },
      { type: 'text-delta', message: 'm2', text: 'x' },
      { ...notice, ...ext(false) },
      { type: 'message-retract', message: 'm2', keepText: false },
      { type: 'message-end', message: 'm2' },
      { type: 'message-start', message: 'm3', role: 'assistant' },
      { type: 'text-delta', message: 'm3', text: 'yes' },
      { type: 'message-end', message: 'm3' },
      { type: 'turn-end', outcome: 'completed', stop: 'end' },
    ])
  })

  test('or lets its text go on', () => {
    const drive = running()
    drive.feed(
      again(true),
      messageStart('m1'),
      textDelta('one '),
      blockStop,
      again(true),
      textDelta('two'),
      success('two'),
    )
    expect(turnEvents(drive).slice(1)).toEqual([
      { ...notice, ...ext(true) },
      { type: 'message-start', message: 'm1', role: 'assistant' },
      { type: 'text-delta', message: 'm1', text: 'one ' },
      { ...notice, ...ext(true) },
      { type: 'message-retract', message: 'm1', keepText: true },
      { type: 'text-delta', message: 'm1', text: 'two' },
      { type: 'message-end', message: 'm1' },
      { type: 'turn-end', outcome: 'completed', stop: 'end' },
    ])
  })

  test('leaves an earlier answer alone, and does not count what was taken back', () => {
    const drive = running()
    drive.feed(
      assistant([{ type: 'text', text: 'I look.' }], { id: 'm1' }),
      assistant([{ type: 'tool_use', id: 'c1', name: 'f', input: {} }]),
      user([{ type: 'tool_result', tool_use_id: 'c1', is_error: true, content: 'Skipped' }]),
      again(false),
    )
    // The retry takes back the whole answer that made the call.
    expect(retracted(drive)).toEqual(['m1'])
    drive.feed(assistant([{ type: 'text', text: 'old' }], { id: 'm2' }), user('a note'))
    drive.feed(assistant([{ type: 'text', text: 'new' }], { id: 'm3' }), again(false), success(''))
    expect(retracted(drive)).toEqual(['m1', 'm3'])
    expect(endOf(drive.events).outcome).toBe('completed')
    expect(drive.events.some((event) => event.type === 'notice' && event.code === 'empty-answer')).toBe(false)
  })

  test('without anything left, the answer is empty', () => {
    const drive = running()
    drive.feed(assistant([{ type: 'text', text: 'no' }]), again(false), success(''))
    expect(drive.events.some((event) => event.type === 'notice' && event.code === 'empty-answer')).toBe(true)
  })

  test('without its data is not understood', () => {
    const drive = running()
    drive.feed(system('retry'))
    expect(drive.losses).toEqual([{ kind: 'unparsed', item: 'notice', why: 'unknown', count: 1 }])
  })
})

describe('tools', () => {
  test('a result is text, or blocks of which others stay JSON', () => {
    const drive = running()
    for (const id of ['c1', 'c2', 'c3', 'c4']) {
      drive.feed(assistant([{ type: 'tool_use', id, name: 'f', input: {} }]))
    }
    const blocks = [{ type: 'text', text: 'a' }, { type: 'image', x: 1.5 }, { type: 'text' }]
    drive.feed(user([{ type: 'tool_result', tool_use_id: 'c1', content: blocks }]))
    drive.feed(user([{ type: 'tool_result', tool_use_id: 'c2' }]))
    drive.feed(user([{ type: 'tool_result', tool_use_id: 'c3', is_error: true, content: '' }]))
    drive.feed(user([{ type: 'tool_result', tool_use_id: 'c4', content: [] }]))
    expect(turnEvents(drive).slice(5)).toEqual([
      {
        type: 'tool-end',
        tool: 'c1',
        status: 'ok',
        parts: [
          { type: 'text', text: 'a' },
          { type: 'data', json: '{"type":"image","x":1.5}' },
          { type: 'data', json: '{"type":"text"}' },
        ],
      },
      { type: 'tool-end', tool: 'c2', status: 'ok', parts: [] },
      { type: 'tool-end', tool: 'c3', status: 'error', parts: [] },
      { type: 'tool-end', tool: 'c4', status: 'ok', parts: [] },
    ])
  })

  test('a result, progress or arguments without a call are passed on as they came', () => {
    const drive = running()
    const strays = [
      user([{ type: 'tool_result', tool_use_id: 'c9', content: 'x' }]),
      stream({ type: 'tool_progress', tool_use_id: 'c9', content: {} }),
      stream({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{' } }),
    ]
    drive.feed(...strays)
    expect(turnEvents(drive).slice(1)).toEqual(
      strays.map((frame) => ({ type: 'foreign', protocol: 'qwen-code', frame })),
    )
  })

  test('progress is data', () => {
    const drive = running()
    drive.feed(assistant([{ type: 'tool_use', id: 'c1', name: 'f', input: {} }]))
    drive.feed(stream({ type: 'tool_progress', tool_use_id: 'c1', content: { elapsedMs: 20000 } }))
    expect(turnEvents(drive).at(-1)).toEqual({
      type: 'tool-progress',
      tool: 'c1',
      parts: [{ type: 'data', json: '{"elapsedMs":20000}' }],
    })
  })

  test('the result of a turn that is being stopped is cancelled', () => {
    const drive = running()
    drive.feed(assistant([{ type: 'tool_use', id: 'c1', name: 'f', input: {} }]))
    drive.link.encode({ exchange: 'c', type: 'turn-cancel', target: 'running' })
    drive.feed(user([{ type: 'tool_result', tool_use_id: 'c1', is_error: true, content: 'stopped' }]))
    expect(turnEvents(drive).at(-1)).toMatchObject({ type: 'tool-end', status: 'cancelled' })
  })
})

describe('lanes and notices', () => {
  test('what names a parent belongs to its lane', () => {
    const drive = running()
    const lane = { parent_tool_use_id: 'c1' }
    drive.feed(user([{ type: 'text', text: 'Do it.' }], lane))
    drive.feed(assistant([{ type: 'text', text: 'sub' }], { id: 'm1', usage }, lane))
    drive.feed(stream({ type: 'message_start', message: { id: 'm2' } }, lane))
    drive.feed(stream({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'piece' } }, lane))
    drive.feed(success('main', { usage: { input_tokens: 0, output_tokens: 0 } }))
    expect(turnEvents(drive).slice(1)).toEqual([
      { lane: 'c1', type: 'message-start', message: 'b2', role: 'user' },
      { lane: 'c1', type: 'message-end', message: 'b2', parts: [{ type: 'text', text: 'Do it.' }] },
      { lane: 'c1', type: 'usage', scope: 'call', usage: { input: 7, output: 2, cacheRead: 0, total: 9 } },
      { lane: 'c1', type: 'message-start', message: 'm1', role: 'assistant' },
      { lane: 'c1', type: 'message-end', message: 'm1', parts: [{ type: 'text', text: 'sub' }] },
      { lane: 'c1', type: 'message-start', message: 'm2', role: 'assistant' },
      { lane: 'c1', type: 'text-delta', message: 'm2', text: 'piece' },
      { type: 'message-start', message: 'b3', role: 'assistant' },
      { type: 'message-end', message: 'b3', parts: [{ type: 'text', text: 'main' }] },
      { lane: 'c1', type: 'message-end', message: 'm2' },
      { type: 'turn-end', outcome: 'completed', stop: 'end' },
    ])
  })

  test.each([
    ['task_started', { tool_use_id: 'c1', description: 'read it' }, 'info', 'A sub-agent started: read it', 'c1'],
    ['task_notification', { tool_use_id: 'c1', status: 'completed' }, 'info', 'A sub-agent is done: completed', 'c1'],
    [
      'model_fallback',
      { fromModel: 'a', toModel: 'b' },
      'warning',
      'The agent goes on with the model b instead of a.',
      undefined,
    ],
    ['continue_turn_failed', { error: 'no' }, 'warning', 'no', undefined],
    ['vision_routing', { notice: 'n' }, 'info', 'n', undefined],
    ['vision_bridge', { notice: 'n' }, 'info', 'n', undefined],
    ['vision_bridge_failed', { notice: 7 }, 'warning', '', undefined],
  ])('%s is a notice', (subtype, data, severity, text, lane) => {
    const drive = running()
    drive.feed(system(subtype, data))
    expect(turnEvents(drive).at(-1)).toEqual({
      ...(lane && { lane }),
      type: 'notice',
      severity,
      code: subtype.replaceAll('_', '-'),
      text,
      ext: { protocol: 'qwen-code', json: `{"subtype":"${subtype}","data":${JSON.stringify(data)}}` },
    })
  })

  test.each([
    [system('session_end', {})],
    [system('task_started')],
    ['{"type":"system"}'],
    ['{"type":"keep_alive"}'],
    [stream({ type: 'goal_state', goal_state: {} })],
  ])('%s is passed on as it came', (frame) => {
    const drive = running()
    drive.feed(frame)
    expect(turnEvents(drive).at(-1)).toEqual({ type: 'foreign', protocol: 'qwen-code', frame })
  })
})

describe('unknown members', () => {
  const json = (event: object | undefined) => (event as { ext?: { json: string } } | undefined)?.ext?.json

  test('of a line and of its message ride along', () => {
    const drive = running()
    drive.feed(assistant([{ type: 'text', text: 'a' }], { id: 'm1', mood: 1 }, { when: 2 }))
    expect(json(turnEvents(drive).at(-1))).toBe('{"when":2,"message":{"mood":1}}')
    drive.feed(assistant([{ type: 'tool_use', id: 'c1', name: 'f', input: {} }], { mood: 1 }))
    expect(json(turnEvents(drive).at(-1))).toBe('{"message":{"mood":1}}')
    drive.feed(user('note', { when: 2 }))
    expect(json(turnEvents(drive).at(-1))).toBe('{"when":2}')
  })

  test('of pieces too, and those of a repeated line come with the end of the message', () => {
    const drive = running()
    const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a' } }
    drive.feed(messageStart('m1'), stream({ ...delta, seq: 1 }), stream(delta, { when: 2 }))
    expect(turnEvents(drive).slice(2).map(json)).toEqual(['{"event":{"seq":1}}', '{"when":2}'])
    drive.feed(assistant([{ type: 'text', text: 'aa' }], { id: 'm1' }, { late: 3 }), messageStop)
    expect(json(turnEvents(drive).at(-1))).toBe('{"late":3}')
  })

  test('of init and result', () => {
    const drive = greeted()
    drive.start('hi')
    drive.feed(init({ tools: ['a'] }), success('x', { num_turns: 2 }))
    expect(json(turnEvents(drive)[0])).toBe('{"model":"big","qwen_code_version":"0.24.4","tools":["a"]}')
    expect(json(turnEvents(drive).at(-1))).toBe('{"num_turns":2}')
  })
})

describe('usage', () => {
  const turnTotals = (drive: ReturnType<typeof running>) =>
    drive.events.flatMap((event) => (event.type === 'usage' && event.scope === 'turn' ? [event.usage] : []))
  const again = (drive: ReturnType<typeof running>, turn: string) => {
    drive.start('more', { turn, session: { id: 's1', bound: SESSION } })
    drive.feed(init())
  }

  test('is the difference of two counts of the session', () => {
    const drive = running()
    drive.feed(success('a', { usage: { input_tokens: 10, output_tokens: 1 } }))
    again(drive, 't2')
    drive.feed(success('b', { usage: { input_tokens: 25, output_tokens: 3, total_tokens: 28 } }))
    expect(turnTotals(drive)).toEqual([
      { input: 10, output: 1 },
      { input: 15, output: 2, total: 28 },
    ])
  })

  test('is the sum of the model calls when the count began anew', () => {
    const drive = running()
    drive.feed(success('a', { usage: { input_tokens: 10, output_tokens: 1 } }))
    again(drive, 't2')
    const small = { input_tokens: 4, output_tokens: 1 }
    drive.feed(assistant([{ type: 'text', text: 'b' }], { id: 'm1', usage: small }))
    drive.feed(assistant([{ type: 'text', text: 'c' }], { id: 'm2', usage: { ...small, total_tokens: 5 } }))
    drive.feed(success('c', { usage: small }))
    expect(turnTotals(drive).at(-1)).toEqual({ input: 8, output: 2, total: 5 })
  })

  test('is unknown when nothing was counted since', () => {
    const drive = running()
    drive.feed(success('a', { usage }))
    again(drive, 't2')
    drive.feed(success('b', { usage }))
    again(drive, 't3')
    drive.feed(success('c'))
    expect(turnTotals(drive)).toHaveLength(1)
  })
})

describe('what is not understood', () => {
  test.each([
    ['message-end', assistant([]).replace('[]', '7')],
    ['tool-end', user(7)],
    ['text-delta', stream({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta' } })],
    ['text-delta', '{"type":"stream_event"}'],
    ['turn-started', init({ model: 7 })],
    ['command-reply', '{"type":"control_response","response":{"request_id":"nobody"}}'],
    ['command-reply', '{"type":"control_response","response":null}'],
    ['ask', '{"type":"control_request"}'],
    ['foreign', 'not json'],
    ['foreign', '[]'],
  ])('is a loss of %s: %s', (item, frame) => {
    const drive = running()
    drive.feed(frame)
    expect(drive.losses).toEqual([{ kind: 'unparsed', item, why: 'unknown', count: 1 }])
    expect(turnEvents(drive)).toHaveLength(1)
  })

  test('a result that cannot be read ends its turn all the same', () => {
    const drive = running()
    drive.feed(success('x', { is_error: 'much' }))
    expect(drive.losses).toEqual([{ kind: 'unparsed', item: 'turn-end', why: 'unknown', count: 1 }])
    const message = 'The agent ended the turn in a way that cannot be read.'
    const fault = { code: 'protocol-violation', message, retryable: false }
    expect(turnEvents(drive).at(-1)).toMatchObject({ type: 'turn-end', outcome: 'failed', stop: 'error', fault })
  })

  test('a count that is no number of tokens counts nothing', () => {
    const drive = running()
    drive.feed(success('a').replace(/}$/, ',"usage":{"input_tokens":1e400,"output_tokens":2}}'))
    expect(drive.events.filter(({ type }) => type === 'usage')).toMatchObject([{ scope: 'turn', usage: { output: 2 } }])
  })

  test('a blank line is nothing', () => {
    const drive = running()
    drive.feed('', ' \r')
    expect(drive.losses).toEqual([])
  })
})

function texts(drive: ReturnType<typeof running>): string[] {
  return drive.events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : []))
}

function ids(drive: ReturnType<typeof running>): string[] {
  return drive.events.flatMap((event) => (event.type === 'message-start' ? [event.message] : []))
}

function retracted(drive: ReturnType<typeof running>): string[] {
  return drive.events.flatMap((event) => (event.type === 'message-retract' ? [event.message] : []))
}
