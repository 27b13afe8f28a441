import { describe, expect, test } from 'vitest'
import { type Ask, type AskReply, fault, type Question, type TurnEvent } from '../../../src/model/index.ts'
import { driveFront, type FrontDrive, plainTurn } from '../../kit/drive.ts'
import {
  codec,
  control,
  controlError,
  controlSuccess,
  SESSION,
  STREAM,
  say,
  sentObjects,
  settled,
  streamClient,
} from './kit.ts'

const OPTIONS = [
  { id: 'always', kind: 'allow', scope: 'always' },
  { id: 'yes', kind: 'allow', scope: 'once', label: 'Yes' },
  { id: 'never', kind: 'deny', scope: 'always' },
  { id: 'no', kind: 'deny', scope: 'once' },
] as const
const consent: Question = {
  kind: 'approval',
  tool: 'c1',
  name: 'edit',
  args: '{"n":1.0}',
  description: 'Edit it',
  options: OPTIONS,
}

/** A client that said `initialize` and has a turn with a question. */
function asked(question: Question, more: Partial<Ask> & { ext?: object } = {}, ...argv: string[]): FrontDrive {
  const front = streamClient(...argv)
  front.feed(control('i', { subtype: 'initialize' }), say('hi'))
  front.play([{ type: 'ask', turn: 't1', ask: 'a1', question, ...more } as TurnEvent])
  return front
}

function request(front: FrontDrive): { id: string; request: Record<string, unknown> } {
  const line = sentObjects(front).findLast(({ type }) => type === 'control_request')
  if (!line) throw new Error('nothing was asked')
  return { id: String(line['request_id']), request: line['request'] as Record<string, unknown> }
}

function replies(front: FrontDrive): AskReply[] {
  return front.commands.flatMap((command) => (command.type === 'ask-reply' ? [command.reply] : []))
}

/** What the client's payload means to the agent. */
function reply(question: Question, payload: unknown): AskReply | undefined {
  const front = asked(question)
  front.feed(controlSuccess(request(front).id, payload))
  return replies(front)[0]
}

