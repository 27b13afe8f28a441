import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/anthropic/index.ts'
import type { ErrorCode, Part, TurnEnd, TurnEvent } from '../../../src/model/index.ts'
import type { BackDrive } from '../../kit/drive.ts'
import { BEGIN, block, callOf, finish, json, requestOf, serve, tell, textBlock, toolBlock } from './kit.ts'

const eventsOf = (drive: BackDrive, type: TurnEvent['type']) => drive.events.filter((event) => event.type === type)
const endOf = (drive: BackDrive): TurnEnd => {
  const ends = eventsOf(drive, 'turn-end')
  expect(ends).toHaveLength(1)
  expect(drive.events.at(-1)).toBe(ends[0])
  return ends[0] as TurnEnd
}
const own = (value: object) => ({ protocol: 'anthropic', json: json(value) })
const text = (said: string): Part => ({ type: 'text', text: said })
const messagesOf = (drive: BackDrive, index = -1) => requestOf(drive, index)['messages'] as object[]
const LS = { clientTools: [{ name: 'ls', schema: '{"type":"object"}' }] }
const result = (ask: string, parts: readonly Part[], status = 'ok') =>
  ({
    exchange: 'x2',
    type: 'ask-reply',
    target: { turn: 't1' },
    ask,
    reply: { kind: 'tool', status, parts },
  }) as never

