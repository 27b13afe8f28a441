import { describe, expect, test } from 'vitest'
import { Editor } from './editor.ts'

const OPTIONS = [
  { id: 'y', kind: 'allow', scope: 'once', label: 'Yes' },
  { id: 'a', kind: 'allow', scope: 'session' },
  { id: 'o', kind: 'allow', scope: 'once' },
  { id: 'n', kind: 'deny', scope: 'once' },
  { id: 'never', kind: 'deny', scope: 'always' },
]
const question = {
  kind: 'approval',
  tool: 't',
  name: 'bash',
  args: '{"cmd":"ls"}',
  description: 'List',
  options: OPTIONS,
}
const ask = { type: 'ask', ask: 'q', question }

function asking(events: readonly object[] = [ask], shows: object = {}) {
  const { editor, session } = Editor.open({}, shows)
  const turn = editor.prompt(session, 'Hi', 'p')
  editor.play(turn, ...events)
  const replies = () => editor.drive.commands.filter(({ type }) => type === 'ask-reply')
  return { editor, session, turn, replies }
}

const selected = (optionId: unknown) => ({ outcome: { outcome: 'selected', optionId } })

describe('an approval', () => {
  test('has the agent’s own options', () => {
    const { editor, session } = asking()
    expect(editor.read).toEqual([
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'session/request_permission',
        params: {
          sessionId: session,
          toolCall: { toolCallId: '1.t', title: 'List', name: 'bash', status: 'pending', rawInput: { cmd: 'ls' } },
          options: [
            { optionId: 'y', name: 'Yes', kind: 'allow_once' },
            { optionId: 'a', name: 'Always allow', kind: 'allow_always' },
            { optionId: 'o', name: 'Allow', kind: 'allow_once' },
            { optionId: 'n', name: 'Reject', kind: 'reject_once' },
            { optionId: 'never', name: 'Always reject', kind: 'reject_always' },
          ],
        },
      },
    ])
  })

  test('shows the change that an agent of this protocol proposes, and the kind of its call', () => {
    const start = { type: 'tool-start', tool: 't', name: 'edit', kind: 'edit', executor: 'agent' }
    const diff = { type: 'diff', path: '/a', oldText: null, newText: 'b' }
    const content = [diff, { type: 'terminal', terminalId: 'x' }]
    const json = JSON.stringify({ content, locations: [{ path: '/a' }], _meta: { k: 1 } })
    const { editor } = asking([start, { ...ask, ext: { protocol: 'acp', json } }])
    expect(editor.last!.params?.['toolCall']).toEqual({
      toolCallId: '1.t',
      title: 'List',
      name: 'bash',
      kind: 'edit',
      status: 'pending',
      rawInput: { cmd: 'ls' },
      content: [diff],
      locations: [{ path: '/a' }],
      _meta: { k: 1 },
    })
  })

  test.each([
    ['acp', '{"content":7,"locations":null,"_meta":[]}'],
    ['zot', '{"content":[],"locations":[],"_meta":{}}'],
  ])('shows nothing of what %s says as %s', (protocol, json) => {
    const { editor } = asking([{ ...ask, ext: { protocol, json } }])
    const call = editor.last!.params?.['toolCall']
    expect(Object.keys(call as object)).toEqual(['toolCallId', 'title', 'name', 'status', 'rawInput'])
  })

  test('has the title of its call', () => {
    const start = { type: 'tool-start', tool: 't', name: 'bash', title: 'Listing', executor: 'agent' }
    const { editor } = asking([start, { ...ask, question: { ...question, description: undefined } }])
    expect(editor.last!.params).toMatchObject({ toolCall: { toolCallId: '1.t', title: 'Listing', name: 'bash' } })
  })

  test.each([
    [selected('a'), 'a'],
    [selected('never'), 'never'],
    [selected('odd'), 'n'],
    [selected(7), 'n'],
    [{ outcome: { outcome: 'cancelled' } }, 'n'],
    [{}, 'n'],
    [null, 'n'],
  ])('is answered by %j with %s', (result, option) => {
    const { editor, session, turn, replies } = asking()
    editor.feed({ jsonrpc: '2.0', id: 1, result })
    expect(replies()).toEqual([
      {
        exchange: expect.any(String),
        session: { id: session },
        type: 'ask-reply',
        target: { turn: turn.turn },
        ask: 'q',
        reply: { kind: 'approval', option },
      },
    ])
  })

  test('is denied by an error, also where the agent offers no refusal', () => {
    const bare = { ...ask, question: { ...question, tool: undefined, description: undefined, options: [OPTIONS[0]] } }
    const { editor, replies } = asking([bare])
    expect(editor.read[0]!.params).toMatchObject({ toolCall: { toolCallId: '1.ask-q', title: 'bash' } })
    editor.feed({ jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'no' } })
    expect(replies()).toMatchObject([{ reply: { kind: 'approval', option: 'deny' } }])
  })

  test('counts its first answer', () => {
    const { editor, replies } = asking()
    for (const id of [2, '1', 1, 1]) editor.feed({ jsonrpc: '2.0', id, result: selected('y') })
    expect(replies()).toHaveLength(1)
  })

  test('that somebody else has settled is taken back, and its answer comes too late', () => {
    const { editor, turn, replies } = asking()
    editor.play(turn, { type: 'ask-settled', ask: 'q', how: 'timeout', by: 'policy' })
    expect(editor.read.at(-1)).toEqual({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: 1 } })
    editor.feed({ jsonrpc: '2.0', id: 1, result: selected('y') })
    editor.play(turn, { type: 'ask-settled', ask: 'other', how: 'timeout' })
    expect([replies(), editor.read.length]).toEqual([[], 2])
  })

  test('that the client has answered is not taken back', () => {
    const { editor, turn } = asking()
    editor.feed({ jsonrpc: '2.0', id: 1, result: selected('y') })
    editor.play(turn, { type: 'ask-settled', ask: 'q', how: 'answered', by: 'client' })
    expect(editor.read).toHaveLength(1)
  })

  test('of a cancelled prompt is the client’s to give up', () => {
    const { editor, session, turn, replies } = asking()
    editor.tell('session/cancel', { sessionId: session })
    editor.play(turn, { type: 'ask-settled', ask: 'q', how: 'cancelled', by: 'turn' })
    editor.feed({ jsonrpc: '2.0', id: 1, result: { outcome: { outcome: 'cancelled' } } })
    editor.play(turn, { type: 'turn-end', outcome: 'cancelled', stop: 'aborted' })
    expect(replies()).toEqual([])
    expect(editor.read).toHaveLength(2)
    expect(editor.last).toMatchObject({ id: 'p', result: { stopReason: 'cancelled' } })
  })
})

