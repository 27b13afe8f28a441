import { describe, expect, test } from 'vitest'
import { fault, type TurnEvent, type TurnStart } from '../../../src/model/index.ts'
import { ask, CLOSE, chunksOf, deltasOf, END, errorOf, event, hi, json, OPEN, STARTED, startOf, text } from './kit.ts'

const CALL_ID = 'call_t1_dsecret_n0'
const PNG = 'data:image/png;base64,QUJD'

describe('a request', () => {
  test.each([
    ['0', {}, undefined],
    ['1', {}, true],
    ['many', {}, undefined],
    ['2', { 'idempotency-key': 'k' }, true],
  ])('that was repeated %s times, with %j, is a retry: %s', (times, headers, retry) => {
    const drive = ask(
      { model: 'coder', messages: [{ role: 'user', content: 'hi' }] },
      { 'x-stainless-retry-count': times, ...headers },
    )
    expect(startOf(drive).retry).toBe(retry)
  })

  test.each<[how: { session?: string; before?: object[]; prompt_cache_key?: string }, mode: string]>([
    [{}, 'complete'],
    [{ prompt_cache_key: 'k' }, 'complete'],
    [{ session: 's' }, 'delta'],
    [{ session: 's', before: [{ role: 'assistant', content: 'yes' }] }, 'complete'],
  ])('with %j tells its conversation: %s', (how, mode) => {
    const { session, before = [], ...more } = how
    const messages = [...before, { role: 'user', content: 'hi' }]
    const drive = ask({ model: 'coder', messages, ...more }, session ? { 'turnpike-session': session } : {})
    expect(startOf(drive).historyMode).toBe(mode)
  })

  test('is a turn: the last messages of the user are its input, those before its history', () => {
    const drive = ask({
      model: 'coder:gpt-5',
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'developer', content: [{ type: 'text', text: 'Be short.' }] },
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'two', reasoning_content: 'hm' },
        { role: 'user', content: 'three' },
        { role: 'user', content: [{ type: 'text', text: 'four' }] },
      ],
    })
    expect(drive.commands).toEqual([
      {
        exchange: 'f1',
        type: 'turn-start',
        turn: 'f2',
        task: 'prompt',
        agent: 'coder',
        input: [
          { type: 'text', text: 'three' },
          { type: 'text', text: 'four' },
        ],
        historyMode: 'complete',
        history: [
          { role: 'user', parts: [{ type: 'text', text: 'one' }] },
          {
            role: 'assistant',
            parts: [
              { type: 'reasoning', text: 'hm' },
              { type: 'text', text: 'two' },
            ],
          },
        ],
        options: { model: 'gpt-5', systemPrompt: 'Be kind.\n\nBe short.' },
      },
    ])
    expect(drive.answers.get('f1')).toEqual({
      form: 'whole',
      framing: 'body',
      headers: {},
      onDisconnect: 'cancel',
      asks: 'never',
    })
  })

  test('says its options, its session and its ids', () => {
    const drive = ask(
      {
        model: 'coder',
        messages: [{ role: 'user', content: 'hi' }],
        stream: true,
        temperature: 0.5,
        top_p: 0.9,
        max_tokens: 5,
        max_completion_tokens: 7,
        stop: 'END',
        reasoning_effort: 'high',
        parallel_tool_calls: false,
        tool_choice: 'required',
        response_format: { type: 'json_object' },
        prompt_cache_key: 'k',
        n: null,
      },
      { 'turnpike-session': 's', 'idempotency-key': 'i', 'x-request-id': 'r' },
    )
    expect(startOf(drive)).toMatchObject({
      session: { id: 's' },
      request: 'r',
      once: { key: 'i', scope: 'tenant', duplicate: 'join', replay: 'success' },
      options: {
        streaming: true,
        model: 'coder',
        temperature: 0.5,
        topP: 0.9,
        maxTokens: 7,
        stop: ['END'],
        effort: 'high',
        parallelTools: false,
        toolChoice: 'required',
        outputSchema: '{"type":"object"}',
      },
    })
    expect(drive.answers.get('f1')).toMatchObject({
      form: 'stream',
      framing: 'sse',
      headers: { 'cache-control': 'no-cache' },
    })
    expect(startOf(hi({ prompt_cache_key: 'k', stop: ['A', 'B'] }))).toMatchObject({
      session: { id: 'k' },
      options: { stop: ['A', 'B'] },
    })
    expect(startOf(ask({ messages: [{ role: 'user', content: 'hi' }] }))).not.toHaveProperty('agent')
  })

  test('has its schemas as they were written, and members that the model has no place for', () => {
    const schema = '{"type":"object","x":1.0}'
    const body = `{"model":"m","messages":[{"role":"user","content":"hi"}],"seed":1.0,"metadata":{"a":"1"},
      "response_format":{"type":"json_schema","json_schema":{"name":"n","schema":${schema}}},
      "tools":[{"type":"function","function":{"name":"ls","parameters":${schema}}}]}`
    const { options, ext, clientTools } = startOf(ask(body)) as never as Record<string, never>
    expect(options).toMatchObject({ outputSchema: schema })
    expect(clientTools).toEqual([{ name: 'ls', schema }])
    expect(ext).toEqual({
      protocol: 'openai',
      json: `{"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":${schema}}},"seed":1.0,"metadata":{"a":"1"}}`,
    })
  })

  test.each<[members: object, user: string | undefined, ext: string | undefined]>([
    [{ user: 'u' }, 'u', undefined],
    [{ safety_identifier: 's' }, 's', undefined],
    [{ safety_identifier: 's', user: 's' }, 's', undefined],
    [{ safety_identifier: 's', user: 'u' }, 's', '{"user":"u"}'],
    [{ safety_identifier: null, user: 'u' }, 'u', undefined],
    [{ user: '' }, undefined, undefined],
  ])('with %j is of the user %j', (members, user, ext) => {
    const start = startOf(hi(members)) as TurnStart & { ext?: object }
    expect([start.user, start.ext]).toEqual([user, ext === undefined ? undefined : { protocol: 'openai', json: ext }])
  })

  test('may have a system prompt alone, and a form of its answer without a schema, which goes on as it came', () => {
    const own = { type: 'json_schema', json_schema: { name: 'a' } }
    for (const response_format of [own, { type: 'grammar', x: 1 }, { type: 'text' }]) {
      const ext = response_format.type === 'text' ? undefined : { protocol: 'openai', json: json({ response_format }) }
      expect(hi({ response_format }).commands[0]!.ext).toEqual(ext)
    }
    const drive = ask({ messages: [{ role: 'system', content: 'Go.' }], response_format: own })
    expect(startOf(drive)).toMatchObject({ input: [], options: { systemPrompt: 'Go.' } })
    expect(startOf(drive).options).not.toHaveProperty('outputSchema')
  })

  test('declares tools of every kind', () => {
    const tools = [
      { type: 'function', function: { name: 'a', description: 'A', parameters: { type: 'object' }, strict: true } },
      { type: 'function', function: { name: 'b', parameters: null } },
      { type: 'custom', custom: { name: 'c', description: 'C', format: { type: 'text' } } },
      { type: 'custom', custom: { name: 'd' } },
      { type: 'web_search', limit: 1 },
    ]
    const drive = hi({ tools, tool_choice: { type: 'function', function: { name: 'a' } } })
    expect(startOf(drive)).toMatchObject({
      options: { toolChoice: { tool: 'a' } },
      clientTools: [
        { name: 'a', description: 'A', schema: '{"type":"object"}', strict: true },
        { name: 'b' },
        {
          name: 'c',
          kind: 'custom',
          description: 'C',
          ext: { protocol: 'openai', json: '{"format":{"type":"text"}}' },
        },
        { name: 'd', kind: 'custom' },
        { name: 'web_search', kind: 'hosted', ext: { protocol: 'openai', json: '{"type":"web_search","limit":1}' } },
      ],
    })
    expect(drive.answers.get('f1')).toMatchObject({ asks: 'next-request' })
    expect(startOf(hi({ tool_choice: { type: 'custom', custom: { name: 'c' } } })).options.toolChoice).toEqual({
      tool: 'c',
    })
    const allowed = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } }
    expect(startOf(hi({ tool_choice: allowed }))).toMatchObject({
      ext: { json: json({ tool_choice: allowed }) },
      options: {},
    })
  })

  test.each([
    [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'a' },
    ],
    [
      { type: 'image_url', image_url: { url: PNG } },
      { type: 'image', mime: 'image/png', base64: 'QUJD' },
    ],
    [
      { type: 'image_url', image_url: { url: 'data:;base64,QUJD' } },
      { type: 'image', base64: 'QUJD' },
    ],
    [
      { type: 'image_url', image_url: { url: 'https://h/x', detail: 'high' } },
      { type: 'image', url: 'https://h/x', ext: { protocol: 'openai', json: '{"detail":"high"}' } },
    ],
    [
      { type: 'image_url', image_url: 'https://h/x' },
      { type: 'image', url: 'https://h/x' },
    ],
    [
      { type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } },
      { type: 'audio', base64: 'QUJD', mime: 'audio/wav' },
    ],
    [
      { type: 'file', file: { file_id: 'f', filename: 'a.pdf' } },
      { type: 'file', ref: 'f', name: 'a.pdf' },
    ],
    [
      { type: 'file', file: { file_data: PNG } },
      { type: 'file', mime: 'image/png', base64: 'QUJD' },
    ],
    [
      { type: 'file', file: { file_data: 'QUJD', filename: 'a.bin' } },
      { type: 'file', base64: 'QUJD', name: 'a.bin' },
    ],
    [
      { type: 'image_url', image_url: { url: 'data:image/svg+xml;charset=utf-8;base64,QUJD' } },
      { type: 'image', mime: 'image/svg+xml', base64: 'QUJD' },
    ],
    [
      { type: 'video_url', video_url: { url: 'u' } },
      { type: 'data', json: '{"type":"video_url","video_url":{"url":"u"}}' },
    ],
  ])('has the part %j', (part, read) => {
    expect(startOf(hi({ messages: [{ role: 'user', content: [part] }] })).input).toEqual([read])
  })

  test('has calls and results in its history', () => {
    const drive = hi({
      messages: [
        { role: 'user', content: 'x' },
        {
          role: 'assistant',
          content: null,
          refusal: 'No.',
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'ls', arguments: '{"p":1.0}' } },
            { id: 'b', type: 'custom', custom: { name: 'sh', input: 'pwd' } },
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: 'A' },
        { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'B' }] },
        { role: 'assistant', content: [{ type: 'refusal', refusal: 'Still no.' }] },
        { role: 'user', content: '' },
      ],
    })
    const reply = (tool: string, said: string) => ({
      role: 'tool',
      parts: [{ type: 'tool-reply', tool, status: 'ok', parts: [{ type: 'text', text: said }] }],
    })
    expect(startOf(drive).history).toEqual([
      { role: 'user', parts: [{ type: 'text', text: 'x' }] },
      {
        role: 'assistant',
        parts: [
          { type: 'text', text: 'No.', ext: { protocol: 'openai', json: '{"refusal":true}' } },
          { type: 'tool-call', tool: 'a', name: 'ls', args: '{"p":1.0}' },
          { type: 'tool-call', tool: 'b', name: 'sh', args: 'pwd' },
        ],
      },
      reply('a', 'A'),
      reply('b', 'B'),
      {
        role: 'assistant',
        parts: [{ type: 'text', text: 'Still no.', ext: { protocol: 'openai', json: '{"refusal":true}' } }],
      },
    ])
    expect(startOf(drive).input).toEqual([])
  })

  test.each<[string | object, string, string | null]>([
    ['no', 'The body is not a JSON object', null],
    [{}, 'messages is missing.', 'messages'],
    [{ messages: 'hi' }, 'messages must be an array.', 'messages'],
    [{ messages: [] }, 'messages must not be empty.', 'messages'],
    [
      { messages: [{ role: 'assistant', content: null, function_call: { name: 'ls', arguments: '{}' } }] },
      'messages[0].function_call is not supported; send tool_calls.',
      'messages[0].function_call',
    ],
    [{ messages: [7] }, 'messages[0].role has no role of', 'messages[0].role'],
    [{ messages: [{ role: 'cook', content: '' }] }, 'messages[0].role has no role of', 'messages[0].role'],
    [{ messages: [{ role: 'user', content: 7 }] }, 'messages[0].content must be a string', 'messages[0].content'],
    [
      { messages: [{ role: 'user', content: [7] }] },
      'messages[0].content[0] must be an object',
      'messages[0].content[0]',
    ],
    [{ messages: [{ role: 'user', content: [{}] }] }, 'messages[0].content[0] has no type', 'messages[0].content[0]'],
    ...['text', 'refusal', 'image_url', 'input_audio', 'file'].map((type): [object, string, string] => [
      { messages: [{ role: 'user', content: [{ type }] }] },
      `messages[0].content[0] is not a valid ${type} part.`,
      'messages[0].content[0]',
    ]),
    ...['data:image/png;base64,***', 'data:image/png;base64,', 'data:image/png,QUJD', 'data:', 'QUJD', ''].map(
      (url): [object, string, string] => [
        { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] },
        'is not a valid image_url part.',
        'messages[0].content[0]',
      ],
    ),
    [
      { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: '***', format: 'wav' } }] }] },
      'is not a valid input_audio part.',
      'messages[0].content[0]',
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_data: '***' } }] }] },
      'is not a valid file part.',
      'messages[0].content[0]',
    ],
    [
      {
        messages: [
          { role: 'user', content: 'x' },
          { role: 'tool', tool_call_id: 'a', content: 'A' },
        ],
      },
      'No message before messages[1] has made its call.',
      'messages[1].tool_call_id',
    ],
    [{ messages: [{ role: 'tool', content: '' }] }, 'must be the id of a tool call', 'messages[0].tool_call_id'],
    [{ messages: [{ role: 'assistant', tool_calls: 7 }] }, 'tool_calls must be an array.', 'messages[0].tool_calls'],
    [{ messages: [{ role: 'assistant', tool_calls: [7] }] }, 'must have an id', 'messages[0].tool_calls[0]'],
    [{ messages: [{ role: 'assistant', tool_calls: [null] }] }, 'must have an id', 'messages[0].tool_calls[0]'],
    [{ messages: [{ role: 'user', content: '' }], n: 2 }, 'n must be 1', 'n'],
    [{ messages: [{ role: 'user', content: '' }], tools: [{ type: 'function' }] }, 'tools[0] must have', 'tools[0]'],
    [{ messages: [{ role: 'user', content: '' }], tools: [{ type: 'custom' }] }, 'tools[0] must have', 'tools[0]'],
    [
      {
        messages: [{ role: 'user', content: '' }],
        tools: [{ type: 'function', function: { name: 'a', parameters: 1 } }],
      },
      'tools[0].function.parameters must be a JSON Schema',
      'tools[0].function.parameters',
    ],
  ])('that is wrong is refused: %j', (body, message, param) => {
    const drive = ask(typeof body === 'string' ? body : { model: 'coder', ...body })
    expect(drive.commands).toEqual([])
    expect(errorOf(drive)).toMatchObject({ type: 'invalid_request_error', code: 'invalid_request', param })
    expect(errorOf(drive).message).toContain(message)
  })
})

