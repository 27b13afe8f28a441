import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/anthropic/index.ts'
import { type ErrorCode, fault, type TurnEvent } from '../../../src/model/index.ts'
import { driveFront } from '../../kit/drive.ts'
import {
  blocksOf,
  CLOSE,
  END,
  errorOf,
  event,
  eventsOf,
  hi,
  json,
  OPEN,
  STARTED,
  sealed,
  text,
  thought,
  USAGE,
} from './kit.ts'

const TOOLS = { tools: [{ name: 'ls' }] }
const CALL = [
  event('tool-start', { tool: 'x', name: 'ls', executor: 'client' }),
  event('tool-call', { tool: 'x', name: 'ls', args: '{"p":1.0}', executor: 'client' }),
]
const PARKED = event('turn-parked', {
  asks: [
    { ask: 'x', question: { kind: 'tool', tool: 'x' } },
    { ask: 'y', question: { kind: 'tool', tool: 'gone' } },
    { ask: 'z', question: { kind: 'input', message: 'What?' } },
  ],
  continuation: 't1.secret',
  deadline: 1,
})
const OWN = [
  event('tool-start', { tool: 'y', name: 'bash', executor: 'agent' }),
  event('tool-call', { tool: 'y', name: 'bash', args: '{"c":"ls"}', executor: 'agent' }),
  event('tool-end', { tool: 'y', status: 'error', parts: [{ type: 'text', text: 'no' }] }),
]
const OWN_BLOCKS = [
  { type: 'mcp_tool_use', id: 'y', name: 'bash', input: { c: 'ls' }, server_name: 'agent' },
  { type: 'mcp_tool_result', tool_use_id: 'y', is_error: true, content: [{ type: 'text', text: 'no' }] },
]
const SEARCH = { protocol: 'anthropic', json: '{"type":"server_tool_use"}' }
const FOUND = { protocol: 'anthropic', json: '{"type":"web_search_tool_result"}' }
const INVENTED = { kind: 'invented', item: 'usage.input', why: 'required', count: 1 }

