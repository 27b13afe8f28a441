import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/codex/index.ts'
import { driveBack } from '../../kit/drive.ts'
import { codex, greeted, running } from './kit.ts'

describe('the start', () => {
  test('says hello, and asks for nothing that no turn needs', () => {
    const agent = codex()
    expect(agent.calls).toEqual([{ kind: 'process', args: ['app-server'], stdin: 'open' }])
    const [hello] = agent.sentNow()
    expect(hello).toMatchObject({ id: 1, method: 'initialize', params: { clientInfo: { name: 'turnpike' } } })
    expect(hello).not.toHaveProperty('jsonrpc')
    agent.answer('initialize', { userAgent: 'turnpike/0.171.0 (Linux)' })
    expect(agent.sentNow()).toEqual([{ method: 'initialized' }])
    expect(agent.events).toEqual([{ turn: null, type: 'agent-ready', version: '0.171.0' }])
  })

  test.each([
    [
      ['-c', 'model="m"'],
      ['-c', 'model="m"', 'app-server'],
    ],
    [
      ['app-server', '--x'],
      ['app-server', '--x'],
    ],
  ])('with the arguments %j', (args, used) => {
    const agent = codex({ process: { command: 'codex', args, env: {}, cwd: '/' } })
    expect(agent.calls).toEqual([{ kind: 'process', args: used, stdin: 'open' }])
    const half = codec.dialects['app-server']!.back!
    const process = { command: 'codex', args: ['--model', 'm'], env: {}, cwd: '/' }
    expect(half.configuredModel!({ options: {}, agent: 'a', env: {}, folder: '/', process })).toBe('m')
  })

  test('an agent without a name has no version', () => {
    const agent = codex()
    agent.answer('initialize', {})
    expect(agent.events).toEqual([{ turn: null, type: 'agent-ready' }])
  })

  test('a refused handshake breaks the wire, and fails the turn that waits', () => {
    const agent = codex()
    agent.start('hi')
    agent.refuse('initialize', 'too old')
    const reason = { code: 'agent-unavailable', message: 'The agent refused initialize: too old', retryable: false }
    expect(agent.faults).toEqual([reason])
    expect(agent.of('turn-end')).toMatchObject([{ outcome: 'failed', fault: reason }])
    agent.feed('{"method":"warning","params":{"message":"late"}}')
    agent.link.decodeEnd({ why: 'closed', exitCode: 1 })
    expect(agent.events).toHaveLength(1)
  })

  test('an end before the handshake says what to check', () => {
    const agent = codex()
    agent.start('hi')
    agent.link.decodeEnd({ why: 'closed', exitCode: 1 })
    expect(agent.of('turn-end')[0]!.fault).toMatchObject({
      code: 'agent-unavailable',
      message: expect.stringContaining('ended before it answered initialize'),
    })
  })
})