test('a body of another type than JSON is refused', () => {
  const drive = ask({ messages: [{ role: 'user', content: 'hi' }] }, { 'content-type': 'text/plain' })
  expect(drive.commands).toEqual([])
  expect(drive.faults).toMatchObject([{ http: 415, fault: { code: 'invalid-request' } }])
})

/** A request with results of tools, after an answer that ended with these calls. */
function withResults(ids: readonly string[], results: readonly object[], more: object = {}) {
  const calls = ids.map((id) => ({ id, type: 'function', function: { name: 'ls', arguments: '{}' } }))
  return hi({
    messages: [{ role: 'user', content: 'x' }, { role: 'assistant', content: null, tool_calls: calls }, ...results],
    ...more,
  })
}

describe('results of tools', () => {
  const result = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content })

  test('go on with the turn that waits for them, in any order, with what is said besides', () => {
    const ids = [CALL_ID, 'call_t1_dsecret_n1']
    const drive = withResults(ids, [result(ids[1]!, 'B'), result(ids[0]!, 'A'), { role: 'user', content: 'and?' }])
    const reply = (said: string) => ({ kind: 'tool', status: 'ok', parts: [{ type: 'text', text: said }] })
    expect(drive.commands).toEqual([
      {
        exchange: 'f1',
        type: 'ask-reply',
        target: { continuation: 't1.secret' },
        at: 1,
        reply: reply('B'),
        also: [{ at: 0, reply: reply('A') }],
        input: [{ type: 'text', text: 'and?' }],
        settings: { agent: 'coder', options: { model: 'coder' } },
      },
    ])
    expect(drive.answers.get('f1')).toMatchObject({ asks: 'next-request' })
  })

  test('of another server, or of several turns, are the input of a new turn', () => {
    for (const id of ['call_abc', 'call_abc_n0']) {
      const drive = withResults([id], [result(id, 'A')])
      expect(drive.commands).toHaveLength(1)
      expect(startOf(drive)).toMatchObject({ type: 'turn-start', input: [{ type: 'tool-reply', tool: id }] })
    }
    const mixed = withResults([CALL_ID], [result(CALL_ID, 'A'), result('call_t2_dother_n0', 'B')])
    expect(mixed.commands.map(({ type }) => type)).toEqual(['turn-cancel', 'turn-start'])
  })

  test('that are missing cancel the turn that waits for them', () => {
    const drive = withResults([CALL_ID], [{ role: 'user', content: 'never mind' }])
    expect(drive.commands).toMatchObject([
      { exchange: 'f1-cancel', type: 'turn-cancel', target: { turn: 't1' } },
      { exchange: 'f1', type: 'turn-start', input: [{ type: 'text', text: 'never mind' }] },
    ])
    expect(drive.answers.has('f1-cancel')).toBe(false)
  })
})