describe('a question to the user', () => {
  const schema = '{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}}}'
  const input = (more: object = {}) => ({
    type: 'ask',
    ask: 'q',
    question: { kind: 'input', message: 'Who?', ...more },
  })
  const forms = { elicitation: { form: {} } }

  test('is a form', () => {
    const { editor, session, replies } = asking([input({ schema, tool: 't' })], forms)
    expect(editor.read[0]).toMatchObject({
      method: 'elicitation/create',
      params: {
        mode: 'form',
        sessionId: session,
        toolCallId: '1.t',
        message: 'Who?',
        requestedSchema: JSON.parse(schema),
      },
    })
    editor.feed('{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"age":1.0}}}')
    expect(replies()).toMatchObject([{ ask: 'q', reply: { kind: 'input', values: '{"age":1.0}' } }])
  })

  test.each([
    { action: 'decline' },
    { action: 'cancel' },
    { action: 'accept' },
    { action: 'accept', content: null },
    { action: 'accept', content: 7 },
    null,
  ])('declined by %j is empty', (result) => {
    const { editor, replies } = asking([input()], forms)
    expect(editor.read[0]!.params).toMatchObject({
      requestedSchema: { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
    })
    editor.feed({ jsonrpc: '2.0', id: 1, result })
    expect(replies()).toMatchObject([{ reply: { values: '{}' } }])
  })

  describe('that is a page', () => {
    const ext = { protocol: 'acp', json: '{"url":"https://x","elicitationId":"e1"}' }
    const page = { ...input({ message: 'Log in.\nhttps://x' }), ext }

    test.each([
      [{ action: 'accept' }, '{"opened":true}'],
      [{ action: 'decline' }, '{}'],
      [undefined, '{}'],
    ])('is opened by a client that can: %j', (result, values) => {
      const { editor, session, replies } = asking([page], { elicitation: { url: {} } })
      expect(editor.read[0]).toMatchObject({
        method: 'elicitation/create',
        params: { mode: 'url', sessionId: session, message: 'Log in.', url: 'https://x', elicitationId: 'e1' },
      })
      editor.feed({ jsonrpc: '2.0', id: 1, ...(result ? { result } : { error: { code: 1, message: '' } }) })
      expect(replies()).toMatchObject([{ reply: { kind: 'input', values } }])
    })

    test('is a form for a client of forms alone', () => {
      const { editor } = asking([page], forms)
      expect(editor.read[0]!.params).toMatchObject({ mode: 'form', message: 'Log in.\nhttps://x' })
    })
  })

  test('is empty when the client fails', () => {
    const { editor, replies } = asking([input()], forms)
    editor.feed({ jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'no' } })
    expect(replies()).toMatchObject([{ reply: { values: '{}' } }])
  })

  test.each([
    ['a client without forms', input({ schema }), {}],
    ['a form that is nested', input({ schema: '{"type":"object","properties":{"a":{"type":"object"}}}' }), forms],
    ['a form of no object', input({ schema: '{"type":"string"}' }), forms],
    ['a form that is no JSON', input({ schema: '{' }), forms],
    ['fields of no kind', input({ schema: '{"type":"object","properties":{"a":7}}' }), forms],
  ])('is empty at once for %s', (_, question, shows) => {
    const { editor, replies } = asking([question], shows)
    expect(editor.read).toEqual([])
    expect(replies()).toMatchObject([{ reply: { kind: 'input', values: '{}' } }])
    expect(editor.drive.losses).toMatchObject([{ kind: 'dropped', item: 'ask.input', why: 'policy' }])
  })
})