describe('a thread', () => {
  test('begins with instructions, model and tools of the client', () => {
    const agent = greeted()
    agent.sentNow()
    agent.start('hi', {
      options: { systemPrompt: 'Be nice.', model: 'm2' },
      clientTools: [
        { name: 'weather', description: 'w', schema: '{"type":"object","properties":{}}' },
        { name: 'find', namespace: 'web', ext: { protocol: 'openai', json: '{"group":{"description":"d"}}' } },
        { name: 'patch', kind: 'custom' },
      ],
    })
    expect(agent.sentNow()).toEqual([
      {
        id: 2,
        method: 'thread/start',
        params: {
          developerInstructions: 'Be nice.',
          model: 'm2',
          dynamicTools: [
            {
              type: 'function',
              name: 'weather',
              description: 'w',
              inputSchema: { type: 'object', properties: {} },
            },
            { type: 'function', name: 'web__find', description: '', inputSchema: { type: 'object' } },
          ],
        },
      },
    ])
    agent.answer('thread/start', { thread: { id: 'th' }, model: 'm2' })
    expect(agent.events.at(-1)).toEqual({ turn: null, type: 'session-bound', agentSession: 'th' })
    expect(agent.sentNow()).toEqual([
      {
        id: 3,
        method: 'turn/start',
        params: { threadId: 'th', input: [{ type: 'text', text: 'hi', text_elements: [] }] },
      },
    ])
    expect(agent.losses).toMatchObject([
      { item: 'start.clientTools', field: 'find', kind: 'weakened' },
      { item: 'start.clientTools', field: 'custom', kind: 'dropped' },
    ])
  })

  test('works in the folders of its client, with the MCP servers that it brings', () => {
    const agent = greeted({ process: { command: 'codex', env: {}, cwd: '/srv' } })
    agent.start('hi', {
      cwd: '/project',
      folders: ['/more'],
      mcpServers: [
        { name: 'a', type: 'stdio', command: ['serve', '--x'], env: { K: 'v' } },
        { name: 'b', type: 'http', url: 'https://b', headers: { k: 'v' } },
        { name: 'c', type: 'sse', url: 'https://c', headers: {} },
      ],
    })
    expect(agent.call('thread/start').params).toEqual({
      cwd: '/project',
      runtimeWorkspaceRoots: ['/project', '/more'],
      config: {
        mcp_servers: {
          a: { command: 'serve', args: ['--x'], env: { K: 'v' } },
          b: { url: 'https://b', http_headers: { k: 'v' } },
        },
      },
    })
    expect(agent.losses).toMatchObject([{ kind: 'dropped', item: 'start.mcpServers', field: 'sse' }])
    const other = greeted({ process: { command: 'codex', env: {}, cwd: '/srv' } })
    const sse = { name: 'c', type: 'sse', url: 'https://c', headers: {} } as const
    other.start('hi', { folders: ['/more'], mcpServers: [sse], session: { id: 's1', bound: 'old' } })
    expect(other.call('thread/resume').params).toEqual({
      threadId: 'old',
      excludeTurns: true,
      runtimeWorkspaceRoots: ['/srv', '/more'],
    })
    expect(other.losses).toMatchObject([{ item: 'start.mcpServers' }])
  })

  test('is given the conversation so far, as texts', () => {
    const agent = greeted()
    agent.start('hi', {
      history: [
        { role: 'system', parts: [{ type: 'text', text: 'Be nice.' }] },
        { role: 'user', parts: [{ type: 'text', text: 'Old question' }] },
        {
          role: 'assistant',
          parts: [
            { type: 'reasoning', text: 'Hm.' },
            { type: 'text', text: 'Old answer' },
          ],
        },
        { role: 'tool', parts: [{ type: 'text', text: 'Result' }] },
        { role: 'assistant', parts: [] },
      ],
    })
    agent.answer('thread/start', { thread: { id: 'th' } })
    expect(agent.call('thread/inject_items').params).toEqual({
      threadId: 'th',
      items: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be nice.' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Old question' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Old answer' }] },
      ],
    })
    expect(agent.losses).toMatchObject([
      { item: 'start.history', field: 'reasoning', kind: 'dropped' },
      { item: 'start.history', field: 'tool', kind: 'dropped' },
    ])
    agent.answer('thread/inject_items', {})
    expect(agent.call('turn/start').params).toMatchObject({ threadId: 'th' })
  })

  test('a refused history fails the turn', () => {
    const agent = greeted()
    agent.start('hi', { history: [{ role: 'user', parts: [{ type: 'text', text: 'Old' }] }] })
    agent.answer('thread/start', { thread: { id: 'th' } })
    agent.refuse('thread/inject_items', 'no', -32603)
    expect(agent.of('turn-end')).toMatchObject([{ outcome: 'failed', fault: { code: 'internal', message: 'no' } }])
  })

  test('is gone on with in the same process, with what it was set to', () => {
    const agent = running({ options: { systemPrompt: 'Be nice.' } })
    agent.completed()
    agent.start('again', {
      turn: 't2',
      session: { id: 's1', bound: 'th' },
      options: { systemPrompt: 'Be rude.', model: 'm2', effort: 'high', outputSchema: '{"type":"object"}' },
      clientTools: [{ name: 'late' }],
      history: [{ role: 'user', parts: [{ type: 'text', text: 'Old' }] }],
      ext: { protocol: 'codex', json: '{"serviceTier":"fast"}' },
    })
    expect(agent.call('turn/start').params).toEqual({
      threadId: 'th',
      input: [{ type: 'text', text: 'again', text_elements: [] }],
      outputSchema: { type: 'object' },
      model: 'm2',
      effort: 'high',
      serviceTier: 'fast',
    })
    expect(agent.losses).toMatchObject([
      { kind: 'dropped', item: 'start.history' },
      { kind: 'dropped', item: 'option.systemPrompt' },
      { kind: 'dropped', item: 'start.clientTools' },
    ])
    agent.answer('turn/start', { turn: { id: 'u2' } })
    agent.completed({ id: 'u2' })
    // The next turn has the agent's own settings again.
    agent.start('last', { turn: 't3', ext: { protocol: 'other', json: '{}' } })
    expect(agent.call('turn/start').params).toMatchObject({ model: 'm1', effort: 'low' })
    expect(agent.losses.at(-1)).toMatchObject({ item: 'ext', field: 'other' })
  })

  test('that the gateway remembers is resumed', () => {
    const agent = greeted()
    agent.start('hi', { session: { id: 's1', bound: 'old' } })
    expect(agent.call('thread/resume').params).toEqual({ threadId: 'old', excludeTurns: true })
    agent.answer('thread/resume', { thread: { id: 'old' } })
    expect(agent.call('turn/start').params).toMatchObject({ threadId: 'old' })
  })

  test('of a copy is one that the agent makes', () => {
    const agent = greeted()
    agent.start('hi', { session: { id: 's1', origin: 'old' } })
    expect(agent.call('thread/fork').params).toEqual({ threadId: 'old', excludeTurns: true })
    agent.answer('thread/fork', { thread: { id: 'new' } })
    expect(agent.call('turn/start').params).toMatchObject({ threadId: 'new' })
    expect(agent.of('session-bound')).toMatchObject([{ agentSession: 'new' }])
  })

  test('that the agent has lost lets the engine begin anew', () => {
    const agent = greeted()
    agent.start('hi', { session: { id: 's1', bound: 'old' } })
    agent.refuse('thread/resume', 'no rollout found')
    expect(agent.of('turn-end')[0]!.fault).toEqual({
      code: 'session-not-found',
      message: 'The agent cannot go on with this session: no rollout found',
      retryable: false,
      retry: 'fresh-session',
    })
    agent.start('hi', { turn: 't2' })
    expect(agent.call('thread/start')).toMatchObject({ id: 3 })
  })

  test.each([
    [{ thread: {} }, 'protocol-violation'],
    [undefined, 'overloaded'],
  ])('an answer %j to its start fails the turn', (result, code) => {
    const agent = greeted()
    agent.start('hi')
    if (result) agent.answer('thread/start', result)
    else agent.refuse('thread/start', '', -32001)
    expect(agent.of('turn-end')).toMatchObject([{ outcome: 'failed', fault: { code } }])
  })
})

