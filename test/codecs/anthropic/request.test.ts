import { describe, expect, test } from 'vitest'
import type { TurnStart } from '../../../src/model/index.ts'
import { ask, errorOf, hi, json, said, startOf } from './kit.ts'

const CALL_ID = 'toolu_t1_dsecret_n0'
const own = (value: object | string) => ({
  protocol: 'anthropic',
  json: typeof value === 'string' ? value : json(value),
})
const input = (block: object): unknown => startOf(said({ role: 'user', content: [block] })).input

describe('a request', () => {
  test('is a turn: what the user says after the last answer is its input, the rest its history', () => {
    const drive = ask({
      model: 'coder:opus',
      max_tokens: 50,
      system: 'Be kind.',
      messages: [
        { role: 'user', content: 'one' },
        { role: 'assistant', content: [{ type: 'text', text: 'two' }] },
        { role: 'user', content: 'three' },
        { role: 'system', content: 'Be quick.' },
        { role: 'user', content: [{ type: 'text', text: 'four' }] },
      ],
    })
    expect(drive.commands).toEqual([
      {
        exchange: 'f2',
        type: 'turn-start',
        turn: 'f3',
        task: 'prompt',
        agent: 'coder',
        historyMode: 'complete',
        history: [
          { role: 'user', parts: [{ type: 'text', text: 'one' }] },
          { role: 'assistant', parts: [{ type: 'text', text: 'two' }] },
          { role: 'system', parts: [{ type: 'text', text: 'Be quick.' }] },
        ],
        input: [
          { type: 'text', text: 'three' },
          { type: 'text', text: 'four' },
        ],
        options: { model: 'opus', maxTokens: 50, systemPrompt: 'Be kind.' },
      },
    ])
    expect(drive.answers.get('f2')).toEqual({ form: 'whole', framing: 'body', onDisconnect: 'cancel', asks: 'never' })
    expect(drive.link.headers).toEqual({ 'request-id': 'req_f1' })
  })

  test('says its options and its ids', () => {
    const schema = { type: 'object' }
    const drive = hi(
      {
        stream: true,
        temperature: 0.5,
        top_p: 0.9,
        stop_sequences: ['END'],
        output_config: { effort: 'high', format: { type: 'json_schema', schema }, other: 1 },
        tool_choice: { type: 'any', disable_parallel_tool_use: true },
      },
      { 'idempotency-key': 'i', 'x-request-id': 'r' },
    )
    expect(startOf(drive)).toMatchObject({
      request: 'r',
      once: { key: 'i', scope: 'tenant', duplicate: 'join', replay: 'success' },
      options: {
        streaming: true,
        model: 'coder',
        maxTokens: 100,
        temperature: 0.5,
        topP: 0.9,
        stop: ['END'],
        effort: 'high',
        toolChoice: 'required',
        parallelTools: false,
        outputSchema: json(schema),
      },
      ext: own({ output_config: { other: 1 } }),
    })
    expect(drive.answers.get('f2')).toMatchObject({ form: 'stream', framing: 'sse' })
    expect(drive.link.headers).toEqual({ 'request-id': 'req_f1', 'x-request-id': 'r', 'cache-control': 'no-cache' })
  })

  test.each([
    [{ type: 'auto' }, { toolChoice: 'auto' }],
    [{ type: 'none' }, { toolChoice: 'none' }],
    [{ type: 'tool', name: 'ls' }, { toolChoice: { tool: 'ls' } }],
  ])('has the tool choice %j', (choice, options) => {
    expect(startOf(hi({ tool_choice: choice })).options).toMatchObject(options)
  })

  test('has the schema of its answer under its older name, too', () => {
    const drive = hi({
      output_format: { type: 'json_schema', schema: { type: 'array' } },
      output_config: { format: null },
    })
    expect(startOf(drive).options.outputSchema).toBe('{"type":"array"}')
    expect(startOf(drive)).not.toHaveProperty('ext')
    expect(startOf(hi({ output_config: null }))).not.toHaveProperty('ext')
  })

  test.each<[thinking: object | null, effort: string | undefined]>([
    [{ type: 'enabled', budget_tokens: 1024 }, 'low'],
    [{ type: 'enabled', budget_tokens: 4095 }, 'low'],
    [{ type: 'enabled', budget_tokens: 4096 }, 'medium'],
    [{ type: 'enabled', budget_tokens: 16_384 }, 'high'],
    [{ type: 'adaptive', display: 'summarized' }, undefined],
    [{ type: 'disabled' }, undefined],
    [null, undefined],
  ])('with the thinking %j asks others for the effort %s', (thinking, effort) => {
    const start = startOf(hi({ thinking })) as TurnStart & { ext?: object }
    expect(start.options.effort).toBe(effort)
    expect(start.ext).toEqual(thinking === null ? undefined : own(JSON.stringify({ thinking })))
  })

  test('says an effort of its own, which stays with its thinking', () => {
    const thinking = { type: 'enabled', budget_tokens: 1024 }
    const start = startOf(hi({ thinking, output_config: { effort: 'max', format: null } })) as TurnStart & {
      ext?: object
    }
    expect(start.options.effort).toBe('max')
    expect(start.ext).toEqual(own(JSON.stringify({ thinking, output_config: { effort: 'max' } })))
  })

  test('keeps what the model has no place for as it was written', () => {
    const body = `{"model":"","max_tokens":1,"messages":[{"role":"user","content":"hi"}],"top_k":1.0,
      "thinking":{"type":"enabled","budget_tokens":1e3},"metadata":{"user_id":"me","team":1.0},"output_config":{"effort":"low","x":2.0},
      "system":[{"type":"text","text":"A","cache_control":{"type":"ephemeral"}},{"type":"text","text":"B"}]}`
    const start = startOf(ask(body, { 'anthropic-beta': 'a-1, b-2' }))
    expect(start).not.toHaveProperty('agent')
    expect(start).not.toHaveProperty('session')
    expect(start.options).toEqual({ maxTokens: 1, effort: 'low', systemPrompt: 'A\n\nB' })
    expect(start).toMatchObject({
      ext: own(
        '{"system":[{"type":"text","text":"A","cache_control":{"type":"ephemeral"}},{"type":"text","text":"B"}],' +
          '"top_k":1.0,"thinking":{"type":"enabled","budget_tokens":1e3},"metadata":{"team":1.0},"output_config":{"effort":"low","x":2.0},"betas":["a-1","b-2"]}',
      ),
    })
  })

  test.each<[string | undefined, Record<string, string>, string | undefined]>([
    ['{"device_id":"d","session_id":"s1"}', {}, 's1'],
    ['user_abc_account__session_0a1b-2c', {}, '0a1b-2c'],
    ['somebody', {}, undefined],
    ['{"session_id":""}', {}, undefined],
    [undefined, { 'x-claude-code-session-id': 's2' }, 's2'],
    ['{"session_id":"s1"}', { 'turnpike-session': 's3', 'x-claude-code-session-id': 's2' }, 's3'],
  ])('with the user %j and the headers %j is of the session %s', (user, headers, session) => {
    const start = startOf(hi({ ...(user !== undefined && { metadata: { user_id: user } }) }, headers))
    expect((start as { session?: object }).session).toEqual(session === undefined ? undefined : { id: session })
    expect(start.user).toBe(user)
    expect(start).not.toHaveProperty('ext')
  })

  test('declares tools of every kind', () => {
    const schema = { type: 'object', properties: {} }
    const drive = hi({
      tools: [
        { name: 'a', description: 'A', input_schema: schema, strict: true, cache_control: { type: 'ephemeral' } },
        { type: 'custom', name: 'b' },
        { type: 'bash_20250124', name: 'bash' },
        { type: 'web_search_20250305', name: 'web_search', max_uses: 2 },
        { type: 'code_execution_20260521' },
      ],
    })
    expect(startOf(drive).clientTools).toEqual([
      {
        name: 'a',
        description: 'A',
        schema: json(schema),
        strict: true,
        ext: own({ cache_control: { type: 'ephemeral' } }),
      },
      { name: 'b' },
      { name: 'bash', ext: own({ type: 'bash_20250124', name: 'bash' }) },
      {
        name: 'web_search',
        kind: 'hosted',
        ext: own({ type: 'web_search_20250305', name: 'web_search', max_uses: 2 }),
      },
      { name: 'code_execution_20260521', kind: 'hosted', ext: own({ type: 'code_execution_20260521' }) },
    ])
    expect(drive.answers.get('f2')).toMatchObject({ asks: 'next-request' })
  })

  test.each<[object, object]>([
    [
      { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'a', ext: own({ cache_control: { type: 'ephemeral' } }) },
    ],
    [
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } },
      { type: 'image', mime: 'image/png', base64: 'QUJD' },
    ],
    [
      { type: 'image', source: { type: 'url', url: 'https://h/x' } },
      { type: 'image', url: 'https://h/x' },
    ],
    [
      { type: 'document', source: { type: 'file', file_id: 'f' }, title: 'T' },
      { type: 'file', ref: 'f', name: 'T' },
    ],
    [
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'QUJD' } },
      { type: 'file', mime: 'application/pdf', base64: 'QUJD' },
    ],
  ])('has the block %j', (wire, part) => {
    expect(input(wire)).toEqual([part])
  })

  test.each<[object, string]>([
    [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'hello' }, title: 'T' }, 'T\nhello'],
    [{ type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'a' }, 7] } }, 'a'],
    [{ type: 'document', source: { type: 'content', content: 'b' } }, 'b'],
    [
      { type: 'search_result', source: 'https://h', title: 'T', content: [{ type: 'text', text: 'c' }] },
      'T\nhttps://h\nc',
    ],
  ])('has the text of %j, and the block itself', (wire, text) => {
    expect(input(wire)).toEqual([{ type: 'text', text, ext: own({ block: wire }) }])
  })

  test('has blocks of later versions as they are', () => {
    expect(input({ type: 'hologram', x: 1 })).toEqual([
      { type: 'data', json: '{"type":"hologram","x":1}', ext: own({}) },
    ])
  })

  test('has reasoning, calls and results in its history, byte for byte', () => {
    const body = `{"max_tokens":1,"messages":[
      {"role":"user","content":"x"},
      {"role":"assistant","content":[
        {"type":"thinking","thinking":"hm","signature":"c2ln"},
        {"type":"thinking","thinking":"unsigned","signature":""},
        {"type":"redacted_thinking","data":"aGlk"},
        {"type":"tool_use","id":"a","name":"ls","input":{"p":1.0},"caller":{"type":"direct"}},
        {"type":"server_tool_use","id":"s","name":"web_search","input":{"q":"x"}},
        {"type":"web_search_tool_result","tool_use_id":"s","content":[{"type":"web_search_result","encrypted_content":"e"}]},
        {"type":"web_search_tool_result","tool_use_id":"s","content":{"type":"web_search_tool_result_error","error_code":"x"}},
        {"type":"mcp_tool_use","id":"m","name":"read","server_name":"coder","input":{}},
        {"type":"mcp_tool_result","tool_use_id":"m","is_error":true,"content":"gone"},
        {"type":"code_execution_tool_result","tool_use_id":"m"}]},
      {"role":"user","content":[
        {"type":"tool_result","tool_use_id":"a","is_error":true,"content":[{"type":"text","text":"no"}]},
        {"type":"text","text":"and?"}]}]}`
    const start = startOf(ask(body))
    expect(start.history![1]!.parts).toEqual([
      { type: 'reasoning', text: 'hm', seal: { provider: 'anthropic', data: 'c2ln' } },
      { type: 'reasoning', text: 'unsigned' },
      { type: 'reasoning', text: '', seal: { provider: 'anthropic', kind: 'redacted', data: 'aGlk' } },
      { type: 'tool-call', tool: 'a', name: 'ls', args: '{"p":1.0}', ext: own('{"caller":{"type":"direct"}}') },
      { type: 'tool-call', tool: 's', name: 'web_search', args: '{"q":"x"}', ext: own('{"type":"server_tool_use"}') },
      {
        type: 'tool-reply',
        tool: 's',
        status: 'ok',
        parts: [{ type: 'data', json: '[{"type":"web_search_result","encrypted_content":"e"}]' }],
        ext: own('{"type":"web_search_tool_result"}'),
      },
      {
        type: 'tool-reply',
        tool: 's',
        status: 'error',
        parts: [{ type: 'data', json: '{"type":"web_search_tool_result_error","error_code":"x"}' }],
        ext: own('{"type":"web_search_tool_result"}'),
      },
      {
        type: 'tool-call',
        tool: 'm',
        name: 'read',
        args: '{}',
        ext: own('{"type":"mcp_tool_use","server_name":"coder"}'),
      },
      {
        type: 'tool-reply',
        tool: 'm',
        status: 'error',
        parts: [{ type: 'text', text: 'gone' }],
        ext: own('{"type":"mcp_tool_result"}'),
      },
      {
        type: 'tool-reply',
        tool: 'm',
        status: 'ok',
        parts: [],
        ext: own('{"type":"code_execution_tool_result"}'),
      },
    ])
    expect(start.input).toEqual([
      { type: 'tool-reply', tool: 'a', status: 'error', parts: [{ type: 'text', text: 'no' }] },
      { type: 'text', text: 'and?' },
    ])
  })

  test.each<[string | object, string]>([
    ['no', 'The body is not a JSON object'],
    [{}, 'max_tokens is missing.'],
    [{ max_tokens: 0, messages: [] }, 'max_tokens must be positive.'],
    [{ max_tokens: 1 }, 'messages is missing.'],
    [{ max_tokens: 1, messages: [] }, 'messages must not be empty.'],
    [{ max_tokens: 1, messages: [7] }, 'messages[0].role must be one of: user, assistant, system.'],
    [{ max_tokens: 1, messages: [{ role: 'tool', content: '' }] }, 'messages[0].role must be one of'],
    [{ content: 7 }, 'messages[0].content must be a string or an array of blocks.'],
    [{ content: [7] }, 'messages[0].content[0] must be an object.'],
    [{ content: [{}] }, 'messages[0].content[0] has no type.'],
    [{ content: [{ type: 'text' }] }, 'messages[0].content[0] has no text.'],
    [{ content: [{ type: 'image' }] }, 'messages[0].content[0] has no source.'],
    [{ content: [{ type: 'image', source: { type: 'base64' } }] }, 'has no valid source.'],
    [
      { content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: '***' } }] },
      'messages[0].content[0] has a source that is not base64.',
    ],
    [{ content: [{ type: 'document', source: { type: 'url' } }] }, 'has no valid source.'],
    [{ content: [{ type: 'search_result' }] }, 'has no source or content.'],
    [{ content: [{ type: 'thinking' }] }, 'has no thinking.'],
    [{ content: [{ type: 'redacted_thinking' }] }, 'has no data.'],
    [{ content: [{ type: 'tool_use', id: 'a', name: 'b' }] }, 'has no id, name or input.'],
    [{ content: [{ type: 'server_tool_use', id: 'a', name: 'b' }] }, 'has no id, name or input.'],
    [{ content: [{ type: 'tool_result' }] }, 'has no tool_use_id.'],
    [{ content: [{ type: 'mcp_tool_result' }] }, 'has no tool_use_id.'],
    [
      { content: [{ type: 'tool_result', tool_use_id: 'a', content: 7 }] },
      'messages[0].content[0].content must be a string or an array of blocks.',
    ],
    [
      { content: [{ type: 'mcp_tool_result', tool_use_id: 'a', content: [{}] }] },
      'messages[0].content[0].content[0] has no type.',
    ],
    ...['tool_result', 'mcp_tool_result'].map((type): [object, string] => [
      { content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type, tool_use_id: 'b' }] }] },
      'messages[0].content[0].content[0] is a result within a result.',
    ]),
    [
      { content: [{ type: 'tool_result', tool_use_id: 'a' }] },
      'messages[0].content has a result whose tool_use_id no message before has.',
    ],
    [{ content: '', system: [{}] }, 'system[0] has no type.'],
    [{ content: '', tools: [{}] }, 'tools[0].name is missing.'],
    [{ content: '', tools: [{ name: 'a', input_schema: 7 }] }, 'tools[0].input_schema must be a JSON Schema.'],
    [{ content: '', tool_choice: { type: 'tool' } }, 'tool_choice must have the name of the tool.'],
    [{ content: '', tool_choice: { type: 'some' } }, 'tool_choice.type must be one of auto|any|none|tool.'],
    [{ content: '', stream: 1 }, 'stream must be true or false.'],
  ])('that is wrong is refused: %j', (wrong, message) => {
    const { content, ...more } = typeof wrong === 'string' ? ({} as never) : (wrong as Record<string, unknown>)
    const body =
      content === undefined ? wrong : { model: 'coder', max_tokens: 1, messages: [{ role: 'user', content }], ...more }
    const drive = ask(body)
    expect(drive.commands).toEqual([])
    expect(errorOf(drive)).toEqual({
      type: 'invalid_request_error',
      code: 'invalid_request',
      message: expect.stringContaining(message),
    })
    expect(JSON.parse(String(drive.sent[0]))).toMatchObject({ type: 'error', request_id: 'req_f1' })
  })

  test('of another type than JSON, or for an unknown version, is refused; unknown betas are ignored', () => {
    const typed = hi({}, { 'content-type': 'text/plain' })
    expect(typed.faults).toMatchObject([{ http: 415, fault: { code: 'invalid-request' } }])
    const versioned = hi({}, { 'anthropic-version': '1999-01-01' })
    expect(versioned.faults).toMatchObject([{ fault: { code: 'unsupported-version' } }])
    expect(errorOf(versioned).message).toBe('anthropic-version 1999-01-01 is unknown; send 2023-06-01 or 2026-10-21.')
    for (const version of ['2023-06-01', '2026-10-21']) {
      const known = hi({}, { 'anthropic-version': version, 'anthropic-beta': 'nobody-knows-this' })
      expect(startOf(known).type).toBe('turn-start')
    }
  })
})