const USAGE = event('usage', {
  scope: 'turn',
  usage: { input: 3, output: 2, cacheRead: 1, cacheWrite: 0, reasoning: 1 },
})
const TOOL = [
  event('tool-start', { tool: 'x', name: 'ls', executor: 'client' }),
  event('tool-call', { tool: 'x', name: 'ls', args: '{"p":1}', executor: 'client' }),
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

describe('a whole answer', () => {
  const whole = (...events: TurnEvent[]) => {
    const drive = hi({ tools: [{ type: 'function', function: { name: 'ls' } }] })
    drive.play(events)
    expect(drive.sent).toHaveLength(1)
    return {
      drive,
      answer: JSON.parse(String(drive.sent[0])) as { choices: [{ message: object; finish_reason: string }] },
    }
  }

  test('has text, reasoning and usage', () => {
    const { answer, drive } = whole(
      STARTED,
      OPEN,
      event('reasoning-delta', { message: 'm1', text: 'hm' }),
      text('Hello'),
      CLOSE,
      USAGE,
      END,
    )
    expect(answer).toEqual({
      id: 'chatcmpl-t1',
      object: 'chat.completion',
      created: 1,
      model: 'coder',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello', refusal: null, reasoning_content: 'hm' },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 3,
        completion_tokens: 2,
        total_tokens: 5,
        prompt_tokens_details: { cached_tokens: 1, cache_write_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 1 },
      },
    })
    expect(drive.answers.get('f1')!.headers).toEqual({ 'x-request-id': 't1', 'x-should-retry': 'false' })
  })

  test('has the calls of the client’s tools that the turn waits for, and no others', () => {
    const { answer } = whole(STARTED, ...TOOL, PARKED)
    expect(answer.choices[0]).toMatchObject({
      message: {
        content: null,
        tool_calls: [{ id: CALL_ID, type: 'function', function: { name: 'ls', arguments: '{"p":1}' } }],
      },
      finish_reason: 'tool_calls',
    })
    expect(answer).not.toHaveProperty('usage')
  })

  test('has a refusal that ends as usual in its own member too', () => {
    const phase = event('message-start', { message: 'm1', role: 'assistant', phase: 'refusal' })
    const { answer } = whole(STARTED, phase, text('No.'), CLOSE, END)
    expect(answer.choices[0]).toMatchObject({ message: { content: null, refusal: 'No.' }, finish_reason: 'stop' })
  })

  test('has a refusal in its own member, and a stop that is none of the usual', () => {
    const phase = event('message-start', { message: 'm1', role: 'assistant', phase: 'refusal' })
    const { answer, drive } = whole(
      STARTED,
      phase,
      text('No.'),
      CLOSE,
      event('turn-end', { outcome: 'completed', stop: 'refusal' }),
    )
    expect(answer.choices[0]).toMatchObject({
      message: { content: null, refusal: 'No.' },
      finish_reason: 'content_filter',
    })
    expect(drive.losses).toEqual([{ kind: 'weakened', item: 'end.stop', why: 'too-narrow', count: 1 }])
    expect(answer).toMatchObject({ turnpike: { losses: drive.losses } })
  })

  test('reports what a client is not shown', () => {
    const image = { type: 'image', url: 'u', ext: { protocol: 'zot', json: '{}' } }
    const own = event('tool-call', { tool: 'y', name: 'bash', args: '{}', executor: 'agent' })
    const cut = [
      event('tool-start', { tool: 'z', name: 'ls', executor: 'client' }),
      event('tool-end', { tool: 'z', status: 'error', parts: [] }),
    ]
    const said = event('message-end', { message: 'm1', parts: [{ type: 'text', text: 'a' }, image] })
    const echo = [
      event('message-start', { message: 'm0', role: 'user' }),
      event('message-end', { message: 'm0', parts: [image] }),
    ]
    const { drive } = whole(STARTED, ...echo, OPEN, said, own, ...cut, event('turn-end', { outcome: 'completed' }))
    expect(drive.losses).toEqual([
      { kind: 'dropped', item: 'tool-call', why: 'policy', count: 2 },
      { kind: 'dropped', item: 'part.image', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'part.ext', field: 'zot', why: 'no-place', count: 1 },
    ])
  })

  test.each([
    [
      { outcome: 'failed', fault: fault('provider-rate-limit', 'Slow.') },
      'Slow.',
      'rate_limit_exceeded',
      'rate_limit_error',
    ],
    [{ outcome: 'failed' }, 'The turn ended without saying why.', 'agent_crashed', 'server_error'],
    [{ outcome: 'cancelled' }, 'The turn ended without saying why.', 'cancelled', 'server_error'],
  ])('of a turn that has not completed is an error: %j', (end, message, code, type) => {
    const { answer } = whole(STARTED, event('turn-end', end))
    expect(answer).toEqual({ error: { message, type, code, param: null } })
  })
})

