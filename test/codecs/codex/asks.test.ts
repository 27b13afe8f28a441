import { describe, expect, test } from 'vitest'
import type { AskReply } from '../../../src/model/index.ts'
import { asking, type Codex, greeted, running } from './kit.ts'

const reply = (agent: Codex, answer: AskReply, ask?: string): void =>
  agent.link.encode({
    type: 'ask-reply',
    exchange: 'x2',
    target: 'running',
    ...(ask !== undefined && { ask }),
    reply: answer,
  })
const choose = (agent: Codex, option: string, more: object = {}): void =>
  reply(agent, { kind: 'approval', option, ...more })
const options = (agent: Codex): unknown[] => {
  const { question } = agent.of('ask').at(-1)!
  return question.kind === 'approval' ? question.options.map(({ id, kind, scope }) => [id, kind, scope]) : []
}

describe('approval of a command', () => {
  test('has the decisions that the agent offers, and can be declined; its first request has the id 0', () => {
    const rule = { acceptWithExecpolicyAmendment: { execpolicy_amendment: ['git', 'pull'] } }
    const agent = asking({ reason: 'May I?', availableDecisions: ['accept', rule, 'cancel', 'new'] })
    expect(agent.of('ask')).toEqual([
      {
        turn: 't1',
        type: 'ask',
        ask: '0',
        question: {
          kind: 'approval',
          tool: 'c1',
          name: 'shell',
          args: '{"command":"ls"}',
          description: 'May I?',
          options: [
            { id: 'accept', kind: 'allow', scope: 'once' },
            {
              id: 'acceptWithExecpolicyAmendment',
              kind: 'allow',
              scope: 'always',
              label: 'Allow from now on: git pull',
            },
            { id: 'decline', kind: 'deny', scope: 'once' },
            { id: 'cancel', kind: 'deny', scope: 'once', label: 'Deny, and stop the turn' },
          ],
        },
      },
    ])
    choose(agent, 'acceptWithExecpolicyAmendment')
    expect(agent.sentNow()).toEqual([{ id: 0, result: { decision: rule } }])
    // The agent says so itself, which is no news.
    agent.note('serverRequest/resolved', { requestId: 0 })
    expect(agent.of('ask-settled')).toEqual([])
  })

  test('has all decisions where the agent offers none', () => {
    const agent = asking({
      proposedExecpolicyAmendment: ['ls'],
      proposedNetworkPolicyAmendments: [{ host: 'a.org', action: 'allow' }, { host: 'b.org', action: 'deny' }, {}],
    })
    expect(options(agent)).toEqual([
      ['accept', 'allow', 'once'],
      ['acceptForSession', 'allow', 'session'],
      ['acceptWithExecpolicyAmendment', 'allow', 'always'],
      ['applyNetworkPolicyAmendment', 'allow', 'always'],
      ['applyNetworkPolicyAmendment#2', 'deny', 'always'],
      ['applyNetworkPolicyAmendment#3', 'allow', 'always'],
      ['decline', 'deny', 'once'],
      ['cancel', 'deny', 'once'],
    ])
    choose(agent, 'applyNetworkPolicyAmendment#2')
    expect(agent.sentNow()).toEqual([
      {
        id: 0,
        result: {
          decision: {
            applyNetworkPolicyAmendment: { network_policy_amendment: { host: 'b.org', action: 'deny' } },
          },
        },
      },
    ])
  })

  test('shows the host of a network approval, or what the command is', () => {
    const network = asking({ networkApprovalContext: { host: 'a.org', protocol: 'https' } })
    expect(network.of('ask')[0]!.question).toMatchObject({ args: '{"host":"a.org","protocol":"https"}' })
    const other = asking({
      itemId: 'other',
      command: undefined,
      availableDecisions: [
        { odd: 1 },
        {},
        {
          acceptWithExecpolicyAmendment: {},
        },
        { applyNetworkPolicyAmendment: {} },
      ],
    })
    expect(other.of('ask')[0]!.question).toMatchObject({ args: '{}' })
    expect(other.of('ask')[0]!.question).not.toHaveProperty('tool')
    expect(options(other).slice(0, 2)).toEqual([
      ['acceptWithExecpolicyAmendment', 'allow', 'always'],
      ['applyNetworkPolicyAmendment', 'allow', 'always'],
    ])
  })

  test.each([
    ['accept', {}, 'accept', []],
    ['decline', {}, 'decline', []],
    ['cancel', {}, 'cancel', []],
    ['unknown', {}, 'decline', []],
    ['decline', { stopTurn: true }, 'cancel', []],
    ['accept', { stopTurn: true }, 'accept', []],
    ['decline', { message: 'not here' }, 'decline', ['message']],
    ['accept', { edited: '{"command":"ls"}' }, 'accept', []],
    ['accept', { edited: '{"command":"pwd"}' }, 'decline', ['edited']],
    ['cancel', { edited: '{"command":"pwd"}' }, 'decline', ['edited']],
  ])('the choice %s with %j is the decision %s', (option, more, decision, weakens) => {
    const agent = asking()
    choose(agent, option, more)
    expect(agent.sentNow()).toEqual([{ id: 0, result: { decision } }])
    expect(agent.losses.map(({ field }) => field)).toEqual(weakens)
    agent.completed({ status: decision === 'cancel' ? 'interrupted' : 'completed' })
    expect(agent.of('turn-end')).toMatchObject([{ outcome: decision === 'cancel' ? 'cancelled' : 'completed' }])
  })
})

