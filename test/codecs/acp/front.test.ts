import { describe, expect, test } from 'vitest'
import { fault } from '../../../src/model/index.ts'
import { DONE, Editor, SAID, WORK } from './editor.ts'

const AGENT = { name: 'coder', protocol: 'zot', carries: ['turn-start', 'part.text', 'part.image', 'start.folders'] }

describe('the handshake', () => {
  test('says what the agent of the client takes', () => {
    const editor = new Editor({ 'query.agent': AGENT })
    expect(editor.ask('initialize', { protocolVersion: 1 }, 'a')).toEqual({
      jsonrpc: '2.0',
      id: 'a',
      result: {
        protocolVersion: 1,
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, audio: false, embeddedContext: true },
          mcpCapabilities: { http: false, sse: false },
          sessionCapabilities: { list: {}, delete: {}, resume: {}, fork: {}, close: {}, additionalDirectories: {} },
        },
        agentInfo: { name: 'turnpike', title: 'coder (Turnpike)', version: '1.0.0' },
        authMethods: [],
      },
    })
    expect(editor.drive.commands).toMatchObject([{ type: 'query', what: 'agent' }])
  })

  test('promises everything of an agent that is not known', () => {
    const editor = new Editor({ 'query.agent': fault('agent-not-found', 'none') })
    const { result } = editor.ask('initialize', { protocolVersion: 1 })!
    expect(result).toMatchObject({
      agentCapabilities: {
        promptCapabilities: { image: true, audio: true },
        mcpCapabilities: { http: true, sse: true },
      },
      agentInfo: { title: 'Turnpike' },
    })
  })

  test.each([0, 1, 2, 99, 1.5, '1', '2025-11-25'])(
    'answers the version %s with the one that is spoken',
    (protocolVersion) => {
      expect(new Editor().ask('initialize', { protocolVersion })?.result?.['protocolVersion']).toBe(1)
    },
  )

  test.each([
    [{}, 'The parameters are wrong: protocolVersion is missing.'],
    [{ protocolVersion: null }, 'The parameters are wrong: protocolVersion must be a number.'],
  ])('refuses %j', (params, message) => {
    expect(new Editor().ask('initialize', params)?.error).toMatchObject({ code: -32602, message })
  })

  test('takes capabilities that it cannot read for none', () => {
    const editor = new Editor()
    const clientCapabilities = { session: { notices: 7, configOptions: 'x' }, elicitation: [] }
    expect(editor.ask('initialize', { protocolVersion: 1, clientCapabilities })?.error).toBeUndefined()
  })

  test('comes first', () => {
    expect(new Editor().ask('session/new', WORK)?.error).toMatchObject({
      code: -32600,
      message: 'Send initialize before "session/new".',
      data: { code: 'invalid-request', retryable: false },
    })
  })

  test('has no login', () => {
    const { editor } = Editor.open()
    expect(editor.ask('authenticate', { methodId: 'x' })?.error).toMatchObject({
      code: -32602,
      message: 'There is no way to log in, and no need to.',
    })
  })
})

describe('a message', () => {
  test.each(['"7"', '7', '1e2', '9007199254740993', '-0', '""', 'null'])(
    'with the id %s is answered under it',
    (id) => {
      const editor = new Editor()
      editor.feed(`{"jsonrpc":"2.0","id":${id},"method":"nope"}`)
      const data = '{"code":"invalid-request","retryable":false}'
      const error = `{"code":-32601,"message":"There is no method \\"nope\\".","data":${data}}`
      expect(editor.drive.sent).toEqual([`{"jsonrpc":"2.0","id":${id},"error":${error}}`])
    },
  )

  test.each(['true', '{}', '[1]'])('with the id %s is no request', (id) => {
    const editor = new Editor()
    editor.feed(`{"jsonrpc":"2.0","id":${id},"method":"nope"}`)
    expect(editor.read).toMatchObject([{ id: null, error: { code: -32600, message: /^The id of a request is text/ } }])
  })

  test.each([
    ['{bad', -32700, 'A line is not JSON: each line is one message of JSON-RPC.'],
    [
      '[{"jsonrpc":"2.0","id":1,"method":"initialize"}]',
      -32600,
      'Batches are not supported: write each message as a line of its own.',
    ],
    ['{"id":1}', -32600, 'A line is no message of JSON-RPC 2.0.'],
    ['7', -32600, 'A line is no message of JSON-RPC 2.0.'],
    ['{"method":7,"id":1}', -32600, 'A line is no message of JSON-RPC 2.0.'],
  ])('that is none is refused: %s', (line, code, message) => {
    const editor = new Editor()
    editor.feed(line)
    expect(editor.read).toMatchObject([{ id: null, error: { code, message } }])
    expect(editor.drive.faults).toMatchObject([{ fault: { code: 'invalid-request', message } }])
  })

  test('may be missing on a line, and then means nothing', () => {
    const editor = new Editor()
    for (const line of ['', '  ', '\t']) editor.feed(line)
    expect(editor.read).toEqual([])
  })

  test('that nobody knows is ignored as a notification, and as an answer', () => {
    const { editor } = Editor.open()
    editor.tell('_mine/hello', {})
    editor.tell('session/cancel', { sessionId: 'unknown' })
    editor.tell('session/cancel', {})
    editor.tell('$/cancel_request', { requestId: 77 })
    editor.tell('$/cancel_request', { requestId: {} })
    editor.feed({ jsonrpc: '2.0', id: 5, result: {} })
    editor.feed({ jsonrpc: '2.0', id: 5, error: { code: 1, message: 'no' } })
    expect([editor.read, editor.drive.commands]).toEqual([[], []])
  })

  test('that is too long ends the input, and all turns with it', () => {
    const { editor, session } = Editor.open()
    const turn = editor.prompt(session)
    editor.drive.link.encodeFault(fault('payload-too-large', 'A line is too long.'), undefined, 'ends')
    expect(editor.last).toMatchObject({ id: null, error: { code: -32700, data: { code: 'payload-too-large' } } })
    editor.drive.link.decodeEnd!('eof')
    expect(editor.drive.commands.at(-1)).toMatchObject({ type: 'turn-cancel', target: { turn: turn.turn } })
  })
})

