import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type AgentEvent, ERROR_CODES } from '../../../src/model/index.ts'
import { greeted, running } from './kit.ts'

const words = (events: readonly AgentEvent[]): unknown[] => events.slice(2).map(({ turn: _, ...event }) => event)

describe('messages', () => {
  test('stream, with their phase', () => {
    const agent = running()
    agent.item('started', { type: 'agentMessage', id: 'm', text: '', phase: 'commentary' })
    for (const delta of ['Hel', '', 'lo']) agent.note('item/agentMessage/delta', { itemId: 'm', delta })
    agent.item('completed', { type: 'agentMessage', id: 'm', text: 'Hello' })
    agent.item('completed', { type: 'agentMessage', id: 'n', text: 'Whole.', phase: 'final_answer' })
    agent.completed()
    expect(words(agent.events)).toEqual([
      { type: 'turn-started' },
      { type: 'message-start', message: 'b1', role: 'assistant', phase: 'commentary' },
      { type: 'text-delta', message: 'b1', text: 'Hel' },
      { type: 'text-delta', message: 'b1', text: 'lo' },
      { type: 'message-end', message: 'b1' },
      { type: 'message-start', message: 'b2', role: 'assistant', phase: 'final' },
      { type: 'message-end', message: 'b2', parts: [{ type: 'text', text: 'Whole.' }] },
      { type: 'turn-end', outcome: 'completed', stop: 'end' },
    ])
  })

  test('may be revised, and go on with reasoning before them', () => {
    const agent = running()
    agent.item('started', { type: 'reasoning', id: 'r', summary: [], content: [] })
    agent.note('item/reasoning/summaryPartAdded', { itemId: 'r', summaryIndex: 0 })
    agent.note('item/reasoning/summaryTextDelta', { itemId: 'r', delta: 'One.' })
    agent.note('item/reasoning/summaryPartAdded', { itemId: 'r', summaryIndex: 1 })
    agent.note('item/reasoning/textDelta', { itemId: 'r', delta: 'Two.' })
    agent.item('completed', { type: 'reasoning', id: 'r', summary: ['One.', 'Two.'], content: [] })
    agent.note('item/agentMessage/delta', { itemId: 'm', delta: 'Hel' })
    agent.item('completed', { type: 'agentMessage', id: 'm', text: 'Hello' })
    expect(words(agent.events)).toEqual([
      { type: 'turn-started' },
      { type: 'message-start', message: 'b1', role: 'assistant' },
      { type: 'reasoning-delta', message: 'b1', text: 'One.' },
      { type: 'reasoning-delta', message: 'b1', text: '\n\n' },
      { type: 'reasoning-delta', message: 'b1', text: 'Two.' },
      { type: 'reasoning-end', message: 'b1' },
      { type: 'text-delta', message: 'b1', text: 'Hel' },
      { type: 'message-end', message: 'b1', parts: [{ type: 'text', text: 'Hello' }], revised: true },
    ])
  })

  test('reasoning may come whole; text of a plan is text', () => {
    const agent = running()
    agent.item('completed', { type: 'reasoning', id: 'r', summary: ['A'], content: ['B', 3] })
    agent.item('completed', { type: 'reasoning', id: 'q' })
    agent.note('item/reasoning/textDelta', { itemId: 's', delta: 'C' })
    agent.item('completed', { type: 'agentMessage', id: 'e' })
    agent.note('item/plan/delta', { itemId: 'p', delta: 'First this.' })
    agent.item('completed', { type: 'plan', id: 'p', text: 'First this.' })
    expect(words(agent.events).slice(2)).toEqual([
      { type: 'reasoning-delta', message: 'b1', text: 'A\n\nB' },
      { type: 'reasoning-end', message: 'b1' },
      { type: 'reasoning-end', message: 'b1' },
      { type: 'reasoning-delta', message: 'b1', text: 'C' },
      { type: 'message-end', message: 'b1' },
      { type: 'message-start', message: 'b2', role: 'assistant' },
      { type: 'text-delta', message: 'b2', text: 'First this.' },
      { type: 'message-end', message: 'b2' },
    ])
  })

  test('an answer that only the end holds is shown; none at all is told', () => {
    const whole = running()
    whole.completed({ items: [{ type: 'reasoning' }, { type: 'agentMessage', text: 'Hello' }] })
    expect(whole.of('text-delta')).toMatchObject([{ text: 'Hello' }])
    const none = running()
    none.completed()
    expect(none.of('notice')).toMatchObject([{ code: 'empty-answer' }])
    const compact = greeted()
    compact.start('', { task: 'compact' })
    compact.answer('thread/start', { thread: { id: 'th' } })
    expect(compact.call('thread/compact/start').params).toEqual({ threadId: 'th' })
    compact.answer('thread/compact/start', {})
    compact.note('turn/started', { turnId: undefined, turn: { id: 'u1' } })
    compact.item('started', { type: 'contextCompaction', id: 'k' })
    compact.item('completed', { type: 'contextCompaction', id: 'k' })
    compact.completed()
    expect(compact.of('notice')).toMatchObject([{ code: 'compacted' }])
    expect(compact.of('turn-end')).toMatchObject([{ outcome: 'completed' }])
  })
})