describe('a request', () => {
  test('is one call with the whole conversation, in the roles of the API', () => {
    const drive = serve(
      {
        history: [
          { role: 'user', parts: [text('one')] },
          {
            role: 'assistant',
            parts: [
              { type: 'reasoning', text: 'hm', seal: { provider: 'anthropic', data: 'c2ln' } },
              { type: 'reasoning', text: '', seal: { provider: 'anthropic', kind: 'redacted', data: 'aGlk' } },
              { type: 'tool-call', tool: 'call_t1.x/0', name: 'ls', args: '{"p":1.0}' },
              { type: 'tool-call', tool: 'b', name: 'ls', args: 'free text' },
            ],
          },
          {
            role: 'tool',
            parts: [{ type: 'tool-reply', tool: 'call_t1.x/0', status: 'denied', parts: [] }, text('So not.')],
          },
          {
            role: 'assistant',
            parts: [
              { type: 'tool-call', tool: 'own', name: 'bash', args: '{}' },
              { type: 'tool-reply', tool: 'own', status: 'ok', parts: [text('done')] },
              text('Did it.'),
            ],
          },
          { role: 'system', parts: [text('Be quick.')] },
          { role: 'assistant', parts: [text(' ')] },
        ],
        options: { systemPrompt: 'Be kind.' },
      },
      { model: 'opus', max_tokens: 99 },
    )
    expect(callOf(drive)).toMatchObject({
      call: '1',
      kind: 'http',
      method: 'POST',
      path: '/v1/messages',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        'anthropic-version': '2023-06-01',
      },
    })
    expect(callOf(drive).body).toContain('"input":{"p":1.0}')
    expect(requestOf(drive)).toEqual({
      model: 'opus',
      max_tokens: 99,
      system: 'Be kind.',
      stream: true,
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'one' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
            { type: 'redacted_thinking', data: 'aGlk' },
            { type: 'tool_use', id: 'call_t1_x_0', name: 'ls', input: { p: 1 } },
            { type: 'tool_use', id: 'b', name: 'ls', input: { input: 'free text' } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'b',
              content: [{ type: 'text', text: 'The tool call ended with the status: cancelled.' }],
              is_error: true,
            },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'call_t1_x_0',
              content: [{ type: 'text', text: 'The tool call ended with the status: denied.' }],
              is_error: true,
            },
            { type: 'text', text: 'So not.' },
          ],
        },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'own', name: 'bash', input: {} }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'own', content: [{ type: 'text', text: 'done' }] }],
        },
        { role: 'assistant', content: [{ type: 'text', text: 'Did it.' }] },
        { role: 'system', content: [{ type: 'text', text: 'Be quick.' }] },
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      ],
    })
    expect(drive.losses).toEqual([])
  })

  describe('to a model that thinks', () => {
    const ADAPTIVE = { thinking: { type: 'adaptive', display: 'summarized' } }
    const ENABLED = { thinking: { type: 'enabled', budget_tokens: 4000 } }
    const lost = (item: string, kind = 'weakened') => ({ kind, item, why: 'too-narrow', count: 1 })
    const asked = (start: object, settings: object) => {
      const drive = serve(start, settings)
      const { model: _, messages: _m, stream: _s, tools: _t, tool_choice: _c, ...rest } = requestOf(drive)
      return [rest, drive.losses]
    }
    const enabled = (budget_tokens: number, max_tokens: number, more: object = {}) => ({
      max_tokens,
      thinking: { type: 'enabled', budget_tokens },
      ...more,
    })

    test.each<[what: string, start: object, settings: object, members: object, losses: object[]]>([
      ['decides itself', {}, ADAPTIVE, { max_tokens: 8192, ...ADAPTIVE }, []],
      [
        'makes an effort',
        { options: { effort: 'high' } },
        ADAPTIVE,
        { max_tokens: 8192, ...ADAPTIVE, output_config: { effort: 'high' } },
        [],
      ],
      [
        'makes a lower effort than it can',
        { options: { effort: 'minimal' } },
        ADAPTIVE,
        { max_tokens: 8192, ...ADAPTIVE, output_config: { effort: 'low' } },
        [lost('option.effort')],
      ],
      [
        'makes none',
        { options: { effort: 'none' } },
        ADAPTIVE,
        { max_tokens: 8192, thinking: { type: 'disabled' } },
        [],
      ],
      ['has a budget', {}, ENABLED, enabled(4000, 12_192), []],
      ['has one above its limit', {}, { ...ENABLED, max_tokens: 100 }, enabled(4000, 4100), []],
      ['has one by the effort', { options: { effort: 'medium' } }, ENABLED, enabled(8192, 16_384), []],
      ['has the most', { options: { effort: 'xhigh' } }, ENABLED, enabled(32_768, 40_960), []],
      ['has no more than its answer', { options: { maxTokens: 3000 } }, ENABLED, enabled(2999, 3000), []],
      [
        'has less than the effort wants',
        { options: { effort: 'high', maxTokens: 3000 } },
        ENABLED,
        enabled(2999, 3000),
        [lost('option.effort')],
      ],
      ['has no room', { options: { maxTokens: 1024 } }, ENABLED, { max_tokens: 1024 }, []],
      [
        'has no room for its effort',
        { options: { effort: 'low', maxTokens: 1024 } },
        ENABLED,
        { max_tokens: 1024 },
        [lost('option.effort')],
      ],
      ['must call a tool', { ...LS, options: { toolChoice: 'required' } }, ADAPTIVE, { max_tokens: 8192 }, []],
      [
        'must call this tool',
        { ...LS, options: { toolChoice: { tool: 'ls' }, effort: 'low' } },
        ENABLED,
        { max_tokens: 8192 },
        [lost('option.effort')],
      ],
      [
        'takes no temperature and a high top_p',
        { options: { temperature: 0.2, topP: 0.5 } },
        ADAPTIVE,
        { max_tokens: 8192, ...ADAPTIVE },
        [lost('option.temperature', 'dropped'), lost('option.topP', 'dropped')],
      ],
      [
        'takes what it has anyway',
        { options: { temperature: 1, topP: 0.95 } },
        ENABLED,
        enabled(4000, 12_192, { top_p: 0.95 }),
        [],
      ],
      [
        'is told how by its client',
        { options: { effort: 'low', temperature: 1 }, ext: own({ thinking: { type: 'disabled' } }) },
        ADAPTIVE,
        { max_tokens: 8192, temperature: 1, thinking: { type: 'disabled' } },
        [],
      ],
      [
        'is told how by a client of another protocol',
        { options: { effort: 'low' }, ext: { protocol: 'openai', json: '{"thinking":1}' } },
        {},
        { max_tokens: 8192, output_config: { effort: 'low' } },
        [{ kind: 'dropped', item: 'ext', field: 'openai', why: 'no-place', count: 1 }],
      ],
    ])('which %s', (_what, start, settings, members, losses) => {
      expect(asked(start, settings)).toEqual([members, losses])
    })

    test('goes on with results of calls only where its thought is known', () => {
      const call: Part = { type: 'tool-call', tool: 'c', name: 'ls', args: '{}' }
      const reply: Part = { type: 'tool-reply', tool: 'c', status: 'ok', parts: [] }
      const thought = (provider: string): Part => ({ type: 'reasoning', text: 'hm', seal: { provider, data: 'x' } })
      const goingOn = (...parts: Part[]) =>
        requestOf(serve({ input: [reply], history: [{ role: 'assistant', parts: [...parts, call] }] }, ENABLED))
      expect(goingOn(thought('anthropic'))).toMatchObject(enabled(4000, 12_192))
      for (const request of [goingOn(), goingOn(thought('openai')), requestOf(serve({ input: [reply] }, ENABLED))]) {
        expect(request).not.toHaveProperty('thinking')
      }
    })
  })

  test('names the user of the turn, besides what else its client says of it', () => {
    expect(requestOf(serve({ user: 'u"1' }))['metadata']).toEqual({ user_id: 'u"1' })
    const ext = own({ metadata: { team: 1 } })
    expect(requestOf(serve({ user: 'me', ext }))['metadata']).toEqual({ user_id: 'me', team: 1 })
    expect(requestOf(serve({ ext }))['metadata']).toEqual({ team: 1 })
  })

  test('has calls with ids of their own, where a server gives one id to two', () => {
    const drive = serve(LS)
    tell(
      drive,
      BEGIN,
      ...toolBlock(0, 'a', 'ls', '{"n":1}'),
      ...toolBlock(1, 'a', 'ls', '{"n":2}'),
      ...finish('tool_use'),
    )
    const [one, two] = eventsOf(drive, 'ask').map((event) => 'ask' in event && String(event.ask))
    expect([one, two === one]).toEqual(['a', false])
    drive.link.encode(result('a', [text('1')]))
    drive.link.encode(result(String(two), [text('2')]))
    const [, called, results] = messagesOf(drive) as { content: { id?: string; tool_use_id?: string }[] }[]
    expect(called!.content.map(({ id }) => id)).toEqual(['a', two])
    expect(results!.content.map(({ tool_use_id: id }) => id)).toEqual(['a', two])
  })

  test('does not send back reasoning that this provider has not sealed', () => {
    const parts: Part[] = [
      { type: 'reasoning', text: 'a' },
      { type: 'reasoning', text: 'b', seal: { provider: 'openai', kind: 'encrypted', data: 'x' } },
      text('c'),
    ]
    const drive = serve({ history: [{ role: 'assistant', parts }] })
    expect(messagesOf(drive)[0]).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'c' }] })
    const lost = { kind: 'dropped', item: 'part.reasoning', why: 'no-place', count: 1 }
    expect(drive.losses).toEqual([lost, lost])
  })

  test('has the options and tools of the turn', () => {
    const drive = serve({
      options: {
        model: 'm2',
        temperature: 1.5,
        topP: 1,
        maxTokens: 9,
        stop: ['END'],
        effort: 'minimal',
        parallelTools: false,
        toolChoice: { tool: 'ls' },
        outputSchema: '{"type":"object","x":1.0}',
      },
      clientTools: [
        {
          name: 'ls',
          description: 'Lists.',
          schema: '{"type":"object"}',
          strict: false,
          ext: own({ defer_loading: true }),
        },
        { name: 'cat', namespace: 'fs' },
        { name: 'sh', kind: 'custom' },
        { name: 'bash', ext: own({ type: 'bash_20250124', name: 'bash' }) },
        { name: 'web', kind: 'hosted', ext: own({ type: 'web_search_20250305', name: 'web' }) },
        { name: 'other', kind: 'hosted', ext: { protocol: 'openai', json: '{}' } },
      ],
    })
    expect(requestOf(drive)).toMatchObject({
      model: 'm2',
      max_tokens: 9,
      temperature: 1,
      top_p: 1,
      stop_sequences: ['END'],
      tool_choice: { type: 'tool', name: 'ls', disable_parallel_tool_use: true },
      output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'object', x: 1 } } },
      tools: [
        { name: 'ls', description: 'Lists.', input_schema: { type: 'object' }, strict: false, defer_loading: true },
        { name: 'fs__cat', input_schema: { type: 'object' } },
        {
          name: 'sh',
          input_schema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
        },
        { type: 'bash_20250124', name: 'bash' },
        { type: 'web_search_20250305', name: 'web' },
      ],
    })
    const weakened = (item: string, more: object = {}) => ({
      kind: 'weakened',
      item,
      why: 'too-narrow',
      count: 1,
      ...more,
    })
    expect(drive.losses).toEqual([
      weakened('start.clientTools', { field: 'sh', why: 'no-place' }),
      weakened('start.clientTools', { field: 'other', why: 'no-place' }),
      weakened('option.effort'),
      weakened('option.temperature'),
    ])
  })

  test.each<[object, object]>([
    [{ toolChoice: 'auto' }, { tool_choice: { type: 'auto' } }],
    [{ toolChoice: 'required' }, { tool_choice: { type: 'any' } }],
    [{ toolChoice: 'none', parallelTools: false }, { tool_choice: { type: 'none' } }],
    [{ parallelTools: false }, { tool_choice: { type: 'auto', disable_parallel_tool_use: true } }],
    [{ effort: 'xhigh' }, { output_config: { effort: 'xhigh' } }],
    [{ temperature: 0.5 }, { temperature: 0.5 }],
  ])('with the options %j has %j', (options, members) => {
    expect(requestOf(serve({ ...LS, options }))).toMatchObject(members)
  })

  test('has no tool choice without tools, and the usual limits without options', () => {
    const drive = serve({ options: { toolChoice: 'required', parallelTools: false } })
    const lost = { kind: 'dropped', why: 'no-place', count: 1 }
    expect(drive.losses).toEqual([
      { ...lost, item: 'option.toolChoice' },
      { ...lost, item: 'option.parallelTools' },
    ])
    expect(requestOf(drive)).toEqual({
      model: 'default',
      max_tokens: 8192,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
      stream: true,
    })
    expect(requestOf(serve({ ...LS, options: {} }))).not.toHaveProperty('tool_choice')
  })

  test('is what its client of the same protocol wrote, with the betas that it asked for', () => {
    const system = [{ type: 'text', text: 'A', cache_control: { type: 'ephemeral' } }]
    const ext = own({
      system,
      thinking: { type: 'adaptive' },
      output_config: { effort: 'max', other: 1 },
      model: 'ignored',
      betas: ['a-1', 'mcp-client-2025-11-20'],
      cache_control: { type: 'ephemeral', ttl: '1h' },
    })
    const call = {
      type: 'tool-call',
      tool: 'm',
      name: 'read',
      args: '{}',
      ext: own({ type: 'mcp_tool_use', server_name: 's' }),
    }
    const reply = {
      type: 'tool-reply',
      tool: 'm',
      status: 'ok',
      parts: [text('x'), { type: 'audio' }],
      ext: own({ type: 'mcp_tool_result', is_error: false }),
    }
    const search = {
      type: 'tool-call',
      tool: 's',
      name: 'web_search',
      args: '{}',
      ext: own({ type: 'server_tool_use' }),
    }
    const found = {
      type: 'tool-reply',
      tool: 's',
      status: 'ok',
      parts: [{ type: 'data', json: '[1.0]' }],
      ext: own({ type: 'web_search_tool_result' }),
    }
    const history = [{ role: 'assistant', parts: [call, reply, search, found] }] as never
    const options = { systemPrompt: 'A', effort: 'max' }
    const drive = serve({ ext, options, history } as never, { prompt_caching: true })
    expect(callOf(drive).headers).toMatchObject({ 'anthropic-beta': 'a-1,mcp-client-2025-11-20' })
    expect(requestOf(drive)).toEqual({
      model: 'default',
      max_tokens: 8192,
      system,
      stream: true,
      thinking: { type: 'adaptive' },
      output_config: { effort: 'max', other: 1 },
      cache_control: { type: 'ephemeral', ttl: '1h' },
      messages: [
        {
          role: 'assistant',
          content: [
            { id: 'm', name: 'read', input: {}, type: 'mcp_tool_use', server_name: 's' },
            { tool_use_id: 'm', content: [{ type: 'text', text: 'x' }], type: 'mcp_tool_result', is_error: false },
            { id: 's', name: 'web_search', input: {}, type: 'server_tool_use' },
            { tool_use_id: 's', content: [1], type: 'web_search_tool_result' },
          ],
        },
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      ],
    })
    // Without the beta the API knows no such blocks.
    const plain = serve({ history }, { prompt_caching: true })
    expect(requestOf(plain)).toMatchObject({ cache_control: { type: 'ephemeral' } })
    expect(messagesOf(plain)).toMatchObject([
      { role: 'assistant', content: [{ type: 'tool_use', id: 'm' }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'm' }] },
      { role: 'assistant', content: [{ type: 'server_tool_use' }, { type: 'web_search_tool_result' }] },
      { role: 'user' },
    ])
  })

  test('has parts in the forms that the API has, and reports the others', () => {
    const search = { type: 'search_result', source: 's', title: 't', content: [] }
    const drive = serve({
      input: [
        { type: 'text', text: 'a', ext: own({ cache_control: { type: 'ephemeral' } }) },
        { type: 'text', text: 't\ns', ext: own({ block: search }) },
        { type: 'image', url: 'https://h/x', name: 'n' },
        { type: 'image', base64: 'QUJD' },
        { type: 'image', base64: 'QUJD', mime: 'image/gif' },
        { type: 'image', ref: 'f1' },
        { type: 'file', base64: 'QUJD', name: 'a.pdf' },
        { type: 'file', base64: 'w6Q=', mime: 'text/markdown', ext: own({ title: 'T' }), name: 'N' },
        { type: 'file', base64: 'QUJD', mime: 'application/zip' },
        { type: 'image' },
        { type: 'audio', base64: 'QUJD' },
        { type: 'data', json: '{"type":"later"}', ext: own({}) },
        { type: 'data', json: '[1]' },
        { type: 'diff', path: 'p', before: null, after: 'x' },
        { type: 'text', text: 'z', ext: { protocol: 'zot', json: '{}' } },
      ],
    })
    const [message] = messagesOf(drive) as [{ content: unknown[] }]
    expect(message.content).toEqual([
      { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } },
      search,
      { type: 'image', source: { type: 'url', url: 'https://h/x' } },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } },
      { type: 'image', source: { type: 'base64', media_type: 'image/gif', data: 'QUJD' } },
      { type: 'image', source: { type: 'file', file_id: 'f1' } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'QUJD' }, title: 'a.pdf' },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'ä' }, title: 'N' },
      { type: 'later' },
      { type: 'text', text: '[1]' },
      { type: 'text', text: 'z' },
    ])
    const dropped = (item: string) => ({ kind: 'dropped', item, why: 'no-place', count: 1 })
    expect(drive.losses).toEqual([
      { kind: 'weakened', item: 'part.image', field: 'name', why: 'no-place', count: 1 },
      dropped('part.file'),
      dropped('part.image'),
      dropped('part.audio'),
      dropped('part.diff'),
      { ...dropped('part.ext'), field: 'zot' },
    ])
  })
})

