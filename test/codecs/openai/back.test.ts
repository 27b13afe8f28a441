import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/openai/index.ts'
import { type ErrorCode, fault, type TurnEnd, type TurnEvent } from '../../../src/model/index.ts'
import type { BackDrive } from '../../kit/drive.ts'
import { finish, json, requestOf, say, serve } from './kit.ts'

const eventsOf = (drive: BackDrive, type: TurnEvent['type']) => drive.events.filter((event) => event.type === type)
const endOf = (drive: BackDrive): TurnEnd => {
  const ends = eventsOf(drive, 'turn-end')
  expect(ends).toHaveLength(1)
  expect(drive.events.at(-1)).toBe(ends[0])
  return ends[0] as TurnEnd
}
const LS = { clientTools: [{ name: 'ls', schema: '{"type":"object"}' }] }
const calls = (...given: { id?: string; name?: string; args?: string; index?: number }[]) => ({
  tool_calls: given.map(({ id, name, args, index }, at) => ({
    index: index ?? at,
    ...(id !== undefined && { id, type: 'function' }),
    function: { ...(name !== undefined && { name }), arguments: args ?? '' },
  })),
})
const result = (ask: string, said: string, status = 'ok') =>
  ({
    exchange: 'x2',
    type: 'ask-reply',
    target: { turn: 't1' },
    ask,
    reply: { kind: 'tool', status, parts: said === '' ? [] : [{ type: 'text', text: said }] },
  }) as never

