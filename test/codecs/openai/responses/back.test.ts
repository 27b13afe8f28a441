import { describe, expect, test } from 'vitest'
import { codec } from '../../../../codecs/openai/index.ts'
import type { Message, Part } from '../../../../src/model/index.ts'
import { driveBack } from '../../../kit/drive.ts'
import { json, requestOf } from '../kit.ts'
import {
  added,
  callOf,
  completed,
  delta,
  done,
  endOf,
  eventsOf,
  MESSAGE,
  messageOf,
  say,
  serve,
  textOf,
  turn,
} from './back-kit.ts'

const SEAL = 'gAAAAB+seal/=='
const text = (said: string): Part => ({ type: 'text', text: said })

describe('a request', () => {
  test('is one call with the whole conversation, which the server is not to keep', () => {
    const history: Message[] = [
      { role: 'user', parts: [text('one')] },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'hm', seal: { provider: 'openai', kind: 'encrypted', data: SEAL } },
          text('two'),
          { type: 'tool-call', tool: 'call_1', name: 'ls', args: '{"a":1.0}' },
        ],
      },
      { role: 'tool', parts: [{ type: 'tool-reply', tool: 'call_1', status: 'ok', parts: [text('x')] }] },
      { role: 'system', parts: [text('be kind')] },
    ]
    const drive = serve({ history, options: { systemPrompt: 'Be brief.', model: 'gpt-5' } })
    expect(drive.calls).toMatchObject([
      { kind: 'http', method: 'POST', path: '/responses', headers: { accept: 'text/event-stream' } },
    ])
    expect(requestOf(drive)).toEqual({
      model: 'gpt-5',
      instructions: 'Be brief.',
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'one' }] },
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: SEAL },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'two', annotations: [] }] },
        { type: 'function_call', call_id: 'call_1', name: 'ls', arguments: '{"a":1.0}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'x' },
        { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'be kind' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
      ],
      stream: true,
      store: false,
    })
    expect(drive.losses).toEqual([])
  })

  test('has the options and tools of the turn, those of a group together', () => {
    const drive = serve(
      {
        options: {
          temperature: 0.5,
          topP: 0.9,
          maxTokens: 7,
          effort: 'high',
          parallelTools: false,
          toolChoice: { tool: 'patch' },
          outputSchema: '{"type":"object","x":1.0}',
        },
        clientTools: [
          { name: 'ls', description: 'lists', schema: '{"type":"object"}', strict: true },
          { name: 'read', namespace: 'fs', ext: { protocol: 'openai', json: '{"group":{"description":"files"}}' } },
          { name: 'patch', kind: 'custom', ext: { protocol: 'openai', json: '{"format":{"type":"text"}}' } },
          { name: 'write', namespace: 'fs', kind: 'custom' },
          { name: 'web_search', kind: 'hosted', ext: { protocol: 'openai', json: '{"type":"web_search"}' } },
          { name: 'computer', kind: 'hosted', ext: { protocol: 'anthropic', json: '{}' } },
        ],
      },
      { model: 'm', store: true },
    )
    expect(requestOf(drive)).toMatchObject({
      model: 'm',
      store: true,
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 7,
      reasoning: { effort: 'high' },
      include: ['reasoning.encrypted_content'],
      parallel_tool_calls: false,
      tool_choice: { type: 'custom', name: 'patch' },
      text: {
        format: { type: 'json_schema', name: 'answer', schema: { type: 'object', x: 1 }, strict: false },
      },
      tools: [
        { type: 'function', name: 'ls', description: 'lists', parameters: { type: 'object' }, strict: true },
        { type: 'custom', name: 'patch', format: { type: 'text' } },
        { type: 'web_search' },
        {
          type: 'namespace',
          name: 'fs',
          description: 'files',
          tools: [
            { type: 'function', name: 'read', parameters: null, strict: false },
            { type: 'custom', name: 'write' },
          ],
        },
      ],
    })
    expect(drive.calls.map((call) => 'body' in call && call.body)[0]).toContain('"x":1.0')
    expect(drive.losses).toMatchObject([{ kind: 'weakened', item: 'start.clientTools', field: 'computer' }])
  })

  test('names a function that it chooses, and a group without a description', () => {
    const drive = serve({
      options: { toolChoice: { tool: 'ls' } },
      clientTools: [{ name: 'ls' }, { name: 'a', namespace: 'g' }],
    })
    expect(requestOf(drive)).toMatchObject({
      tool_choice: { type: 'function', name: 'ls' },
      tools: [{}, { type: 'namespace', name: 'g', description: '' }],
    })
    expect(requestOf(serve({ options: { toolChoice: 'none' } }))).toMatchObject({ tool_choice: 'none' })
  })

  test('has what a client of the same API wrote; what only Chat Completions knows is lost', () => {
    const own = {
      text: { verbosity: 'low', format: { type: 'text' } },
      reasoning: { summary: 'auto' },
      include: [],
      truncation: 'auto',
      tool_choice: { type: 'allowed_tools' },
    }
    const ext = { protocol: 'openai', json: json({ metadata: { a: '1' }, seed: 1, responses: own }) }
    const drive = serve({ ext } as object)
    expect(requestOf(drive)).toMatchObject({
      metadata: { a: '1' },
      text: { verbosity: 'low', format: { type: 'text' } },
      reasoning: { summary: 'auto' },
      include: [],
      truncation: 'auto',
      tool_choice: { type: 'allowed_tools' },
    })
    expect(requestOf(drive)).not.toHaveProperty('seed')
    expect(drive.losses).toEqual([{ kind: 'dropped', item: 'ext', field: 'seed', why: 'no-place', count: 1 }])
  })

  const replyTo = (ask: string) => ({
    exchange: 'x2',
    type: 'ask-reply',
    target: { turn: 't1' },
    ask,
    reply: { kind: 'tool', status: 'ok', parts: [{ type: 'text', text: ask }] },
  })

  test('has calls with ids of their own, where a server gives one id to two, or none', () => {
    const drive = serve({ clientTools: [{ name: 'ls' }] })
    const none = { ...callOf('c', '{}'), call_id: null }
    say(
      drive,
      done(callOf('c', '{"n":1}')),
      done(callOf('c', '{"n":2}', { id: 'fc_2' }), 1),
      done(none, 2),
      completed(),
    )
    const asked = eventsOf(drive, 'ask').map(({ ask }) => ask)
    expect([asked[0], new Set(asked).size]).toEqual(['c', 3])
    for (const ask of asked) drive.link.encode(replyTo(ask) as never)
    type Sent = { type: string; call_id: string }
    const sent = requestOf(drive)['input'] as Sent[]
    const idsOf = (type: string) => sent.filter((item) => item.type === type).map((item) => item.call_id)
    expect([idsOf('function_call'), idsOf('function_call_output')]).toEqual([asked, asked])
  })

  test('has each item once, whatever place a server gives it', () => {
    const drive = serve({ clientTools: [{ name: 'ls' }] })
    const output = [messageOf('Hi'), callOf('c', '{}'), { ...callOf('d', '{}'), id: null }]
    say(drive, done(output[0]!, 4), done(output[1]!, 7), completed({ output }))
    expect([textOf(drive), eventsOf(drive, 'ask').map(({ ask }) => ask)]).toEqual(['Hi', ['c', 'd']])
  })

  test('has files in every form, and items of other types as they were', () => {
    const ext = { protocol: 'openai', json: '{"detail":"low"}' }
    const input: Part[] = [
      { type: 'image', url: 'https://x/a.png', ext },
      { type: 'image', base64: 'QUJD' },
      { type: 'image', ref: 'file_1' },
      { type: 'audio', base64: 'QUJD', mime: 'audio/mp3' },
      { type: 'file', ref: 'file_2', url: 'https://x/b.pdf' },
      { type: 'file', url: 'https://x/b.pdf', name: 'b.pdf' },
      { type: 'file', base64: 'QUJD' },
      { type: 'data', json: '{"type":"input_x","a":1.0}' },
      { type: 'data', json: '[1.0]' },
      {
        type: 'text',
        text: 'cached',
        ext: { protocol: 'openai', json: '{"responses":{"prompt_cache_breakpoint":{}}}' },
      },
      { type: 'text', text: 'marked', ext: { protocol: 'anthropic', json: '{}' } },
      { type: 'audio', url: 'https://x/c.mp3' },
      { type: 'diff', path: 'a', before: null, after: 'b' },
    ]
    const item: Part = {
      type: 'data',
      json: '{"type":"compaction","n":1.0}',
      ext: { protocol: 'openai', json: '{"item":true}' },
    }
    const drive = serve({ input: [...input, item] })
    expect(requestOf(drive)['input']).toEqual([
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_image', detail: 'low', image_url: 'https://x/a.png' },
          { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,QUJD' },
          { type: 'input_image', detail: 'auto', file_id: 'file_1' },
          { type: 'input_audio', input_audio: { data: 'QUJD', format: 'mp3' } },
          { type: 'input_file', file_id: 'file_2' },
          { type: 'input_file', file_url: 'https://x/b.pdf', filename: 'b.pdf' },
          { type: 'input_file', file_data: 'data:application/octet-stream;base64,QUJD' },
          { type: 'input_x', a: 1 },
          { type: 'input_text', text: '[1.0]' },
          { type: 'input_text', text: 'cached', prompt_cache_breakpoint: {} },
          { type: 'input_text', text: 'marked' },
        ],
      },
      { type: 'compaction', n: 1 },
    ])
    expect(drive.losses.map(({ kind, item: lost, field }) => [kind, lost, field])).toEqual([
      ['dropped', 'part.ext', 'anthropic'],
      ['dropped', 'part.audio', undefined],
      ['dropped', 'part.diff', undefined],
    ])
  })

  test('has the reasoning of its own provider alone, unchanged', () => {
    const own = { type: 'reasoning', text: '', seal: { provider: 'openai', kind: 'encrypted', data: SEAL } } as const
    const ext = {
      protocol: 'openai',
      json: '{"id":"rs_1","summary":[{"type":"summary_text","text":"a"}],"content":null}',
    }
    const history: Message[] = [
      {
        role: 'assistant',
        parts: [
          own,
          { ...own, text: 'a', ext },
          { type: 'reasoning', text: 'theirs', seal: { provider: 'anthropic', data: 'sig' } },
          { type: 'reasoning', text: 'unsealed' },
        ],
      },
    ]
    const drive = serve({ history })
    expect(requestOf(drive)['input']).toMatchObject([
      { type: 'reasoning', summary: [], encrypted_content: SEAL },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'a' }],
        content: null,
        encrypted_content: SEAL,
      },
      { role: 'user' },
    ])
    expect(drive.losses).toEqual([
      { kind: 'dropped', item: 'part.reasoning', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'part.reasoning', why: 'no-place', count: 1 },
    ])
  })
})