describe('a stream', () => {
  const stream = (more: object, ...events: TurnEvent[]) => {
    const drive = hi({ stream: true, ...more })
    drive.play(events)
    return drive
  }

  test('has a role first, one finish, usage where it is asked for, and [DONE]', () => {
    const drive = stream(
      { stream_options: { include_usage: true } },
      STARTED,
      STARTED,
      OPEN,
      text('Hel'),
      text('lo'),
      CLOSE,
      USAGE,
      END,
    )
    expect(deltasOf(drive)).toEqual([
      { role: 'assistant', content: '' },
      { content: 'Hel' },
      { content: 'lo' },
      'stop',
      expect.objectContaining({ choices: [], usage: expect.objectContaining({ total_tokens: 5 }) }),
      '[DONE]',
    ])
    const ids = new Set(
      chunksOf(drive)
        .slice(0, -1)
        .map((chunk) => json([(chunk as { id: string }).id, (chunk as { created: number }).created])),
    )
    expect([...ids]).toEqual(['["chatcmpl-t1",1]'])
  })

  test('counts what is known of its tokens', () => {
    const usage = event('usage', { scope: 'turn', usage: { output: 4 } })
    const drive = stream({ stream_options: { include_usage: true } }, STARTED, usage, END)
    expect(chunksOf(drive).at(-2)).toMatchObject({
      usage: { prompt_tokens: 0, completion_tokens: 4, total_tokens: 4 },
    })
    expect(json(chunksOf(drive).at(-2))).not.toContain('details')
  })

  test('has no usage where it is asked for and not known', () => {
    const drive = stream({ stream_options: { include_usage: true } }, STARTED, END)
    expect(chunksOf(drive).some((chunk) => Object.hasOwn(chunk as object, 'usage'))).toBe(false)
  })

  test('has each message of the answer after an empty line, and none of others', () => {
    const other = [
      event('message-start', { message: 'u', role: 'user' }),
      text('echo', 'u'),
      event('message-end', { message: 'u', parts: [{ type: 'text', text: 'echo' }] }),
      event('message-start', { message: 'l', role: 'assistant', lane: 'sub' }),
      text('inner', 'l'),
      event('reasoning-delta', { message: 'l', text: 'inner' }),
      event('message-end', { message: 'nobody', parts: [] }),
    ]
    const refused = event('message-start', { message: 'm2', role: 'assistant', phase: 'refusal' })
    const drive = stream({}, ...other, OPEN, text('a'), text(''), CLOSE, refused, text('no', 'm2'), END)
    expect(deltasOf(drive)).toEqual([
      { role: 'assistant', content: '' },
      { content: 'a' },
      { refusal: '\n\n' },
      { refusal: 'no' },
      'stop',
      '[DONE]',
    ])
  })

  test('has what came in one piece at the end of a message', () => {
    const parts = [
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'whole' },
    ]
    const drive = stream({}, OPEN, event('message-end', { message: 'm1', parts }), END)
    expect(deltasOf(drive).slice(1, 3)).toEqual([{ reasoning_content: 'hm' }, { content: 'whole' }])
    const thought = event('reasoning-delta', { message: 'm1', text: 'hm' })
    const streamed = stream({}, OPEN, thought, text('whole'), event('message-end', { message: 'm1', parts }), END)
    expect(deltasOf(streamed).slice(1)).toEqual([{ reasoning_content: 'hm' }, { content: 'whole' }, 'stop', '[DONE]'])
  })

  test('ends with the calls of the client’s tools', () => {
    const drive = stream({ tools: [{ type: 'function', function: { name: 'ls' } }] }, STARTED, ...TOOL, PARKED)
    expect(deltasOf(drive)).toEqual([
      { role: 'assistant', content: '' },
      { tool_calls: [{ index: 0, id: CALL_ID, type: 'function', function: { name: 'ls', arguments: '{"p":1}' } }] },
      'tool_calls',
      '[DONE]',
    ])
  })

  test('ends with an error, never with a finish, when the turn has not completed', () => {
    const failed = event('turn-end', {
      outcome: 'failed',
      fault: fault('internal', 'It broke.', { ext: { protocol: 'zot', json: '{}' } }),
    })
    const drive = stream({}, STARTED, OPEN, text('half'), failed)
    expect(deltasOf(drive).slice(2)).toEqual([
      {
        error: { message: 'It broke.', type: 'server_error', code: 'internal', param: null },
        turnpike: { losses: [{ kind: 'dropped', item: 'ext', field: 'zot', why: 'no-place', count: 1 }] },
      },
      '[DONE]',
    ])
  })

  test('is kept alive by a chunk that says nothing, once it has begun', () => {
    const drive = hi({ stream: true })
    drive.link.keepAlive!()
    drive.play([STARTED])
    drive.link.keepAlive!()
    expect(deltasOf(drive)).toEqual([{ role: 'assistant', content: '' }, {}])
    const whole = hi()
    whole.link.keepAlive!()
    expect(whole.sent).toEqual([])
  })

  test('reports commentary and fields of other protocols', () => {
    const aside = event('message-start', {
      message: 'm1',
      role: 'assistant',
      phase: 'commentary',
      ext: { protocol: 'zot', json: '{}' },
    })
    const drive = stream({}, aside, text('a'), END)
    expect(drive.losses).toEqual([
      { kind: 'dropped', item: 'ext', field: 'zot', why: 'no-place', count: 1 },
      { kind: 'weakened', item: 'message.phase', field: 'commentary', why: 'too-narrow', count: 1 },
    ])
  })
})

describe('a fault outside of a turn', () => {
  test('is a body before the stream has begun, and a part of it after that', () => {
    const early = hi({ stream: true })
    early.link.encodeFault(fault('lossy-refused', 'No.'), 'f1', 'continues')
    expect(errorOf(early)).toEqual({
      message: 'No.',
      type: 'invalid_request_error',
      code: 'translation_lossy',
      param: null,
    })
    expect(early.answers.get('f1')!.headers).toMatchObject({ 'x-should-retry': 'false' })
    const late = hi({ stream: true })
    late.play([STARTED])
    late.link.encodeFault(fault('internal', 'It broke.'), 'f1', 'continues')
    expect(chunksOf(late).slice(1)).toMatchObject([{ error: { code: 'internal' } }, '[DONE]'])
  })
})

test('the client has no stand-in', async () => {
  const { codec } = await import('../../../codecs/openai/index.ts')
  const { front } = codec.dialects['chat']!
  const context = { method: '', path: '', query: '', headers: {}, argv: [], env: {} }
  expect(front!.accepts!(undefined, { ...context, transport: 'stdio' })).toBe(false)
  expect(front!.accepts!(undefined, { ...context, transport: 'http' })).toBe(true)
})
