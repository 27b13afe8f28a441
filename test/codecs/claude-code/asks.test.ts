import { describe, expect, test } from 'vitest'
import type { AskReply } from '../../../src/model/index.ts'
import { type Claude, greeted, running } from './kit.ts'

const reply = (agent: Claude, answer: AskReply, ask?: string): void =>
  agent.link.encode({
    type: 'ask-reply',
    exchange: 'x2',
    target: 'running',
    ...(ask !== undefined && { ask }),
    reply: answer,
  })
const choose = (agent: Claude, option: string, more: object = {}): void =>
  reply(agent, { kind: 'approval', option, ...more })
const answered = (agent: Claude): unknown => agent.sentNow().map(({ response }) => response)
const success = (response: object, id = 'q1') => ({ subtype: 'success', request_id: id, response })

/** A call that runs, and the agent's request for consent to it. */
function asking(more: object = {}): Claude {
  const agent = running()
  agent.line({
    type: 'assistant',
    message: { id: 'm', content: [{ type: 'tool_use', id: 'c1', name: 'Bash', input: { command: 'ls' } }] },
  })
  agent.ask({ subtype: 'can_use_tool', tool_name: 'Bash', input: { command: 'ls' }, tool_use_id: 'c1', ...more })
  agent.sentNow()
  return agent
}

describe('consent to a tool', () => {
  const rules = {
    type: 'addRules',
    rules: [{ toolName: 'Bash', ruleContent: 'ls *' }, { toolName: 'Read' }, 'odd'],
    destination: 'localSettings',
  }
  const folders = { type: 'addDirectories', directories: ['/w'], destination: 'session' }

  test('has the proposals of the agent as options', () => {
    const agent = asking({
      description: 'lists',
      permission_suggestions: [rules, folders, { type: 'setMode', mode: 'acceptEdits', destination: 'session' }, {}],
    })
    expect(agent.of('ask')).toEqual([
      {
        turn: 't1',
        type: 'ask',
        ask: 'q1',
        question: {
          kind: 'approval',
          tool: 'c1',
          name: 'Bash',
          args: '{"command":"ls"}',
          description: 'lists',
          options: [
            { id: 'allow', kind: 'allow', scope: 'once' },
            { id: 'allow-1', kind: 'allow', scope: 'always', label: 'Allow from now on: Bash(ls *), Read, undefined' },
            { id: 'allow-2', kind: 'allow', scope: 'session', label: 'Allow from now on: /w' },
            { id: 'allow-3', kind: 'allow', scope: 'session', label: 'Allow from now on: acceptEdits' },
            { id: 'allow-4', kind: 'allow', scope: 'always' },
            { id: 'deny', kind: 'deny', scope: 'once' },
          ],
          editable: true,
        },
      },
    ])
    choose(agent, 'allow-2')
    expect(answered(agent)).toEqual([
      success({ behavior: 'allow', updatedInput: { command: 'ls' }, updatedPermissions: [folders] }),
    ])
  })

  test.each([
    ['allow', {}, { behavior: 'allow', updatedInput: { command: 'ls' } }],
    ['allow', { edited: '{"command":"pwd"}' }, { behavior: 'allow', updatedInput: { command: 'pwd' } }],
    ['deny', {}, { behavior: 'deny', message: 'The user does not want this.' }],
    ['allow-9', {}, { behavior: 'deny', message: 'The user does not want this.' }],
    ['deny', { message: 'Not here.', stopTurn: true }, { behavior: 'deny', message: 'Not here.', interrupt: true }],
  ])('the choice %s with %j is %j', (option, more, response) => {
    const agent = asking()
    choose(agent, option, more)
    expect(answered(agent)).toEqual([success(response)])
    agent.line({
      type: 'user',
      message: { content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'no', is_error: true }] },
    })
    const denied = response.behavior === 'deny'
    expect(agent.of('tool-end')).toMatchObject([{ status: denied ? 'denied' : 'error' }])
    agent.result({ result: 'x' })
    expect(agent.of('turn-end')).toMatchObject([{ outcome: 'interrupt' in response ? 'cancelled' : 'completed' }])
  })

  test('may be about no call that is known', () => {
    const agent = running()
    agent.ask({ subtype: 'can_use_tool', tool_name: 'Bash', input: {}, decision_reason: 'by rule' }, 'q7')
    expect(agent.of('ask')[0]!.question).toMatchObject({ name: 'Bash', args: '{}', description: 'by rule' })
    expect(agent.of('ask')[0]!.question).not.toHaveProperty('tool')
    choose(agent, 'deny')
    expect(answered(agent)).toMatchObject([{ request_id: 'q7' }])
  })
})

