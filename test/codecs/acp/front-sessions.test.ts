import { describe, expect, test } from 'vitest'
import { fault } from '../../../src/model/index.ts'
import { DONE, Editor, SAID, WORK } from './editor.ts'

const UNKNOWN = fault('session-not-found', 'There is no such session.')
const KEPT = {
  id: 'g1',
  agent: 'coder',
  session: 's1',
  conversation: '',
  createdAt: 1,
  usedAt: 1_790_000_000_000,
  cwd: '/work',
  title: 'Mend it',
  busy: false,
}

function greeted(answers: ConstructorParameters<typeof Editor>[0] = {}): Editor {
  const editor = new Editor({ 'query.agent': { name: 'coder', protocol: 'zot', carries: [] }, ...answers })
  editor.ask('initialize', { protocolVersion: 1 })
  editor.drive.sent.length = 0
  return editor
}

describe('session/new', () => {
  test('opens a session, whose prompts say where it works', () => {
    const editor = greeted()
    const mcpServers = [
      { name: 'db', command: 'db', args: ['-v'], env: [{ name: 'KEY', value: 'k' }] },
      { type: 'http', name: 'web', url: 'https://mcp.example', headers: [{ name: 'a', value: 'b' }] },
      { type: 'sse', name: 'old', url: 'https://sse.example', headers: [] },
    ]
    const params = { cwd: '/work', additionalDirectories: ['/docs'], mcpServers }
    const { result } = editor.ask('session/new', params)!
    const sessionId = String(result!['sessionId'])
    expect(result).toEqual({ sessionId })
    expect(editor.prompt(sessionId)).toEqual({
      exchange: expect.any(String),
      session: { id: sessionId },
      type: 'turn-start',
      turn: expect.any(String),
      task: 'prompt',
      input: [{ type: 'text', text: 'Hi' }],
      options: { streaming: true },
      cwd: '/work',
      folders: ['/docs'],
      mcpServers: [
        { type: 'stdio', name: 'db', command: ['db', '-v'], env: { KEY: 'k' } },
        { type: 'http', name: 'web', url: 'https://mcp.example', headers: { a: 'b' } },
        { type: 'sse', name: 'old', url: 'https://sse.example', headers: {} },
      ],
    })
    expect(editor.drive.answers.get(editor.turns[0]!.exchange)).toEqual({
      form: 'stream',
      framing: 'ndjson',
      onDisconnect: 'cancel',
      asks: 'inline',
    })
  })

  test.each([
    [{}, 'cwd is missing'],
    [{ cwd: 7 }, 'cwd must be a string'],
    ['x', 'must be an object'],
    [{ cwd: 'work' }, 'cwd must be an absolute path'],
    [{ cwd: '/work', additionalDirectories: ['docs'] }, 'additionalDirectories.0 must be an absolute path'],
    [{ cwd: '/work', mcpServers: {} }, 'mcpServers must be an array'],
    [
      { cwd: '/work', mcpServers: [{ name: 'x' }] },
      'mcpServers.0 must be a server with a command, or of the type "http" or "sse" with a url',
    ],
  ])('refuses %j', (params, wrong) => {
    expect(greeted().ask('session/new', params)?.error).toMatchObject({
      code: -32602,
      message: `The parameters are wrong: ${wrong}.`,
    })
  })

  test.each(['C:\\work', 'C:/work', '\\\\server\\share', '/'])('takes the folder %s', (cwd) => {
    expect(greeted().ask('session/new', { cwd })?.error).toBeUndefined()
  })
})