describe('input', () => {
  test('has texts, images and sounds', () => {
    const agent = running({
      input: [
        { type: 'text', text: 'look' },
        { type: 'data', json: '{"a":1}' },
        { type: 'image', url: 'https://x/y.png' },
        { type: 'image', base64: 'AAAA' },
        { type: 'audio', base64: 'BBBB', mime: 'audio/mp3' },
        { type: 'audio', base64: 'BBBB' },
        { type: 'image', ref: 'r' },
        { type: 'file', url: 'https://x/y.pdf' },
      ],
    })
    expect(agent.call('turn/start').params!['input']).toEqual([
      { type: 'text', text: 'look', text_elements: [] },
      { type: 'text', text: '{"a":1}', text_elements: [] },
      { type: 'image', url: 'https://x/y.png' },
      { type: 'image', url: 'data:image/png;base64,AAAA' },
      { type: 'audio', url: 'data:audio/mp3;base64,BBBB' },
      { type: 'audio', url: 'data:audio/wav;base64,BBBB' },
    ])
    expect(agent.losses.map(({ kind, item }) => [kind, item])).toEqual([
      ['weakened', 'part.data'],
      ['dropped', 'part.image'],
      ['dropped', 'part.file'],
    ])
  })

  test('is never without an item', () => {
    const agent = running({ input: [] })
    expect(agent.call('turn/start').params!['input']).toEqual([{ type: 'text', text: '', text_elements: [] }])
  })
})