describe('questions to the user', () => {
  const questions = [
    { question: 'Which?', header: 'H', options: [{ label: 'A' }, { label: 'B' }], multiSelect: true },
    { question: 'Why?' },
  ]
  const form = (): Claude => {
    const agent = running()
    agent.ask({ subtype: 'can_use_tool', tool_name: 'AskUserQuestion', input: { questions, answers: {} } })
    agent.sentNow()
    return agent
  }

  test('are a form, whose answers go by their questions', () => {
    const agent = form()
    const { question } = agent.of('ask')[0]!
    expect(question).toMatchObject({ kind: 'input', message: 'Which?\nWhy?' })
    expect(JSON.parse((question as { schema: string }).schema)).toEqual({
      type: 'object',
      properties: {
        0: {
          type: 'array',
          items: { type: 'string', examples: ['A', 'B'] },
          title: 'H',
          description: 'Which?',
        },
        1: { type: 'string', description: 'Why?' },
      },
    })
    reply(agent, { kind: 'input', values: '{"0":["A","B"],"1":7,"2":"x"}' }, 'q1')
    expect(answered(agent)).toEqual([
      success({
        behavior: 'allow',
        updatedInput: { questions, answers: { 'Which?': 'A, B', 'Why?': '7', 2: 'x' } },
      }),
    ])
  })

  test('without an answer are refused', () => {
    const agent = form()
    reply(agent, { kind: 'input', values: '{}' })
    expect(answered(agent)).toEqual([success({ behavior: 'deny', message: 'The user did not answer.' })])
  })

  test.each([
    [
      { message: 'Name?', requested_schema: { type: 'object' } },
      { message: 'Name?', schema: '{"type":"object"}' },
    ],
    [{ message: 'Log in:', url: 'https://x' }, { message: 'Log in:\nhttps://x' }],
  ])('of an MCP server: %j', (request, question) => {
    const agent = running()
    agent.ask({ subtype: 'elicitation', ...request })
    agent.sentNow()
    expect(agent.of('ask')[0]!.question).toEqual({ kind: 'input', ...question })
    reply(agent, { kind: 'input', values: '{"n":"x"}' })
    agent.ask({ subtype: 'elicitation', ...request }, 'q2')
    reply(agent, { kind: 'input', values: '{}' })
    expect(answered(agent)).toEqual([
      success({ action: 'accept', content: { n: 'x' } }),
      success({ action: 'decline' }, 'q2'),
    ])
  })
})

describe('messages to servers and hooks of the client', () => {
  test.each([
    ['mcp_message', { server_name: 'mine', message: { id: 1 } }, { mcp_response: { ok: true } }],
    ['hook_callback', { callback_id: 'h1', input: {} }, { ok: true }],
  ])('%s is answered by the client, also between turns', (subtype, params, response) => {
    for (const agent of [running(), greeted()]) {
      agent.ask({ subtype, ...params })
      agent.sentNow()
      expect(agent.of('ask').map(({ question }) => question)).toEqual([
        { kind: 'client', method: subtype, params: JSON.stringify(params) },
      ])
      reply(agent, { kind: 'client', result: '{"ok":true}' })
      expect(answered(agent)).toEqual([success(response)])
    }
  })

  test('without an answer get an error', () => {
    const agent = greeted()
    agent.ask({ subtype: 'mcp_message' })
    agent.sentNow()
    reply(agent, { kind: 'client', error: '{}' })
    expect(answered(agent)).toMatchObject([{ subtype: 'error', request_id: 'q1' }])
  })
})

describe('every request is answered', () => {
  test.each([[{ subtype: 'request_user_dialog' }], [{ subtype: 'can_use_tool' }], [{ subtype: 'elicitation' }]])(
    '%j at once, by an error',
    (request) => {
      const agent = running()
      agent.ask(request)
      expect(answered(agent)).toMatchObject([{ subtype: 'error', request_id: 'q1' }])
      expect(agent.losses).toMatchObject([{ kind: 'unparsed', item: 'ask' }])
    },
  )

  test('at once while no turn runs', () => {
    const agent = greeted()
    agent.sentNow()
    agent.ask({ subtype: 'can_use_tool', tool_name: 'Bash', input: {} })
    expect(answered(agent)).toMatchObject([{ subtype: 'error', error: 'No turn is running: no client can be asked.' }])
  })

  test('by an error when the answer is of another kind', () => {
    for (const agent of [asking(), running(), running()]) {
      if (agent.of('ask').length === 0) agent.ask({ subtype: 'elicitation', message: 'Name?' })
      agent.sentNow()
      reply(agent, { kind: 'client', result: '{}' })
      expect(answered(agent)).toMatchObject([{ subtype: 'error' }])
    }
    const form = running()
    const input = { questions: [{ question: 'Why?' }] }
    form.ask({ subtype: 'can_use_tool', tool_name: 'AskUserQuestion', input })
    form.sentNow()
    choose(form, 'allow')
    expect(answered(form)).toMatchObject([{ subtype: 'error' }])
  })

  test('once: later answers, and those to nothing, are ignored', () => {
    const agent = asking()
    choose(agent, 'allow')
    choose(agent, 'allow')
    reply(agent, { kind: 'approval', option: 'allow' }, 'none')
    expect(answered(agent)).toHaveLength(1)
  })
})

describe('a question ends without its answer', () => {
  test('when the agent withdraws it', () => {
    const agent = asking()
    agent.line({ type: 'control_cancel_request', request_id: 'other' })
    expect(agent.of('ask-settled')).toEqual([])
    agent.line({ type: 'control_cancel_request', request_id: 'q1' })
    expect(agent.of('ask-settled')).toEqual([{ turn: 't1', type: 'ask-settled', ask: 'q1', how: 'cancelled' }])
    const between = greeted()
    between.start('hi')
    between.result()
    between.ask({ subtype: 'mcp_message' })
    between.line({ type: 'control_cancel_request', request_id: 'q1' })
    expect(between.events.at(-1)).toMatchObject({ turn: null, type: 'ask-settled' })
  })

  test('when its turn ends, or its process', () => {
    for (const end of [
      (agent: Claude) => agent.result(),
      (agent: Claude) => agent.link.decodeEnd({ why: 'closed', exitCode: 1 }),
    ]) {
      const agent = asking()
      end(agent)
      expect(agent.of('ask-settled')).toMatchObject([{ ask: 'q1' }])
      expect(agent.of('turn-end')).toHaveLength(1)
    }
  })

  test('but not one that came before the turn', () => {
    const agent = greeted()
    agent.ask({ subtype: 'mcp_message' })
    agent.start('hi')
    agent.result()
    expect(agent.of('ask-settled')).toEqual([])
  })
})
