import { describe, expect, test } from 'vitest'
import type { AgentEvent } from '../../../src/model/index.ts'
import { type Claude, running, streamed } from './kit.ts'

const words = (agent: Claude): unknown[] => agent.events.slice(3).map(({ turn: _, ...event }: AgentEvent) => event)
const assistant = (agent: Claude, content: object[], more: object = {}): void =>
  agent.line({ type: 'assistant', message: { id: 'm', content }, parent_tool_use_id: null, ...more })
const user = (agent: Claude, content: unknown, more: object = {}): void =>
  agent.line({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, ...more })
const bash = { type: 'tool_use', id: 'c1', name: 'Bash', input: { command: 'ls' } }

describe('messages', () => {
  test('stream; the lines that repeat them are no news', () => {
    const agent = running()
    agent.stream({ type: 'message_start', message: { id: 'm' } })
    agent.stream({ type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } })
    agent.stream({ type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: '' } })
    agent.stream({ type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } })
    agent.stream({ type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'AA' } })
    assistant(agent, [{ type: 'thinking', thinking: 'Hm.', signature: 'AA' }])
    agent.stream({ type: 'content_block_stop', index: 0 })
    agent.stream({ type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } })
    agent.stream({ type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hello' } })
    agent.stream({ type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: '' } })
    assistant(agent, [{ type: 'text', text: 'Hello' }])
    agent.stream({ type: 'content_block_stop', index: 1 })
    agent.stream({
      type: 'message_delta',
      delta: {},
      usage: { input_tokens: 5, cache_read_input_tokens: 3, output_tokens: 2 },
    })
    agent.stream({ type: 'message_delta', delta: {}, usage: { input_tokens: 'x' } })
    expect(agent.losses).toMatchObject([{ item: 'usage.input' }])
    agent.stream({ type: 'message_stop' })
    expect(words(agent)).toEqual([
      { type: 'message-start', message: 'b2', role: 'assistant' },
      { type: 'reasoning-delta', message: 'b2', text: 'Hm.' },
      { type: 'reasoning-end', message: 'b2', seal: { provider: 'anthropic', data: 'AA' } },
      { type: 'text-delta', message: 'b2', text: 'Hello' },
      { type: 'usage', scope: 'call', usage: { input: 8, output: 2, cacheRead: 3 } },
      { type: 'message-end', message: 'b2' },
    ])
  })

  test('may come whole', () => {
    const agent = running()
    assistant(agent, [{ type: 'thinking', thinking: 'Hm.' }, { type: 'text', text: 'Hello' }, bash])
    expect(words(agent)).toEqual([
      { type: 'message-start', message: 'b2', role: 'assistant' },
      { type: 'reasoning-delta', message: 'b2', text: 'Hm.' },
      { type: 'reasoning-end', message: 'b2' },
      { type: 'text-delta', message: 'b2', text: 'Hello' },
      { type: 'message-end', message: 'b2' },
      { type: 'tool-start', tool: 'c1', name: 'Bash', kind: 'execute', executor: 'agent' },
      { type: 'tool-call', tool: 'c1', name: 'Bash', args: '{"command":"ls"}', executor: 'agent' },
    ])
  })

  test('of sub-agents are lanes', () => {
    const agent = running()
    assistant(agent, [{ type: 'text', text: 'inner' }], { parent_tool_use_id: 'c1' })
    agent.stream(
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'more' } },
      { parent_tool_use_id: 'c1' },
    )
    agent.result({ result: 'outer' })
    expect(words(agent).map((event) => [(event as { type: string }).type, (event as { lane?: string }).lane])).toEqual([
      ['message-start', 'c1'],
      ['text-delta', 'c1'],
      ['message-end', 'c1'],
      ['message-start', 'c1'],
      ['text-delta', 'c1'],
      ['message-start', undefined],
      ['text-delta', undefined],
      ['message-end', 'c1'],
      ['message-end', undefined],
      ['turn-end', undefined],
    ])
  })

  test('that the CLI puts into the conversation are messages of the user; replays are not', () => {
    const agent = running()
    user(agent, 'A summary.')
    user(agent, [{ type: 'text', text: '[Request interrupted]' }, { type: 'image' }])
    user(agent, 'again', { isReplay: true })
    expect(agent.of('message-end').map(({ parts }) => parts)).toEqual([
      [{ type: 'text', text: 'A summary.' }],
      [{ type: 'text', text: '[Request interrupted]' }],
    ])
    expect(agent.losses).toMatchObject([{ kind: 'unparsed', item: 'message-end', field: 'image' }])
  })

  test('an answer that only the result holds is shown; none at all is told, but not of a compaction', () => {
    const whole = running()
    whole.result({ result: 'Hello' })
    expect(whole.of('text-delta')).toMatchObject([{ text: 'Hello' }])
    const none = running()
    none.result()
    expect(none.of('notice')).toMatchObject([{ code: 'empty-answer' }])
    const compact = running({ task: 'compact' })
    compact.system('compact_boundary')
    compact.result({ result: '' })
    expect(compact.of('notice')).toMatchObject([{ code: 'compacted' }])
  })
})