describe('a whole answer', () => {
  const whole = (more: object, ...events: TurnEvent[]) => {
    const drive = hi(more)
    drive.play([STARTED, ...events])
    expect(drive.sent).toHaveLength(1)
    return { drive, answer: JSON.parse(String(drive.sent[0])) as Record<string, unknown> }
  }

  test('is a message with its blocks and its usage', () => {
    const { answer, drive } = whole({}, OPEN, thought('hm'), text('Hello'), CLOSE, USAGE, END)
    expect(answer).toEqual({
      id: 'msg_f1',
      type: 'message',
      role: 'assistant',
      model: 'coder',
      content: [
        { type: 'thinking', thinking: 'hm', signature: '' },
        { type: 'text', text: 'Hello' },
      ],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 3, cache_creation_input_tokens: 2, cache_read_input_tokens: 4, output_tokens: 2 },
    })
    expect(drive.losses).toEqual([])
    expect(drive.link.headers).toEqual({ 'request-id': 'req_f1', 'x-should-retry': 'false' })
    expect(drive.answers.get('f2')!.failureStatus).toBe(400)
  })

  test('has the parts of its messages as blocks, with seals of this provider alone', () => {
    const parts = [
      { type: 'reasoning', text: 'hm', seal: { provider: 'anthropic', data: 's' } },
      { type: 'reasoning', text: '', seal: { provider: 'anthropic', kind: 'redacted', data: 'r' } },
      { type: 'reasoning', text: 'other', seal: { provider: 'openai', kind: 'encrypted', data: 'e' } },
      { type: 'tool-call', tool: 's', name: 'web_search', args: '{"q":1}', ext: SEARCH },
      { type: 'tool-reply', tool: 's', status: 'ok', parts: [{ type: 'data', json: '[1.0]' }], ext: FOUND },
      { type: 'text', text: 'So.', citations: [{ ext: { protocol: 'anthropic', json: '{"type":"x"}' } }] },
      { type: 'tool-call', tool: 'y', name: 'bash', args: '{}' },
      { type: 'tool-call', tool: 'x', name: 'ls', args: '{}' },
      { type: 'tool-reply', tool: 'y', status: 'ok', parts: [] },
      { type: 'image', url: 'u' },
    ]
    const { answer, drive } = whole(
      TOOLS,
      OPEN,
      event('message-end', { message: 'm1', parts }),
      ...OWN,
      ...CALL,
      PARKED,
    )
    expect(answer['content']).toEqual([
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'redacted_thinking', data: 'r' },
      { type: 'thinking', thinking: 'other', signature: '' },
      { type: 'server_tool_use', id: 's', name: 'web_search', input: { q: 1 } },
      { type: 'web_search_tool_result', tool_use_id: 's', content: [1] },
      { type: 'text', text: 'So.', citations: [{ type: 'x' }] },
      ...OWN_BLOCKS,
      { type: 'tool_use', id: 'toolu_t1_dsecret_n0', name: 'ls', input: { p: 1 } },
    ])
    expect(answer).toMatchObject({ stop_reason: 'tool_use', stop_sequence: null })
    expect(drive.losses).toEqual([
      INVENTED,
      { kind: 'weakened', item: 'reasoning.seal', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'part.image', why: 'no-place', count: 1 },
    ])
  })

  test('has the agent’s own tools before the message that tells what came of them', () => {
    const running = event('tool-call', { tool: 'z', name: 'wait', args: '{}', executor: 'agent' })
    const { answer } = whole(
      {},
      OPEN,
      text('Let me look.'),
      CLOSE,
      ...OWN,
      running,
      event('message-start', { message: 'm2', role: 'assistant' }),
      text('Done.', 'm2'),
      END,
    )
    expect(answer['content']).toEqual([
      { type: 'text', text: 'Let me look.' },
      ...OWN_BLOCKS,
      { type: 'mcp_tool_use', id: 'z', name: 'wait', input: {}, server_name: 'agent' },
      { type: 'text', text: 'Done.' },
    ])
  })

  test('has no block for a message without words, and none for the client’s own prompt', () => {
    const prompt = { type: 'image', url: 'u' }
    const { answer, drive } = whole(
      {},
      event('message-start', { message: 'u', role: 'user' }),
      event('message-end', { message: 'u', parts: [prompt] }),
      OPEN,
      CLOSE,
      USAGE,
      END,
    )
    expect(answer['content']).toEqual([])
    expect(drive.losses).toEqual([])
  })

  test('of an agent that says nothing is empty, and its tokens are estimated', () => {
    const { answer, drive } = whole({}, END)
    expect(answer).toMatchObject({ content: [], usage: { input_tokens: 9, output_tokens: 0 } })
    expect(drive.losses).toEqual([INVENTED])
  })

  test.each<[usage: object, lost: string[]]>([
    [{ input: 3, output: 2, total: 5 }, []],
    [{ input: 3, total: 3 }, []],
    [{ input: 3, output: 2, total: 9 }, ['dropped usage.total']],
    [{ total: 9 }, ['invented usage.input', 'dropped usage.total']],
    [{ output: 2, total: 2 }, ['invented usage.input']],
  ])('with the usage %j loses %j', (usage, lost) => {
    const drive = hi()
    drive.play([STARTED, event('usage', { scope: 'turn', usage }), END])
    expect(drive.losses.map(({ kind, item }) => `${kind} ${item}`)).toEqual(lost)
  })

  test('tells of reasoning tokens', () => {
    const usage = event('usage', { scope: 'turn', usage: { input: 1, output: 5, reasoning: 3 } })
    const { answer } = whole({}, usage, END)
    expect(answer['usage']).toMatchObject({ output_tokens: 5, output_tokens_details: { thinking_tokens: 3 } })
  })

  test.each<[object, string, string | null]>([
    [{ stop: 'max-tokens' }, 'max_tokens', null],
    [{ stop: 'stop-sequence' }, 'stop_sequence', 'END'],
    [{ stop: 'context-window' }, 'model_context_window_exceeded', null],
    [{ stop: 'refusal' }, 'refusal', null],
    [{}, 'end_turn', null],
  ])('that ends with %j has the stop_reason %s', (end, reason, sequence) => {
    const { answer, drive } = whole(
      { stop_sequences: ['END'] },
      USAGE,
      event('turn-end', { outcome: 'completed', ...end }),
    )
    expect(answer).toMatchObject({ stop_reason: reason, stop_sequence: sequence })
    expect(drive.losses).toEqual([])
  })

  test('with a message that refuses is a refusal', () => {
    const refuses = event('message-start', { message: 'm1', role: 'assistant', phase: 'refusal' })
    const { answer } = whole({}, refuses, USAGE, event('turn-end', { outcome: 'completed', stop: 'end' }))
    expect(answer).toMatchObject({ stop_reason: 'refusal' })
  })

  test('that stops for a reason of its own is weakened, and does not guess among stop sequences', () => {
    const { answer, drive } = whole({}, USAGE, event('turn-end', { outcome: 'completed', stop: 'max-turns' }))
    expect(answer).toMatchObject({ stop_reason: 'end_turn' })
    expect(drive.losses).toEqual([{ kind: 'weakened', item: 'end.stop', why: 'too-narrow', count: 1 }])
    const guess = whole(
      { stop_sequences: ['A', 'B'] },
      USAGE,
      event('turn-end', { outcome: 'completed', stop: 'stop-sequence' }),
    )
    expect(guess.answer).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: null })
  })

  test.each<[object, string, string, string]>([
    [
      { outcome: 'failed', fault: fault('provider-rate-limit', 'Slow.') },
      'Slow.',
      'rate_limit_error',
      'provider_rate_limit',
    ],
    [{ outcome: 'failed' }, 'The turn ended without saying why.', 'api_error', 'agent_crashed'],
    [{ outcome: 'cancelled' }, 'The turn ended without saying why.', 'api_error', 'cancelled'],
  ])('of a turn that has not completed is an error: %j', (end, message, type, code) => {
    const { answer } = whole({}, event('turn-end', end))
    expect(answer).toEqual({ type: 'error', error: { type, message, code }, request_id: 'req_f1' })
  })
})