test('approval of changes of files shows the changes', () => {
  const agent = running()
  const changes = [{ path: '/w/a', kind: { type: 'add' }, diff: 'x' }]
  agent.item('started', { type: 'fileChange', id: 'f', changes })
  agent.feed('{"id":"r-1","method":"item/fileChange/requestApproval","params":{"threadId":"th","itemId":"f"}}')
  expect(agent.of('ask')).toMatchObject([
    { ask: 'r-1', question: { tool: 'f', name: 'apply_patch', args: JSON.stringify({ changes }) } },
  ])
  choose(agent, 'acceptForSession')
  expect(agent.sentNow().at(-1)).toEqual({ id: 'r-1', result: { decision: 'acceptForSession' } })
})

describe('a request for permissions', () => {
  const METHOD = 'item/permissions/requestApproval'
  const permissions = { network: { enabled: true }, fileSystem: null }

  test.each([
    ['turn', {}, { permissions: { network: { enabled: true } }, scope: 'turn' }],
    ['session', {}, { permissions: { network: { enabled: true } }, scope: 'session' }],
    [
      'session',
      { edited: '{"fileSystem":{"read":["/w"]}}' },
      { permissions: { fileSystem: { read: ['/w'] } }, scope: 'session' },
    ],
    ['decline', { message: 'no' }, { permissions: {}, scope: 'turn' }],
  ])('answered by %s with %j', (option, more, result) => {
    const agent = asking({ permissions, itemId: 'none' }, METHOD)
    expect(agent.of('ask')[0]!.question).toMatchObject({
      editable: true,
      name: 'request_permissions',
      args: JSON.stringify(permissions),
    })
    choose(agent, option, more)
    expect(agent.sentNow()).toEqual([{ id: 0, result }])
  })

  test('that names none grants none, and may stop the turn', () => {
    const agent = asking({}, METHOD)
    choose(agent, 'decline', { stopTurn: true })
    expect(agent.sentNow()).toEqual([{ id: 0, result: { permissions: {}, scope: 'turn' } }])
    agent.completed({ status: 'failed' })
    expect(agent.of('turn-end')).toMatchObject([{ outcome: 'cancelled' }])
  })
})