describe('tools', () => {
  const SHELL = { type: 'commandExecution', id: 'c', command: 'ls', cwd: '/w', aggregatedOutput: null }

  test('a command runs, with its output', () => {
    const agent = running()
    agent.item('started', { ...SHELL, status: 'inProgress' })
    agent.note('item/commandExecution/outputDelta', { itemId: 'c', delta: 'a\n' })
    agent.note('item/commandExecution/outputDelta', { itemId: 'c', delta: '' })
    agent.item('completed', { ...SHELL, status: 'completed', aggregatedOutput: 'a\n' })
    expect(words(agent.events).slice(1)).toEqual([
      { type: 'tool-start', tool: 'c', name: 'shell', kind: 'execute', title: 'ls', executor: 'agent' },
      { type: 'tool-call', tool: 'c', name: 'shell', args: '{"command":"ls","cwd":"/w"}', executor: 'agent' },
      { type: 'tool-progress', tool: 'c', parts: [{ type: 'text', text: 'a\n' }] },
      { type: 'tool-end', tool: 'c', status: 'ok', parts: [{ type: 'text', text: 'a\n' }] },
    ])
    agent.note('item/commandExecution/outputDelta', { itemId: 'c', delta: 'late' })
    expect(agent.events.at(-1)).toMatchObject({ type: 'foreign' })
  })

  test.each([
    ['completed', 'ok'],
    ['declined', 'denied'],
    ['interrupted', 'cancelled'],
    ['failed', 'error'],
    [undefined, 'error'],
  ])('the status %s is %s', (status, expected) => {
    const agent = running()
    agent.item('completed', { ...SHELL, status })
    expect(agent.of('tool-end')).toMatchObject([{ status: expected }])
  })

  const add = { path: '/w/a', kind: { type: 'add' }, diff: 'new\n' }
  const change = { path: '/w/b', kind: { type: 'update' }, diff: '@@ -1 +1 @@' }
  test.each([
    [
      { type: 'fileChange', changes: [add, change], status: 'completed' },
      { name: 'apply_patch', args: JSON.stringify({ changes: [add, change] }) },
      [
        { type: 'diff', path: '/w/a', before: null, after: 'new\n' },
        { type: 'text', text: '/w/b\n@@ -1 +1 @@' },
      ],
    ],
    [{ type: 'fileChange', status: 'completed' }, { name: 'apply_patch', args: '{}' }, []],
    [{ type: 'webSearch', query: 'q' }, { name: 'web_search', args: '{"query":"q"}' }, []],
    [{ type: 'imageView', path: '/w/a.png' }, { name: 'view_image', args: '{"path":"/w/a.png"}' }, []],
    [
      { type: 'imageGeneration', result: 'AAAA' },
      { name: 'image_generation', args: '{}' },
      [{ type: 'data', json: '"AAAA"' }],
    ],
    [
      {
        type: 'mcpToolCall',
        server: 's',
        tool: 't',
        arguments: { n: 1 },
        error: null,
        result: {
          content: [
            { type: 'text', text: 'found' },
            { type: 'image', data: 'AA' },
          ],
        },
      },
      { name: 'mcp__s__t', args: '{"n":1}' },
      [
        { type: 'text', text: 'found' },
        { type: 'data', json: '{"type":"image","data":"AA"}' },
      ],
    ],
    [
      { type: 'mcpToolCall', server: 's', tool: 't', error: { message: 'no' } },
      { name: 'mcp__s__t', args: '{}' },
      [{ type: 'data', json: '{"message":"no"}' }],
    ],
    [{ type: 'mcpToolCall', server: 's', tool: 't', error: null, result: null }, { name: 'mcp__s__t', args: '{}' }, []],
    [
      {
        type: 'dynamicToolCall',
        tool: 'weather',
        arguments: {},
        contentItems: [{ type: 'inputText', text: 'sun' }, 7],
      },
      { name: 'weather', args: '{}', executor: 'client' },
      [
        { type: 'text', text: 'sun' },
        { type: 'data', json: '7' },
      ],
    ],
    [{ type: 'imageGeneration' }, { name: 'image_generation', args: '{}' }, []],
    [{ type: 'dynamicToolCall', tool: 'weather' }, { name: 'weather', args: '{}' }, []],
    [
      { type: 'collabAgentToolCall', tool: 'spawnAgent', prompt: 'Go', model: null, agentsStates: { a: {} } },
      { name: 'spawnAgent', args: '{"prompt":"Go"}' },
      [{ type: 'data', json: '{"a":{}}' }],
    ],
  ])('an item %j is the call %j', (item, call, parts) => {
    const agent = running()
    agent.item('completed', { id: 'c', ...item })
    expect(agent.of('tool-call')).toMatchObject([call])
    expect(agent.of('tool-end').map((end) => end.parts)).toEqual([parts])
  })

  test('tell of their progress', () => {
    const agent = running()
    agent.item('started', { type: 'fileChange', id: 'f', changes: [] })
    agent.note('item/fileChange/patchUpdated', { itemId: 'f', changes: [change] })
    agent.note('item/fileChange/outputDelta', { itemId: 'f', delta: 'done' })
    agent.note('item/mcpToolCall/progress', { itemId: 'f', message: '50 %' })
    expect(agent.of('tool-progress').map(({ parts }) => parts)).toEqual([
      [{ type: 'text', text: '/w/b\n@@ -1 +1 @@' }],
      [{ type: 'text', text: 'done' }],
      [{ type: 'text', text: '50 %' }],
    ])
    agent.note('item/fileChange/patchUpdated', { itemId: 'g', changes: [change] })
    agent.note('item/mcpToolCall/progress', { itemId: 'g', message: '50 %' })
    expect(agent.of('foreign')).toHaveLength(2)
  })

  test('the same id twice is two calls', () => {
    const agent = running()
    for (let turn = 0; turn < 2; turn += 1) agent.item('completed', { ...SHELL, status: 'completed' })
    expect(agent.of('tool-end').map(({ tool }) => tool)).toEqual(['c', 'c#2'])
  })

  test('items that the model has no place for pass as they came; the prompt is not repeated', () => {
    const agent = running()
    for (const what of ['started', 'completed'] as const) {
      agent.item(what, { type: 'userMessage', id: 'x' })
      agent.item(what, { type: 'enteredReviewMode', id: 'y' })
    }
    expect(agent.of('foreign')).toHaveLength(2)
  })
})