describe('a stream', () => {
  const stream = (more: object, ...events: TurnEvent[]) => {
    const drive = hi({ stream: true, ...more })
    drive.play([STARTED, ...events])
    return drive
  }

  test('begins with the estimated tokens, and ends with those that were counted', () => {
    const drive = stream({}, OPEN, text('Hel'), text(''), text('lo'), CLOSE, USAGE, END)
    expect(eventsOf(drive)).toEqual([
      {
        type: 'message_start',
        message: {
          id: 'msg_f1',
          type: 'message',
          role: 'assistant',
          model: 'coder',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 9, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'lo' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { input_tokens: 3, cache_creation_input_tokens: 2, cache_read_input_tokens: 4, output_tokens: 2 },
      },
      { type: 'message_stop' },
    ])
    expect(drive.losses).toEqual([])
  })

  test('has one block after the other: reasoning with its seals, texts, and the agent’s own tools', () => {
    const other = event('reasoning-end', { message: 'm1', seal: { provider: 'openai', data: 'e' } })
    const drive = stream(
      {},
      OPEN,
      thought('h'),
      thought('m'),
      sealed('c2ln'),
      sealed('aGlk', { kind: 'redacted' }),
      sealed('b25seQ'),
      thought('other'),
      other,
      event('reasoning-end', { message: 'm1' }),
      text('Look:'),
      ...OWN,
      text('Done.'),
      thought('last'),
      CLOSE,
      END,
    )
    const piece = (kind: string, key: string, value: string) => ({ type: kind, [key]: value })
    const thinking = { type: 'thinking', thinking: '', signature: '' }
    expect(blocksOf(drive)).toEqual([
      [
        thinking,
        piece('thinking_delta', 'thinking', 'h'),
        piece('thinking_delta', 'thinking', 'm'),
        piece('signature_delta', 'signature', 'c2ln'),
      ],
      [{ type: 'redacted_thinking', data: 'aGlk' }],
      [thinking, piece('signature_delta', 'signature', 'b25seQ')],
      [thinking, piece('thinking_delta', 'thinking', 'other')],
      [{ type: 'text', text: '' }, piece('text_delta', 'text', 'Look:')],
      [OWN_BLOCKS[0]],
      [OWN_BLOCKS[1]],
      [{ type: 'text', text: '' }, piece('text_delta', 'text', 'Done.')],
      [thinking, piece('thinking_delta', 'thinking', 'last')],
    ])
    expect(drive.losses).toEqual([{ kind: 'weakened', item: 'reasoning.seal', why: 'no-place', count: 1 }, INVENTED])
  })

  test('has a block for each message of the answer, and none of others', () => {
    const drive = stream(
      {},
      event('message-start', { message: 'u', role: 'user' }),
      text('echo', 'u'),
      event('message-end', { message: 'u', parts: [{ type: 'text', text: 'echo' }] }),
      event('message-start', { message: 'l', role: 'assistant', lane: 'sub' }),
      text('inner', 'l'),
      thought('inner', 'l'),
      event('reasoning-end', { message: 'l' }),
      event('tool-call', { tool: 'q', name: 'inner', args: '{}', executor: 'agent', lane: 'sub' }),
      event('tool-end', { tool: 'q', status: 'ok', parts: [], lane: 'sub' }),
      event('message-end', { message: 'nobody', parts: [] }),
      OPEN,
      text('a'),
      CLOSE,
      event('message-start', { message: 'm2', role: 'assistant', phase: 'commentary' }),
      text('b', 'm2'),
      END,
    )
    expect(blocksOf(drive).map((block) => (block as [object, { text: string }])[1].text)).toEqual(['a', 'b'])
    expect(drive.losses).toContainEqual({
      kind: 'weakened',
      item: 'message.phase',
      field: 'commentary',
      why: 'too-narrow',
      count: 1,
    })
  })

  test('has what came in one piece at the end of a message, and nothing twice', () => {
    const parts = [
      { type: 'reasoning', text: 'hm', seal: { provider: 'anthropic', data: 's' } },
      { type: 'text', text: 'whole' },
      { type: 'image', url: 'u', ext: { protocol: 'zot', json: '{}' } },
    ]
    const end = event('message-end', { message: 'm1', parts })
    const late = blocksOf(stream({}, OPEN, end, END))
    const thinking = { type: 'thinking', thinking: '', signature: '' }
    expect(late).toEqual([
      [thinking, { type: 'thinking_delta', thinking: 'hm' }, { type: 'signature_delta', signature: 's' }],
      [
        { type: 'text', text: '' },
        { type: 'text_delta', text: 'whole' },
      ],
    ])
    expect(blocksOf(stream({}, OPEN, thought('hm'), sealed('s'), text('whole'), end, END))).toEqual(late)
    expect(blocksOf(stream({}, OPEN, sealed('s'), text('whole'), end, END))[0]).toEqual([
      thinking,
      { type: 'signature_delta', signature: 's' },
    ])
    const plain = event('message-end', { message: 'm1', parts: [{ type: 'reasoning', text: 'hm' }] })
    expect(blocksOf(stream({}, OPEN, plain, END))).toEqual([[thinking, { type: 'thinking_delta', thinking: 'hm' }]])
    expect(stream({}, OPEN, end, END).losses).toEqual([
      { kind: 'dropped', item: 'part.image', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'part.ext', field: 'zot', why: 'no-place', count: 1 },
      INVENTED,
    ])
  })

  test('ends with the calls of the client’s tools', () => {
    const drive = stream(TOOLS, OPEN, text('Let me look.'), ...CALL, PARKED)
    expect(blocksOf(drive)[1]).toEqual([
      { type: 'tool_use', id: 'toolu_t1_dsecret_n0', name: 'ls', input: {} },
      { type: 'input_json_delta', partial_json: '{"p":1.0}' },
    ])
    expect(eventsOf(drive).slice(-2)).toMatchObject([
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      { type: 'message_stop' },
    ])
  })

  test('gives a client objects, whatever the arguments of a call are', () => {
    const call = (tool: string, args: string) => event('tool-call', { tool, name: 'sh', args, executor: 'agent' })
    const drive = stream({}, call('a', 'ls -l'), call('b', ''), END)
    expect(blocksOf(drive)).toMatchObject([[{ input: { input: 'ls -l' } }], [{ input: {} }]])
    expect(drive.losses).toEqual([
      { kind: 'weakened', item: 'tool-call', field: 'input', why: 'no-place', count: 1 },
      INVENTED,
    ])
  })

  test('has the call of a result that came without one, and not twice', () => {
    const start = event('tool-start', { tool: 'a', name: 'sh', executor: 'agent' })
    const end = event('tool-end', {
      tool: 'a',
      status: 'ok',
      parts: [
        { type: 'text', text: 'x' },
        { type: 'data', json: '{}', mime: 'text/x' },
        { type: 'image', url: 'u' },
      ],
    })
    const drive = stream({}, start, event('tool-args-delta', { tool: 'a', text: '{}' }), end, END)
    expect(blocksOf(drive)).toEqual([
      [{ type: 'mcp_tool_use', id: 'a', name: 'sh', input: {}, server_name: 'agent' }],
      [
        {
          type: 'mcp_tool_result',
          tool_use_id: 'a',
          is_error: false,
          content: [
            { type: 'text', text: 'x' },
            { type: 'text', text: '{}' },
          ],
        },
      ],
    ])
    expect(drive.losses.slice(0, 2)).toEqual([
      { kind: 'weakened', item: 'part.data', field: 'mime', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'part.image', why: 'no-place', count: 1 },
    ])
    const twice = stream({}, ...OWN.slice(0, 2), OWN[1]!, OWN[2]!, END)
    expect(blocksOf(twice)).toEqual([[OWN_BLOCKS[0]], [OWN_BLOCKS[1]]])
    const dropped = event('tool-end', { tool: 'a', status: 'cancelled', parts: [] })
    expect(blocksOf(stream({}, start, dropped, END))).toEqual([])
    expect(blocksOf(stream({}, event('tool-end', { tool: 'gone', status: 'ok', parts: [] }), END))).toEqual([])
  })

  test('has the blocks and sources of a server of the same API as they are', () => {
    const ext = { protocol: 'anthropic', json: '{"type":"char_location"}' }
    const citation = event('citation', { message: 'm1', ext })
    const search = event('tool-call', { tool: 's', name: 'web_search', args: '{}', executor: 'provider', ext: SEARCH })
    const found = event('tool-end', { tool: 's', status: 'ok', parts: [{ type: 'data', json: '[]' }], ext: FOUND })
    const drive = stream(
      {},
      citation,
      search,
      found,
      OPEN,
      text('a'),
      citation,
      event('foreign', { protocol: 'anthropic', frame: '{"delta":{"type":"later_delta"}}' }),
      event('foreign', { protocol: 'anthropic', frame: '{"type":"later"}' }),
      event('foreign', { protocol: 'zot', frame: '{}' }),
      END,
    )
    expect(blocksOf(drive)).toEqual([
      [{ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }],
      [{ type: 'web_search_tool_result', tool_use_id: 's', content: [] }],
      [
        { type: 'text', text: '' },
        { type: 'text_delta', text: 'a' },
        { type: 'citations_delta', citation: { type: 'char_location' } },
      ],
    ])
    expect(drive.losses).toEqual([
      { kind: 'dropped', item: 'foreign', field: 'zot', why: 'no-place', count: 1 },
      INVENTED,
    ])
  })

  test('ends with an error, never with a stop, when the turn has not completed', () => {
    const ext = { protocol: 'zot', json: '{}' }
    const failed = event('turn-end', { outcome: 'failed', ext, fault: fault('internal', 'It broke.', { ext }) })
    const drive = stream({}, OPEN, text('half'), failed)
    expect(eventsOf(drive).at(-1)).toEqual({
      type: 'error',
      error: { type: 'api_error', message: 'It broke.', code: 'internal' },
      request_id: 'req_f1',
    })
    expect(eventsOf(drive).map(({ type }) => type)).not.toContain('message_stop')
    expect(drive.losses).toEqual([
      { kind: 'dropped', item: 'ext', field: 'zot', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'ext', field: 'zot', why: 'no-place', count: 1 },
    ])
  })

  test('is kept alive by a ping, once it has begun', () => {
    const drive = hi({ stream: true })
    drive.link.keepAlive!()
    expect(drive.sent).toEqual([])
    drive.play([STARTED, STARTED])
    drive.link.keepAlive!()
    expect(eventsOf(drive).map(({ type }) => type)).toEqual(['message_start', 'ping'])
    const whole = hi()
    whole.link.keepAlive!()
    expect(whole.sent).toEqual([])
  })
})

describe('a fault outside of a turn', () => {
  test('is a body before the stream has begun, and an event after that', () => {
    const early = hi({ stream: true })
    early.link.encodeFault(fault('lossy-refused', 'No.'), 'f2', 'continues')
    expect(errorOf(early)).toEqual({ type: 'invalid_request_error', message: 'No.', code: 'lossy_refused' })
    expect(early.link.headers).toMatchObject({ 'x-should-retry': 'false' })
    const busy = hi()
    busy.link.encodeFault(fault('provider-down', 'Busy.'), 'f2', 'continues')
    expect(busy.link.headers).not.toHaveProperty('x-should-retry')
    const late = hi({ stream: true })
    late.play([STARTED])
    late.link.encodeFault(fault('internal', 'It broke.'), 'f2', 'continues')
    expect(eventsOf(late).at(-1)).toMatchObject({ type: 'error', error: { code: 'internal' } })
  })

  test.each<[ErrorCode, string, number]>([
    ['invalid-request', 'invalid_request_error', 400],
    ['unauthenticated', 'authentication_error', 401],
    ['forbidden', 'permission_error', 403],
    ['agent-not-found', 'not_found_error', 404],
    ['payload-too-large', 'request_too_large', 413],
    ['overloaded', 'rate_limit_error', 429],
    ['provider-down', 'overloaded_error', 503],
    ['timeout', 'timeout_error', 504],
  ])('%s is a %s with the status %i', (code, type, http) => {
    expect(codec.errors[code]).toEqual({ code: type, http })
  })
})

describe('the models', () => {
  const agents = [
    { name: 'coder', protocol: 'zot' },
    { name: 'helper', protocol: 'zene' },
  ]
  const asked = (model?: string) => {
    const drive = driveFront(codec, {
      transport: 'http',
      method: 'GET',
      path: '/v1/models',
      ...(model && { params: { model } }),
    })
    drive.link.decode('')
    expect(drive.commands).toEqual([{ exchange: 'f2', type: 'query', what: 'agents' }])
    return drive
  }
  const reply = (more: object) => ({ turn: null, type: 'command-reply', exchange: 'f2', ...more }) as const
  const model = (name: string) => ({
    type: 'model',
    id: name,
    display_name: name,
    created_at: '1970-01-01T00:00:00Z',
  })

  test('are the agents', () => {
    const list = asked()
    list.link.encode(STARTED, 'f2', {} as never)
    list.link.encodeLink!({ turn: null, type: 'agent-ready' })
    list.link.encodeLink!(reply({ data: json({ agents }) }))
    expect(JSON.parse(String(list.sent[0]))).toEqual({
      data: [model('coder'), model('helper')],
      has_more: false,
      first_id: 'coder',
      last_id: 'helper',
    })
    const none = asked()
    none.link.encodeLink!(reply({ data: '{"agents":[]}' }))
    expect(JSON.parse(String(none.sent[0]))).toMatchObject({ data: [], first_id: null, last_id: null })
    const one = asked('helper')
    one.link.encodeLink!(reply({ data: json({ agents }) }))
    expect(JSON.parse(String(one.sent[0]))).toEqual(model('helper'))
  })

  test('that do not exist are not found, and faults are the API’s own', () => {
    const gone = asked('gone')
    gone.link.encodeLink!(reply({ data: json({ agents }) }))
    expect(errorOf(gone)).toMatchObject({
      type: 'not_found_error',
      message: 'There is no model "gone"; there are: coder, helper.',
    })
    const failed = asked()
    failed.link.encodeLink!(reply({ fault: fault('forbidden', 'No.') }))
    expect(errorOf(failed)).toMatchObject({ type: 'permission_error', message: 'No.' })
  })
})

test('the client has no stand-in', () => {
  const { front } = codec.dialects['messages']!
  const context = { method: '', path: '', query: '', headers: {}, argv: [], env: {} }
  expect(front!.accepts!(undefined, { ...context, transport: 'stdio' })).toBe(false)
  expect(front!.accepts!(undefined, { ...context, transport: 'http' })).toBe(true)
})