describe('an answer', () => {
  test('is text, reasoning with its seal, and usage', () => {
    const drive = serve()
    const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: SEAL }
    say(
      drive,
      { type: 'response.created', response: { status: 'in_progress', output: [] } },
      added({ type: 'reasoning', id: 'rs_1', summary: [] }),
      delta('reasoning_summary_text', 'Let me', 0, { summary_index: 0 }),
      delta('reasoning_summary_text', ' see.', 0, { summary_index: 0 }),
      delta('reasoning_summary_text', 'Well.', 0, { summary_index: 1 }),
      delta('reasoning_summary_text', ''),
      done(reasoning),
      added(MESSAGE, 1),
      { type: 'response.content_part.added', output_index: 1, part: { type: 'output_text', text: '' } },
      delta('output_text', 'Hel', 1),
      delta('output_text', 'lo', 1),
      delta('output_text', '', 1),
      { type: 'response.output_text.done', output_index: 1, text: 'Hello' },
      done(messageOf('Hello'), 1),
      completed({
        output: [reasoning, messageOf('Hello')],
        usage: {
          input_tokens: 3,
          input_tokens_details: { cached_tokens: 1, cache_write_tokens: 2 },
          output_tokens: 4,
          output_tokens_details: { reasoning_tokens: 2 },
          total_tokens: 7,
        },
      }),
    )
    const seal = { provider: 'openai', kind: 'encrypted', data: SEAL }
    const message = 'b1'
    expect(drive.events).toEqual([
      { type: 'turn-started', turn },
      { type: 'message-start', turn, message, role: 'assistant' },
      { type: 'reasoning-delta', turn, message, text: 'Let me' },
      { type: 'reasoning-delta', turn, message, text: ' see.' },
      { type: 'reasoning-delta', turn, message, text: '\n\n' },
      { type: 'reasoning-delta', turn, message, text: 'Well.' },
      { type: 'reasoning-end', turn, message, seal },
      { type: 'text-delta', turn, message, text: 'Hel' },
      { type: 'text-delta', turn, message, text: 'lo' },
      {
        type: 'message-end',
        turn,
        message,
        parts: [{ type: 'reasoning', text: 'Let me see.\n\nWell.', seal }, text('Hello')],
      },
      {
        type: 'usage',
        turn,
        scope: 'turn',
        usage: { input: 3, cacheRead: 1, cacheWrite: 2, output: 4, reasoning: 2, total: 7 },
      },
      { type: 'turn-end', turn, outcome: 'completed', stop: 'end' },
    ])
  })

  test('reports probabilities, which have no place, and annotations that are none', () => {
    const part = {
      type: 'output_text',
      text: 'Hi',
      annotations: [{ type: 'url_citation' }],
      logprobs: [{ token: 'Hi' }],
    }
    const drive = serve()
    say(drive, completed({ output: [{ ...MESSAGE, content: [part, { ...part, annotations: [], logprobs: [] }] }] }))
    expect(drive.losses.map(({ item, field }) => [item, field])).toEqual([
      ['citation', undefined],
      ['ext', 'logprobs'],
    ])
  })

  test('may come in one piece, or only with its end', () => {
    const output = [
      {
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'hm' }],
        content: [{ type: 'reasoning_text', text: 'x' }],
      },
      { ...MESSAGE, content: [{ type: 'output_text', text: 'Hi' }, { type: 'refusal', refusal: 'No' }, { type: 'x' }] },
    ]
    for (const event of [{ object: 'response', output }, completed({ output })]) {
      const drive = serve()
      say(drive, event)
      expect(textOf(drive)).toBe('HiNo')
      expect(eventsOf(drive, 'reasoning-delta')).toMatchObject([{ text: 'hm\n\nx' }])
      expect(eventsOf(drive, 'message-start')).toMatchObject([{}, { phase: 'refusal' }])
      expect(endOf(drive)).toMatchObject({ outcome: 'completed', stop: 'end' })
    }
  })

  test('has a message for each of its messages, with its phase; reasoning is with the text behind it', () => {
    const drive = serve()
    const commentary = { ...MESSAGE, phase: 'commentary' }
    say(
      drive,
      added(commentary),
      delta('output_text', 'I look.'),
      done({ ...commentary, content: [{ type: 'output_text', text: 'I look.' }] }),
      added({ type: 'reasoning', summary: [] }, 1),
      delta('reasoning_text', 'hm', 1),
      added({ ...MESSAGE, phase: 'final_answer' }, 2),
      delta('output_text', 'Done.', 2),
      delta('refusal', 'But no.', 3),
      delta('refusal', '', 3),
      completed(),
    )
    expect(eventsOf(drive, 'message-start').map((event) => ('phase' in event ? event.phase : undefined))).toEqual([
      'commentary',
      undefined,
      'refusal',
    ])
    expect(eventsOf(drive, 'reasoning-delta')[0]!.message).toBe(eventsOf(drive, 'text-delta')[1]!.message)
  })

  test('has events whose content comes again, which are not read wherever their type stands', () => {
    const drive = serve()
    const part = { item_id: 'msg_1', output_index: 0, content_index: 0, part: { type: 'output_text', text: 'no' } }
    say(drive, { type: 'response.created', response: 1 }, { ...part, type: 'response.content_part.done' })
    say(drive, delta('output_text', 'hi'), { type: 'response.output_text.done', text: 'no' }, completed())
    expect(textOf(drive)).toBe('hi')
    expect(endOf(drive)).toMatchObject({ outcome: 'completed' })
    expect(eventsOf(drive, 'foreign')).toEqual([])
  })

  test('is read the same whether its events are written alike or not', () => {
    const pieces = [
      ...['hm', ' "so"', '\n'].map((text) => ['reasoning_text', text] as const),
      ...['One', ' two', ' \\ three'].map((text) => ['output_text', text] as const),
      ...['{"a"', ':', '1}'].map((text) => ['function_call_arguments', text] as const),
    ]
    const places = { reasoning_text: 0, output_text: 1, function_call_arguments: 2 }
    const [alike, unlike] = [{}, { x: 1 }].map((more) => {
      const drive = serve()
      say(drive, added({ type: 'reasoning' }), added(MESSAGE, 1), added(callOf('a', ''), 2))
      for (const [at, [type, text]] of pieces.entries()) {
        const own = 'x' in more ? { [`x${at}`]: at } : {}
        say(drive, delta(type, text, places[type], { ...own, sequence_number: at, obfuscation: 'x'.repeat(at) }))
      }
      say(drive, completed())
      return drive.events
    })
    expect(alike).toEqual(unlike)
    expect(alike!.flatMap((event) => ('text' in event ? event.text : []))).toEqual(pieces.map(([, text]) => text))
  })

  test.each([
    ['max_output_tokens', 'max-tokens'],
    ['content_filter', 'content-filter'],
    ['max_tool_calls', 'max-turns'],
    [undefined, 'max-tokens'],
  ])('that is incomplete for %s stops so', (reason, stop) => {
    const drive = serve()
    const incomplete_details = reason === undefined ? null : { reason }
    say(drive, delta('output_text', 'a'), { type: 'response.incomplete', response: { incomplete_details } })
    expect(endOf(drive)).toMatchObject({ outcome: 'completed', stop })
  })

  test.each([
    [
      'fails',
      { type: 'response.failed', response: { error: { code: 'rate_limit_exceeded', message: 'slow' } } },
      'provider-rate-limit',
    ],
    ['fails without a word', { type: 'response.failed' }, 'provider-error'],
    ['has an error event', { type: 'error', code: 'server_error', message: 'boom' }, 'provider-down'],
    [
      'has an error object',
      { type: 'error', error: { code: 'insufficient_quota', message: 'quota' } },
      'provider-rate-limit',
    ],
    ['has an error of no type', { error: { message: 'overloaded' } }, 'provider-down'],
    ['is no event', { error: null }, 'protocol-violation'],
    ['is none', [], 'protocol-violation'],
    ['is cancelled', { type: 'response.cancelled' }, 'cancelled'],
    ['has an event that is none', { type: 'response.output_text.delta', delta: 7 }, 'protocol-violation'],
    ['is a body that is none', { object: 'response', output: 7 }, 'protocol-violation'],
  ])('that %s fails the turn', (_, event, code) => {
    const drive = serve()
    say(drive, event as object)
    expect(endOf(drive)?.fault).toMatchObject({ code })
  })

  test('that was cut fails the turn, with [DONE] and without', () => {
    for (const last of ['[DONE]', undefined]) {
      const drive = serve()
      say(drive, delta('output_text', 'half'))
      if (last) drive.feed({ data: last })
      else drive.link.decodeEnd({ why: 'closed', call: '1' })
      expect(endOf(drive)).toMatchObject({ outcome: 'failed', fault: { code: 'provider-down' } })
    }
  })

  test('with a failing status is refused by it', () => {
    const drive = serve()
    drive.link.decodeHead!({ call: '1', status: 401, headers: {} })
    drive.feed({ data: json({ error: { message: 'who?' } }), call: '1' })
    expect(endOf(drive)?.fault).toMatchObject({ code: 'provider-auth' })
  })

  test('tells of tools that the server ran, and passes on what it does not know', () => {
    const drive = serve()
    const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' }
    const own = { type: 'mcp_call', id: 'mcp_1', name: 'roll', arguments: '{"d":6}', server_label: 'dice' }
    const unknown = { type: 'response.program.delta', a: 1 }
    const item = { type: 'compaction', id: 'cmp_1', encrypted_content: 'x' }
    say(
      drive,
      added({ ...search, status: 'in_progress' }),
      { type: 'response.web_search_call.searching', output_index: 0 },
      done({ ...search, action: { type: 'search', query: 'x' } }),
      done({ ...own, output: '4' }, 1),
      done({ ...own, id: undefined, output: null, error: { type: 'x' }, name: 7 }, 2),
      done({ ...own, id: 'mcp_3', output: { a: 1 }, status: 'failed' }, 3),
      added(item, 4),
      done(item, 4),
      unknown,
      completed(),
    )
    expect(eventsOf(drive, 'tool-start')).toMatchObject([
      { tool: 'ws_1', name: 'web_search', executor: 'provider' },
      { tool: 'mcp_1', name: 'roll' },
      { tool: 'b1', name: 'mcp' },
      { tool: 'mcp_3', name: 'roll' },
    ])
    expect(eventsOf(drive, 'tool-call').map(({ args }) => args)).toEqual([
      '{"type":"search","query":"x"}',
      '{"d":6}',
      '{"d":6}',
      '{"d":6}',
    ])
    expect(eventsOf(drive, 'tool-end')).toMatchObject([
      { status: 'ok', parts: [] },
      { status: 'ok', parts: [text('4')] },
      { status: 'error', parts: [] },
      { status: 'error', parts: [{ type: 'data', json: '{"a":1}' }] },
    ])
    expect(eventsOf(drive, 'foreign')).toEqual([
      { type: 'foreign', turn, protocol: 'openai', frame: json(item) },
      { type: 'foreign', turn, protocol: 'openai', frame: json(unknown) },
    ])
  })

  test('may have items that say nothing', () => {
    const drive = serve()
    say(drive, done(MESSAGE), done({ type: 'reasoning' }, 1), done({ type: 'web_search_call' }, 2))
    say(drive, done({ type: 'reasoning', summary: [{}] }, 3), done({ type: 'function_call' }, 4), completed())
    expect(textOf(drive)).toBe('')
    expect(eventsOf(drive, 'tool-call')).toMatchObject([
      { name: 'web_search', args: '{}' },
      { name: '', args: '' },
    ])
    const none = { type: 'reasoning-end', turn, message: 'b1' }
    expect(eventsOf(drive, 'reasoning-end')).toEqual([none, none])
  })

  test('of a server that knows no items is passed on', () => {
    const drive = serve()
    say(
      drive,
      { type: 'response.output_item.added' },
      { type: 'response.output_item.done' },
      { type: 'response.completed' },
    )
    expect(drive.events.map(({ type }) => type)).toEqual(['turn-started', 'turn-end'])
    say(serve(), { type: 'response.incomplete' })
  })
})