describe('questions to the user', () => {
  test('are a form', () => {
    const agent = asking(
      {
        questions: [
          { id: 'q1', header: 'H', question: 'Really?', options: [{ label: 'Yes' }, { label: 'No' }] },
          { id: 'q2', question: 'Which?', isOther: true, options: [{ label: 'A' }] },
          { id: 'q3', question: 'Why?', options: null },
        ],
      },
      'item/tool/requestUserInput',
    )
    const { question } = agent.of('ask')[0]!
    expect(question).toMatchObject({ kind: 'input', message: 'Really?\nWhich?\nWhy?' })
    expect(JSON.parse((question as { schema: string }).schema)).toEqual({
      type: 'object',
      properties: {
        q1: { type: 'string', title: 'H', description: 'Really?', enum: ['Yes', 'No'] },
        q2: { type: 'string', description: 'Which?', examples: ['A'] },
        q3: { type: 'string', description: 'Why?' },
      },
    })
    reply(agent, { kind: 'input', values: '{"q1":"Yes","q2":["A","B"],"q3":7}' }, '0')
    expect(agent.sentNow()).toEqual([
      { id: 0, result: { answers: { q1: { answers: ['Yes'] }, q2: { answers: ['A', 'B'] }, q3: { answers: ['7'] } } } },
    ])
  })

  test.each([
    [
      { mode: 'form', message: 'Name?', requestedSchema: { type: 'object' } },
      { message: 'Name?', schema: '{"type":"object"}' },
    ],
    [{ mode: 'url', message: 'Log in:', url: 'https://x' }, { message: 'Log in:\nhttps://x' }],
  ])('of an MCP server: %j', (params, question) => {
    const agent = asking(params, 'mcpServer/elicitation/request')
    expect(agent.of('ask')[0]!.question).toEqual({ kind: 'input', ...question })
    reply(agent, { kind: 'input', values: '{"name":"x"}' })
    expect(agent.sentNow()).toEqual([{ id: 0, result: { action: 'accept', content: { name: 'x' }, _meta: null } }])
    agent.feed('{"id":1,"method":"mcpServer/elicitation/request","params":{"threadId":"th","message":"Again?"}}')
    reply(agent, { kind: 'input', values: '{}' })
    expect(agent.sentNow()).toEqual([{ id: 1, result: { action: 'decline', content: null, _meta: null } }])
  })
})

describe('a tool of the client', () => {
  const METHOD = 'item/tool/call'
  const called = (): Codex => {
    const agent = running()
    agent.item('started', { type: 'dynamicToolCall', id: 'd1', tool: 'weather', arguments: { city: 'Bonn' } })
    agent.feed(`{"id":0,"method":"${METHOD}","params":{"threadId":"th","turnId":"u1","callId":"d1"}}`)
    agent.sentNow()
    return agent
  }

  test('is run by the client', () => {
    const agent = called()
    expect(agent.of('tool-call')).toMatchObject([{ name: 'weather', args: '{"city":"Bonn"}', executor: 'client' }])
    expect(agent.of('ask')).toMatchObject([{ ask: '0', question: { kind: 'tool', tool: 'd1' } }])
    reply(agent, {
      kind: 'tool',
      status: 'ok',
      parts: [
        { type: 'text', text: 'sunny' },
        { type: 'image', url: 'https://x/y.png' },
        { type: 'audio', base64: 'AA', mime: 'audio/wav' },
        { type: 'data', json: '{"t":20}' },
        { type: 'file', ref: 'r', ext: { protocol: 'openai', json: '{"detail":"low"}' } },
      ],
    })
    expect(agent.losses).toMatchObject([
      { kind: 'weakened', item: 'ask-reply', field: 'data' },
      { kind: 'weakened', item: 'ask-reply', field: 'file' },
    ])
    expect(agent.sentNow()).toEqual([
      {
        id: 0,
        result: {
          contentItems: [
            { type: 'inputText', text: 'sunny' },
            { type: 'inputImage', imageUrl: 'https://x/y.png' },
            { type: 'inputAudio', audioUrl: 'data:audio/wav;base64,AA' },
            { type: 'inputText', text: '{"t":20}' },
            { type: 'inputText', text: '{"type":"file","ref":"r"}' },
          ],
          success: true,
        },
      },
    ])
  })

  test('may fail', () => {
    const agent = called()
    reply(agent, { kind: 'tool', status: 'denied', parts: [] })
    expect(agent.sentNow()).toEqual([{ id: 0, result: { contentItems: [], success: false } }])
    expect(agent.losses).toMatchObject([{ kind: 'weakened', item: 'ask-reply', field: 'status' }])
  })
})