describe('consent', () => {
  test('is a control request behind the call', () => {
    const front = streamClient()
    front.feed(control('i', { subtype: 'initialize' }), say('hi'))
    expect(front.answers.get(front.commands[0]!.exchange)!.asks).toBe('always')
    const address = { turn: 't1' }
    front.play([
      { ...address, type: 'message-start', message: 'm1', role: 'assistant' },
      { ...address, type: 'text-delta', message: 'm1', text: 'I will.' },
      { ...address, type: 'ask', ask: 'a1', question: consent },
    ])
    expect(sentObjects(front).map(({ type }) => type)).toEqual([
      'control_response',
      'system',
      'assistant',
      'control_request',
    ])
    expect(request(front).request).toEqual({
      subtype: 'can_use_tool',
      tool_name: 'edit',
      tool_use_id: 'c1',
      input: { n: 1 },
      permission_suggestions: [
        { type: 'allow', label: 'Allow', description: 'Edit it' },
        { type: 'allow', label: 'Yes', description: 'Edit it' },
        { type: 'deny', label: 'Deny' },
        { type: 'deny', label: 'Deny' },
      ],
      blocked_path: null,
    })
    expect(String(front.sent.at(-1))).toContain('"input":{"n":1.0}')
  })

  test('without a call or arguments', () => {
    const bare: Question = {
      kind: 'approval',
      name: 'f',
      args: '[]',
      options: [{ id: 'y', kind: 'allow', scope: 'once' }],
    }
    expect(request(asked(bare)).request).toMatchObject({
      tool_use_id: 'a1',
      input: {},
      permission_suggestions: [{ type: 'allow', label: 'Allow' }],
    })
  })

  test('is answered once, for the turn that asked', () => {
    const front = asked(consent)
    const { id } = request(front)
    front.feed(controlSuccess(id, { behavior: 'allow' }), controlSuccess(id, { behavior: 'deny' }))
    expect(front.commands.slice(1)).toEqual([
      {
        exchange: 'f4',
        session: { id: SESSION },
        type: 'ask-reply',
        target: { turn: 'f3' },
        ask: 'a1',
        reply: { kind: 'approval', option: 'yes' },
      },
    ])
  })

  test('what an agent of this protocol said of it is said again, under its id', () => {
    const ask = '7d0f1a52-97c0-4a53-9d0e-3f6f5c1b2a10'
    const json = '{"permission_suggestions":[{"type":"modify"}],"risk":1.0}'
    const line = String(asked(consent, { ask, ext: { protocol: 'qwen-code', json } }).sent.at(-1))
    expect(line).toBe(
      `{"type":"control_request","request_id":"${ask}","request":{"subtype":"can_use_tool","tool_name":"edit","tool_use_id":"c1","input":{"n":1.0},"permission_suggestions":[{"type":"modify"}],"risk":1.0,"blocked_path":null}}`,
    )
  })

  test('a question of the agent stands before its greeting', () => {
    const front = streamClient()
    front.feed(control('i', { subtype: 'initialize' }), say('hi'))
    const question: Question = { kind: 'client', method: 'mcp_message', params: '{"server_name":"lab"}' }
    front.play([
      { type: 'ask', turn: 't1', ask: 'a1', question },
      { type: 'turn-started', turn: 't1' },
    ])
    expect(sentObjects(front).map(({ type }) => type)).toEqual(['control_response', 'control_request', 'system'])
  })

  test.each([
    [{ behavior: 'ALLOW', updatedInput: { n: 1 } }, { option: 'yes' }],
    [
      { behavior: 'allow', updatedInput: { n: 2 } },
      { option: 'yes', edited: '{"n":2}' },
    ],
    [{ behavior: 'allow', updatedInput: [] }, { option: 'yes' }],
    [{ behavior: 'deny' }, { option: 'no' }],
    [
      { behavior: 'deny', message: 'not today', interrupt: true },
      { option: 'no', message: 'not today', stopTurn: true },
    ],
    [{ behavior: 'approve' }, { option: 'no' }],
    [{}, { option: 'no' }],
    ['yes', { option: 'no' }],
  ])('%j is %j', (payload, meaning) => {
    expect(reply(consent, payload)).toEqual({ kind: 'approval', ...meaning })
  })

  test('of the widest scope where there is no other, and none where none is offered', () => {
    const wide = { ...consent, options: [OPTIONS[0], OPTIONS[2]] }
    expect(reply(wide, { behavior: 'allow' })).toEqual({ kind: 'approval', option: 'always' })
    expect(reply(wide, { behavior: 'deny' })).toEqual({ kind: 'approval', option: 'never' })
    const none = { ...consent, options: [] }
    expect(reply(none, { behavior: 'allow' })).toEqual({
      kind: 'approval',
      option: 'deny',
      message: 'The agent offers no consent.',
    })
  })

  test.each([
    ['broken', 'broken'],
    [{ message: 'broken' }, 'broken'],
    [7, undefined],
  ])('an error (%j) is a refusal', (error, message) => {
    const front = asked(consent)
    front.feed(controlError(request(front).id, error))
    expect(replies(front)).toEqual([{ kind: 'approval', option: 'no', ...(message && { message }) }])
  })

  test('a success without a payload too', () => {
    const front = asked(consent)
    const response = { subtype: 'success', request_id: request(front).id }
    front.feed(JSON.stringify({ type: 'control_response', response }))
    expect(replies(front)).toEqual([{ kind: 'approval', option: 'no' }])
  })

  test('that is settled, or whose turn is over, is not answered any more', () => {
    const settled = asked(consent)
    settled.play([{ type: 'ask-settled', turn: 't1', ask: 'a0', how: 'timeout' }], 'f2')
    settled.play([{ type: 'ask-settled', turn: 't1', ask: 'a1', how: 'timeout' }], 'f2')
    settled.feed(controlSuccess(request(settled).id, { behavior: 'allow' }))
    const ended = asked(consent)
    ended.play([{ type: 'turn-end', turn: 't1', outcome: 'completed' }], 'f2')
    ended.feed(controlSuccess(request(ended).id, { behavior: 'allow' }))
    expect([replies(settled), replies(ended)]).toEqual([[], []])
    for (const front of [settled, ended]) {
      expect(sentObjects(front).at(-1)).toEqual({
        type: 'control_response',
        response: {
          subtype: 'error',
          request_id: request(front).id,
          error: 'No control request with this request_id waits for an answer.',
        },
      })
    }
  })

  test.each([
    ['one consent and one refusal', [OPTIONS[1], OPTIONS[3]], 0],
    ['two consents', [OPTIONS[1], { ...OPTIONS[1], id: 'also' }], 1],
    ['a consent for ever', [OPTIONS[0]], 1],
  ] as const)('that can only be yes or no: %s', (_what, options, lost) => {
    const loss = { kind: 'weakened', item: 'ask.approval', field: 'options', why: 'too-narrow', count: 1 }
    expect(asked({ ...consent, options }).losses).toEqual(Array.from({ length: lost }, () => loss))
  })

  test('is refused when the input ends, at once from then on', () => {
    const front = asked(consent)
    front.link.decodeEnd!('eof')
    front.play([{ type: 'ask', turn: 't1', ask: 'a2', question: consent }], 'f2')
    const refused = { kind: 'approval', option: 'no', message: 'Input closed' }
    expect(replies(front)).toEqual([refused, refused])
    expect(sentObjects(front).filter(({ type }) => type === 'control_request')).toHaveLength(1)
  })

  test('is refused behind a line that ends the input', () => {
    const front = asked(consent)
    front.feed('not json')
    front.play([{ type: 'ask', turn: 't1', ask: 'a2', question: consent }], 'f2')
    const refused = { kind: 'approval', option: 'no', message: 'Input closed' }
    expect(replies(front)).toEqual([refused, refused])
  })

  test('nobody is asked who did not say initialize', () => {
    const front = driveFront(codec, { argv: STREAM })
    front.feed(say('hi'))
    expect(front.answers.get('f2')!.asks).toBe('never')
    front.play([{ type: 'ask', turn: 't1', ask: 'a1', question: consent }])
    expect(replies(front)).toEqual([{ kind: 'approval', option: 'no', message: 'This client cannot be asked.' }])
  })
})