describe('session/load', () => {
  const messages = [
    {
      role: 'user',
      parts: [
        { type: 'text', text: 'Mend it' },
        { type: 'file', url: 'file:///a.txt', name: 'a.txt' },
      ],
    },
    {
      role: 'assistant',
      parts: [
        { type: 'reasoning', text: 'Hm.' },
        { type: 'reasoning', text: '' },
        { type: 'text', text: '' },
        { type: 'tool-call', tool: 't', name: 'edit', args: '{"path":"/a"}' },
      ],
    },
    {
      role: 'tool',
      parts: [
        {
          type: 'tool-reply',
          tool: 't',
          status: 'denied',
          parts: [
            { type: 'diff', path: '/a', before: null, after: 'b' },
            { type: 'data', json: '{"n":1.0}' },
          ],
        },
      ],
    },
    {
      role: 'assistant',
      parts: [
        { type: 'text', text: 'Done.' },
        { type: 'file', ref: 'gone' },
      ],
    },
  ]

  test('replays the transcript, then answers', () => {
    const editor = greeted({ 'query.session': { ...KEPT, messages } })
    editor.ask('session/load', { sessionId: 's1', ...WORK }, 'l')
    expect(editor.updates).toEqual([
      { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'Mend it' }, messageId: 'h1' },
      {
        sessionUpdate: 'user_message_chunk',
        content: { type: 'resource_link', uri: 'file:///a.txt', name: 'a.txt' },
        messageId: 'h1',
      },
      { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'Hm.' }, messageId: 'h2' },
      {
        sessionUpdate: 'tool_call',
        toolCallId: 'h.t',
        title: 'edit',
        name: 'edit',
        status: 'completed',
        rawInput: { path: '/a' },
      },
      {
        sessionUpdate: 'tool_call_update',
        toolCallId: 'h.t',
        status: 'failed',
        content: [{ type: 'diff', path: '/a', oldText: null, newText: 'b' }],
        rawOutput: { n: 1 },
      },
      { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Done.' }, messageId: 'h4' },
    ])
    expect(editor.drive.sent.at(-1)).toBe('{"jsonrpc":"2.0","id":"l","result":{}}')
    expect(editor.drive.sent.join('')).toContain('"rawOutput":{"n":1.0}')
    expect(editor.prompt('s1').session).toEqual({ id: 's1' })
  })

  test('of a session that is not kept is an error', () => {
    const editor = greeted({ 'query.session': UNKNOWN })
    expect(editor.ask('session/load', { sessionId: 's1', ...WORK })?.error).toEqual({
      code: -32002,
      message: 'There is no such session.',
      data: { code: 'session-not-found', retryable: false },
    })
    expect(
      editor.ask('session/prompt', { sessionId: 's1', prompt: [{ type: 'text', text: 'x' }] })?.error,
    ).toMatchObject({
      code: -32002,
    })
  })

  test('of one that is open here and had no prompt has nothing to replay', () => {
    const editor = greeted({ 'query.session': UNKNOWN })
    const sessionId = String(editor.ask('session/new', WORK)!.result!['sessionId'])
    expect(editor.ask('session/load', { sessionId, ...WORK })?.result).toEqual({})
    expect(editor.updates).toEqual([])
  })

  test('fails with the store', () => {
    const editor = greeted({ 'query.session': fault('internal', 'The disk is full.') })
    const sessionId = String(editor.ask('session/new', WORK)!.result!['sessionId'])
    expect(editor.ask('session/load', { sessionId, ...WORK })?.error?.code).toBe(-32603)
  })

  test('needs a session', () => {
    expect(greeted().ask('session/load', WORK)?.error).toMatchObject({ code: -32602 })
  })

  test('is resume without the replay', () => {
    const editor = greeted({ 'query.session': { ...KEPT, messages } })
    expect(editor.ask('session/resume', { sessionId: 's1', cwd: '/other' })?.result).toEqual({})
    expect(editor.updates).toEqual([])
    expect(editor.prompt('s1')).toMatchObject({ cwd: '/other' })
  })
})

describe.each(['session/load', 'session/resume'])('%s of a session that is open here', (method) => {
  const reopened = (): { editor: Editor; session: string; turn: ReturnType<Editor['prompt']> } => {
    const { editor, session } = Editor.open({ 'query.session': { ...KEPT, messages: [] } })
    const turn = editor.prompt(session, 'Hi', 'p')
    expect(editor.ask(method, { sessionId: session, ...WORK }, 'again')?.result).toEqual({})
    return { editor, session, turn }
  }

  test('leaves its prompts to be cancelled', () => {
    const { editor, session, turn } = reopened()
    editor.tell('session/cancel', { sessionId: session })
    expect(editor.drive.commands.at(-1)).toMatchObject({ type: 'turn-cancel', target: { turn: turn.turn } })
  })

  test('has it closed after its prompts', () => {
    const { editor, session, turn } = reopened()
    expect(editor.ask('session/close', { sessionId: session }, 'c')).toBeUndefined()
    editor.play(turn, DONE)
    expect(editor.read.map(({ id }) => id)).toEqual(['again', 'p', 'c'])
  })

  test('takes over what its agent offers meanwhile', () => {
    const { editor, session, turn } = reopened()
    const modes = [{ id: 'a' }, { id: 'b' }]
    const json = JSON.stringify({ mode: 'a', modes })
    editor.drive.link.encodeLink!({ turn: null, type: 'session-changed', json }, turn.exchange)
    expect(editor.updates).toEqual([{ sessionUpdate: 'current_mode_update', currentModeId: 'a' }])
    expect(editor.ask('session/set_mode', { sessionId: session, modeId: 'b' })?.result).toEqual({})
  })

  test('goes on with the numbers of its prompts', () => {
    const { editor, session, turn } = reopened()
    editor.play(turn, ...SAID, DONE)
    editor.play(editor.prompt(session), ...SAID, DONE)
    expect(editor.updates).toMatchObject([{ messageId: '1.m' }, { messageId: '2.m' }])
  })
})