describe('an answer', () => {
  test('is text, reasoning with its seal, and usage with what the cache gave', () => {
    const drive = serve()
    tell(
      drive,
      BEGIN,
      { type: 'ping' },
      ...block(
        0,
        { type: 'thinking', thinking: '', signature: '' },
        { type: 'thinking_delta', thinking: 'h' },
        { type: 'thinking_delta', thinking: 'm' },
        { type: 'signature_delta', signature: 'c2' },
        { type: 'signature_delta', signature: 'ln' },
      ),
      ...block(1, { type: 'redacted_thinking', data: 'aGlk' }),
      ...textBlock(2, 'Hel', 'lo'),
      ...finish('max_tokens', 5),
    )
    const turn = 't1'
    const message = 'b1'
    const seal = { provider: 'anthropic', data: 'c2ln' }
    const hidden = { provider: 'anthropic', kind: 'redacted', data: 'aGlk' }
    expect(drive.events).toEqual([
      { type: 'turn-started', turn },
      { type: 'message-start', turn, message, role: 'assistant' },
      { type: 'reasoning-delta', turn, message, text: 'h' },
      { type: 'reasoning-delta', turn, message, text: 'm' },
      { type: 'reasoning-end', turn, message, seal },
      { type: 'reasoning-end', turn, message, seal: hidden },
      { type: 'text-delta', turn, message, text: 'Hel' },
      { type: 'text-delta', turn, message, text: 'lo' },
      {
        type: 'message-end',
        turn,
        message,
        parts: [
          { type: 'reasoning', text: 'hm', seal },
          { type: 'reasoning', text: '', seal: hidden },
          { type: 'text', text: 'Hello' },
        ],
      },
      { type: 'usage', turn, scope: 'turn', usage: { input: 7, cacheRead: 4, output: 5 } },
      { type: 'turn-end', turn, outcome: 'completed', stop: 'max-tokens' },
    ])
    expect(drive.losses).toEqual([])
  })

  test('of text alone is not said twice', () => {
    const drive = serve()
    tell(drive, BEGIN, ...textBlock(0, 'Hi'), ...textBlock(1, ' there'), ...finish())
    expect(eventsOf(drive, 'message-end')).toEqual([{ type: 'message-end', turn: 't1', message: 'b1' }])
    expect(endOf(drive)).toMatchObject({ outcome: 'completed', stop: 'end' })
  })

  test.each([
    ['end_turn', 'end'],
    ['stop_sequence', 'stop-sequence'],
    ['refusal', 'refusal'],
    ['model_context_window_exceeded', 'context-window'],
    ['whatever', 'end'],
  ])('that stops with %s stops with %s', (reason, stop) => {
    const drive = serve()
    tell(drive, BEGIN, ...finish(reason))
    expect(endOf(drive)).toMatchObject({ outcome: 'completed', stop })
  })

  test('that pauses goes on with another request, which has what was said so far', () => {
    const drive = serve()
    const call = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }
    tell(
      drive,
      BEGIN,
      ...block(0, call, { type: 'input_json_delta', partial_json: '{"q":1.0}' }),
      ...finish('pause_turn'),
    )
    expect(drive.calls).toHaveLength(2)
    expect(callOf(drive).body).toContain('{"type":"server_tool_use","id":"s","name":"web_search","input":{"q":1.0}}')
    tell(drive, ...finish('pause_turn'))
    expect(messagesOf(drive)).toHaveLength(2)
    tell(drive, BEGIN, ...textBlock(0, 'Found.'), ...finish())
    expect(drive.calls).toHaveLength(3)
    expect(endOf(drive)).toMatchObject({ outcome: 'completed' })
    expect(eventsOf(drive, 'usage').at(-1)).toMatchObject({ scope: 'turn', usage: { input: 14, output: 6 } })
  })

  test('is read the same whether its events are written alike or not', () => {
    const deltas = (member: string, ...texts: string[]): object[] =>
      texts.map((text) => ({ type: 'piece', [member]: text }))
    const events = [
      BEGIN,
      ...block(0, { type: 'thinking', thinking: '' }, ...deltas('thinking', 'hm', ' "so"', '\n')),
      ...block(1, { type: 'text', text: '' }, ...deltas('text', 'One', ' two', ' \\ three', '{"text":"a"}')),
      ...block(2, { type: 'text', text: '' }, ...deltas('text', 'four', ' five', ' six')),
      ...block(3, { type: 'tool_use', id: 'a', name: 'ls' }, ...deltas('partial_json', '{"a"', ':', '1}')),
      ...finish(),
    ]
    const [alike, unlike] = [{}, { x: 1 }].map((more) => {
      const drive = serve()
      tell(drive, ...events.map((event, at) => ('x' in more ? { ...event, [`x${at}`]: at } : event)))
      return drive.events
    })
    expect(alike).toEqual(unlike)
    const texts = [
      ['hm', ' "so"', '\n'],
      ['One', ' two', ' \\ three', '{"text":"a"}'],
      ['four', ' five', ' six'],
    ]
    expect(alike!.flatMap((event) => ('text' in event ? event.text : []))).toEqual([...texts.flat(), '{"a"', ':', '1}'])
  })

  test('may have calls that the provider runs itself, with their results', () => {
    const drive = serve()
    const found = [{ type: 'web_search_result', encrypted_content: 'e' }]
    tell(
      drive,
      BEGIN,
      ...block(0, { type: 'server_tool_use', id: 's', name: 'web_search', input: { q: 'x' } }),
      ...block(1, { type: 'web_search_tool_result', tool_use_id: 's', content: found }),
      ...block(
        2,
        { type: 'text', text: 'S', citations: [] },
        { type: 'text_delta', text: 'o.' },
        { type: 'citations_delta', citation: { type: 'x', n: 1 } },
      ),
      ...finish(),
    )
    const ext = own({ type: 'server_tool_use' })
    const found_ext = own({ type: 'web_search_tool_result' })
    expect(drive.events.slice(2)).toEqual([
      { type: 'tool-start', turn: 't1', tool: 's', message: 'b1', name: 'web_search', executor: 'provider' },
      { type: 'tool-call', turn: 't1', tool: 's', name: 'web_search', args: '{"q":"x"}', executor: 'provider', ext },
      {
        type: 'tool-end',
        turn: 't1',
        tool: 's',
        status: 'ok',
        parts: [{ type: 'data', json: json(found) }],
        ext: found_ext,
      },
      { type: 'text-delta', turn: 't1', message: 'b1', text: 'S' },
      { type: 'text-delta', turn: 't1', message: 'b1', text: 'o.' },
      { type: 'citation', turn: 't1', message: 'b1', start: 0, end: 3, ext: own({ type: 'x', n: 1 }) },
      {
        type: 'message-end',
        turn: 't1',
        message: 'b1',
        parts: [
          { type: 'tool-call', tool: 's', name: 'web_search', args: '{"q":"x"}', ext },
          { type: 'tool-reply', tool: 's', status: 'ok', parts: [{ type: 'data', json: json(found) }], ext: found_ext },
          { type: 'text', text: 'So.', citations: [{ ext: own({ type: 'x', n: 1 }) }] },
        ],
      },
      { type: 'usage', turn: 't1', scope: 'turn', usage: { input: 7, cacheRead: 4, output: 2 } },
      { type: 'turn-end', turn: 't1', outcome: 'completed', stop: 'end' },
    ])
  })

  test('may have events, blocks and pieces of a later version', () => {
    const drive = serve()
    const later = { type: 'hologram', x: 1 }
    tell(
      drive,
      BEGIN,
      { type: 'later' },
      ...block(0, later),
      ...block(1, { type: 'tool_use' }),
      ...block(3, { type: 'later', id: 'x', name: 'y' }),
      ...block(2, { type: 'text', text: '' }, { type: 'later_delta' }),
      { type: 'content_block_delta', index: 9, delta: { type: 'text_delta', text: 'nowhere' } },
      { type: 'content_block_stop', index: 9 },
      ...finish(),
    )
    expect(eventsOf(drive, 'foreign').map((event) => 'frame' in event && event.frame)).toEqual([
      '{"type":"later"}',
      json({ type: 'content_block_stop', index: 0 }),
      json({ type: 'content_block_stop', index: 1 }),
      json({ type: 'content_block_stop', index: 3 }),
      json({ type: 'content_block_delta', index: 2, delta: { type: 'later_delta' } }),
    ])
    expect(endOf(drive)).toMatchObject({ outcome: 'completed' })
  })

  test('may come in one piece', () => {
    const drive = serve(LS)
    drive.feed(
      json({
        type: 'message',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'text', text: 'Hi' },
          { type: 'tool_use', id: 'a', name: 'ls', input: { p: 1 } },
        ],
        stop_reason: 'tool_use',
        usage: { input_tokens: 1, output_tokens: 2, output_tokens_details: { thinking_tokens: 1 } },
      }),
    )
    expect(eventsOf(drive, 'reasoning-end')).toMatchObject([{ seal: { data: 's' } }])
    expect(eventsOf(drive, 'tool-call')).toMatchObject([{ tool: 'a', args: '{"p":1}', executor: 'client' }])
    expect(eventsOf(drive, 'ask')).toMatchObject([{ ask: 'a' }])
  })

  test.each<[string, (drive: BackDrive) => void, ErrorCode, string]>([
    [
      'that is cut',
      (drive) => drive.link.decodeEnd({ call: '1', why: 'closed' }),
      'provider-down',
      'cut its answer off',
    ],
    ['that is no event', (drive) => drive.feed({ data: 'oops' }), 'protocol-violation', 'no event of an answer'],
    ['without a type', (drive) => drive.feed({ data: '{}' }), 'protocol-violation', 'no event of an answer'],
    [
      'of another shape',
      (drive) => drive.feed({ data: '{"type":"content_block_start","index":"x"}' }),
      'protocol-violation',
      'no event of an answer',
    ],
    [
      'whose call failed',
      (drive) => drive.link.decodeEnd({ call: '1', why: 'failed' }),
      'agent-unavailable',
      'could not be reached',
    ],
    ...(
      [
        ['overloaded_error', 'provider-down'],
        ['api_error', 'provider-down'],
        ['timeout_error', 'provider-down'],
        ['rate_limit_error', 'provider-rate-limit'],
        ['authentication_error', 'provider-auth'],
        ['permission_error', 'provider-auth'],
        ['billing_error', 'provider-auth'],
        ['request_too_large', 'payload-too-large'],
        ['invalid_request_error', 'provider-error'],
        ['not_found_error', 'provider-error'],
      ] as const
    ).map(([type, code]): [string, (drive: BackDrive) => void, ErrorCode, string] => [
      `with the event ${type}`,
      (drive) => tell(drive, { type: 'error', error: { type, message: 'sorry' } }),
      code,
      `answered in its stream (${type}): sorry`,
    ]),
  ])('%s fails the turn', (_, play, code, message) => {
    const drive = serve()
    tell(drive, BEGIN, ...textBlock(0, 'half'))
    play(drive)
    expect(endOf(drive)).toMatchObject({ outcome: 'failed', stop: 'error', fault: { code } })
    expect(endOf(drive).fault!.message).toContain(message)
    expect(eventsOf(drive, 'usage')).toMatchObject([{ usage: { input: 7 } }])
  })

  test.each<[number, string, ErrorCode, string]>([
    [401, '{"type":"error","error":{"type":"authentication_error","message":"bad key"}}', 'provider-auth', 'bad key'],
    [429, '{"error":{"type":"rate_limit_error","message":"slow"}}', 'provider-rate-limit', '(rate_limit_error): slow'],
    [529, '{"error":{"type":"overloaded_error","message":"busy"}}', 'provider-down', 'HTTP status 529'],
    [413, '{"error":{"type":"request_too_large"}}', 'payload-too-large', 'HTTP status 413 (request_too_large).'],
    [
      400,
      '{"error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}',
      'payload-too-large',
      'prompt is too long',
    ],
    [400, '{"error":{"type":"invalid_request_error","message":"max_tokens"}}', 'provider-error', 'max_tokens'],
    [400, '{"error":{"type":7,"message":7}}', 'provider-error', 'HTTP status 400.'],
    [404, 'Not Found', 'provider-error', 'HTTP status 404.'],
    [404, '{"detail":"Not Found"}', 'provider-error', 'HTTP status 404: Not Found'],
    [400, '{"error":"No model is loaded"}', 'provider-error', 'HTTP status 400: No model is loaded'],
    [400, '{"error":{"type":"constructor","message":"x"}}', 'provider-error', '(constructor): x'],
    [307, '', 'protocol-violation', 'elsewhere (HTTP status 307)'],
    [502, '{"error":{"type":"api_error","message":"x","code":"agent_crashed"}}', 'agent-crashed', '(api_error): x'],
  ])('with the status %i fails the turn', (status, body, code, message) => {
    const drive = serve()
    drive.link.decodeHead!({ call: '1', status, headers: {} })
    drive.feed(body)
    expect(endOf(drive).fault!.code).toBe(code)
    expect(endOf(drive).fault!.message).toContain(message)
  })

  test('without an error’s words fails the turn all the same', () => {
    const drive = serve()
    tell(drive, { type: 'error' })
    expect(endOf(drive).fault).toMatchObject({
      code: 'provider-error',
      message: 'The model provider answered in its stream.',
    })
  })

  test('that says how it stopped, but not that it is over, is whole', () => {
    const drive = serve()
    tell(drive, BEGIN, ...textBlock(0, 'Hi'), finish()[0]!)
    drive.link.decodeEnd({ call: '1', why: 'closed' })
    expect(endOf(drive)).toMatchObject({ outcome: 'completed' })
  })

  test.each(['constructor', 'stopped'])('with the unknown stop reason %s is whole, with a loss', (reason) => {
    const drive = serve()
    tell(drive, BEGIN, ...textBlock(0, 'Hi'), ...finish(reason))
    expect(endOf(drive)).toMatchObject({ outcome: 'completed', stop: 'end' })
    expect(drive.losses).toEqual([{ kind: 'weakened', item: 'end.stop', field: reason, why: 'no-place', count: 1 }])
  })

  test('whose usage is all zeros, or no object, has none', () => {
    const drive = serve()
    tell(drive, { type: 'message_start', message: { usage: { input_tokens: 0, output_tokens: 0 } } })
    tell(drive, { type: 'message_delta', delta: { stop_reason: null }, usage: { output_tokens: -1 } })
    tell(drive, { type: 'message_delta', delta: { stop_reason: 'end_turn' } }, { type: 'message_stop' })
    expect(eventsOf(drive, 'usage')).toEqual([])
    expect(drive.losses).toMatchObject([{ kind: 'dropped', item: 'usage.output', field: 'output_tokens' }])
  })
})