describe('what else comes in a turn', () => {
  test('plans, notices and diffs', () => {
    const agent = running()
    agent.note('turn/plan/updated', {
      explanation: null,
      plan: [
        { step: 'one', status: 'completed' },
        { step: 'two', status: 'inProgress' },
      ],
    })
    agent.note('turn/diff/updated', { diff: 'old' })
    agent.note('turn/diff/updated', { diff: 'new' })
    agent.note('model/rerouted', { fromModel: 'a', toModel: 'b' })
    agent.note('thread/compacted')
    agent.feed('{"method":"configWarning","params":{"summary":"Bad key.","details":"Line 3."}}')
    agent.feed('{"method":"deprecationNotice","params":{"summary":"Old.","details":null}}')
    agent.completed()
    expect(agent.of('plan').map(({ json }) => JSON.parse(json))).toEqual([
      {
        entries: [
          { content: 'one', status: 'completed' },
          { content: 'two', status: 'in_progress' },
        ],
      },
    ])
    expect(agent.of('notice').map(({ code, text }) => [code, text])).toEqual([
      ['model-rerouted', 'The answer comes from the model b instead of a.'],
      ['config-warning', 'Bad key. Line 3.'],
      ['deprecation', 'Old.'],
      ['empty-answer', 'The agent ended the turn without any text.'],
    ])
    expect(agent.of('turn-end')).toMatchObject([{ ext: { protocol: 'codex', json: '{"diff":"new"}' } }])
  })

  test('a diff without its text is an empty one', () => {
    const agent = running()
    agent.note('turn/diff/updated')
    agent.completed()
    expect(agent.of('turn-end')).toMatchObject([{ ext: { json: '{"diff":""}' } }])
  })

  test('a retry is no end, and takes back what came of the answer', () => {
    const agent = running()
    const error = { message: 'Reconnecting... 1/5', additionalDetails: 'cut off' }
    agent.note('item/agentMessage/delta', { itemId: 'm', delta: 'half' })
    agent.note('error', { error, willRetry: true })
    agent.note('error', { error: { message: 'Reconnecting... 2/5' }, willRetry: true })
    agent.note('item/agentMessage/delta', { itemId: 'n', delta: 'whole' })
    agent.note('error', { error: { message: 'over' }, willRetry: false })
    agent.completed()
    expect(words(agent.events).slice(1)).toEqual([
      { type: 'message-start', message: 'b1', role: 'assistant' },
      { type: 'text-delta', message: 'b1', text: 'half' },
      { type: 'message-retract', message: 'b1', keepText: false },
      { type: 'message-end', message: 'b1' },
      { type: 'notice', severity: 'warning', code: 'retrying', text: 'Reconnecting... 1/5: cut off' },
      { type: 'notice', severity: 'warning', code: 'retrying', text: 'Reconnecting... 2/5' },
      { type: 'message-start', message: 'b2', role: 'assistant' },
      { type: 'text-delta', message: 'b2', text: 'whole' },
      { type: 'message-end', message: 'b2' },
      { type: 'turn-end', outcome: 'completed', stop: 'end' },
    ])
  })

  test.each([
    ['item/agentMessage/delta', {}, 'text-delta'],
    ['item/reasoning/summaryPartAdded', {}, 'reasoning-delta'],
    ['item/fileChange/patchUpdated', { itemId: 'f', changes: 3 }, 'tool-progress'],
    ['item/mcpToolCall/progress', { itemId: 'f' }, 'tool-progress'],
    ['item/started', {}, 'message-end'],
    ['turn/plan/updated', {}, 'plan'],
    ['thread/tokenUsage/updated', {}, 'usage'],
    ['error', {}, 'notice'],
    ['model/rerouted', {}, 'notice'],
  ])('%s of another shape is a loss of its item', (method, params, item) => {
    const agent = running()
    agent.note(method, params)
    expect(agent.losses).toMatchObject([{ kind: 'unparsed', item }])
  })

  test('a notice without a text passes as it came', () => {
    const agent = running()
    agent.note('warning', { message: 3 })
    expect(agent.events.at(-1)).toMatchObject({ type: 'foreign' })
  })
})