test('prompts of a session of an earlier connection have ids that none had there', () => {
  const editor = greeted({ 'query.session': { ...KEPT, messages: [] } })
  editor.ask('session/resume', { sessionId: 's1', ...WORK })
  editor.play(editor.prompt('s1'), ...SAID, DONE)
  expect(editor.updates).toMatchObject([{ messageId: expect.stringMatching(/^f\d+\.1\.m$/) as string }])
})

describe('session/list', () => {
  const sessions = [
    KEPT,
    { ...KEPT, session: 's2', conversation: 'c' },
    { ...KEPT, session: 's3', agent: 'other' },
    { ...KEPT, session: 's4', cwd: undefined, title: undefined },
    { ...KEPT, session: 's5', cwd: '/elsewhere' },
  ]
  const names = (listed: unknown): unknown => (listed as { sessionId: string }[]).map(({ sessionId }) => sessionId)

  test('has the sessions of this agent that can be opened again', () => {
    const { result } = greeted({ 'query.sessions': { sessions } }).ask('session/list')!
    const updatedAt = '2026-09-21T14:13:20.000Z'
    expect(result).toEqual({
      sessions: [
        { sessionId: 's1', cwd: '/work', title: 'Mend it', updatedAt },
        { sessionId: 's4', cwd: '/', updatedAt },
        { sessionId: 's5', cwd: '/elsewhere', title: 'Mend it', updatedAt },
      ],
    })
  })

  test('has those of a folder, or of all agents while the client’s is unknown', () => {
    const editor = greeted({ 'query.sessions': { sessions } })
    expect(names(editor.ask('session/list', { cwd: '/work' })!.result!['sessions'])).toEqual(['s1'])
    expect(names(editor.ask('session/list', { cwd: null })!.result!['sessions'])).toEqual(['s1', 's4', 's5'])
    const unknown = new Editor({ 'query.sessions': { sessions } })
    unknown.ask('initialize', { protocolVersion: 1 })
    expect(names(unknown.ask('session/list')!.result!['sessions'])).toEqual(['s1', 's3', 's4', 's5'])
  })

  test('may be empty, wrong, or fail', () => {
    expect(greeted().ask('session/list')!.result).toEqual({ sessions: [] })
    expect(greeted().ask('session/list', { cwd: 7 })!.error).toMatchObject({ code: -32602 })
    const failing = greeted({ 'query.sessions': fault('internal', 'no') })
    expect(failing.ask('session/list')!.error).toMatchObject({ code: -32603 })
  })
})

describe('session/close', () => {
  test('cancels what runs, and answers after it', () => {
    const { editor, session } = Editor.open()
    const turn = editor.prompt(session, 'Hi', 'p')
    expect(editor.ask('session/close', { sessionId: session }, 'c')).toBeUndefined()
    expect(editor.drive.commands.at(-1)).toMatchObject({ type: 'turn-cancel', target: { turn: turn.turn } })
    editor.play(turn, DONE)
    expect(editor.read.map(({ id }) => id)).toEqual(['p', 'c'])
    expect(editor.read[0]).toMatchObject({ result: { stopReason: 'cancelled' } })
    expect(editor.drive.commands.at(-1)).toMatchObject({ type: 'session-close', session: { id: session } })
    expect(editor.ask('session/close', { sessionId: session })?.error).toMatchObject({ code: -32002 })
  })

  test('needs a session', () => {
    const { editor } = Editor.open()
    expect(editor.ask('session/close', {})?.error).toMatchObject({ code: -32602 })
  })

  test.each([
    ['session/close', 'session/close'],
    ['session/close', 'session/delete'],
    ['session/delete', 'session/close'],
    ['session/delete', 'session/delete'],
  ])('%s, and %s of the same session: both are answered after what runs', (first, second) => {
    const { editor, session } = Editor.open({ 'query.session': KEPT })
    const turn = editor.prompt(session, 'Hi', 'p')
    expect(editor.ask(first, { sessionId: session }, 1)).toBeUndefined()
    expect(editor.ask(second, { sessionId: session }, 2)).toBeUndefined()
    expect(editor.drive.commands.filter(({ type }) => type === 'turn-cancel')).toHaveLength(1)
    editor.play(turn, DONE)
    const [prompted, ...answers] = editor.read
    expect(prompted).toMatchObject({ id: 'p', result: { stopReason: 'cancelled' } })
    expect(new Map(answers.map(({ id, result }) => [id, result]))).toEqual(new Map([1, 2].map((id) => [id, {}])))
  })
})