describe('the approval mode', () => {
  const decided = (mode: string, name: string) => {
    const front = driveFront(codec, { argv: [...STREAM, '--approval-mode', mode] })
    front.feed(say('hi'))
    if (mode === 'plan') settled(front)
    const { exchange } = front.commands.find(({ type }) => type === 'turn-start')!
    const { asks } = front.answers.get(exchange)!
    front.play([{ type: 'ask', turn: 't1', ask: 'a1', question: { ...consent, name } }], exchange)
    return [asks, ...replies(front)]
  }

  test.each([
    ['yolo', 'run_shell_command', 'always', { option: 'yes' }],
    ['plan', 'edit', 'always', { option: 'no', message: 'Only plans are made in this mode.' }],
    ['auto-edit', 'write_file', 'always', { option: 'yes' }],
    ['auto-edit', 'run_shell_command', 'always', { option: 'no', message: 'This client cannot be asked.' }],
    ['default', 'edit', 'never', { option: 'no', message: 'This client cannot be asked.' }],
  ])('%s decides on %s', (mode, name, asks, meaning) => {
    expect(decided(mode, name)).toEqual([asks, { kind: 'approval', ...meaning }])
  })

  test.each([
    [['-p', 'hi'], 'default', 'never', 'whole'],
    [['-p', 'hi'], 'auto-edit', 'always', 'stream'],
    [['-p', 'hi', '-o', 'json'], 'auto-edit', 'always', 'stream'],
    [['-p', 'hi'], 'yolo', 'always', 'stream'],
  ])('of a program for one prompt: %j %s', (argv, mode, asks, form) => {
    const front = driveFront(codec, { argv: [...argv, '--approval-mode', mode] })
    front.link.decodeEnd!('eof')
    expect([...front.answers.values()]).toMatchObject([{ asks, form }])
  })

  test('decides also where the answer is a text, which has no place for what comes along', () => {
    const front = driveFront(codec, { argv: ['-p', 'hi', '-y'] })
    front.link.decodeEnd!('eof')
    const address = { turn: 't1' }
    const ext = { protocol: 'qwen-code', json: '{"a":1}' }
    front.play([
      { ...address, type: 'step-start', step: 1 },
      { ...address, type: 'message-start', message: 'm1', role: 'assistant' },
      { ...address, type: 'text-delta', message: 'm1', text: 'done', ext },
      { ...address, type: 'ask', ask: 'a1', question: consent, ext },
      { ...address, type: 'step-end', step: 1, stop: 'end' },
      { ...address, type: 'message-start', message: 'm2', role: 'assistant', lane: 'sub' },
      { ...address, type: 'text-delta', message: 'm2', text: 'aside', lane: 'sub' },
      { ...address, type: 'turn-end', outcome: 'completed', stop: 'end' },
    ])
    expect(replies(front)).toEqual([{ kind: 'approval', option: 'yes' }])
    expect(front.sent).toEqual(['done'])
    const lost = { kind: 'dropped', why: 'no-place', count: 1 }
    expect(front.losses).toEqual([
      { ...lost, item: 'step-start' },
      { ...lost, item: 'ext', field: 'qwen-code' },
      { ...lost, item: 'step-end' },
      { ...lost, item: 'text-delta', field: 'aside' },
    ])
    const quiet = driveFront(codec, { argv: ['-p', 'hi', '-y'] })
    quiet.link.decodeEnd!('eof')
    quiet.play(plainTurn('fine'))
    expect(quiet.losses.map(({ item }) => item)).toEqual(['usage'])
  })

  test('changes with a control request', () => {
    const front = streamClient('-y')
    front.feed(control('m', { subtype: 'set_permission_mode', mode: 'default' }))
    settled(front)
    front.feed(control('i', { subtype: 'initialize' }), say('hi'))
    front.play([{ type: 'ask', turn: 't1', ask: 'a1', question: consent }], front.commands.at(-1)!.exchange)
    expect(request(front).request['subtype']).toBe('can_use_tool')
  })

  test('plan, of the arguments, is set at the agent before the first turn; no turn runs where it is refused', () => {
    const front = streamClient('--approval-mode', 'plan')
    front.feed(say('hi'))
    expect(front.commands).toEqual([{ exchange: 'f2', session: { id: SESSION }, type: 'config-set', mode: 'plan' }])
    settled(front, fault('invalid-request', 'This agent has no modes.'))
    expect(front.commands).toHaveLength(1)
    expect(sentObjects(front).at(-1)).toMatchObject({
      type: 'result',
      is_error: true,
      error: { message: expect.stringContaining('This agent has no modes.') },
    })
    front.feed(control('m', { subtype: 'set_permission_mode', mode: 'default' }))
    settled(front)
    front.feed(say('again'))
    expect(front.commands.at(-1)).toMatchObject({ type: 'turn-start' })
  })
})

