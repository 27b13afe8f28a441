import { describe, expect, test } from 'vitest'
import { codec } from '../../../../codecs/openai/index.ts'
import { callIdOf } from '../../../../src/codec-kit/index.ts'
import { fault, type TurnEvent } from '../../../../src/model/index.ts'
import { CLOSE, END, errorOf, event, json, OPEN, STARTED, startOf, text } from '../kit.ts'
import {
  ask,
  CALL_ID,
  CONTINUATION,
  call,
  eventsOf,
  hi,
  parked,
  responseOf,
  stored,
  toolAsk,
  typesOf,
} from './front-kit.ts'

const PNG = 'data:image/png;base64,QUJD'
const USAGE = event('usage', {
  scope: 'turn',
  usage: { input: 3, output: 4, cacheRead: 1, cacheWrite: 5, reasoning: 2 },
})
const ACCEPTED = event('turn-accepted', { how: 'new', session: 's1' })
const NARROW = ['stop-sequence', 'tool-use', 'max-turns', 'max-budget', 'context-window', 'refusal'] as const

describe('a request', () => {
  test('is a turn: the items at its end are the input, those before its history', () => {
    const drive = ask({
      model: 'coder:gpt-5',
      instructions: 'Be kind.',
      input: [
        { role: 'developer', content: 'Be short.' },
        { role: 'user', content: 'one' },
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'x/==' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'two', annotations: [] }] },
        { type: 'function_call', call_id: 'c1', name: 'read', namespace: 'fs', arguments: '{"a":1.0}' },
        { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: '***' },
        { type: 'function_call_output', call_id: 'c1', output: 'x' },
        { type: 'custom_tool_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'y' }] },
        { type: 'mcp_call', id: 'mcp_1', name: 'ls', arguments: '{}', output: 'a', error: null },
        { type: 'mcp_approval_request', id: 'mcpr_1' },
        { type: 'mcp_list_tools' },
        { type: 'compaction', encrypted_content: 'z' },
        { role: 'user', content: [{ type: 'input_text', text: 'three' }] },
      ],
    })
    const ext = { protocol: 'openai', json: '{"id":"rs_1","summary":[{"type":"summary_text","text":"hm"}]}' }
    expect(drive.commands).toEqual([
      {
        exchange: 'f1',
        type: 'turn-start',
        turn: 'f2',
        task: 'prompt',
        agent: 'coder',
        input: [{ type: 'text', text: 'three' }],
        historyMode: 'complete',
        history: [
          { role: 'user', parts: [{ type: 'text', text: 'one' }] },
          {
            role: 'assistant',
            parts: [
              {
                type: 'reasoning',
                text: 'hm',
                seal: { provider: 'openai', kind: 'encrypted', data: 'x/==' },
                ext,
              },
              { type: 'text', text: 'two' },
              { type: 'tool-call', tool: 'c1', name: 'fs__read', args: '{"a":1.0}' },
              { type: 'tool-call', tool: 'c2', name: 'patch', args: '***' },
            ],
          },
          {
            role: 'tool',
            parts: [
              { type: 'tool-reply', tool: 'c1', status: 'ok', parts: [{ type: 'text', text: 'x' }] },
              { type: 'tool-reply', tool: 'c2', status: 'ok', parts: [{ type: 'text', text: 'y' }] },
            ],
          },
          {
            role: 'assistant',
            parts: [
              { type: 'tool-call', tool: 'mcp_1', name: 'ls', args: '{}' },
              { type: 'tool-reply', tool: 'mcp_1', status: 'ok', parts: [{ type: 'text', text: 'a' }] },
              {
                type: 'data',
                json: '{"type":"compaction","encrypted_content":"z"}',
                ext: { protocol: 'openai', json: '{"item":true}' },
              },
            ],
          },
        ],
        options: { model: 'gpt-5', systemPrompt: 'Be kind.\n\nBe short.' },
      },
    ])
    expect(drive.answers.get('f1')).toEqual({
      form: 'stream',
      framing: 'body',
      headers: {},
      onDisconnect: 'cancel',
      asks: 'next-request',
      echo: {
        protocol: 'openai',
        json: json({ request: { instructions: 'Be kind.' }, input: [{ role: 'developer', content: 'Be short.' }] }),
      },
    })
  })

  test('says its options, its session and its ids', () => {
    const body = {
      stream: true,
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 7,
      reasoning: { effort: 'high', summary: 'auto' },
      parallel_tool_calls: false,
      tool_choice: { type: 'custom', name: 'patch' },
      text: { format: { type: 'json_object' }, verbosity: 'low' },
      prompt_cache_key: 'k',
      include: ['reasoning.encrypted_content'],
      metadata: { a: '1' },
      store: false,
      n: null,
    }
    const drive = ask({ input: 'hi', ...body }, { 'idempotency-key': 'i', 'x-client-request-id': 'r' })
    expect(startOf(drive)).toEqual({
      exchange: 'f1',
      type: 'turn-start',
      turn: 'f2',
      task: 'prompt',
      input: [{ type: 'text', text: 'hi' }],
      historyMode: 'complete',
      session: { id: 'k' },
      request: 'r',
      once: { key: 'i', scope: 'tenant', duplicate: 'join', replay: 'success' },
      options: {
        streaming: true,
        temperature: 0.5,
        topP: 0.9,
        maxTokens: 7,
        effort: 'high',
        parallelTools: false,
        toolChoice: { tool: 'patch' },
        outputSchema: '{"type":"object"}',
      },
      ext: {
        protocol: 'openai',
        json: json({
          prompt_cache_key: 'k',
          metadata: { a: '1' },
          responses: {
            reasoning: { summary: 'auto' },
            text: { format: { type: 'json_object' }, verbosity: 'low' },
            include: ['reasoning.encrypted_content'],
          },
        }),
      },
    })
    expect(drive.answers.get('f1')).toMatchObject({
      form: 'stream',
      framing: 'sse',
      headers: { 'cache-control': 'no-cache' },
    })
    for (const conversation of ['c1', { id: 'c1' }]) {
      expect(startOf(hi({ conversation, prompt_cache_key: 'k' }))).toMatchObject({
        session: { id: 'c1' },
        historyMode: 'delta',
      })
    }
    expect(startOf(ask({ input: 'hi' }, { 'turnpike-session': 's' }))).toMatchObject({ session: { id: 's' } })
  })

  test('has the schema of its answer as it was written', () => {
    const schema = '{"type":"object","x":1.0}'
    const format = `{"type":"json_schema","name":"n","schema":${schema},"strict":true}`
    expect(startOf(ask(`{"input":"hi","text":{"format":${format}}}`))).toMatchObject({
      options: { outputSchema: schema },
      ext: { json: `{"responses":{"text":{"format":${format}}}}` },
    })
    expect(startOf(hi({ text: { format: { type: 'text' } } })).options).toEqual({ model: 'coder' })
    expect(startOf(hi({ text: null, reasoning: {}, tool_choice: 'auto' })).options).toMatchObject({
      toolChoice: 'auto',
    })
  })

  test('declares tools of every kind, also among its items', () => {
    const tools = [
      { type: 'function', name: 'a', description: 'A', parameters: { type: 'object' }, strict: true },
      { type: 'function', name: 'b', parameters: null, strict: null },
      { type: 'custom', name: 'c', description: 'C', format: { type: 'text' } },
      {
        type: 'namespace',
        name: 'fs',
        description: 'files',
        tools: [
          { type: 'function', name: 'read', parameters: { type: 'object' } },
          { type: 'custom', name: 'write' },
        ],
      },
      { type: 'web_search', limit: 1 },
    ]
    const more = { type: 'additional_tools', role: 'developer', tools: [{ type: 'custom', name: 'late' }] }
    const choice = { type: 'allowed_tools', mode: 'auto', tools: [] }
    const drive = hi({ tools, tool_choice: choice, input: [more, { role: 'user', content: 'hi' }] })
    expect(startOf(drive).clientTools).toEqual([
      { name: 'a', description: 'A', schema: '{"type":"object"}', strict: true },
      { name: 'b' },
      { name: 'c', kind: 'custom', description: 'C', ext: { protocol: 'openai', json: '{"format":{"type":"text"}}' } },
      {
        name: 'read',
        namespace: 'fs',
        schema: '{"type":"object"}',
        ext: { protocol: 'openai', json: '{"group":{"description":"files"}}' },
      },
      {
        name: 'write',
        namespace: 'fs',
        kind: 'custom',
        ext: { protocol: 'openai', json: '{"group":{"description":"files"}}' },
      },
      {
        name: 'web_search',
        kind: 'hosted',
        ext: { protocol: 'openai', json: '{"responses":{"type":"web_search","limit":1}}' },
      },
      { name: 'late', kind: 'custom' },
    ])
    expect(startOf(drive)).toMatchObject({ ext: { json: json({ responses: { tool_choice: choice } }) } })
    expect(startOf(hi({ input: [{ type: 'additional_tools' }], tools: null })).clientTools).toBeUndefined()
  })

  test('has files in every form', () => {
    const content = [
      { type: 'input_image', image_url: PNG, detail: 'low' },
      { type: 'input_image', file_id: 'file_1' },
      { type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } },
      { type: 'input_file', file_id: 'file_2', filename: 'a.pdf' },
      { type: 'input_file', file_url: 'https://x/a.pdf' },
      { type: 'input_file', file_data: 'data:application/pdf;base64,QUJD' },
      { type: 'input_file', file_data: 'QUJD' },
      { type: 'text', text: 'b' },
      { type: 'refusal', refusal: 'no' },
      { type: 'input_x', a: 1 },
    ]
    expect(startOf(ask({ input: [{ role: 'user', content }] })).input).toEqual([
      { type: 'image', mime: 'image/png', base64: 'QUJD', ext: { protocol: 'openai', json: '{"detail":"low"}' } },
      { type: 'image', ref: 'file_1' },
      { type: 'audio', base64: 'QUJD', mime: 'audio/wav' },
      { type: 'file', ref: 'file_2', name: 'a.pdf' },
      { type: 'file', url: 'https://x/a.pdf' },
      { type: 'file', mime: 'application/pdf', base64: 'QUJD' },
      { type: 'file', base64: 'QUJD' },
      { type: 'text', text: 'b' },
      { type: 'text', text: 'no', ext: { protocol: 'openai', json: '{"refusal":true}' } },
      { type: 'data', json: '{"type":"input_x","a":1}' },
    ])
  })

  test('follows the turn of an earlier response, and says what is new', () => {
    const items = [
      { role: 'assistant', content: 'mine' },
      { role: 'user', content: 'more' },
    ]
    const drive = hi({ previous_response_id: 'resp_t0', input: items })
    expect(startOf(drive)).toMatchObject({ after: 't0', input: [{ text: 'more' }], history: [{ role: 'assistant' }] })
    expect(startOf(drive)).toMatchObject({ historyMode: 'delta' })
    expect(startOf(hi({ previous_response_id: 'resp_t0_dsecret' }))).toMatchObject({ after: 't0' })
  })

  test('may name items of earlier responses: what is before them is known', () => {
    const items = [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'one' },
      { type: 'item_reference', id: 'msg_t0_i1' },
      { role: 'user', content: 'two' },
      { type: 'item_reference', id: 'rs_t_u1_dsecret_i0' },
      { role: 'user', content: 'three' },
    ]
    expect(startOf(hi({ input: items }))).toMatchObject({
      after: 't_1',
      input: [{ text: 'three' }],
      options: { systemPrompt: 'Be kind.' },
    })
    expect(startOf(hi({ input: items }))).not.toHaveProperty('history')
  })

  test('with reasoning and calls of others’ tools in every form', () => {
    const own = { type: 'mcp_call', id: 'm', name: 'ls', arguments: '{}' }
    const items = [
      { type: 'reasoning' },
      { type: 'reasoning', summary: [7, { text: 'a' }], content: [{ text: 'b' }], encrypted_content: '' },
      own,
      { ...own, id: 'n', error: 'boom' },
      { ...own, id: 'o', output: 'x', error: { type: 'x' } },
      { role: 'user', content: 'hi' },
    ]
    const { history } = startOf(ask({ input: items }))
    expect(history![0]!.parts).toEqual([
      { type: 'reasoning', text: '', ext: { protocol: 'openai', json: '{}' } },
      {
        type: 'reasoning',
        text: 'a\n\nb',
        ext: { protocol: 'openai', json: '{"summary":[7,{"text":"a"}],"content":[{"text":"b"}]}' },
      },
      { type: 'tool-call', tool: 'm', name: 'ls', args: '{}' },
      { type: 'tool-reply', tool: 'm', status: 'ok', parts: [] },
      { type: 'tool-call', tool: 'n', name: 'ls', args: '{}' },
      { type: 'tool-reply', tool: 'n', status: 'error', parts: [{ type: 'text', text: 'boom' }] },
      { type: 'tool-call', tool: 'o', name: 'ls', args: '{}' },
      { type: 'tool-reply', tool: 'o', status: 'error', parts: [{ type: 'text', text: '{"type":"x"}' }] },
    ])
  })
})