describe('usage', () => {
  const counts = (input: number, output: number): object => ({
    inputTokens: input,
    cachedInputTokens: 0,
    outputTokens: output,
    totalTokens: input + output,
  })

  test('is the growth of the thread: of each call, and of the turn', () => {
    const agent = running()
    agent.note('thread/tokenUsage/updated', { tokenUsage: { total: counts(10, 2), last: counts(10, 2) } })
    // The same again, with an estimate of the last call.
    agent.note('thread/tokenUsage/updated', { tokenUsage: { total: counts(10, 2), last: counts(7000, 0) } })
    agent.note('thread/tokenUsage/updated', { tokenUsage: { total: counts(25, 5), last: counts(15, 3) } })
    agent.completed()
    expect(agent.of('usage').map(({ scope, usage }) => [scope, usage])).toEqual([
      ['call', { input: 10, output: 2, cacheRead: 0, total: 12 }],
      ['call', { input: 15, output: 3, cacheRead: 0, total: 18 }],
      ['turn', { input: 25, output: 5, cacheRead: 0, total: 30 }],
    ])
    agent.start('again', { turn: 't2' })
    agent.answer('turn/start', { turn: { id: 'u2' } })
    agent.note('thread/tokenUsage/updated', { turnId: 'u2', tokenUsage: { total: counts(40, 9) } })
    agent.completed({ id: 'u2' })
    expect(agent.of('usage').at(-1)).toMatchObject({ turn: 't2', usage: { input: 15, output: 4, total: 19 } })
  })

  test('of a resumed thread counts from its first call; a sub-agent is not the turn', () => {
    const agent = greeted()
    agent.start('hi', { session: { id: 's1', bound: 'th' } })
    agent.answer('thread/resume', { thread: { id: 'th' } })
    agent.answer('turn/start', { turn: { id: 'u1' } })
    agent.note('thread/tokenUsage/updated', { tokenUsage: { total: counts(100, 20), last: counts(10, 2) } })
    agent.note('thread/tokenUsage/updated', { threadId: 'sub', tokenUsage: { total: counts(9, 9) } })
    agent.completed()
    expect(agent.of('usage').at(-1)).toMatchObject({ scope: 'turn', usage: { input: 10, output: 2 } })
  })

  test('that is no count is a loss', () => {
    const agent = running()
    agent.note('thread/tokenUsage/updated', { tokenUsage: { total: { inputTokens: -1, outputTokens: 3 } } })
    expect(agent.losses).toMatchObject([{ kind: 'dropped', item: 'usage.input', why: 'precision' }])
    expect(agent.of('usage')).toMatchObject([{ scope: 'call', usage: { output: 3 } }])
  })

  test('never is below zero', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 1 }), (pairs) => {
        const agent = running()
        for (const [input, output] of pairs) {
          agent.note('thread/tokenUsage/updated', { tokenUsage: { total: counts(input, output) } })
        }
        agent.completed()
        for (const { usage } of agent.of('usage'))
          for (const count of Object.values(usage)) expect(count >= 0).toBe(true)
      }),
    )
  })
})