/** A request with results of calls, after an answer that ended with these calls. */
function withResults(ids: readonly string[], content: readonly object[]) {
  return said(
    { role: 'user', content: 'x' },
    { role: 'assistant', content: ids.map((id) => ({ type: 'tool_use', id, name: 'ls', input: {} })) },
    { role: 'user', content },
  )
}

describe('results of tools', () => {
  const result = (id: string, content: string) => ({ type: 'tool_result', tool_use_id: id, content })

  test('go on with the turn that waits for them, with what is said besides', () => {
    const ids = [CALL_ID, 'toolu_t1_dsecret_n1']
    const drive = withResults(ids, [result(ids[1]!, 'B'), result(ids[0]!, 'A'), { type: 'text', text: 'and?' }])
    const reply = (text: string) => ({ kind: 'tool', status: 'ok', parts: [{ type: 'text', text }] })
    expect(drive.commands).toEqual([
      {
        exchange: 'f2',
        type: 'ask-reply',
        target: { continuation: 't1.secret' },
        at: 1,
        reply: reply('B'),
        also: [{ at: 0, reply: reply('A') }],
        input: [{ type: 'text', text: 'and?' }],
        settings: { agent: 'coder', options: { maxTokens: 100, model: 'coder' } },
      },
    ])
    expect(drive.answers.get('f2')).toMatchObject({ asks: 'next-request' })
  })

  test('that are missing cancel the turn that waits for them', () => {
    const drive = withResults([CALL_ID], [{ type: 'text', text: 'never mind' }])
    expect(drive.commands.map(({ type }) => type)).toEqual(['turn-cancel', 'turn-start'])
  })
})