describe('a wrong request', () => {
  const item = (more: unknown): object => ({ input: [more] })
  test.each([
    ['not JSON', '{"input":', null],
    ['no object', '[]', null],
    ['no input', {}, 'input'],
    ['an empty input', { input: [] }, 'input'],
    ['an input that is a number', { input: 7 }, 'input'],
    ['an item that is none', item('hi'), 'input[0]'],
    ['an item whose type is a number', item({ type: 7 }), 'input[0].type'],
    ['a role that there is not', item({ role: 'judge' }), 'input[0].role'],
    ['a role that is no text', item({ role: 7, content: 'a' }), 'input[0].role'],
    ['content that is a number', item({ role: 'user', content: 7 }), 'input[0].content'],
    ['a part without a type', item({ role: 'user', content: [{ text: 'a' }] }), 'input[0].content[0]'],
    ['a text that is none', item({ role: 'user', content: [{ type: 'input_text' }] }), 'input[0].content[0]'],
    ['a refusal that is none', item({ role: 'assistant', content: [{ type: 'refusal' }] }), 'input[0].content[0]'],
    [
      'an image that is no base64',
      item({ role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,§' }] }),
      'input[0].content[0]',
    ],
    ['an image without bytes', item({ role: 'user', content: [{ type: 'input_image' }] }), 'input[0].content[0]'],
    ['a file without bytes', item({ role: 'user', content: [{ type: 'input_file' }] }), 'input[0].content[0]'],
    ['a call without an id', item({ type: 'function_call', name: 'a', arguments: '' }), 'input[0].call_id'],
    ['a call without a name', item({ type: 'function_call', call_id: 'a', arguments: '' }), 'input[0].name'],
    [
      'arguments that are no text',
      item({ type: 'function_call', call_id: 'a', name: 'a', arguments: {} }),
      'input[0].arguments',
    ],
    ['an input of a custom tool', item({ type: 'custom_tool_call', call_id: 'a', name: 'a' }), 'input[0].input'],
    ['a result without an id', item({ type: 'function_call_output', output: '' }), 'input[0].call_id'],
    ['a result without its call', item({ type: 'function_call_output', call_id: 'x', output: '' }), 'input[0].call_id'],
    [
      'a result that is a number',
      item({ type: 'function_call_output', call_id: CALL_ID, output: 7 }),
      'input[0].output',
    ],
    ['an own call without a name', item({ type: 'mcp_call', id: 'a', arguments: '' }), 'input[0]'],
    ['a reference without an id', item({ type: 'item_reference' }), 'input[0].id'],
    [
      'an approval of another server',
      item({ type: 'mcp_approval_response', approval_request_id: 'mcpr_x', approve: true }),
      'input[0].approval_request_id',
    ],
    ['an approval of nothing', item({ type: 'mcp_approval_response', approve: true }), 'input[0].approval_request_id'],
    [
      'an approval that says nothing',
      item({ type: 'mcp_approval_response', approval_request_id: 'mcpr_t_dx_n0_oa_ob' }),
      'input[0].approve',
    ],
    [
      'tools of an item that are none',
      item({ type: 'additional_tools', tools: [{ type: 'custom' }] }),
      'input[0].tools[0].name',
    ],
    ['tools that are no list', { input: 'a', tools: {} }, 'tools'],
    ['a tool that is none', { input: 'a', tools: ['ls'] }, 'tools[0]'],
    ['a tool without a name', { input: 'a', tools: [{ type: 'function' }] }, 'tools[0].name'],
    [
      'a tool in a group without a name',
      { input: 'a', tools: [{ type: 'namespace', name: 'g', tools: [{ type: 'custom' }] }] },
      'tools[0].tools[0].name',
    ],
    [
      'a schema that is none',
      { input: 'a', tools: [{ type: 'function', name: 'a', parameters: { type: 'banana' } }] },
      'tools[0].parameters',
    ],
    ['a choice that there is not', { input: 'a', tool_choice: 'perhaps' }, 'tool_choice'],
    ['more than one answer', { input: 'a', n: 2 }, 'n'],
    ['a limit below one', { input: 'a', max_output_tokens: 0 }, 'max_output_tokens'],
    ['a conversation without an id', { input: 'a', conversation: {} }, 'conversation'],
    ['a background that nothing is stored of', { input: 'a', background: true, store: false }, 'background'],
    [
      'two conversations to go on with',
      { input: 'a', conversation: 'c', previous_response_id: 'resp_t1' },
      'conversation',
    ],
    ['metadata that are none', { input: 'a', metadata: 'a' }, 'metadata'],
  ])('with %s is refused, and names the member', (_, body, param) => {
    const drive = ask(body)
    expect(drive.commands).toEqual([])
    expect(drive.faults[0]!.fault.code).toBe('invalid-request')
    expect(errorOf(drive)).toMatchObject({ type: 'invalid_request_error', code: 'invalid_request', param })
  })

  test.each([
    [{ previous_response_id: 'resp-7' }, 'previous_response_id'],
    [{ previous_response_id: 'respn_t1' }, 'previous_response_id'],
    [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input[0].id'],
  ])('that follows what is not here is refused: %j', (more, param) => {
    const drive = hi(more)
    expect(drive.faults[0]!.fault.code).toBe('session-not-found')
    expect(errorOf(drive)).toMatchObject({ code: 'session_not_found', param })
  })

  test('has the id of its request, or of its turn, in its answer', () => {
    const drive = ask({ input: 'hi' }, { 'x-request-id': 'r' })
    expect(drive.answers.get('f1')!.headers).toEqual({ 'x-request-id': 'r' })
    const other = hi()
    other.play([STARTED])
    expect(other.answers.get('f1')!.headers).toMatchObject({ 'x-request-id': 't1' })
  })

  test('that is no JSON by its type has the status 415', () => {
    const drive = ask({ input: 'hi' }, { 'content-type': 'text/plain' })
    expect(drive.faults).toMatchObject([{ http: 415 }])
    expect(errorOf(drive).message).toContain('JSON')
  })
})

describe('a whole response', () => {
  test('has its items in order, its usage, and how much was lost', () => {
    const drive = hi({ metadata: { mine: 'a' } })
    drive.play([
      ACCEPTED,
      STARTED,
      OPEN,
      event('reasoning-delta', { message: 'm1', text: 'hm' }),
      event('reasoning-end', { message: 'm1', seal: { provider: 'anthropic', data: 'sig' } }),
      text('I look.'),
      event('tool-start', { tool: 'x', name: 'ls', executor: 'agent' }),
      event('tool-call', { tool: 'x', name: 'ls', args: '{"a":1}', executor: 'agent' }),
      event('tool-end', { tool: 'x', status: 'ok', parts: [{ type: 'text', text: 'a.txt' }] }),
      text('One file.'),
      event('message-end', { message: 'm1', parts: [{ type: 'image', url: 'https://x' }] }),
      event('plan', { json: '[]' }),
      USAGE,
      END,
    ])
    const response = responseOf(drive)
    expect(response).toMatchObject({
      id: 'resp_t1',
      object: 'response',
      status: 'completed',
      model: 'agent',
      created_at: 1,
      store: true,
      background: false,
      error: null,
      incomplete_details: null,
      conversation: { id: 's1' },
      usage: {
        input_tokens: 3,
        input_tokens_details: { cached_tokens: 1, cache_write_tokens: 5 },
        output_tokens: 4,
        output_tokens_details: { reasoning_tokens: 2 },
        total_tokens: 7,
      },
      metadata: { mine: 'a', turnpike_loss: 'dropped=2' },
    })
    expect(response.output).toEqual([
      {
        id: 'rs_t1_i0',
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'hm' }],
        encrypted_content: 'turnpike:anthropic:signature:sig',
      },
      {
        id: 'msg_t1_i1',
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'I look.', annotations: [], logprobs: [] }],
      },
      {
        id: 'mcp_t1_i2',
        type: 'mcp_call',
        status: 'completed',
        approval_request_id: null,
        server_label: 'agent',
        name: 'ls',
        arguments: '{"a":1}',
        output: 'a.txt',
        error: null,
      },
      {
        id: 'msg_t1_i3',
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'One file.', annotations: [], logprobs: [] }],
      },
    ])
    expect(drive.losses.map(({ item }) => item)).toEqual(['part.image'])
    expect(drive.dropped.map(({ item }) => item)).toEqual(['plan'])
  })

  test('tells what came only with the end of a message', () => {
    const drive = hi({ store: false })
    const parts = [
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'Hi' },
    ]
    drive.play([
      STARTED,
      OPEN,
      event('reasoning-end', { message: 'm1' }),
      event('reasoning-end', { message: 'm1', seal: { provider: 'openai', kind: 'encrypted', data: 'x' } }),
      event('message-end', { message: 'm1', parts }),
      event('message-end', { message: 'nobody' }),
      END,
    ])
    expect(responseOf(drive).id).toBe('respn_t1')
    expect(responseOf(drive).output).toMatchObject([
      { type: 'reasoning', summary: [], encrypted_content: 'x' },
      { type: 'reasoning', summary: [{ text: 'hm' }] },
      { type: 'message', content: [{ text: 'Hi' }] },
    ])
  })

  test('tells a seal once, wherever it came', () => {
    const seal = { provider: 'openai', kind: 'encrypted', data: 'x' }
    const parts = [{ type: 'reasoning', text: 'hm', seal }]
    const end = event('message-end', { message: 'm1', parts })
    const think = event('reasoning-delta', { message: 'm1', text: 'hm' })
    const whole = [{ summary: [{ text: 'hm' }], encrypted_content: 'x' }]
    for (const [before, output] of [
      [[], whole],
      [[think], whole],
      [[think, event('reasoning-end', { message: 'm1', seal })], whole],
      [
        [think, text('a')],
        [{ summary: [{ text: 'hm' }] }, { type: 'message' }, { summary: [], encrypted_content: 'x' }],
      ],
    ] as const) {
      const drive = hi()
      drive.play([STARTED, OPEN, ...before, end, END])
      expect(responseOf(drive).output).toMatchObject(output as object[])
      expect(responseOf(drive).output).toHaveLength(output.length)
    }
  })

  test('counts what is known of its tokens', () => {
    const drive = hi()
    drive.play([STARTED, event('usage', { scope: 'turn', usage: { total: 3 } }), END])
    expect(responseOf(drive).usage).toEqual({
      input_tokens: 0,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 0,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 3,
    })
  })

  test('has items that the model has no place for as they came, and no events of another response', () => {
    const drive = hi()
    const foreign = (frame: object | string, protocol = 'openai') =>
      event('foreign', { protocol, frame: typeof frame === 'string' ? frame : json(frame) })
    const item = { id: 'cmp_1', type: 'compaction', encrypted_content: 'x' }
    drive.play([
      STARTED,
      OPEN,
      text('a'),
      foreign(item),
      foreign({ type: 'response.program.delta' }),
      foreign({ id: 'x' }),
      foreign('half {'),
      foreign(item, 'zot'),
      END,
    ])
    expect(responseOf(drive).output).toMatchObject([{ type: 'message' }, item])
    expect(drive.losses).toHaveLength(4)
    const streamed = hi({ stream: true })
    streamed.play([STARTED, foreign(item), END])
    expect(eventsOf(streamed).filter(({ output_index: at }) => at !== undefined)).toEqual(
      ['added', 'done'].map((what, at) => ({
        type: `response.output_item.${what}`,
        sequence_number: at + 2,
        output_index: 0,
        item,
      })),
    )
  })

  test('has the phases of messages, and refusals', () => {
    const drive = hi()
    const open = (message: string, phase: string) => event('message-start', { message, role: 'assistant', phase })
    drive.play([
      STARTED,
      open('a', 'commentary'),
      text('I look.', 'a'),
      open('b', 'final'),
      text('Found.', 'b'),
      open('c', 'refusal'),
      text('No.', 'c'),
      END,
    ])
    expect(responseOf(drive).output).toMatchObject([
      { phase: 'commentary', content: [{ text: 'I look.' }] },
      { phase: 'final_answer', content: [{ text: 'Found.' }] },
      { content: [{ type: 'refusal', refusal: 'No.' }] },
    ])
  })

  test('leaves out what sub-agents and others say and do, and reports it', () => {
    const drive = hi()
    drive.play([
      STARTED,
      event('message-start', { message: 'u', role: 'user' }),
      text('hi', 'u'),
      event('message-end', { message: 'u', parts: [{ type: 'image', url: 'https://x' }] }),
      event('message-start', { message: 's', role: 'assistant', lane: 'sub' }),
      text('psst', 's'),
      event('reasoning-delta', { message: 's', text: 'hm' }),
      event('reasoning-end', { message: 's' }),
      CLOSE,
      event('tool-call', { tool: 'x', name: 'ls', args: '', executor: 'agent', lane: 'sub' }),
      event('tool-end', { tool: 'x', status: 'ok', parts: [] }),
      event('tool-end', { tool: 'nobody', status: 'ok', parts: [] }),
      call('y', '{}'),
      event('tool-end', { tool: 'y', status: 'error', parts: [] }),
      call('z', '{}'),
      event('tool-end', { tool: 'z', status: 'ok', parts: [] }),
      END,
    ])
    expect(responseOf(drive).output).toEqual([])
    expect(drive.losses).toMatchObject([
      { item: 'tool-call', why: 'policy' },
      { item: 'tool-call', why: 'policy' },
    ])
  })

  test('tells that a tool of the agent failed', () => {
    const drive = hi()
    drive.play([
      STARTED,
      event('tool-call', { tool: 'x', name: 'ls', args: '', executor: 'agent' }),
      event('tool-end', { tool: 'x', status: 'denied', parts: [] }),
      event('tool-call', { tool: 'y', name: 'rm', args: '{"a":1}', executor: 'provider' }),
      event('tool-end', {
        tool: 'y',
        status: 'error',
        parts: [
          { type: 'text', text: 'No.' },
          { type: 'diff', path: 'a', before: null, after: 'b' },
        ],
      }),
      END,
    ])
    const error = (said: string) => ({ type: 'mcp_tool_execution_error', content: [{ type: 'text', text: said }] })
    expect(responseOf(drive).output).toMatchObject([
      { status: 'failed', arguments: '{}', output: null, error: error('The call ended with the status: denied.') },
      { status: 'failed', arguments: '{"a":1}', output: null, error: error('No.') },
    ])
    expect(drive.dropped).toMatchObject([{ item: 'part.diff' }])
  })

  test.each([
    ['max-tokens', 'incomplete', 'max_output_tokens'],
    ['content-filter', 'incomplete', 'content_filter'],
    [undefined, 'completed', undefined],
    ...NARROW.map((stop) => [
      stop,
      stop.startsWith('max') || ['context-window', 'refusal'].includes(stop) ? 'incomplete' : 'completed',
      undefined,
    ]),
  ])('that stops for %s is %s', (stop, status, reason) => {
    const drive = hi()
    drive.play([STARTED, event('turn-end', { outcome: 'completed', ...(stop && { stop }) })])
    expect(responseOf(drive).status).toBe(status)
    if (reason !== undefined) expect(responseOf(drive).incomplete_details).toEqual({ reason })
    const narrow = (NARROW as readonly (string | undefined)[]).includes(stop)
    expect(drive.losses.map(({ item }) => item)).toEqual(narrow ? ['end.stop'] : [])
  })

  test('that refuses is complete where its message says so', () => {
    const phase = event('message-start', { message: 'm1', role: 'assistant', phase: 'refusal' })
    const drive = hi()
    drive.play([STARTED, phase, text('No.'), event('turn-end', { outcome: 'completed', stop: 'refusal' })])
    expect(responseOf(drive)).toMatchObject({ status: 'completed', incomplete_details: null })
  })

  test('that fails is an error, which is not to be tried again once the agent has started', () => {
    const drive = hi()
    const why = fault('agent-crashed', 'It crashed.')
    drive.play([STARTED, event('turn-end', { outcome: 'failed', fault: why })])
    expect(errorOf(drive)).toMatchObject({ code: 'agent_crashed', message: 'It crashed.' })
    expect(drive.answers.get('f1')).toMatchObject({ headers: { 'x-should-retry': 'false' }, failureStatus: 400 })
    const refused = hi()
    refused.link.encodeFault(fault('lossy-refused', 'No.'), 'f1', 'continues')
    expect(errorOf(refused).code).toBe('translation_lossy')
    expect(refused.answers.get('f1')!.headers).toMatchObject({ 'x-should-retry': 'false' })
  })

  test('reports fields of other protocols', () => {
    const drive = hi()
    const ext = { protocol: 'zot', json: '{}' }
    drive.play([{ ...STARTED, ext } as TurnEvent, event('turn-end', { outcome: 'completed', ext })])
    expect(drive.losses).toMatchObject([
      { item: 'ext', field: 'zot' },
      { item: 'ext', field: 'zot' },
    ])
  })

  test('in the background is only accepted, and goes on without its client', () => {
    const drive = hi({ background: true })
    expect(drive.answers.get('f1')).toMatchObject({ form: 'accepted', onDisconnect: 'drain', asks: 'next-request' })
    drive.play([ACCEPTED])
    expect(responseOf(drive)).toMatchObject({ id: 'resp_t1', status: 'queued', output: [], background: true })
    expect(hi({ background: true, stream: true }).answers.get('f1')).toMatchObject({
      form: 'stream',
      framing: 'sse',
      onDisconnect: 'drain',
    })
  })
})