describe('tools', () => {
  test('stream their arguments; the whole call follows once', () => {
    const agent = running()
    agent.stream({ type: 'message_start', message: { id: 'm' } })
    agent.stream({ type: 'content_block_start', index: 0, content_block: { ...bash, input: {} } })
    for (const partial_json of ['{"command":', '', '"ls"}']) {
      agent.stream({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json } })
    }
    assistant(agent, [bash])
    agent.stream({ type: 'content_block_stop', index: 0 })
    agent.stream({ type: 'message_stop' })
    user(agent, [{ type: 'tool_result', tool_use_id: 'c1', content: 'a.txt' }])
    expect(words(agent)).toEqual([
      { type: 'tool-start', tool: 'c1', name: 'Bash', kind: 'execute', executor: 'agent' },
      { type: 'tool-args-delta', tool: 'c1', text: '{"command":' },
      { type: 'tool-args-delta', tool: 'c1', text: '"ls"}' },
      { type: 'tool-call', tool: 'c1', name: 'Bash', args: '{"command":"ls"}', executor: 'agent' },
      { type: 'tool-end', tool: 'c1', status: 'ok', parts: [{ type: 'text', text: 'a.txt' }] },
    ])
  })

  test('whose whole call never comes are called with what has streamed', () => {
    const agent = running()
    streamed(agent, 'm', [
      {
        block: { type: 'tool_use', id: 'c1', name: 'Mine' },
        deltas: [{ type: 'input_json_delta', partial_json: '{"a":1}' }],
      },
      { block: { type: 'tool_use', id: 'c2', name: 'Other' }, deltas: [] },
    ])
    expect(agent.of('tool-call')).toMatchObject([
      { tool: 'c1', name: 'Mine', args: '{"a":1}' },
      { tool: 'c2', name: 'Other', args: '{}' },
    ])
  })

  test.each([
    ['text', [{ type: 'text', text: 'text' }]],
    ['', []],
    [undefined, []],
    [
      [{ type: 'text', text: 'a' }, { type: 'image', source: {} }, 7],
      [
        { type: 'text', text: 'a' },
        { type: 'data', json: '{"type":"image","source":{}}' },
        { type: 'data', json: '7' },
      ],
    ],
  ])('the result %j has the parts %j', (content, parts) => {
    const agent = running()
    assistant(agent, [bash])
    user(agent, [{ type: 'tool_result', tool_use_id: 'c1', content }])
    expect(agent.of('tool-end')).toMatchObject([{ status: 'ok', parts }])
  })

  test('fail, or are cancelled with their turn', () => {
    const agent = running()
    assistant(agent, [bash, { ...bash, id: 'c2', input: undefined }])
    user(agent, [{ type: 'tool_result', tool_use_id: 'c1', content: 'no', is_error: true }])
    agent.link.encode({ type: 'turn-cancel', exchange: 'x2', target: 'running' })
    user(agent, [{ type: 'tool_result', tool_use_id: 'c2', content: 'no', is_error: true }])
    expect(agent.of('tool-end').map(({ status }) => status)).toEqual(['error', 'cancelled'])
    user(agent, [{ type: 'tool_result', tool_use_id: 'none', content: 'x' }])
    expect(agent.of('foreign')).toHaveLength(1)
  })

  test('of the provider come with their result', () => {
    const agent = running()
    assistant(agent, [
      { type: 'server_tool_use', id: 'w1', name: 'web_search', input: { query: 'q' } },
      { type: 'web_search_tool_result', tool_use_id: 'w1', content: [{ url: 'u' }] },
      { type: 'web_search_tool_result', tool_use_id: 'w2' },
      { type: 'odd' },
    ])
    expect(agent.of('tool-call')).toMatchObject([{ name: 'web_search', executor: 'provider' }])
    expect(agent.of('tool-end')).toMatchObject([{ tool: 'w1', parts: [{ type: 'data', json: '[{"url":"u"}]' }] }])
    expect(agent.of('foreign')).toHaveLength(1)
  })
})