describe('session/fork', () => {
  test('copies a session under an id of its own, which is open from then on', () => {
    const editor = greeted({ 'query.session': { ...KEPT, messages: [] } })
    const copy = String(editor.ask('session/fork', { sessionId: 's1', ...WORK })!.result!['sessionId'])
    expect(editor.drive.commands.find(({ type }) => type === 'session-fork')).toMatchObject({
      id: 'g1',
      session: { id: copy },
    })
    expect(editor.ask('session/close', { sessionId: copy })?.result).toEqual({})
    expect(editor.ask('session/close', { sessionId: 's1' })?.error).toMatchObject({ code: -32002 })
  })

  test('of one that had no prompt is a new one', () => {
    const { editor, session } = Editor.open({ 'query.session': UNKNOWN })
    const { result } = editor.ask('session/fork', { sessionId: session, ...WORK })!
    expect(result!['sessionId'] === session).toBe(false)
    expect(editor.drive.commands.map(({ type }) => type)).not.toContain('session-fork')
  })

  test('is refused while a turn runs, for an unknown session, and without a folder', () => {
    const editor = greeted({
      'query.session': { ...KEPT, messages: [] },
      'session-fork': fault('session-busy', 'busy'),
    })
    expect(editor.ask('session/fork', { sessionId: 's1', ...WORK })?.error).toMatchObject({ message: 'busy' })
    expect(editor.ask('session/fork', { sessionId: 's1' })?.error).toMatchObject({ code: -32602 })
    const unknown = greeted({ 'query.session': UNKNOWN })
    expect(unknown.ask('session/fork', { sessionId: 's1', ...WORK })?.error).toMatchObject({ code: -32002 })
  })
})

describe('session/delete', () => {
  test('deletes what is kept of a session, which is none of the client’s from then on', () => {
    const editor = greeted({ 'query.session': { ...KEPT, messages: [] } })
    editor.ask('session/load', { sessionId: 's1', ...WORK })
    expect(editor.ask('session/delete', { sessionId: 's1' })?.result).toEqual({})
    expect(editor.drive.commands.at(-1)).toMatchObject({ type: 'session-delete', id: 'g1' })
    expect(editor.ask('session/close', { sessionId: 's1' })?.error).toMatchObject({ code: -32002 })
  })

  test('of one that had no prompt only forgets it', () => {
    const { editor, session } = Editor.open({ 'query.session': UNKNOWN })
    expect(editor.ask('session/delete', { sessionId: session })?.result).toEqual({})
    expect(editor.drive.commands.map(({ type }) => type)).toEqual(['query'])
    expect(editor.ask('session/delete', { sessionId: session })?.result).toEqual({})
    expect(editor.ask('session/close', { sessionId: session })?.error).toMatchObject({ code: -32002 })
  })

  test('fails with the store', () => {
    const { editor, session } = Editor.open({ 'query.session': fault('internal', 'no disk') })
    expect(editor.ask('session/delete', { sessionId: session })?.error).toMatchObject({ message: 'no disk' })
  })

  test('is refused while another client works in it, and without a session', () => {
    const editor = greeted({
      'query.session': { ...KEPT, messages: [] },
      'session-delete': fault('session-busy', 'busy'),
    })
    expect(editor.ask('session/delete', { sessionId: 's1' })?.error).toEqual({
      code: -32603,
      message: 'busy',
      data: { code: 'session-busy', retryable: true },
    })
    expect(editor.ask('session/delete', { sessionId: '' })?.error).toMatchObject({ code: -32602 })
  })
})