describe('a stream', () => {
  test('is the full sequence, numbered from 0', () => {
    const drive = hi({ stream: true })
    drive.play([
      ACCEPTED,
      STARTED,
      OPEN,
      event('reasoning-delta', { message: 'm1', text: 'hm' }),
      event('reasoning-delta', { message: 'm1', text: '' }),
      text('Hel'),
      text('lo "you"'),
      text(''),
      text('nobody’s', 'm9'),
      CLOSE,
      USAGE,
      END,
    ])
    const events = eventsOf(drive)
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index))
    const text0 = { type: 'output_text', annotations: [], logprobs: [] }
    const at = { item_id: 'msg_t1_i1', output_index: 1, content_index: 0 }
    expect(events.map(({ sequence_number: _, ...rest }) => rest)).toMatchObject([
      { type: 'response.created', response: { id: 'resp_t1', status: 'in_progress', output: [], usage: null } },
      { type: 'response.in_progress', response: { status: 'in_progress' } },
      { type: 'response.output_item.added', output_index: 0, item: { id: 'rs_t1_i0', type: 'reasoning', summary: [] } },
      { type: 'response.reasoning_summary_part.added', item_id: 'rs_t1_i0', output_index: 0, summary_index: 0 },
      { type: 'response.reasoning_summary_text.delta', item_id: 'rs_t1_i0', summary_index: 0, delta: 'hm' },
      { type: 'response.reasoning_summary_text.done', text: 'hm' },
      { type: 'response.reasoning_summary_part.done', part: { type: 'summary_text', text: 'hm' } },
      { type: 'response.output_item.done', output_index: 0, item: { summary: [{ type: 'summary_text', text: 'hm' }] } },
      {
        type: 'response.output_item.added',
        output_index: 1,
        item: { id: 'msg_t1_i1', status: 'in_progress', content: [] },
      },
      { type: 'response.content_part.added', ...at, part: { ...text0, text: '' } },
      { type: 'response.output_text.delta', ...at, delta: 'Hel' },
      { type: 'response.output_text.delta', ...at, delta: 'lo "you"' },
      { type: 'response.output_text.done', ...at, text: 'Hello "you"' },
      { type: 'response.content_part.done', ...at, part: { ...text0, text: 'Hello "you"' } },
      {
        type: 'response.output_item.done',
        output_index: 1,
        item: { status: 'completed', content: [{ ...text0, text: 'Hello "you"' }] },
      },
      { type: 'response.completed', response: { status: 'completed', output: [{}, {}], usage: { total_tokens: 7 } } },
    ])
  })

  test('shows refusals, and tools of the agent with their results', () => {
    const drive = hi({ stream: true })
    drive.play([
      STARTED,
      event('message-start', { message: 'm1', role: 'assistant', phase: 'refusal' }),
      text('No.'),
      event('tool-call', { tool: 'x', name: 'ls', args: '{}', executor: 'agent' }),
      event('tool-end', { tool: 'x', status: 'ok', parts: [{ type: 'text', text: 'a' }] }),
      END,
    ])
    expect(typesOf(drive).slice(2)).toEqual([
      'output_item.added',
      'content_part.added',
      'refusal.delta',
      'refusal.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'mcp_call.in_progress',
      'mcp_call_arguments.delta',
      'mcp_call_arguments.done',
      'mcp_call.completed',
      'output_item.done',
      'completed',
    ])
  })

  test.each(['failed', 'cancelled'] as const)('of a turn that %s says so, always', (outcome) => {
    const drive = hi({ stream: true })
    drive.play([STARTED, OPEN, text('half'), event('turn-end', { outcome, fault: fault('timeout', 'Too slow.') })])
    expect(eventsOf(drive).at(-1)).toMatchObject({
      type: 'response.failed',
      response: { status: outcome, error: { code: 'timeout', message: 'Too slow.' } },
    })
  })

  test('that has not begun is answered with an error, one that has ends with it', () => {
    const before = hi({ stream: true })
    before.play([event('turn-end', { outcome: 'failed', fault: fault('overloaded', 'Full.') })])
    expect(errorOf(before).code).toBe('overloaded')
    const during = hi({ stream: true })
    during.play([STARTED])
    during.link.encodeFault(fault('internal', 'Oh.'), 'f1', 'continues')
    expect(eventsOf(during).at(-1)).toMatchObject({
      type: 'response.failed',
      response: { error: { code: 'internal' } },
    })
  })

  test('is kept alive by comments, once it has begun', () => {
    const drive = hi({ stream: true })
    drive.link.keepAlive!()
    drive.play([STARTED])
    drive.link.keepAlive!()
    expect(drive.sent.slice(2)).toEqual([{ data: 'keep-alive', comment: true }])
    const whole = hi()
    whole.play([STARTED])
    whole.link.keepAlive!()
    expect(whole.sent).toEqual([])
  })
})