describe('calls of tools', () => {
  test('of the client are asked for; the next request has the items as they came, and the results', () => {
    const drive = serve({
      clientTools: [{ name: 'ls' }, { name: 'patch', kind: 'custom' }, { name: 'read', namespace: 'fs' }],
    })
    const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: SEAL, status: null }
    const items = [
      thought,
      callOf('c1', '{"a":1}'),
      { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c2', name: 'patch', input: '*** x' },
      callOf('c3', '', { name: 'read', namespace: 'fs' }),
    ]
    say(
      drive,
      done({ type: 'reasoning', id: 'rs_0', summary: [], encrypted_content: null }, 7),
      done({ type: 'reasoning', id: 'rs_9', summary: [] }, 8),
      added(callOf('c1', ''), 1),
      delta('function_call_arguments', '{"a"', 1),
      delta('function_call_arguments', ':1}', 1),
      delta('function_call_arguments', 'nobody’s', 9),
      done(items[1]!, 1),
      done(thought, 0),
      added({ ...items[2], input: '' }, 2),
      delta('custom_tool_call_input', '*** x', 2),
      done(items[2]!, 2),
      done(items[3]!, 3),
      completed({ usage: { input_tokens: 1, output_tokens: 1 } }),
    )
    expect(eventsOf(drive, 'tool-call')).toMatchObject([
      { tool: 'c1', name: 'ls', args: '{"a":1}', executor: 'client' },
      { tool: 'c2', name: 'patch', args: '*** x', executor: 'client' },
      { tool: 'c3', name: 'fs__read', args: '', executor: 'client' },
    ])
    expect(eventsOf(drive, 'message-end').at(-1)?.parts).toContainEqual({
      type: 'tool-call',
      tool: 'c1',
      name: 'ls',
      args: '{"a":1}',
    })
    const reply = (ask: string, status: 'ok' | 'error', parts: Part[]) =>
      drive.link.encode({
        exchange: 'x',
        type: 'ask-reply',
        target: 'running',
        ask,
        reply: { kind: 'tool', status, parts },
      })
    reply('c2', 'ok', [text('a'), text('b')])
    reply('c1', 'error', [])
    reply('c3', 'ok', [])
    expect(requestOf(drive)['input']).toEqual([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
      ...items,
      { type: 'function_call_output', call_id: 'c1', output: 'The tool call ended with the status: error.' },
      {
        type: 'custom_tool_call_output',
        call_id: 'c2',
        output: [
          { type: 'input_text', text: 'a' },
          { type: 'input_text', text: 'b' },
        ],
      },
      { type: 'function_call_output', call_id: 'c3', output: '' },
    ])
    say(drive, done(messageOf('Done.')), completed())
    expect(endOf(drive)).toMatchObject({ outcome: 'completed' })
  })

  test('that nobody has declared, or that have no name, get an error as their result', () => {
    const drive = serve()
    say(drive, done({ type: 'function_call', arguments: '{}' }), completed())
    expect(eventsOf(drive, 'tool-end')).toMatchObject([
      { tool: 'call_b1', status: 'error', parts: [text('There is no tool "".')] },
    ])
    expect(drive.calls).toHaveLength(2)
  })

  test('of the history keep their kind, and what declared tools say of them', () => {
    const call = (name: string): Message => ({
      role: 'assistant',
      parts: [{ type: 'tool-call', tool: `c-${name}`, name, args: 'x' }],
    })
    const drive = serve({
      clientTools: [
        { name: 'patch', kind: 'custom' },
        { name: 'read', namespace: 'fs' },
      ],
      history: [call('patch'), call('fs__read')],
    })
    expect(requestOf(drive)['input']).toMatchObject([
      { type: 'custom_tool_call', name: 'patch', input: 'x' },
      { type: 'custom_tool_call_output', call_id: 'c-patch' },
      { type: 'function_call', name: 'read', namespace: 'fs', arguments: 'x' },
      { type: 'function_call_output', call_id: 'c-fs__read' },
      {},
    ])
  })
})