describe('a request that is given up', () => {
  test('is answered so at once', () => {
    const editor = new Editor()
    editor.ask('initialize', { protocolVersion: 1 })
    editor.drive.feed('{"jsonrpc":"2.0","id":"l","method":"session/list"}')
    editor.drive.feed('{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"l"}}')
    expect(editor.last).toEqual({
      jsonrpc: '2.0',
      id: 'l',
      error: { code: -32800, message: 'The request was cancelled.' },
    })
    const before = editor.read.length
    editor.settle()
    expect(editor.read.length).toBe(before)
  })

  test('is not answered again when it fails', () => {
    const editor = new Editor()
    editor.ask('initialize', { protocolVersion: 1 })
    editor.drive.feed('{"jsonrpc":"2.0","id":"l","method":"session/list"}')
    editor.drive.feed('{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"l"}}')
    const before = editor.read.length
    editor.drive.link.encodeFault(fault('internal', 'no'), editor.drive.commands.at(-1)!.exchange, 'continues')
    expect(editor.read.length).toBe(before)
  })

  test('is cancelled in its own way when it is a prompt', () => {
    const { editor, session } = Editor.open()
    const turn = editor.prompt(session, 'Hi', 'p')
    editor.tell('$/cancel_request', { requestId: 'other' })
    editor.tell('$/cancel_request', { requestId: 'p' })
    expect(editor.drive.commands.at(-1)).toMatchObject({ type: 'turn-cancel', target: { turn: turn.turn } })
    editor.play(turn, { type: 'turn-end', outcome: 'cancelled', stop: 'aborted' })
    expect(editor.last).toMatchObject({ id: 'p', result: { stopReason: 'cancelled' } })
  })
})

describe('a client that goes', () => {
  test('takes its turns along, in all of its sessions', () => {
    const { editor, session } = Editor.open()
    const other = String(editor.ask('session/new', WORK)!.result!['sessionId'])
    const turns = [editor.prompt(session), editor.prompt(other)]
    editor.drive.link.decodeEnd!('eof')
    editor.drive.link.decodeEnd!('signal')
    const cancels = editor.drive.commands.filter(({ type }) => type === 'turn-cancel')
    expect(cancels).toMatchObject(turns.map(({ turn, session: of }) => ({ target: { turn }, session: of })))
  })
})

describe('two sessions', () => {
  test('are cancelled one by one', () => {
    const { editor, session } = Editor.open()
    const other = String(editor.ask('session/new', WORK)!.result!['sessionId'])
    editor.prompt(session)
    const turn = editor.prompt(other)
    editor.tell('session/cancel', { sessionId: other })
    const cancels = editor.drive.commands.filter(({ type }) => type === 'turn-cancel')
    expect(cancels).toMatchObject([{ target: { turn: turn.turn } }])
    expect(editor.ask('session/close', { sessionId: other }, 'c')).toBeUndefined()
    editor.play(turn, DONE)
    expect(editor.last).toMatchObject({ id: 'c', result: {} })
  })

  test('have their turns at once, each with its own updates and answer', () => {
    const { editor, session } = Editor.open()
    const other = String(editor.ask('session/new', WORK)!.result!['sessionId'])
    expect(other).not.toBe(session)
    const [one, two] = [editor.prompt(session, 'one', 'a'), editor.prompt(other, 'two', 'b')]
    editor.play(two, ...SAID.slice(0, 2))
    editor.play(one, ...SAID.slice(0, 2))
    editor.play(two, ...SAID.slice(2), DONE)
    editor.play(one, ...SAID.slice(2), DONE)
    expect(editor.read.slice(1).map(({ id, params }) => id ?? params?.sessionId)).toEqual([other, session, 'b', 'a'])
  })
})