describe('a request', () => {
  test('is one call with the whole conversation', () => {
    const drive = serve(
      {
        history: [
          { role: 'user', parts: [{ type: 'text', text: 'one' }] },
          {
            role: 'assistant',
            parts: [
              { type: 'reasoning', text: 'hm' },
              { type: 'tool-call', tool: 'a', name: 'ls', args: '{"p":1.0}' },
              { type: 'tool-call', tool: 'b', name: 'ls', args: '{}' },
            ],
          },
          { role: 'tool', parts: [{ type: 'tool-reply', tool: 'a', status: 'error', parts: [] }] },
          { role: 'assistant', parts: [{ type: 'reasoning', text: 'well' }] },
          { role: 'system', parts: [{ type: 'text', text: 'Now.' }] },
        ],
        options: { systemPrompt: 'Be kind.' },
      },
      { model: 'm1' },
    )
    expect(drive.calls).toEqual([
      {
        call: '1',
        kind: 'http',
        method: 'POST',
        path: '/chat/completions',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: expect.any(String),
        answer: 'body',
      },
    ])
    const call = (id: string, args: string) => ({ id, type: 'function', function: { name: 'ls', arguments: args } })
    expect(requestOf(drive)).toEqual({
      model: 'm1',
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'one' },
        { role: 'assistant', content: null, tool_calls: [call('a', '{"p":1.0}'), call('b', '{}')] },
        { role: 'tool', tool_call_id: 'b', content: 'The tool call ended with the status: cancelled.' },
        { role: 'tool', tool_call_id: 'a', content: 'The tool call ended with the status: error.' },
        { role: 'assistant', content: '' },
        { role: 'system', content: 'Now.' },
        { role: 'user', content: 'hi' },
      ],
    })
    const lost = { kind: 'dropped', item: 'part.reasoning', why: 'no-place', count: 1 }
    expect(drive.losses).toEqual([lost, lost])
  })

  test('has the options and tools of the turn', () => {
    const own = (value: object) => ({ protocol: 'openai', json: json(value) })
    const drive = serve({
      options: {
        model: 'm2',
        temperature: 0,
        topP: 1,
        maxTokens: 9,
        stop: ['END'],
        effort: 'low',
        parallelTools: true,
        toolChoice: { tool: 'ls' },
        outputSchema: '{"type":"object","x":1.0}',
      },
      clientTools: [
        { name: 'ls', description: 'Lists.', schema: '{"type":"object"}', strict: false },
        { name: 'cat', namespace: 'fs' },
        { name: 'sh', kind: 'custom', ext: own({ format: { type: 'text' } }) },
        { name: 'web', kind: 'hosted', ext: own({ type: 'web' }) },
        { name: 'other', kind: 'hosted', ext: { protocol: 'anthropic', json: '{}' } },
      ],
      ext: own({ seed: 7, model: 'ignored' }),
    } as never)
    expect(requestOf(drive)).toMatchObject({
      model: 'm2',
      temperature: 0,
      top_p: 1,
      max_completion_tokens: 9,
      stop: ['END'],
      reasoning_effort: 'low',
      parallel_tool_calls: true,
      tool_choice: { type: 'function', function: { name: 'ls' } },
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object', x: 1 } } },
      seed: 7,
      tools: [
        {
          type: 'function',
          function: { name: 'ls', description: 'Lists.', parameters: { type: 'object' }, strict: false },
        },
        { type: 'function', function: { name: 'fs__cat' } },
        { type: 'custom', custom: { name: 'sh', format: { type: 'text' } } },
        { type: 'web' },
      ],
    })
    expect(drive.losses).toEqual([
      { kind: 'weakened', item: 'start.clientTools', field: 'other', why: 'no-place', count: 1 },
    ])
  })

  test('leaves out the effort for a server that takes none, and what another protocol has said', () => {
    const ext = { protocol: 'anthropic', json: '{"top_k":1}' }
    const drive = serve({ options: { effort: 'high' }, ext } as never, { reasoning_effort: false })
    expect(requestOf(drive)).not.toHaveProperty('reasoning_effort')
    expect(drive.losses).toEqual([
      { kind: 'dropped', item: 'ext', field: 'anthropic', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'option.effort', why: 'policy', count: 1 },
    ])
  })

  test('names the user of the turn, unless that is longer than servers take', () => {
    expect(requestOf(serve({ user: 'u"1' }))['user']).toBe('u"1')
    const both = serve({ user: 'newer', ext: { protocol: 'openai', json: json({ user: 'older' }) } } as never)
    expect(requestOf(both)).toMatchObject({ safety_identifier: 'newer', user: 'older' })
    expect(requestOf(serve({ user: 'u'.repeat(64) }))['user']).toHaveLength(64)
    const long = serve({ user: 'u'.repeat(65), ...LS })
    expect(requestOf(long)).not.toHaveProperty('user')
    say(long, calls({ id: 'a', name: 'ls', args: '{}' }))
    finish(long, 'tool_calls')
    long.link.encode(result('a', 'x'))
    // Every request of the turn lacks it; that is one loss.
    expect(long.calls).toHaveLength(2)
    expect(long.losses).toEqual([{ kind: 'dropped', item: 'start.user', why: 'too-narrow', count: 1 }])
  })

  test('is what its client of the same protocol wrote, and what the settings say', () => {
    const format = { type: 'json_schema', json_schema: { name: 'n', strict: true, schema: {} } }
    const ext = { protocol: 'openai', json: json({ response_format: format, tool_choice: { type: 'x' } }) }
    const drive = serve({ ext, options: { maxTokens: 3, toolChoice: 'auto', outputSchema: '{}' } } as never, {
      token_limit: 'max_tokens',
      stream_usage: false,
    })
    const request = requestOf(drive)
    expect(request).toMatchObject({
      model: 'default',
      max_tokens: 3,
      response_format: format,
      tool_choice: { type: 'x' },
    })
    expect(request).not.toHaveProperty('stream_options')
    expect(requestOf(serve({ options: { toolChoice: 'none' } }))).toMatchObject({ tool_choice: 'none' })
  })

  test('has parts in the forms that the protocol has, and reports the others', () => {
    const drive = serve({
      input: [
        { type: 'text', text: 'a', ext: { protocol: 'openai', json: '{"chat":{"cache_control":{"type":"x"}}}' } },
        { type: 'image', url: 'https://h/x', name: 'n', ext: { protocol: 'openai', json: '{"detail":"low"}' } },
        { type: 'image', base64: 'QUJD', mime: 'image/gif' },
        { type: 'image', base64: 'QUJD' },
        { type: 'image', ref: 'r' },
        { type: 'audio', base64: 'QUJD', mime: 'audio/mp3' },
        { type: 'audio', base64: 'QUJD' },
        { type: 'audio', url: 'u' },
        { type: 'file', ref: 'f', name: 'a.pdf' },
        { type: 'file', base64: 'QUJD' },
        { type: 'data', json: '{"type":"video"}' },
        { type: 'data', json: '7' },
        { type: 'diff', path: 'p', before: null, after: 'x' },
        { type: 'text', text: 'z', ext: { protocol: 'zot', json: '{}' } },
      ],
    })
    const [message] = requestOf(drive)['messages'] as [{ content: unknown[] }]
    expect(message.content).toEqual([
      { type: 'text', text: 'a', cache_control: { type: 'x' } },
      { type: 'image_url', image_url: { url: 'https://h/x', detail: 'low' } },
      { type: 'image_url', image_url: { url: 'data:image/gif;base64,QUJD' } },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } },
      { type: 'input_audio', input_audio: { data: 'QUJD', format: 'mp3' } },
      { type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } },
      { type: 'file', file: { file_id: 'f', filename: 'a.pdf' } },
      { type: 'file', file: { file_data: 'data:application/octet-stream;base64,QUJD' } },
      { type: 'video' },
      { type: 'text', text: '7' },
      { type: 'text', text: 'z' },
    ])
    expect(drive.losses).toEqual([
      { kind: 'weakened', item: 'part.image', field: 'name', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'part.image', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'part.audio', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'part.diff', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'part.ext', field: 'zot', why: 'no-place', count: 1 },
    ])
  })
})