test('usage that counts nothing, or is none, is none', () => {
  for (const usage of [{ input_tokens: 0, output_tokens: 0, total_tokens: 0 }, null, undefined]) {
    const drive = serve()
    say(drive, completed({ usage }))
    expect(eventsOf(drive, 'usage')).toEqual([])
  }
})

test('what the user adds goes with the next request', () => {
  const drive = serve()
  drive.link.encode({ exchange: 'x', type: 'turn-steer', target: 'running', input: [text('more')] })
  say(drive, done(messageOf('Hi')), completed())
  expect(requestOf(drive)['input']).toMatchObject([{}, { role: 'assistant' }, { content: [{ text: 'more' }] }])
})

test('reasoning of another provider that came through a client of this API is that provider’s again', () => {
  const drive = serve()
  say(
    drive,
    done({ type: 'reasoning', summary: [], encrypted_content: 'turnpike:anthropic:redacted:a:b\nc' }),
    completed(),
  )
  expect(eventsOf(drive, 'reasoning-end')).toMatchObject([
    { seal: { provider: 'anthropic', kind: 'redacted', data: 'a:b\nc' } },
  ])
})

test('its model is the configured one, and the conversation is with each request', () => {
  const { back } = codec.dialects['responses']!
  const context = { options: { model: 'm' }, agent: 'a', env: {}, folder: '/' }
  expect([back!.configuredModel!(context), back!.memory(context)]).toEqual(['m', 'request'])
  expect(
    requestOf(
      (() => {
        const d = driveBack(codec, { dialect: 'responses' })
        d.start('x')
        return d
      })(),
    ),
  ).toMatchObject({ model: 'default' })
})