describe('a count of tokens', () => {
  const count = (body: object) => {
    const drive = ask(body, {}, '/v1/messages/count_tokens')
    expect(drive.commands).toEqual([])
    return drive
  }
  const tokens = (body: object): number =>
    (JSON.parse(String(count(body).sent[0])) as { input_tokens: number }).input_tokens

  test('is estimated by the bytes of the texts, with a constant for each file, message and tool', () => {
    const user = (content: unknown) => ({ model: 'coder', messages: [{ role: 'user', content }] })
    // The keys and values of the message: role, user, content.
    const bare = tokens(user(''))
    expect(bare).toBe(4 + Math.ceil(15 / 4))
    expect(tokens(user('x'.repeat(400))) - bare).toBe(100)
    expect(tokens(user('語'.repeat(400))) - bare).toBe(300)
    expect(tokens(user('é'.repeat(400))) - bare).toBe(200)
    expect(tokens(user('😀'.repeat(100)))).toBe(bare + 100)
    expect(tokens(user('a語'.repeat(100)))).toBe(bare + 100)
    const image = (data: string) => user([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }])
    expect(tokens(image('QUJD'))).toBe(tokens(image('QUJD'.repeat(1000))))
    expect(tokens(image('QUJD'))).toBeGreaterThan(1600)
    expect(tokens({ ...user('x'), tools: [{ name: 'a' }], system: 'Be kind.' })).toBeGreaterThan(tokens(user('x')))
  })

  test('does not mind how deep a request is', () => {
    const deep = `${'['.repeat(50_000)}"x"${']'.repeat(50_000)}`
    const drive = ask(
      `{"messages":[{"role":"user","content":[{"type":"later","x":${deep}}]}]}`,
      {},
      '/v1/messages/count_tokens',
    )
    expect(JSON.parse(String(drive.sent[0]))).toEqual({ input_tokens: expect.any(Number) })
  })

  test('of a wrong request is refused', () => {
    expect(errorOf(count({}))).toMatchObject({ type: 'invalid_request_error', message: 'messages is missing.' })
    expect(errorOf(count({ messages: [{ role: 'x' }] }))).toMatchObject({ type: 'invalid_request_error' })
  })
})