describe('every request is answered', () => {
  test.each([
    ['account/chatgptAuthTokens/refresh', {}, -32601],
    ['item/tool/requestUserInput', {}, -32602],
    ['mcpServer/elicitation/request', {}, -32602],
    ['item/tool/call', { callId: 'none' }, -32602],
    ['item/tool/call', {}, -32602],
  ])('%s with %j at once, by the error %d', (method, params, code) => {
    const agent = asking(params, method)
    expect(agent.call('initialize').id).toBe(1)
    const refused = agent.sent.map((line) => JSON.parse(String(line)) as { id?: unknown; error?: { code: number } })
    expect(refused.at(-1)).toMatchObject({ id: 0, error: { code } })
    expect(agent.of('ask')).toEqual([])
  })

  test('also without parameters', () => {
    const agent = running()
    agent.feed('{"id":9,"method":"item/permissions/requestApproval"}')
    expect(agent.of('ask')).toMatchObject([{ ask: '9', question: { args: '{}' } }])
  })

  test('at once while no turn runs', () => {
    const agent = greeted()
    agent.sentNow()
    agent.feed('{"id":null,"method":"item/commandExecution/requestApproval","params":{"threadId":"th"}}')
    expect(agent.sentNow()).toMatchObject([{ id: null, error: { code: -32603 } }])
  })

  test('by an error when the answer is of another kind', () => {
    for (const [method, params] of [
      ['item/commandExecution/requestApproval', {}],
      ['item/permissions/requestApproval', {}],
      ['mcpServer/elicitation/request', { message: 'Name?' }],
    ] as const) {
      const agent = asking(params, method)
      reply(agent, { kind: 'client', result: '{}' })
      expect(agent.sentNow()).toMatchObject([{ id: 0, error: { code: -32603 } }])
    }
    const tool = running()
    tool.item('started', { type: 'dynamicToolCall', id: 'd1', tool: 'weather' })
    tool.feed('{"id":0,"method":"item/tool/call","params":{"threadId":"th","callId":"d1"}}')
    reply(tool, { kind: 'input', values: '{}' })
    expect(tool.sentNow().at(-1)).toMatchObject({ id: 0, error: { code: -32603 } })
  })

  test('once: later answers, and those to nothing, are ignored', () => {
    const agent = asking()
    choose(agent, 'accept')
    choose(agent, 'accept')
    reply(agent, { kind: 'approval', option: 'accept' }, 'no such ask')
    expect(agent.sentNow()).toHaveLength(1)
    choose(greeted(), 'accept')
  })
})

describe('a question ends without its answer', () => {
  test('when the agent does not wait any more', () => {
    const agent = asking()
    agent.note('serverRequest/resolved', { requestId: 1 })
    agent.note('serverRequest/resolved')
    expect(agent.of('ask-settled')).toEqual([])
    agent.note('serverRequest/resolved', { requestId: 0 })
    expect(agent.of('ask-settled')).toEqual([{ turn: 't1', type: 'ask-settled', ask: '0', how: 'cancelled' }])
  })

  test('when its turn ends, or its process', () => {
    for (const end of [
      (agent: Codex) => agent.completed({ status: 'interrupted' }),
      (agent: Codex) => agent.link.decodeEnd({ why: 'closed', exitCode: 1 }),
    ]) {
      const agent = asking()
      end(agent)
      expect(agent.of('ask-settled')).toMatchObject([{ ask: '0', how: 'cancelled' }])
      expect(agent.events.at(-1)).toMatchObject({ type: 'turn-end' })
    }
  })

  test('questions of a sub-agent are of its lane', () => {
    const agent = running()
    agent.feed('{"id":5,"method":"item/commandExecution/requestApproval","params":{"threadId":"sub","command":"ls"}}')
    expect(agent.of('ask')).toMatchObject([{ turn: 't1', lane: 'sub', ask: '5' }])
    agent.completed()
    expect(agent.of('ask-settled')).toMatchObject([{ turn: 't1', lane: 'sub', ask: '5' }])
  })
})