describe('cancel', () => {
  test('of a turn that waits for its thread ends it at once', () => {
    const agent = greeted()
    agent.start('hi')
    agent.link.encode({ type: 'turn-cancel', exchange: 'x2', target: 'running' })
    expect(agent.of('turn-end')).toMatchObject([{ outcome: 'cancelled', stop: 'aborted' }])
    agent.answer('thread/start', { thread: { id: 'th' } })
    expect(agent.call('turn/start')).toBeUndefined()
  })

  test('of a turn without an id yet interrupts it when it has one, once', () => {
    const agent = greeted()
    agent.start('hi')
    agent.answer('thread/start', { thread: { id: 'th' } })
    agent.link.encode({ type: 'turn-cancel', exchange: 'x2', target: 'running' })
    expect(agent.call('turn/interrupt')).toBeUndefined()
    agent.answer('turn/start', { turn: { id: 'u1' } })
    agent.link.encode({ type: 'turn-cancel', exchange: 'x3', target: 'running' })
    expect(agent.sentNow().filter(({ method }) => method === 'turn/interrupt')).toEqual([
      { id: 4, method: 'turn/interrupt', params: { threadId: 'th', turnId: 'u1' } },
    ])
    agent.answer('turn/interrupt', {})
    agent.completed({ status: 'interrupted' })
    expect(agent.of('turn-end')).toMatchObject([{ outcome: 'cancelled', stop: 'aborted' }])
    agent.link.encode({ type: 'turn-cancel', exchange: 'x4', target: 'running' })
    expect(agent.sentNow()).toEqual([])
  })

  test('decides, whatever the agent says of the end', () => {
    const agent = running()
    agent.link.encode({ type: 'turn-cancel', exchange: 'x2', target: 'running' })
    agent.link.decodeEnd({ why: 'closed', exitCode: 1 })
    expect(agent.of('turn-end')).toMatchObject([{ outcome: 'cancelled' }])
  })

  test('wins over an answer that comes late', () => {
    const agent = greeted()
    agent.start('hi')
    agent.answer('thread/start', { thread: { id: 'th' } })
    agent.completed({ status: 'interrupted' })
    agent.answer('turn/start', { turn: { id: 'u1' } })
    expect(agent.of('turn-end')).toMatchObject([{ outcome: 'cancelled' }])
  })

  test('by the engine, which ends the process', () => {
    const agent = running()
    agent.link.decodeEnd({ why: 'cancelled' })
    expect(agent.of('turn-end')).toMatchObject([{ outcome: 'cancelled' }])
    agent.start('again', { turn: 't2' })
    expect(agent.of('turn-end').at(-1)).toMatchObject({ turn: 't2', outcome: 'failed' })
  })
})