describe('the end', () => {
  test.each([
    ['contextWindowExceeded', 'payload-too-large', 'context-window'],
    ['sessionBudgetExceeded', 'provider-rate-limit', 'max-budget'],
    ['usageLimitExceeded', 'provider-rate-limit', 'error'],
    ['serverOverloaded', 'provider-down', 'error'],
    ['unauthorized', 'provider-auth', 'error'],
    ['cyberPolicy', 'provider-error', 'content-filter'],
    ['sandboxError', 'internal', 'error'],
    ['other', 'provider-error', 'error'],
    ['toString', 'provider-error', 'error'],
    [null, 'provider-error', 'error'],
    [{}, 'provider-error', 'error'],
    [{ httpConnectionFailed: { httpStatusCode: 401 } }, 'provider-auth', 'error'],
    [{ responseStreamDisconnected: { httpStatusCode: null } }, 'provider-down', 'error'],
    [{ responseTooManyFailedAttempts: null }, 'provider-down', 'error'],
  ])('the error %j is %s', (codexErrorInfo, code, stop) => {
    const agent = running()
    agent.completed({ status: 'failed', error: { message: 'It failed.', codexErrorInfo } })
    expect(agent.of('turn-end')).toMatchObject([{ outcome: 'failed', stop, fault: { code, message: 'It failed.' } }])
    expect(ERROR_CODES).toContain(code)
  })

  test('an error without words, or a text that names its cause', () => {
    const silent = running()
    silent.completed({ status: 'failed' })
    expect(silent.of('turn-end')).toMatchObject([
      { fault: { code: 'provider-error', message: 'The agent gave no reason.' } },
    ])
    const spoken = running()
    spoken.completed({ status: 'failed', error: { message: 'HTTP 429: slow down', codexErrorInfo: 'other' } })
    expect(spoken.of('turn-end')).toMatchObject([{ fault: { code: 'provider-rate-limit' } }])
  })

  test('that cannot be read fails the turn', () => {
    const agent = running()
    agent.note('turn/completed', { turn: 3 })
    expect(agent.of('turn-end')).toMatchObject([{ fault: { code: 'protocol-violation' } }])
  })

  test('comes once', () => {
    const agent = running()
    agent.completed()
    agent.completed()
    agent.link.decodeEnd({ why: 'closed', exitCode: 0 })
    agent.link.decodeEnd({ why: 'closed', exitCode: 0 })
    expect(agent.of('turn-end')).toHaveLength(1)
  })

  test('of the process fails the turn that runs', () => {
    const agent = running()
    agent.link.decodeEnd({ why: 'closed', signal: 'SIGKILL' })
    expect(agent.of('turn-end')).toMatchObject([{ outcome: 'failed', fault: { code: 'agent-crashed' } }])
  })

  test('a refused prompt is an invalid request', () => {
    const agent = greeted()
    agent.start('hi')
    agent.answer('thread/start', { thread: { id: 'th' } })
    agent.refuse('turn/start', 'bad input')
    expect(agent.of('turn-end')).toMatchObject([
      { outcome: 'failed', fault: { code: 'invalid-request', message: 'bad input' } },
    ])
  })

  test('an answer without a turn leaves it to the messages that follow', () => {
    const agent = greeted()
    agent.start('hi')
    agent.answer('thread/start', { thread: { id: 'th' } })
    agent.answer('turn/start', {})
    agent.note('turn/started', { turn: { id: 'u1' } })
    agent.note('turn/started', { turn: { id: 'u1' } })
    agent.completed()
    expect(agent.of('turn-started')).toHaveLength(1)
    expect(agent.of('turn-end')).toMatchObject([{ outcome: 'completed' }])
  })
})