describe('other questions', () => {
  const question: Question = { kind: 'input', message: 'Which?' }
  const ext = { protocol: 'qwen-code', json: '{"input":{"n":1.0},"permission_suggestions":[{"type":"allow"}],"x":2}' }

  test('to the user are the tool that asks them', () => {
    expect(request(asked(question)).request).toEqual({
      subtype: 'can_use_tool',
      tool_name: 'ask_user_question',
      tool_use_id: 'a1',
      input: { questions: [{ question: 'Which?', header: '', options: [], multiSelect: false }] },
      permission_suggestions: null,
      blocked_path: null,
    })
  })

  test('keep the call that asks, and what the agent said beside them', () => {
    const front = asked({ ...question, tool: 'c1' }, { ext })
    const said =
      '"tool_use_id":"c1","input":{"n":1.0},"permission_suggestions":[{"type":"allow"}],"x":2,"blocked_path":null'
    expect(String(front.sent.at(-1))).toContain(said)
  })

  test.each([
    [{ behavior: 'allow', updatedInput: { answers: { '0': 'Blue' } } }, '{"0":"Blue"}'],
    [{ behavior: 'allow', updatedInput: { answers: 'Blue' } }, '{}'],
    [{ behavior: 'allow', updatedInput: {} }, '{}'],
    [{ behavior: 'allow' }, '{}'],
    [{ behavior: 'deny', updatedInput: { answers: { '0': 'Blue' } } }, '{}'],
  ])('answered with %j are %s', (payload, values) => {
    expect(reply(question, payload)).toEqual({ kind: 'input', values })
  })

  test('that end unanswered are empty', () => {
    const front = asked(question)
    front.link.decodeEnd!('eof')
    expect(replies(front)).toEqual([{ kind: 'input', values: '{}' }])
  })

  const mcp: Question = { kind: 'client', method: 'mcp_message', params: '{"server_name":"lab","message":{"id":1.0}}' }
  const noPlace = { kind: 'client', error: '{"code":-32601,"message":"The client has no place for this request."}' }

  test('to an MCP server of the client', () => {
    const front = asked(mcp)
    expect(String(front.sent.at(-1))).toContain(
      '"request":{"subtype":"mcp_message","server_name":"lab","message":{"id":1.0}}',
    )
    expect(reply(mcp, { mcp_response: { id: 1 } })).toEqual({ kind: 'client', result: '{"id":1}' })
    expect(reply(mcp, {})).toEqual(noPlace)
    front.feed(controlError(request(front).id, 'no'))
    expect(replies(front)).toEqual([noPlace])
  })

  test('outside of a turn', () => {
    const front = streamClient()
    front.feed(control('i', { subtype: 'initialize' }))
    front.link.encodeLink!({ turn: null, type: 'ask', ask: 'a1', question: mcp })
    front.link.encodeLink!({ turn: null, type: 'ask', ask: 'a2', question: { ...mcp, method: 'fs/read' } })
    const { id } = request(front)
    front.link.encodeLink!({ turn: null, type: 'ask-settled', ask: 'a1', how: 'timeout' })
    front.feed(controlSuccess(id, { mcp_response: {} }))
    expect(front.commands).toMatchObject([{ type: 'ask-reply', target: 'running', ask: 'a2', reply: noPlace }])
  })

  test('that have no place are answered so, and reported', () => {
    const front = asked({ kind: 'client', method: 'fs/read', params: '{}' })
    expect(replies(front)).toEqual([noPlace])
    expect(front.losses).toContainEqual({ kind: 'dropped', item: 'ask', field: 'client', why: 'no-place', count: 1 })
  })
})

describe('a tool that the client should run has no place here', () => {
  const question: Question = { kind: 'tool', tool: 'x1' }

  test('it is refused, and the loss is told', () => {
    const front = streamClient()
    front.feed(control('i', { subtype: 'initialize' }), say('hi'))
    const { exchange } = front.commands[0]!
    front.link.encode({ type: 'ask', turn: 't1', ask: 'a1', question }, exchange, undefined as never)
    expect(replies(front)).toMatchObject([{ kind: 'client' }])
    expect(front.losses).toContainEqual({ kind: 'dropped', item: 'ask', field: 'tool', why: 'no-place', count: 1 })
  })

  test('a client that cannot be asked denies it', () => {
    const front = streamClient()
    front.feed(say('hi'))
    const { exchange } = front.commands[0]!
    front.link.encode({ type: 'ask', turn: 't1', ask: 'a1', question }, exchange, undefined as never)
    expect(replies(front)).toEqual([{ kind: 'tool', status: 'denied', parts: [] }])
  })
})