describe('an answer', () => {
  test('is text, reasoning and usage', () => {
    const drive = serve()
    drive.link.decodeHead!({ call: '1', status: 200, headers: {} })
    say(
      drive,
      { role: 'assistant', content: '' },
      { reasoning_content: 'h' },
      { reasoning: 'm' },
      { content: 'Hel' },
      { content: 'lo' },
    )
    finish(drive, 'length', {
      usage: {
        prompt_tokens: 3,
        completion_tokens: 2,
        prompt_tokens_details: { cached_tokens: 1, cache_write_tokens: 2 },
      },
    })
    const turn = 't1'
    expect(drive.events).toEqual([
      { type: 'turn-started', turn },
      { type: 'message-start', turn, message: 'b1', role: 'assistant' },
      { type: 'reasoning-delta', turn, message: 'b1', text: 'h' },
      { type: 'reasoning-delta', turn, message: 'b1', text: 'm' },
      { type: 'text-delta', turn, message: 'b1', text: 'Hel' },
      { type: 'text-delta', turn, message: 'b1', text: 'lo' },
      { type: 'message-end', turn, message: 'b1' },
      { type: 'usage', turn, scope: 'turn', usage: { input: 3, output: 2, cacheRead: 1, cacheWrite: 2 } },
      { type: 'turn-end', turn, outcome: 'completed', stop: 'max-tokens' },
    ])
  })

  test.each([
    ['stop', 'end'],
    ['max_tokens', 'max-tokens'],
    ['content_filter', 'content-filter'],
    ['refusal', 'refusal'],
    ['whatever', 'end'],
  ])('that finishes with %s stops with %s', (reason, stop) => {
    const drive = serve()
    finish(drive, reason)
    expect(endOf(drive)).toMatchObject({ outcome: 'completed', stop })
  })

  test('may come in one piece, without [DONE], and with usage in other places', () => {
    const drive = serve()
    drive.feed(
      json({
        choices: [{ message: { content: 'Hi', refusal: null }, finish_reason: 'stop', usage: { prompt_tokens: 1 } }],
      }),
    )
    drive.link.decodeEnd({ call: '1', why: 'closed' })
    expect(endOf(drive).outcome).toBe('completed')
    expect(eventsOf(drive, 'usage')).toMatchObject([{ usage: { input: 1 } }])
    const groq = serve()
    groq.feed({ data: json({ x_groq: { usage: { completion_tokens: 4 } } }) })
    finish(groq)
    expect(eventsOf(groq, 'usage')).toMatchObject([{ usage: { output: 4 } }])
  })

  test('has the last usage of those that its chunks repeat', () => {
    const drive = serve()
    drive.feed({ data: json({ choices: [{ delta: { content: 'a' } }], usage: { prompt_tokens: 3 } }) })
    finish(drive, 'stop', { usage: { prompt_tokens: 3, completion_tokens: 1 } })
    expect(eventsOf(drive, 'usage')).toMatchObject([{ usage: { input: 3, output: 1 } }])
  })

  test('reports what has no place: probabilities, sound; and annotations that are none', () => {
    const drive = serve()
    const lost = { content: 'Hi', audio: { data: 'QUJD' }, annotations: 1 }
    drive.feed({ data: json({ choices: [{ index: 0, delta: lost, logprobs: { content: [] } }] }) })
    say(drive, { content: '.', audio: null, annotations: [] })
    finish(drive)
    expect(drive.losses.map(({ item, field }) => [item, field])).toEqual([
      ['ext', 'logprobs'],
      ['part.audio', undefined],
      ['citation', undefined],
    ])
  })

  test('may be a refusal', () => {
    const drive = serve()
    say(drive, { refusal: 'No.' })
    finish(drive)
    expect(eventsOf(drive, 'message-start')).toMatchObject([{ phase: 'refusal' }])
    expect(eventsOf(drive, 'text-delta')).toMatchObject([{ text: 'No.' }])
  })

  test('is read the same whether its chunks are written alike or not', () => {
    const pieces = [
      ...['Let', ' me', ' "see"', '\n'].map((text) => ({ reasoning_content: text })),
      ...['One', ' two', ' \\ three', '.'].map((text) => ({ content: text })),
      ...['No', ', no', '.'].map((text) => ({ refusal: text })),
    ]
    const [alike, unlike] = [{}, { x: 1 }].map((more) => {
      const drive = serve()
      for (const [at, delta] of pieces.entries()) {
        const own = 'x' in more ? { [`x${at}`]: at } : {}
        const choices = [{ index: 0, delta, finish_reason: null }]
        drive.feed({ data: json({ id: 'c1', ...own, choices, obfuscation: 'x'.repeat(at) }) })
      }
      finish(drive)
      return drive.events
    })
    expect(alike).toEqual(unlike)
    expect(alike!.flatMap((event) => ('text' in event ? event.text : []))).toEqual(
      pieces.flatMap((piece) => Object.values(piece)),
    )
  })

  test.each<[string, (drive: BackDrive) => void, ErrorCode, string]>([
    [
      'that is cut',
      (drive) => drive.link.decodeEnd({ call: '1', why: 'closed' }),
      'provider-down',
      'cut its answer off',
    ],
    ['that ends with an error', (drive) => finish(drive, 'error'), 'provider-error', 'ended its answer with an error'],
    ['that is no chunk', (drive) => drive.feed({ data: 'oops' }), 'protocol-violation', 'no chunk of an answer'],
    [
      'of another shape',
      (drive) => drive.feed({ data: '{"choices":7}' }),
      'protocol-violation',
      'no chunk of an answer',
    ],
    [
      'whose call failed',
      (drive) => drive.link.decodeEnd({ call: '1', why: 'failed' }),
      'agent-unavailable',
      'could not be reached',
    ],
    [
      'with an error in its stream',
      (drive) => drive.feed({ data: json({ error: { message: 'busy', code: 'overloaded_error' } }) }),
      'provider-down',
      'answered in its stream (overloaded_error): busy',
    ],
  ])('%s fails the turn', (_, play, code, message) => {
    const drive = serve()
    say(drive, { content: 'half' })
    play(drive)
    expect(endOf(drive)).toMatchObject({ outcome: 'failed', stop: 'error', fault: { code } })
    expect(endOf(drive).fault!.message).toContain(message)
  })

  test('that cannot be read fails the turn for what is wrong with it', () => {
    const drive = serve()
    drive.link.decodeHead!({ call: '1', status: 200, headers: {} })
    say(drive, { content: 'half' })
    const long = fault('protocol-violation', 'A line is longer than the limit.')
    drive.link.decodeEnd({ call: '1', why: 'failed', fault: long, unreadable: true })
    expect(endOf(drive).fault).toEqual(long)
  })

  test.each<[number, string, ErrorCode, string]>([
    [
      401,
      '{"error":{"message":"bad key","type":"invalid_request_error","code":"invalid_api_key"}}',
      'provider-auth',
      'bad key',
    ],
    [429, '{"error":{"message":"slow","code":429}}', 'provider-rate-limit', '(429): slow'],
    [500, '{"error":"broken"}', 'provider-down', 'HTTP status 500: broken'],
    [404, '{"detail":"Not Found"}', 'provider-error', 'HTTP status 404: Not Found'],
    [418, '{"error":{}}', 'provider-error', 'HTTP status 418.'],
    [400, 'no JSON', 'provider-error', 'HTTP status 400.'],
  ])('with the status %i fails the turn', (status, body, code, message) => {
    const drive = serve()
    drive.link.decodeHead!({ call: '1', status, headers: {} })
    drive.feed(body)
    expect(endOf(drive)).toMatchObject({ outcome: 'failed' })
    expect(endOf(drive).fault!.code).toBe(code)
    expect(endOf(drive).fault!.message).toContain(message)
  })

  test('with an error without words in its stream fails the turn', () => {
    const drive = serve()
    drive.feed({ data: json({ error: { type: 'x' } }) })
    expect(endOf(drive).fault).toMatchObject({
      code: 'provider-error',
      message: 'The model provider answered in its stream (x).',
    })
    const silent = serve()
    silent.feed({ data: json({ error: {} }) })
    expect(endOf(silent).fault!.message).toBe('The model provider answered in its stream.')
  })

  test('whose usage is all zeros, or no object, has none', () => {
    const drive = serve()
    finish(drive, 'stop', { usage: { prompt_tokens: 0, completion_tokens: 0 } })
    expect(eventsOf(drive, 'usage')).toEqual([])
  })

  test('that another gateway cancelled is cancelled', () => {
    const drive = serve()
    drive.feed({ data: json({ error: { message: 'Stopped.', code: 'cancelled' } }) })
    expect(endOf(drive)).toMatchObject({ outcome: 'cancelled', stop: 'aborted', fault: { code: 'cancelled' } })
  })

  test('is nobody’s after a cancel', () => {
    for (const cancel of [
      (drive: BackDrive) => drive.link.encode({ exchange: 'x2', type: 'turn-cancel', target: 'running' }),
      (drive: BackDrive) => drive.link.decodeEnd({ call: '1', why: 'cancelled' }),
    ]) {
      const drive = serve()
      say(drive, { content: 'half' })
      cancel(drive)
      drive.link.encode({ exchange: 'x3', type: 'turn-cancel', target: 'running' })
      say(drive, { content: 'more' })
      finish(drive)
      drive.link.decodeEnd({ call: '1', why: 'cancelled' })
      expect(endOf(drive)).toMatchObject({ outcome: 'cancelled', stop: 'aborted' })
    }
  })
})