describe('a model call that failed', () => {
  test('takes back what came of it, and is told', () => {
    const agent = running()
    agent.stream({ type: 'message_start', message: { id: 'm' } })
    agent.stream({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'half' } })
    agent.stream({ type: 'message_stop' }, { abandoned_blocks: { from_block_index: 0 } })
    agent.system('api_retry', { attempt: 1, max_retries: 3, error_status: 529, error: 'overloaded' })
    agent.stream({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'again' } })
    agent.system('api_retry', { attempt: 2, max_retries: 3 })
    assistant(agent, [{ type: 'text', text: 'API Error' }], { is_api_error_message: true })
    agent.result({ is_error: true, result: 'API Error: 529', api_error_status: 529, terminal_reason: 'api_error' })
    expect(words(agent)).toEqual([
      { type: 'message-start', message: 'b2', role: 'assistant' },
      { type: 'text-delta', message: 'b2', text: 'half' },
      { type: 'message-retract', message: 'b2', keepText: false },
      { type: 'message-end', message: 'b2' },
      {
        type: 'notice',
        severity: 'warning',
        code: 'retrying',
        text: 'The model call failed (overloaded, HTTP 529); try 1 of 3 follows.',
      },
      { type: 'message-start', message: 'b3', role: 'assistant' },
      { type: 'text-delta', message: 'b3', text: 'again' },
      { type: 'message-retract', message: 'b3', keepText: false },
      { type: 'message-end', message: 'b3' },
      {
        type: 'notice',
        severity: 'warning',
        code: 'retrying',
        text: 'The model call failed (unknown); try 2 of 3 follows.',
      },
      {
        type: 'turn-end',
        outcome: 'failed',
        stop: 'error',
        fault: { code: 'provider-down', message: 'API Error: 529', retryable: true },
      },
    ])
  })

  test('of a sub-agent is its answer', () => {
    const agent = running()
    const more = { is_api_error_message: true, parent_tool_use_id: 'c1' }
    assistant(agent, [{ type: 'text', text: 'API Error' }], more)
    expect(agent.of('text-delta')).toMatchObject([{ lane: 'c1', text: 'API Error' }])
  })
})