describe('steering', () => {
  const steer = (agent: ReturnType<typeof running>): void =>
    agent.link.encode({
      type: 'turn-steer',
      exchange: 'x2',
      target: 'running',
      input: [
        { type: 'text', text: 'more' },
        { type: 'file', url: 'u' },
      ],
    })

  test('goes to the turn that runs', () => {
    const agent = running()
    steer(agent)
    expect(agent.call('turn/steer').params).toEqual({
      threadId: 'th',
      expectedTurnId: 'u1',
      input: [{ type: 'text', text: 'more', text_elements: [] }],
    })
    agent.answer('turn/steer', { turnId: 'u1' })
    expect(agent.losses).toMatchObject([{ item: 'part.file' }])
  })

  test('is a loss when the agent refuses it, or has no turn yet', () => {
    const agent = running()
    steer(agent)
    agent.refuse('turn/steer', 'not steerable')
    expect(agent.losses.at(-1)).toMatchObject({ kind: 'dropped', item: 'turn-steer' })
    const early = greeted()
    early.start('hi')
    steer(early)
    expect(early.losses).toMatchObject([{ kind: 'dropped', item: 'turn-steer' }])
    const idle = greeted()
    steer(idle)
    expect(idle.losses).toEqual([])
  })
})

test('requests have the trace context of the turn', () => {
  const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`
  const traced = running({}, { trace: { traceparent, tracestate: 'a=1', baggage: 'b=2' } })
  expect(traced.call('turn/start')).toMatchObject({ trace: { traceparent, tracestate: 'a=1' } })
  expect(running({}, { trace: {} }).call('turn/start')).not.toHaveProperty('trace')
})

describe('a thread that is deleted', () => {
  const remove = (bound?: string) => {
    const agent = greeted()
    agent.link.encode({ type: 'session-delete', id: 'g', exchange: 'x', ...(bound && { session: { bound } }) })
    return agent
  }

  test('is deleted by the agent', () => {
    const agent = remove('th')
    expect(agent.call('thread/delete').params).toEqual({ threadId: 'th' })
    agent.answer('thread/delete', {})
    expect(agent.events.at(-1)).toEqual({ turn: null, type: 'command-reply', exchange: 'x' })
  })

  test('may not be there', () => {
    const agent = remove()
    agent.refuse('thread/delete', 'no such thread')
    expect(agent.events.at(-1)).toMatchObject({ exchange: 'x', fault: { code: 'invalid-request' } })
  })
})

describe('queries', () => {
  const ask = (
    agent: ReturnType<typeof running>,
    what: 'models' | 'state' | 'agent-sessions' = 'models',
    args?: string,
  ): void => agent.link.encode({ type: 'query', exchange: 'q1', what, ...(args !== undefined && { args }) })

  test('for the threads are answered by the agent, a page at a time', () => {
    const agent = greeted()
    ask(agent, 'agent-sessions', '{"cwd":"/a","before":"2"}')
    expect(agent.call('thread/list').params).toEqual({ cwd: '/a', cursor: '2' })
    const data = [
      { id: 'a', cwd: '/a', name: 'Named', preview: 'hi', updatedAt: 1 },
      { id: 'b', cwd: '/a', name: null, preview: 'hi', updatedAt: 2 },
      { id: 'c', cwd: '/a', preview: '', updatedAt: 3 },
    ]
    agent.answer('thread/list', { data, nextCursor: '4' })
    expect(JSON.parse((agent.events.at(-1) as { data: string }).data)).toEqual({
      sessions: [
        { id: 'a', cwd: '/a', title: 'Named', usedAt: 1000 },
        { id: 'b', cwd: '/a', title: 'hi', usedAt: 2000 },
        { id: 'c', cwd: '/a', usedAt: 3000 },
      ],
      next: '4',
    })
    ask(agent, 'agent-sessions', '7')
    expect(agent.call('thread/list').params).toEqual({})
    agent.answer('thread/list', { data: [], nextCursor: null })
    expect(agent.events.at(-1)).toMatchObject({ data: '{"sessions":[]}' })
    ask(agent, 'agent-sessions')
    agent.answer('thread/list', {})
    expect(agent.events.at(-1)).toMatchObject({ fault: { code: 'protocol-violation' } })
  })

  test('for the models are answered by the agent', () => {
    const agent = greeted()
    ask(agent)
    agent.answer('model/list', { data: [{ id: 'a', model: 'gpt-6' }] })
    expect(agent.events.at(-1)).toEqual({
      turn: null,
      type: 'command-reply',
      exchange: 'q1',
      data: '{"models":[{"id":"gpt-6"}]}',
    })
  })

  test.each([
    ['an unreadable list', (agent: ReturnType<typeof running>) => agent.answer('model/list', {}), 'protocol-violation'],
    ['a refusal', (agent: ReturnType<typeof running>) => agent.refuse('model/list', 'no'), 'invalid-request'],
    [
      'the end of the process',
      (agent: ReturnType<typeof running>) => agent.link.decodeEnd({ why: 'closed', exitCode: 2 }),
      'agent-crashed',
    ],
  ])('%s is a fault', (_, act, code) => {
    const agent = greeted()
    ask(agent)
    act(agent)
    expect(agent.events.at(-1)).toMatchObject({ type: 'command-reply', exchange: 'q1', fault: { code } })
  })

  test('for other things, or to a dead agent, are refused', () => {
    const agent = greeted()
    ask(agent, 'state')
    expect(agent.events.at(-1)).toMatchObject({ fault: { code: 'invalid-request' } })
    agent.link.decodeEnd({ why: 'closed', exitCode: 2 })
    ask(agent)
    expect(agent.events.at(-1)).toMatchObject({ fault: { code: 'agent-crashed' } })
  })
})

describe('the wire', () => {
  test('what is no message is a loss; an unknown message passes as it came', () => {
    const agent = running()
    agent.feed('noise', '', '[]', '{"id":77,"result":{}}')
    expect(agent.losses.map(({ kind, item }) => [kind, item])).toEqual([
      ['unparsed', 'foreign'],
      ['unparsed', 'foreign'],
      ['unparsed', 'command-reply'],
    ])
    agent.note('hook/started', { run: {} })
    expect(agent.events.at(-1)).toMatchObject({ turn: 't1', type: 'foreign', protocol: 'codex' })
    const idle = greeted()
    idle.feed('noise')
    idle.link.encode({ type: 'session-close', exchange: 'x9' })
    idle.feed('{"method":"configWarning","params":{"summary":"Bad key."}}')
    expect(idle.events.at(-1)).toMatchObject({ turn: null, type: 'notice', code: 'config-warning' })
    idle.feed('{"method":"new/thing","params":{}}')
    expect(idle.losses).toEqual([])
    expect(idle.events.at(-1)).toMatchObject({ turn: null, type: 'foreign' })
  })

  test('of a recorded agent needs no handshake', () => {
    for (const recorded of ['agent', 'both'] as const) {
      const drive = driveBack(codec, { recorded })
      drive.start('hi')
      expect(drive.sent).toEqual([])
      drive.feed(
        '{"id":1,"result":{}}',
        '{"id":9,"result":{"thread":{"id":"th"}}}',
        '{"method":"turn/started","params":{"threadId":"th","turn":{"id":"u7"}}}',
        '{"method":"item/agentMessage/delta","params":{"threadId":"th","turnId":"u7","itemId":"i","delta":"Hello"}}',
        '{"method":"turn/completed","params":{"threadId":"th","turn":{"id":"u7","status":"completed"}}}',
      )
      expect(drive.events.map(({ type }) => type)).toEqual([
        ...(recorded === 'agent' ? ['foreign'] : []),
        'session-bound',
        'turn-started',
        'message-start',
        'text-delta',
        'message-end',
        'turn-end',
      ])
    }
    const nameless = driveBack(codec, { recorded: 'both' })
    nameless.start('hi')
    nameless.feed('{"method":"turn/started","params":{"turn":{"id":"u7"}}}')
    expect(nameless.events).toEqual([{ turn: 't1', type: 'turn-started' }])
    const late = driveBack(codec, { recorded: 'both' })
    late.start('hi')
    late.feed('{"method":"turn/started","params":{"threadId":"th","turn":{"id":"u7"}}}')
    expect(late.events[0]).toEqual({ turn: null, type: 'session-bound', agentSession: 'th' })
  })
})