describe('input of the user while the turn runs', () => {
  const steer = (drive: BackDrive) =>
    drive.link.encode({
      exchange: 'x2',
      type: 'turn-steer',
      target: 'running',
      input: [{ type: 'text', text: 'Hurry.' }],
    })

  test('is sent behind the answer that was coming, in a request of its own', () => {
    const drive = serve()
    say(drive, { content: 'Slowly' })
    steer(drive)
    expect(drive.calls).toHaveLength(1)
    finish(drive)
    expect(eventsOf(drive, 'turn-end')).toEqual([])
    expect((requestOf(drive)['messages'] as object[]).slice(-2)).toEqual([
      { role: 'assistant', content: 'Slowly' },
      { role: 'user', content: 'Hurry.' },
    ])
    say(drive, { content: 'Done.' })
    finish(drive)
    expect(drive.calls).toHaveLength(2)
    expect(endOf(drive)).toMatchObject({ outcome: 'completed', stop: 'end' })
    expect(drive.losses).toEqual([])
  })

  test.each([
    ['ends at its limit', (drive: BackDrive) => finish(drive, 'length'), 'completed'],
    ['fails', (drive: BackDrive) => finish(drive, 'error'), 'failed'],
    [
      'is cancelled',
      (drive: BackDrive) => drive.link.encode({ exchange: 'x3', type: 'turn-cancel', target: 'running' }),
      'cancelled',
    ],
  ])('is a loss when the answer %s', (_, end, outcome) => {
    const drive = serve()
    say(drive, { content: 'half' })
    steer(drive)
    end(drive)
    expect(drive.calls).toHaveLength(1)
    expect(endOf(drive).outcome).toBe(outcome)
    expect(drive.losses).toEqual([{ kind: 'dropped', item: 'turn-steer', why: 'no-place', count: 1 }])
  })
})