describe('the end', () => {
  test.each([
    [{ stop_reason: 'end_turn' }, 'completed', 'end', undefined],
    [{ stop_reason: 'max_tokens' }, 'completed', 'max-tokens', undefined],
    [{ stop_reason: 'refusal' }, 'completed', 'refusal', undefined],
    [{ is_error: undefined }, 'completed', 'end', undefined],
    [{ is_error: true, result: 'API Error: 400 bad', api_error_status: 400 }, 'failed', 'error', 'provider-error'],
    [{ is_error: true, result: 'Not logged in' }, 'failed', 'error', 'provider-auth'],
    [{ is_error: true, result: 'odd', terminal_reason: 'api_error' }, 'failed', 'error', 'provider-error'],
    [{ is_error: true, result: 'odd', api_error_status: null }, 'failed', 'error', 'internal'],
    [{ subtype: 'error_during_execution', errors: ['a', 'b'] }, 'failed', 'error', 'internal'],
    [{ subtype: 'error_max_turns' }, 'failed', 'max-turns', 'internal'],
    [{ subtype: 'error_max_budget_usd' }, 'failed', 'max-budget', 'internal'],
    [{ subtype: 'error_max_structured_output_retries' }, 'failed', 'error', 'internal'],
    [{ subtype: 'error_during_execution', terminal_reason: 'aborted_tools' }, 'cancelled', 'aborted', undefined],
  ])('the result %j is %s, %s', (result, outcome, stop, code) => {
    const agent = running()
    agent.result({ result: 'Hello', ...result })
    const [end] = agent.of('turn-end')
    expect([end!.outcome, end!.stop, end!.fault?.code]).toEqual([outcome, stop, code])
  })

  test('without a reason says so', () => {
    const agent = running()
    agent.result({ is_error: true })
    expect(agent.of('turn-end')).toMatchObject([{ fault: { message: 'The agent gave no reason.' } }])
  })

  test('that cannot be read fails the turn', () => {
    const agent = running()
    agent.line({ type: 'result', subtype: 7 })
    expect(agent.losses).toMatchObject([{ kind: 'unparsed', item: 'turn-end' }])
    expect(agent.of('turn-end')).toMatchObject([{ fault: { code: 'protocol-violation' } }])
  })

  test('has the tokens of the turn, also those of sub-agents, and the cost', () => {
    const agent = running()
    const opus = { inputTokens: 10, outputTokens: 6, cacheReadInputTokens: 4, cacheCreationInputTokens: 0 }
    agent.result({ total_cost_usd: 0.5, modelUsage: { opus, haiku: { inputTokens: 1, outputTokens: 1 }, odd: 7 } })
    expect(agent.of('usage')).toMatchObject([
      { scope: 'turn', usage: { input: 15, output: 7, cacheRead: 4, cacheWrite: 0, costUsd: 0.5 } },
    ])
    agent.start('again', { turn: 't2' })
    agent.result({ total_cost_usd: 0.75, modelUsage: { opus: { ...opus, inputTokens: 30, outputTokens: 16 } } })
    expect(agent.of('usage').at(-1)!.usage).toEqual({
      input: 19,
      output: 9,
      cacheRead: 0,
      cacheWrite: 0,
      costUsd: 0.25,
    })
    agent.start('next', { turn: 't3' })
    agent.result({
      total_cost_usd: 9,
      modelUsage: { opus: { ...opus, inputTokens: 900 } },
      model_usage_since_last_result: { opus: { ...opus, costUSD: 0.125 } },
    })
    expect(agent.of('usage').at(-1)!.usage).toEqual({
      input: 14,
      output: 6,
      cacheRead: 4,
      cacheWrite: 0,
      costUsd: 0.125,
    })
    agent.start('last', { turn: 't4' })
    agent.result({ total_cost_usd: 'x', model_usage_since_last_result: {} })
    expect(agent.losses).toMatchObject([{ item: 'usage.costUsd' }])
    expect(agent.of('usage')).toHaveLength(3)
  })
})

describe('lines of another shape', () => {
  test.each([
    ['stream_event', { event: { type: 'message_start' } }, 'text-delta'],
    ['stream_event', {}, 'text-delta'],
    ['assistant', { message: {} }, 'message-end'],
    ['user', { message: {} }, 'tool-end'],
    ['system', { subtype: 'api_retry' }, 'notice'],
    ['control_request', {}, 'ask'],
  ])('%s %j is a loss of its item', (type, more, item) => {
    const agent = running()
    agent.line({ type, ...more })
    expect(agent.losses).toMatchObject([{ kind: 'unparsed', item }])
  })

  test.each([
    [{ type: 'ping' }],
    [{ type: 'content_block_delta', index: 4, delta: { type: 'input_json_delta', partial_json: '{' } }],
    [{ type: 'content_block_delta', index: 4, delta: { type: 'citations_delta' } }],
  ])('the event %j passes as it came', (event) => {
    const agent = running()
    agent.stream(event)
    expect(agent.of('foreign')).toHaveLength(1)
  })

  test('states that no turn needs are left out', () => {
    const agent = running()
    agent.system('status', { status: 'requesting' })
    agent.system('thinking_tokens')
    expect(words(agent)).toEqual([])
  })
})