describe('a turn that asks', () => {
  const tools = [
    { type: 'function', name: 'ls', parameters: { type: 'object' } },
    { type: 'custom', name: 'patch' },
    { type: 'namespace', name: 'fs', tools: [{ type: 'function', name: 'read' }] },
  ]
  const CALLS = [
    call('a', '{"x":1}'),
    call('b', '*** x', { name: 'patch' }),
    call('c', '{}', { name: 'fs__read' }),
    parked(toolAsk('a'), toolAsk('b'), toolAsk('c'), toolAsk('nobody'), {
      ask: 'i',
      question: { kind: 'input', message: '?' },
    }),
  ]

  test('for its client’s tools completes the response with the calls, in their own kinds', () => {
    const drive = hi({ tools })
    drive.play([STARTED, ...CALLS])
    expect(responseOf(drive)).toMatchObject({
      status: 'completed',
      usage: null,
      output: [
        {
          id: 'fc_t1_i0',
          type: 'function_call',
          call_id: CALL_ID,
          name: 'ls',
          arguments: '{"x":1}',
          status: 'completed',
        },
        { id: 'ctc_t1_i1', type: 'custom_tool_call', name: 'patch', input: '*** x' },
        { type: 'function_call', name: 'read', namespace: 'fs' },
      ],
    })
  })

  test('streams the calls', () => {
    const drive = hi({ tools, stream: true })
    drive.play([STARTED, ...CALLS])
    expect(typesOf(drive).slice(2, 10)).toEqual([
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'output_item.added',
      'custom_tool_call_input.delta',
      'custom_tool_call_input.done',
      'output_item.done',
    ])
    expect(eventsOf(drive)[2]!.item).toMatchObject({ call_id: CALL_ID, arguments: '', status: 'in_progress' })
  })

  test('goes on with the request that has the results, as another response', () => {
    const other = callIdOf('call_', { continuation: CONTINUATION, at: 1 })
    const drive = ask({
      input: [
        { role: 'user', content: 'hi' },
        { type: 'item_reference', id: 'fc_t1_i0' },
        { type: 'custom_tool_call_output', call_id: other, output: 'two' },
        { type: 'function_call_output', call_id: CALL_ID, output: 'one' },
        { role: 'user', content: 'and hurry' },
      ],
    })
    const reply = (said: string) => ({ kind: 'tool', status: 'ok', parts: [{ type: 'text', text: said }] })
    expect(drive.commands).toEqual([
      {
        exchange: 'f1',
        type: 'ask-reply',
        target: { continuation: CONTINUATION },
        at: 1,
        reply: reply('two'),
        also: [{ at: 0, reply: reply('one') }],
        input: [{ type: 'text', text: 'and hurry' }],
        settings: { options: {} },
      },
    ])
    drive.play([event('ask-settled', { ask: 'a', how: 'answered' }), OPEN, text('Done.'), END])
    expect(responseOf(drive)).toMatchObject({
      id: 'resp_t1_dsecret',
      output: [{ id: 'msg_t1_dsecret_i0', content: [{ text: 'Done.' }] }],
    })
  })

  test('is cancelled when the request leaves its calls without results', () => {
    const drive = ask({
      input: [
        { type: 'function_call', call_id: CALL_ID, name: 'ls', arguments: '{}' },
        { role: 'user', content: 'never mind' },
      ],
    })
    expect(drive.commands).toMatchObject([
      { type: 'turn-cancel', target: { turn: 't1' } },
      { type: 'turn-start', input: [{ text: 'never mind' }] },
    ])
  })

  const OPTIONS = [
    { id: 'always!', kind: 'allow', scope: 'always' },
    { id: 'yes_1', kind: 'allow', scope: 'once' },
    { id: 'nö', kind: 'deny', scope: 'once' },
  ]
  const approval = (options: object[]) =>
    parked({ ask: 'q', question: { kind: 'approval', name: 'rm', args: '{"a":1.0}', options } })
  const answer = (id: string, approve: boolean, more: object = {}) =>
    ask({ input: [{ type: 'mcp_approval_response', approval_request_id: id, approve, ...more }] })

  test('is answered by what comes behind the last answer of the model alone', () => {
    const drive = hi()
    drive.play([STARTED, approval(OPTIONS)])
    const id = responseOf(drive).output[0]!['id'] as string
    const user = { role: 'user', content: 'hi' }
    const said = { role: 'assistant', content: 'Done.' }
    const answered = { type: 'mcp_approval_response', approval_request_id: id, approve: true }
    const asked = ask({ input: [user, responseOf(drive).output[0], answered, said, user] })
    expect(asked.commands).toMatchObject([{ type: 'turn-start', input: [{ text: 'hi' }], history: [{}, {}] }])
    const known = ask({ input: [answered, { type: 'item_reference', id: 'msg_t1_i0' }, user] })
    expect(known.commands).toMatchObject([{ type: 'turn-start', after: 't1' }])
  })

  test('is given up by a request that says something else', () => {
    const drive = hi()
    drive.play([STARTED, approval(OPTIONS)])
    const asked = responseOf(drive).output[0]
    const user = { role: 'user', content: 'hi' }
    const foreign = { type: 'mcp_approval_request', id: 'mcpr_theirs' }
    expect(ask({ input: [user, asked, user] }).commands).toMatchObject([
      { type: 'turn-cancel', target: { turn: 't1' } },
      { type: 'turn-start' },
    ])
    for (const input of [
      [asked, { role: 'assistant', content: 'Done.' }, user],
      [foreign, user],
      [{ type: 'mcp_approval_request' }, user],
    ]) {
      expect(ask({ input }).commands.map(({ type }) => type)).toEqual(['turn-start'])
    }
  })

  test('is refused with answers or results of another response', () => {
    const one = { type: 'mcp_approval_response', approval_request_id: 'mcpr_t1_dx_n0_oa_ob', approve: true }
    const other = { ...one, approval_request_id: 'mcpr_t2_dx_n0_oa_ob' }
    const result = { type: 'function_call_output', call_id: CALL_ID, output: '7' }
    const more = { role: 'user', content: 'And?' }
    expect(ask({ input: [one, more] }).commands).toMatchObject([{ type: 'ask-reply', input: [{ text: 'And?' }] }])
    for (const input of [
      [one, other],
      [one, more, result],
    ]) {
      expect(errorOf(ask({ input }))).toMatchObject({ code: 'invalid_request', param: 'input' })
    }
  })

  test('for an approval completes the response with a request for it, which the next request answers', () => {
    const drive = hi()
    drive.play([STARTED, approval(OPTIONS)])
    const [item] = responseOf(drive).output
    expect(item).toEqual({
      id: expect.any(String),
      type: 'mcp_approval_request',
      server_label: 'agent',
      name: 'rm',
      arguments: '{"a":1.0}',
    })
    const target = { continuation: CONTINUATION }
    expect(answer(item!['id'] as string, true).commands).toMatchObject([
      { type: 'ask-reply', target, at: 0, reply: { kind: 'approval', option: 'yes_1' } },
    ])
    expect(answer(item!['id'] as string, false, { reason: 'Too risky.' }).commands).toMatchObject([
      { type: 'ask-reply', target, reply: { kind: 'approval', option: 'nö', message: 'Too risky.' } },
    ])
  })

  test('with options of one kind, or without any, can be answered too', () => {
    const drive = hi()
    drive.play([STARTED, approval([])])
    const id = responseOf(drive).output[0]!['id'] as string
    expect(answer(id, true, { reason: '' }).commands).toMatchObject([{ reply: { option: 'allow' } }])
    expect(answer(id, false).commands).toMatchObject([{ reply: { option: 'deny' } }])
  })
})