describe('sub-agents', () => {
  test('are lanes; their end is not that of the turn', () => {
    const agent = running()
    const sub = { threadId: 'sub', turnId: 'v1' }
    agent.note('turn/started', { ...sub, turn: { id: 'v1' } })
    agent.note('item/agentMessage/delta', { ...sub, itemId: 'm', delta: 'inner' })
    agent.note('item/agentMessage/delta', { itemId: 'm', delta: 'outer' })
    agent.note('turn/completed', { ...sub, turn: { id: 'v1', status: 'completed' } })
    agent.completed()
    expect(agent.events.slice(3).map((event) => [event.type, 'lane' in event ? event.lane : undefined])).toEqual([
      ['message-start', 'sub'],
      ['text-delta', 'sub'],
      ['message-start', undefined],
      ['text-delta', undefined],
      ['message-end', 'sub'],
      ['message-end', undefined],
      ['turn-end', undefined],
    ])
  })
})

describe('a turn that the agent begins itself', () => {
  test('is a notice without a turn, and the next turn waits for its end', () => {
    const agent = running()
    agent.completed()
    agent.note('turn/started', { turnId: undefined, turn: { id: 'own' } })
    agent.note('item/agentMessage/delta', { turnId: 'own', itemId: 'm', delta: 'The build is green.' })
    agent.start('again', { turn: 't2' })
    expect(agent.sentNow().filter(({ method }) => method === 'turn/start')).toHaveLength(1)
    agent.completed({ id: 'own' })
    expect(agent.events.at(-1)).toEqual({
      turn: null,
      type: 'notice',
      severity: 'info',
      code: 'unasked-output',
      text: 'The build is green.',
    })
    expect(agent.sentNow()).toMatchObject([{ method: 'turn/start' }])
    agent.answer('turn/start', { turn: { id: 'u2' } })
    agent.completed({ id: 'u2' })
    expect(agent.of('turn-end').map(({ turn }) => turn)).toEqual(['t1', 't2'])
  })

  test('is told apart from one of a client that runs', () => {
    const agent = running()
    agent.note('item/agentMessage/delta', { turnId: 'own', itemId: 'm', delta: 'By the way.' })
    agent.note('item/agentMessage/delta', { itemId: 'n', delta: 'Hello' })
    agent.completed()
    agent.completed({ id: 'own' })
    expect(agent.of('text-delta')).toMatchObject([{ text: 'Hello' }])
    expect(agent.events.at(-1)).toMatchObject({ turn: null, code: 'unasked-output', text: 'By the way.' })
  })

  test('what is said about no turn before the first one is no output', () => {
    const agent = greeted()
    agent.feed('{"method":"error","params":{"error":{"message":"x"},"willRetry":true}}')
    agent.feed('{"method":"turn/started","params":{}}')
    agent.feed('{"method":"item/started","params":[1]}')
    agent.feed('{"method":"turn/completed","params":{"threadId":"th","turn":{"id":"u0","status":"completed"}}}')
    expect(agent.events).toHaveLength(1)
  })
})