describe('calls of tools', () => {
  test('of the client are asked for; the next request has their results, behind what was said', () => {
    const drive = serve(LS)
    const thinking = { type: 'thinking', thinking: '', signature: 'c2ln' }
    tell(
      drive,
      BEGIN,
      ...block(0, thinking, { type: 'thinking_delta', thinking: 'hm' }),
      ...textBlock(1, 'Let me look.'),
      ...toolBlock(2, 'a', 'ls', '{"p"', ':1.0}'),
      ...toolBlock(3, 'b', 'ls', ''),
      ...textBlock(4, ' '),
      ...finish('tool_use'),
    )
    expect(eventsOf(drive, 'tool-args-delta').map((event) => 'text' in event && event.text)).toEqual(['{"p"', ':1.0}'])
    expect(eventsOf(drive, 'tool-call')).toMatchObject([
      { tool: 'a', args: '{"p":1.0}', executor: 'client' },
      { tool: 'b', args: '{}', executor: 'client' },
    ])
    expect(eventsOf(drive, 'ask')).toMatchObject([
      { ask: 'a', question: { kind: 'tool', tool: 'a' } },
      { ask: 'b', question: { kind: 'tool', tool: 'b' } },
    ])
    drive.link.encode(result('b', [{ type: 'audio', base64: 'QUJD' }]))
    expect(drive.calls).toHaveLength(1)
    drive.link.encode({ exchange: 'x4', type: 'turn-steer', target: 'running', input: [text('Hurry.')] })
    drive.link.encode(result('a', [text('A'), { type: 'image', base64: 'QUJD' }]))
    expect(drive.calls).toHaveLength(2)
    expect(callOf(drive).body).toContain('"input":{"p":1.0}')
    expect(messagesOf(drive).slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
          { type: 'text', text: 'Let me look.' },
          { type: 'tool_use', id: 'a', name: 'ls', input: { p: 1 } },
          { type: 'tool_use', id: 'b', name: 'ls', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'a',
            content: [
              { type: 'text', text: 'A' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } },
            ],
          },
          { type: 'tool_result', tool_use_id: 'b' },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'Hurry.' }] },
    ])
    tell(drive, BEGIN, ...textBlock(0, 'Done.'), ...finish())
    expect(endOf(drive).outcome).toBe('completed')
  })

  test('that nobody has declared, or that the provider runs, get an error as their result', () => {
    const drive = serve({
      clientTools: [{ name: 'web', kind: 'hosted', ext: own({ type: 'web_search_20250305' }) }],
      options: { temperature: 2 },
    })
    tell(
      drive,
      BEGIN,
      ...toolBlock(0, 'a', 'rm', '{}'),
      ...block(1, { type: 'tool_use', id: 'b', name: 'web' }),
      ...finish('tool_use'),
    )
    expect(eventsOf(drive, 'ask')).toEqual([])
    expect(messagesOf(drive).at(-1)).toMatchObject({
      content: [
        { tool_use_id: 'a', content: [{ text: 'There is no tool "rm".' }], is_error: true },
        { tool_use_id: 'b', is_error: true },
      ],
    })
    // What a request lacks is counted once, however many there are.
    expect(drive.losses).toEqual([{ kind: 'weakened', item: 'option.temperature', why: 'too-narrow', count: 1 }])
  })

  test('that were cut within their arguments are not asked for', () => {
    const drive = serve(LS)
    tell(drive, BEGIN, ...toolBlock(0, 'a', 'ls', '{"p":'), ...finish('max_tokens'))
    expect(eventsOf(drive, 'ask')).toEqual([])
    expect(eventsOf(drive, 'message-end')).toMatchObject([
      { parts: [{ type: 'tool-call', tool: 'a', args: '{"input":"{\\"p\\":"}' }] },
    ])
    expect(endOf(drive)).toMatchObject({ outcome: 'completed', stop: 'max-tokens' })
  })
})

test('its model is the configured one, and the conversation is with each request', () => {
  const { back } = codec.dialects['messages']!
  const context = { options: { model: 'm' }, agent: 'a', env: {}, folder: '/' }
  expect(back!.configuredModel!(context)).toBe('m')
  expect(back!.memory(context)).toBe('request')
})