describe('a response that there is', () => {
  const reply = (drive: ReturnType<typeof stored>, data: object): void =>
    drive.link.encodeLink!({
      turn: null,
      type: 'command-reply',
      exchange: drive.commands.at(-1)!.exchange,
      data: json(data),
    })
  const TOLD = { turn: 't1', state: 'completed', agent: 'agent', session: 's1', startedAt: 1000, seq: 6 }
  const TURN = [ACCEPTED, STARTED, OPEN, text('Hi'), CLOSE, END]

  test('is told again from its turn', () => {
    const live = hi()
    live.play(TURN)
    const drive = stored('resp_t1')
    expect(drive.commands).toMatchObject([{ type: 'query', what: 'turn', args: '{"turn":"t1"}' }])
    reply(drive, TOLD)
    expect(drive.commands[1]).toMatchObject({ type: 'turn-follow', target: { turn: 't1' } })
    drive.play(TURN)
    expect(drive.sent).toEqual(live.sent)
  })

  test('is streamed from any event on, with the same numbers and ids', () => {
    const live = hi({ stream: true })
    live.play(TURN)
    const drive = stored('resp_t1', 'stream=true')
    expect(drive.answers.get('f1')).toMatchObject({
      form: 'stream',
      framing: 'sse',
      onDisconnect: 'drain',
      asks: 'never',
    })
    drive.play(TURN)
    expect(drive.sent).toEqual(live.sent)
    const later = stored('resp_t1', 'include=x&stream=true&starting_after=3')
    later.play(TURN)
    expect(later.sent).toEqual(live.sent.slice(4))
  })

  test('ends where its turn was parked; the next one begins there', () => {
    const asking = [ACCEPTED, STARTED, OPEN, text('I ask.'), call('a', '{}'), parked(toolAsk('a'))]
    const rest = [event('ask-settled', { ask: 'a', how: 'answered' }), text('Thanks.'), CLOSE, END]
    const first = stored('resp_t1', 'stream=true')
    first.play([...asking, ...rest])
    expect(first.exitCode).toBe(0)
    expect(typesOf(first).at(-1)).toBe('completed')
    const whole = stored('resp_t1')
    reply(whole, TOLD)
    whole.play([...asking, ...rest])
    expect(responseOf(whole).output).toMatchObject([{ content: [{ text: 'I ask.' }] }, { type: 'function_call' }])
    const second = stored('resp_t1_dsecret')
    reply(second, TOLD)
    second.play([...asking, ...rest])
    expect(responseOf(second)).toMatchObject({ id: 'resp_t1_dsecret', output: [{ content: [{ text: 'Thanks.' }] }] })
  })

  test('that waits for results has no response after it', () => {
    const drive = stored('resp_t1_dsecret')
    reply(drive, { ...TOLD, state: 'running', seq: 3 })
    drive.play([ACCEPTED, STARTED, parked(toolAsk('a'))])
    expect(errorOf(drive).message).toBe('There is no response "resp_t1_dsecret" here.')
  })

  test('of a running turn is told so far; of one that waits, that it is queued', () => {
    const drive = stored('resp_t1')
    reply(drive, { ...TOLD, state: 'running', seq: 5 })
    drive.play(TURN)
    expect(responseOf(drive)).toMatchObject({ status: 'in_progress', output: [{ content: [{ text: 'Hi' }] }] })
    expect(drive.exitCode).toBe(0)
    const queued = stored('resp_t1')
    reply(queued, { ...TOLD, state: 'running', seq: 0 })
    expect(responseOf(queued)).toMatchObject({ id: 'resp_t1', status: 'queued', model: 'agent' })
  })

  test.each(['failed', 'cancelled'] as const)('that has %s is no failure of the request for it', (outcome) => {
    const drive = stored('resp_t1')
    reply(drive, { ...TOLD, state: outcome })
    drive.play([ACCEPTED, STARTED, event('turn-end', { outcome, fault: fault('timeout', 'Slow.') })])
    expect(drive.answers.get(drive.commands.at(-1)!.exchange)).toMatchObject({ failureStatus: 200 })
    expect(responseOf(drive)).toMatchObject({ status: outcome, error: { code: 'timeout' } })
  })

  test('tells what its client is not shown of it', () => {
    const drive = stored('resp_t1')
    reply(drive, TOLD)
    drive.play([ACCEPTED, STARTED, event('turn-end', { outcome: 'completed', stop: 'max-turns' })])
    expect(drive.losses).toMatchObject([{ kind: 'weakened', item: 'end.stop' }])
  })

  test('is cancelled, and told as it ends', () => {
    const drive = stored('resp_t1', '', 'POST')
    expect(drive.commands).toMatchObject([
      { type: 'turn-cancel', target: { turn: 't1' } },
      { type: 'turn-follow', target: { turn: 't1' } },
    ])
    drive.play([ACCEPTED, STARTED, event('turn-end', { outcome: 'cancelled', fault: fault('cancelled', 'Stopped.') })])
    expect(responseOf(drive)).toMatchObject({ status: 'cancelled' })
  })

  test('is not streamed from a place that is no number', () => {
    expect(errorOf(stored('resp_t1', 'stream=true&starting_after=x'))).toMatchObject({ param: 'starting_after' })
  })

  test('that streams while its turn fails says so', () => {
    const drive = stored('resp_t1', 'stream=true')
    drive.link.keepAlive!()
    drive.play([ACCEPTED, STARTED])
    drive.link.keepAlive!()
    drive.link.encodeFault(fault('internal', 'Oh.'), 'f1', 'continues')
    expect(drive.sent.at(-2)).toEqual({ data: 'keep-alive', comment: true })
    expect(drive.sent.at(-1)).toMatchObject({ event: 'response.failed' })
    const failed = stored('resp_t1', 'stream=true')
    failed.play([ACCEPTED, STARTED, event('turn-end', { outcome: 'failed', fault: fault('timeout', 'Slow.') })])
    expect(typesOf(failed).at(-1)).toBe('failed')
  })

  test('ignores what is said after it was told', () => {
    const drive = stored('resp_t1')
    reply(drive, { ...TOLD, state: 'running', seq: 2 })
    drive.play(TURN)
    expect(drive.sent).toHaveLength(1)
    drive.link.encodeLink!({ turn: null, type: 'session-bound', agentSession: 'x' })
    expect(drive.sent).toHaveLength(1)
  })

  test('that there is not is an error that names it', () => {
    for (const id of ['resp-7', 'respn_t1', 'chatcmpl-1']) {
      const drive = stored(id)
      expect(drive.faults[0]!.fault.code).toBe('session-not-found')
      expect(errorOf(drive).message).toBe(`There is no response "${id}" here.`)
    }
    const gone = stored('resp_t1')
    gone.link.encodeLink!({
      turn: null,
      type: 'command-reply',
      exchange: 'f1',
      fault: fault('session-not-found', 'no turn'),
    })
    expect(errorOf(gone).message).toBe('There is no response "resp_t1" here.')
    const followed = stored('resp_t1', 'stream=true')
    followed.link.encodeFault(fault('internal', 'Oh.'), 'f1', 'continues')
    expect(errorOf(followed).code).toBe('internal')
    expect(gone.faults).toEqual([])
    const wrongPark = stored('resp_t1_dother', 'stream=true')
    wrongPark.play([ACCEPTED, parked(toolAsk('a')), END])
    expect(errorOf(wrongPark).message).toBe('There is no response "resp_t1_dother" here.')
  })
})

test('clients speak it over HTTP alone', () => {
  const { accepts } = codec.dialects['responses']!.front!
  const context = { method: '', path: '', query: '', headers: {}, argv: [], env: {} }
  expect(accepts!(undefined, { ...context, transport: 'http' })).toBe(true)
  expect(accepts!(undefined, { ...context, transport: 'stdio' })).toBe(false)
})