describe('calls of tools', () => {
  test('of the client are asked for; the next request has their results in order', () => {
    const drive = serve(LS)
    say(
      drive,
      { content: 'Let me look.' },
      calls({ id: 'a', name: 'ls', args: '{"p"' }, { id: 'b', name: 'ls' }),
      calls({ args: ':1}' }),
    )
    finish(drive, 'tool_calls', { usage: { prompt_tokens: 1, completion_tokens: 1 } })
    expect(eventsOf(drive, 'usage')).toMatchObject([{ scope: 'call', usage: { input: 1, output: 1 } }])
    expect(eventsOf(drive, 'tool-args-delta').map((event) => 'text' in event && event.text)).toEqual(['{"p"', ':1}'])
    expect(eventsOf(drive, 'message-end')).toMatchObject([
      {
        parts: [
          { type: 'text', text: 'Let me look.' },
          { type: 'tool-call', tool: 'a', name: 'ls', args: '{"p":1}' },
          { type: 'tool-call', tool: 'b', name: 'ls', args: '' },
        ],
      },
    ])
    expect(eventsOf(drive, 'tool-call')).toMatchObject([
      { tool: 'a', args: '{"p":1}', executor: 'client' },
      { tool: 'b', args: '', executor: 'client' },
    ])
    expect(eventsOf(drive, 'ask')).toMatchObject([
      { ask: 'a', question: { kind: 'tool', tool: 'a' } },
      { ask: 'b', question: { kind: 'tool', tool: 'b' } },
    ])
    expect(drive.calls).toHaveLength(1)
    drive.link.encode(result('b', 'B'))
    drive.link.encode(result('nobody', 'X'))
    drive.link.encode({
      exchange: 'x3',
      type: 'ask-reply',
      target: 'running',
      ask: 'a',
      reply: { kind: 'input', values: '{}' },
    })
    expect(drive.calls).toHaveLength(1)
    drive.link.encode({
      exchange: 'x4',
      type: 'turn-steer',
      target: 'running',
      input: [{ type: 'text', text: 'Hurry.' }],
    })
    drive.link.encode(result('a', 'A'))
    expect(drive.calls).toHaveLength(2)
    expect((requestOf(drive)['messages'] as object[]).slice(1)).toEqual([
      {
        role: 'assistant',
        content: 'Let me look.',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'ls', arguments: '{"p":1}' } },
          { id: 'b', type: 'function', function: { name: 'ls', arguments: '' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'A' },
      { role: 'tool', tool_call_id: 'b', content: 'B' },
      { role: 'user', content: 'Hurry.' },
    ])
    say(drive, { content: 'Done.' })
    finish(drive, 'stop', { usage: { prompt_tokens: 2, completion_tokens: 1 } })
    expect(eventsOf(drive, 'usage').slice(1)).toMatchObject([{ scope: 'turn', usage: { input: 3, output: 2 } }])
    expect(endOf(drive).outcome).toBe('completed')
  })

  test('that nobody has declared get an error as their result, without the client', () => {
    const drive = serve(LS)
    say(drive, { reasoning_content: 'hm' }, calls({ name: 'rm', args: '{}' }))
    finish(drive, 'tool_calls')
    expect(eventsOf(drive, 'ask')).toEqual([])
    expect(eventsOf(drive, 'tool-call')).toMatchObject([{ name: 'rm', executor: 'agent' }])
    expect(eventsOf(drive, 'tool-end')).toMatchObject([{ status: 'error' }])
    expect(drive.calls).toHaveLength(2)
    expect((requestOf(drive)['messages'] as object[]).at(-1)).toMatchObject({
      role: 'tool',
      content: 'There is no tool "rm".',
    })
  })

  test('may come without an index or an id, and with free text', () => {
    const drive = serve({ clientTools: [{ name: 'sh', kind: 'custom' }] })
    say(drive, { tool_calls: [{ custom: { name: 'sh', input: 'ls' } }] }, { tool_calls: [{ index: 1 }] })
    finish(drive, 'tool_calls')
    expect(eventsOf(drive, 'tool-call')).toMatchObject([
      { name: 'sh', args: 'ls', executor: 'client' },
      { name: '', args: '', executor: 'agent' },
    ])
  })

  test('may have results that are more than text', () => {
    const drive = serve(LS)
    say(drive, calls({ id: 'a', name: 'ls' }))
    finish(drive, 'tool_calls')
    const reply = { kind: 'tool', status: 'ok', parts: [{ type: 'image', url: 'u' }] }
    drive.link.encode({ exchange: 'x2', type: 'ask-reply', target: 'running', ask: 'a', reply } as never)
    expect((requestOf(drive)['messages'] as object[]).at(-1)).toMatchObject({
      content: [{ type: 'image_url', image_url: { url: 'u' } }],
    })
  })

  test('without an end are stopped', () => {
    const drive = serve(LS)
    for (let round = 0; round < 100; round += 1) {
      say(drive, calls({ id: `c${round}`, name: 'rm' }))
      finish(drive, 'tool_calls')
    }
    expect(drive.calls).toHaveLength(100)
    expect(endOf(drive)).toMatchObject({ fault: { code: 'provider-error' } })
  })
})

test('what comes before a turn, or of an earlier call, is nobody’s', async () => {
  const { driveBack } = await import('../../kit/drive.ts')
  const idle = driveBack(codec, { dialect: 'chat' })
  idle.link.decodeHead!({ status: 200, headers: {} })
  idle.feed('x')
  idle.link.decodeEnd({ why: 'closed' })
  idle.link.encode({ exchange: 'x', type: 'turn-cancel', target: 'running' })
  idle.link.encode({ exchange: 'x', type: 'turn-steer', target: 'running', input: [] })
  idle.link.encode(result('a', 'A'))
  idle.link.encode({ exchange: 'x', type: 'session-clear' })
  expect(idle.events).toEqual([])
  const drive = serve(LS)
  say(drive, calls({ id: 'a', name: 'ls' }))
  finish(drive, 'tool_calls')
  drive.link.encode(result('a', 'A'))
  drive.link.decodeHead!({ call: '1', status: 500, headers: {} })
  drive.feed({ data: 'late', call: '1' })
  drive.link.decodeEnd({ call: '1', why: 'closed' })
  expect(eventsOf(drive, 'turn-end')).toEqual([])
})

test('its model is the configured one, and the conversation is with each request', () => {
  const { back } = codec.dialects['chat']!
  const context = { options: { model: 'm' }, agent: 'a', env: {}, folder: '/' }
  expect(back!.configuredModel!(context)).toBe('m')
  expect(back!.memory(context)).toBe('request')
})

test('a tool of the Responses API that its provider runs is none to a server of Chat Completions', () => {
  const ext = { protocol: 'openai', json: '{"responses":{"type":"web_search"}}' }
  const drive = serve({ clientTools: [{ name: 'web_search', kind: 'hosted', ext }] })
  expect(requestOf(drive)).not.toHaveProperty('tools')
  expect(drive.losses).toMatchObject([{ kind: 'weakened', item: 'start.clientTools', field: 'web_search' }])
})
