import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codec, type Options } from '../../../codecs/acp/index.ts'
import type { Frame } from '../../../src/contract/index.ts'
import type { TurnEnd } from '../../../src/model/index.ts'
import {
  answer,
  answerOf,
  events,
  finish,
  greeted,
  last,
  methods,
  ofType,
  refuse,
  requestLine,
  running,
  sent,
  started,
  textLine,
  updateLine,
} from './kit.ts'

const CLIENT = {
  fs: { readTextFile: false, writeTextFile: false },
  terminal: false,
  session: { compaction: {}, configOptions: { boolean: {} }, notices: {} },
  elicitation: { form: {}, url: {} },
  _meta: { terminal_output: true },
}

describe('a plain turn', () => {
  test('handshake, session, prompt, answer', () => {
    const drive = running({ process: { command: 'a', env: {}, cwd: '/work' } })
    drive.feed(textLine('One '), textLine('two.'))
    finish(drive)
    expect(drive.calls).toEqual([{ kind: 'process', stdin: 'open' }])
    expect(sent(drive)).toEqual([
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: {
          protocolVersion: 1,
          clientCapabilities: CLIENT,
          clientInfo: { name: 'turnpike', title: 'Turnpike', version: '0.0.0' },
        },
      },
      { jsonrpc: '2.0', id: 2, method: 'session/new', params: { cwd: '/work', mcpServers: [] } },
      {
        jsonrpc: '2.0',
        id: 3,
        method: 'session/prompt',
        params: { sessionId: 'S', prompt: [{ type: 'text', text: 'Hi' }] },
      },
    ])
    expect(drive.events).toEqual([
      { turn: null, type: 'agent-ready', json: '{"protocolVersion":1}' },
      { turn: 't1', type: 'turn-started' },
      { turn: 't1', type: 'message-start', message: 'b1', role: 'assistant' },
      { turn: 't1', type: 'text-delta', message: 'b1', text: 'One ' },
      { turn: 't1', type: 'text-delta', message: 'b1', text: 'two.' },
      { turn: 't1', type: 'message-end', message: 'b1' },
      { turn: 't1', type: 'turn-end', outcome: 'completed', stop: 'end' },
    ])
    expect(drive.losses).toEqual([])
  })

  test('the second turn has the same session', () => {
    const drive = running()
    finish(drive)
    drive.start('More', { turn: 't2' })
    expect(methods(drive)).toEqual(['initialize', 'session/new', 'session/prompt', 'session/prompt'])
  })

  test('says the version that the agent has', () => {
    const drive = greeted({ about: { agentInfo: { name: 'a', version: '1.2' } } })
    expect(drive.events).toMatchObject([{ type: 'agent-ready', version: '1.2' }])
  })

  test('an answer without text says so', () => {
    const drive = running()
    finish(drive)
    expect(ofType(drive, 'notice')).toMatchObject([{ severity: 'info', code: 'empty-answer' }])
  })

  test('the trace context of the turn goes with the prompt, instead of that in the fields of its client', () => {
    const params = (like: object, ext?: object) => {
      const drive = greeted(like)
      const said = ext && { ext: { protocol: 'acp', json: JSON.stringify(ext) } }
      drive.start('Hi', said)
      answer(drive, 'session/new', { sessionId: 'S' })
      return last(drive, 'session/prompt').params
    }
    const prompt = [{ type: 'text', text: 'Hi' }]
    const trace = { traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`, tracestate: 'a=1' }
    expect(params({ trace })).toEqual({ sessionId: 'S', prompt, _meta: trace })
    expect(params({ trace: {} })).toEqual({ sessionId: 'S', prompt })
    const ext = { _meta: { k: 1, traceparent: 'old', baggage: 'b=2' }, more: true, prompt: 'no' }
    expect(params({ trace }, ext)).toEqual({ sessionId: 'S', prompt, _meta: { k: 1, ...trace }, more: true })
    expect(params({}, ext)).toEqual({ sessionId: 'S', prompt, _meta: ext._meta, more: true })
  })

  test('a message of the same protocol goes to the agent as it is, one of another does not', () => {
    const drive = greeted()
    drive.link.encode({ type: 'foreign', exchange: 'x', protocol: 'acp', frame: '{"method":"_x"}' })
    drive.link.encode({ type: 'foreign', exchange: 'x', protocol: 'zot', frame: '{"type":"x"}' })
    expect(drive.sent.slice(1)).toEqual(['{"method":"_x"}'])
  })
})

describe('how a turn ends', () => {
  test.each([
    ['end_turn', { outcome: 'completed', stop: 'end' }],
    ['max_tokens', { outcome: 'completed', stop: 'max-tokens' }],
    ['max_turn_requests', { outcome: 'completed', stop: 'max-turns' }],
    ['refusal', { outcome: 'completed', stop: 'refusal' }],
    ['cancelled', { outcome: 'cancelled', stop: 'aborted' }],
    ['something_new', { outcome: 'completed', stop: 'end' }, ['end.stop']],
  ])('%s', (reason, end, lost: string[] = []) => {
    const drive = running()
    drive.feed(textLine('Hi.'))
    finish(drive, reason)
    expect(events(drive).at(-1)).toEqual({ type: 'turn-end', ...end })
    expect(drive.losses.map(({ item }) => item)).toEqual(lost)
  })

  test('an answer without a reason is read as an end, and is a loss', () => {
    const drive = running()
    answer(drive, 'session/prompt', null)
    expect(ofType(drive, 'turn-end')).toMatchObject([{ outcome: 'completed', stop: 'end' }])
    expect(drive.losses).toEqual([{ kind: 'unparsed', item: 'turn-end', why: 'unknown', count: 1 }])
  })

  test('further members of the answer are kept, of a cancelled turn too', () => {
    const other = running()
    finish(other, 'cancelled', { _meta: { mark: 2 } })
    expect(ofType(other, 'turn-end')).toMatchObject([{ outcome: 'cancelled', ext: { json: '{"_meta":{"mark":2}}' } }])
    const drive = running()
    finish(drive, 'end_turn', { _meta: { mark: 1, quota: {}, turnpike: {} }, more: [1] })
    const json = '{"more":[1],"_meta":{"mark":1}}'
    expect(ofType(drive, 'turn-end')).toMatchObject([{ ext: { protocol: 'acp', json } }])
    const empty = running()
    finish(empty, 'end_turn', { _meta: {} })
    expect(ofType(empty, 'turn-end')).toEqual([{ turn: 't1', type: 'turn-end', outcome: 'completed', stop: 'end' }])
  })

  test.each([
    [{ code: -32000, message: 'Authentication required' }, 'provider-auth', 'Authentication required'],
    [
      { code: -32603, message: 'Internal error', data: { details: 'HTTP 429: slow down' } },
      'provider-rate-limit',
      'Internal error: HTTP 429: slow down',
    ],
    [{ code: -32603, message: 'Internal error', data: 'it broke' }, 'internal', 'Internal error: it broke'],
    [{ code: -32603, message: 'it broke', data: { message: 'it broke' } }, 'internal', 'it broke'],
    [{ code: 429, message: 'slow' }, 'provider-rate-limit', 'slow'],
    [{ code: -32601, message: 'Method not found' }, 'protocol-violation', 'Method not found'],
    [{ code: -32602, message: 'Invalid params' }, 'invalid-request', 'Invalid params'],
    [{ code: -32800, message: 'gone' }, 'cancelled', 'gone'],
    [{}, 'internal', 'The agent gave no reason.'],
  ])('the error %j', (error, code, message) => {
    const drive = running()
    refuse(drive, 'session/prompt', error)
    expect(ofType(drive, 'turn-end')).toMatchObject([{ outcome: 'failed', stop: 'error', fault: { code, message } }])
  })

  test('Codex tells of its error as text and ends as if all were well: the turn failed', () => {
    const drive = running()
    const status = (type: string) => updateLine('session_info_update', { _meta: { codex: { threadStatus: { type } } } })
    drive.feed(
      status('active'),
      textLine('Working.'),
      status('systemError'),
      textLine('API error: 429 '),
      status('idle'),
    )
    finish(drive)
    const end = { outcome: 'failed', fault: { code: 'provider-rate-limit', message: 'API error: 429' } }
    expect(ofType(drive, 'turn-end')).toMatchObject([end])
    expect(ofType(drive, 'foreign')).toEqual([])
  })

  test('Codex fails without a reason', () => {
    const drive = running()
    drive.feed(updateLine('session_info_update', { _meta: { codex: { threadStatus: { type: 'systemError' } } } }))
    finish(drive)
    const fault = { code: 'provider-error', message: 'The agent failed without saying why.' }
    expect(ofType(drive, 'turn-end')).toMatchObject([{ fault }])
  })

  test('the process ends: the turn fails, and nothing is sent any more', () => {
    const drive = running()
    drive.link.decodeEnd({ why: 'closed', exitCode: 3 })
    drive.link.decodeEnd({ why: 'closed' })
    drive.feed(textLine('late'))
    drive.start('again', { turn: 't2' })
    const codes = ofType(drive, 'turn-end').map((end: TurnEnd) => [end.turn, end.outcome, end.fault?.code])
    expect(codes).toEqual([
      ['t1', 'failed', 'agent-crashed'],
      ['t2', 'failed', 'agent-crashed'],
    ])
    expect(methods(drive)).toHaveLength(3)
  })
})

test('where there are no files, none are offered', () => {
  const sent: Frame[] = []
  const ports = { emit() {}, open() {}, send: (frame: Frame) => sent.push(frame), end() {}, broken() {}, report() {} }
  const options: Options = { client: 'workspace', folders: [], mcp_servers: [] }
  const context = { options, agent: 'a', env: {}, folder: '/' }
  const link = codec.dialects['v1']!.back!.open(context, { ...ports, newId: () => 'x' })
  link.open!()
  const { params } = JSON.parse(String(sent[0])) as { params: object }
  expect(params).toMatchObject({ clientCapabilities: { fs: { readTextFile: false, writeTextFile: false } } })
})

describe('cancel', () => {
  const cancel = { type: 'turn-cancel', exchange: 'x', target: 'running' } as const

  test('the agent is told, and the turn ends with the answer to its prompt', () => {
    const drive = running()
    drive.link.encode(cancel)
    expect(last(drive, 'session/cancel')).toEqual({
      jsonrpc: '2.0',
      method: 'session/cancel',
      params: { sessionId: 'S' },
    })
    drive.feed(textLine('still'))
    expect(ofType(drive, 'turn-end')).toEqual([])
    finish(drive, 'end_turn')
    expect(ofType(drive, 'turn-end')).toMatchObject([{ outcome: 'cancelled', stop: 'aborted' }])
  })

  test('an agent that answers with an error was cancelled too', () => {
    const drive = running()
    drive.link.encode(cancel)
    refuse(drive, 'session/prompt', { code: -32603, message: 'aborted' })
    expect(ofType(drive, 'turn-end')).toMatchObject([{ outcome: 'cancelled' }])
  })

  test('a turn whose session is still being made is cancelled at once, and has no prompt', () => {
    const drive = greeted()
    drive.start('Hi')
    drive.link.encode(cancel)
    drive.link.encode(cancel)
    answer(drive, 'session/new', { sessionId: 'S' })
    expect(ofType(drive, 'turn-end')).toMatchObject([{ outcome: 'cancelled' }])
    expect(methods(drive)).toEqual(['initialize', 'session/new'])
  })

  test('a process that is stopped for it', () => {
    const drive = running()
    drive.link.decodeEnd({ why: 'cancelled' })
    expect(ofType(drive, 'turn-end')).toMatchObject([{ outcome: 'cancelled' }])
  })
})

describe('the answer to initialize', () => {
  test.each([
    ['another version', { protocolVersion: 2 }],
    ['a version as text', { protocolVersion: '1' }],
    ['no version', {}],
    ['no object', 7],
  ])('%s', (_, result) => {
    const drive = started({ agent: 'gem' })
    answer(drive, 'initialize', result)
    const message = 'The agent "gem" does not speak version 1 of the protocol: install a version of it that does.'
    expect(drive.faults).toEqual([{ code: 'unsupported-version', message, retryable: false }])
  })

  test('an error', () => {
    const drive = started()
    drive.start('Hi')
    refuse(drive, 'initialize', { code: -32603, message: 'no' })
    expect(drive.faults).toMatchObject([
      { code: 'agent-unavailable', message: 'The agent "agent" refused to start: no' },
    ])
    expect(ofType(drive, 'turn-end')).toMatchObject([{ outcome: 'failed', fault: { code: 'agent-unavailable' } }])
  })

  test('none, because the process ended', () => {
    const drive = started()
    drive.start('Hi')
    drive.link.decodeEnd({ why: 'closed', exitCode: 1 })
    expect(ofType(drive, 'turn-end')).toMatchObject([{ fault: { code: 'agent-unavailable', retryable: false } }])
  })
})

describe('a login', () => {
  const about = {
    authMethods: [{ id: 'key', name: 'API key', description: 'x' }, { id: 'web', name: 'web' }, { id: 'other' }],
  }

  test('is done at the start when it is configured', () => {
    const drive = greeted({ about, options: { auth: 'key' } })
    drive.start('Hi')
    expect(drive.events).toEqual([])
    expect(last(drive, 'authenticate')).toMatchObject({ params: { methodId: 'key' } })
    answer(drive, 'authenticate')
    expect(drive.events).toMatchObject([{ type: 'agent-ready' }])
    expect(methods(drive)).toEqual(['initialize', 'authenticate', 'session/new'])
  })

  test('that fails names the ways there are', () => {
    const drive = greeted({ about, options: { auth: 'key' } })
    refuse(drive, 'authenticate', { code: -32000, message: 'bad key' })
    const message =
      'The agent "agent" wants a login (bad key): log in with its own program, or set `auth` to one of: "key" (API key), "web", "other".'
    expect(drive.faults).toEqual([{ code: 'provider-auth', message, retryable: false }])
  })

  test('that a session wants', () => {
    const drive = greeted()
    drive.start('Hi')
    refuse(drive, 'session/new', { code: -32000, message: 'Authentication required' })
    const message = 'The agent "agent" wants a login (Authentication required): log in with its own program.'
    expect(ofType(drive, 'turn-end')).toMatchObject([{ fault: { code: 'provider-auth', message } }])
  })

  test('nothing comes of it when the process ends', () => {
    const drive = greeted({ options: { auth: 'key' } })
    drive.link.decodeEnd({ why: 'closed', exitCode: 1 })
    expect([drive.faults, drive.events]).toEqual([[], []])
  })
})

describe('what is no message of the protocol', () => {
  test.each(['[info] working', '42', '["text"]', '[{"jsonrpc":"2.0","id":1,"method":"x"}]', '{"x":1}'])(
    '%s',
    (line) => {
      const drive = running()
      drive.feed(line, textLine('Fine.'))
      finish(drive)
      expect(drive.losses).toEqual([{ kind: 'unparsed', item: 'foreign', why: 'unknown', count: 1 }])
      expect(ofType(drive, 'turn-end')).toMatchObject([{ outcome: 'completed' }])
    },
  )

  test('a byte order mark before a message is nothing', () => {
    const drive = running()
    drive.feed(`\ufeff${textLine('Fine')}`, `\ufeff\ufeff${textLine('.')}`, '\ufeffnoise')
    finish(drive)
    expect(ofType(drive, 'text-delta').map(({ text }) => text)).toEqual(['Fine', '.'])
    expect(drive.losses).toEqual([{ kind: 'unparsed', item: 'foreign', why: 'unknown', count: 1 }])
  })

  test('noise before the handshake is nothing', () => {
    const drive = started()
    drive.feed('starting up…', '')
    answer(drive, 'initialize', { protocolVersion: 1 })
    expect([drive.faults, drive.losses]).toEqual([[], []])
  })

  test('Content-Length framing is said', () => {
    const drive = started()
    drive.feed('Content-Length: 52', '')
    expect(drive.faults).toMatchObject([
      { code: 'protocol-violation', message: expect.stringContaining('Content-Length') },
    ])
    expect(drive.sent).toHaveLength(1)
  })

  test.each([0, '', 'abc', null, -1, 1.5, '7'])('an unknown method under the id %j is answered with an error', (id) => {
    const drive = running()
    drive.feed(requestLine(id, 'craft/drainMidTurnQueue', {}))
    expect(answerOf(drive, id)).toEqual({
      error: { code: -32601, message: 'Method not found: craft/drainMidTurnQueue' },
    })
  })

  test.each(['fs/read_text_file', 'fs/write_text_file', 'terminal/create', 'terminal/output'])(
    '%s is not offered, and answered with an error',
    (method) => {
      const drive = running()
      drive.feed(requestLine(9, method, { sessionId: 'S', path: '/etc/passwd', content: 'x', command: 'sh' }))
      expect(answerOf(drive, 9)?.error?.code).toBe(-32601)
    },
  )

  test('two answers to one prompt, and answers to nothing', () => {
    const drive = running()
    const { id } = last(drive, 'session/prompt')
    finish(drive)
    drive.start('More', { turn: 't2' })
    drive.feed(JSON.stringify({ jsonrpc: '2.0', id, result: { stopReason: 'end_turn' } }))
    expect(ofType(drive, 'turn-end')).toHaveLength(1)
    expect(drive.losses).toEqual([{ kind: 'unparsed', item: 'command-reply', why: 'unknown', count: 1 }])
  })

  test('text after the answer is output between two turns', () => {
    const drive = running()
    finish(drive)
    drive.feed(textLine('One more thing.'), updateLine('plan', { entries: [] }))
    drive.start('Go on', { turn: 't2' })
    expect(drive.events.filter((event) => event.turn === null && event.type === 'notice')).toMatchObject([
      { code: 'unasked-output', text: 'One more thing.' },
    ])
    expect(last(drive, 'session/prompt').params).toMatchObject({ prompt: [{ text: 'Go on' }] })
  })

  test('what the agent still says of a session that was left is no loss', () => {
    const drive = greeted()
    drive.link.encode({ type: 'query', exchange: 'q', what: 'offers' })
    answer(drive, 'session/new', { sessionId: 'old' })
    drive.start('Hi', { cwd: '/elsewhere' })
    answer(drive, 'session/new', { sessionId: 'S' })
    drive.feed(updateLine('available_commands_update', { availableCommands: [] }, 'old'))
    expect([last(drive, 'session/prompt').params, drive.losses]).toMatchObject([{ sessionId: 'S' }, []])
  })

  test('an update of another session is a loss', () => {
    const drive = running()
    drive.feed(updateLine('agent_message_chunk', { content: { type: 'text', text: 'x' } }, 'OTHER'))
    finish(drive)
    expect(ofType(drive, 'text-delta')).toEqual([])
    expect(drive.losses).toEqual([{ kind: 'dropped', item: 'foreign', field: 'sessionId', why: 'unknown', count: 1 }])
  })

  test.each([{}, { sessionId: 'S' }, { sessionId: 'S', update: { sessionUpdate: 1 } }, null])(
    'an update without its members: %j',
    (params) => {
      const drive = running()
      drive.feed(JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params }))
      expect(drive.losses).toEqual([{ kind: 'unparsed', item: 'foreign', why: 'unknown', count: 1 }])
    },
  )

  test('other notifications and updates of unknown kinds are foreign', () => {
    const drive = running()
    const note = JSON.stringify({ jsonrpc: '2.0', method: '_own/note', params: {} })
    const update = updateLine('brand_new', { a: 1 })
    drive.feed(note, update)
    expect(ofType(drive, 'foreign')).toEqual([
      { type: 'foreign', turn: 't1', protocol: 'acp', frame: note },
      { type: 'foreign', turn: 't1', protocol: 'acp', frame: update },
    ])
    finish(drive)
    drive.feed(note)
    expect(ofType(drive, 'foreign').at(-1)).toEqual({ type: 'foreign', turn: null, protocol: 'acp', frame: note })
  })

  test('whatever comes, nothing throws, and the turn still ends once', () => {
    const piece = fc.oneof(
      fc.string(),
      fc.jsonValue().map((value) => JSON.stringify(value)),
      fc
        .record({
          method: fc.constantFrom(
            'session/update',
            'session/request_permission',
            'elicitation/create',
            'fs/read_text_file',
            '$/cancel_request',
            'x',
          ),
          params: fc.oneof(
            fc.jsonValue(),
            fc.record({
              sessionId: fc.constant('S'),
              update: fc.record({
                sessionUpdate: fc.constantFrom(
                  'agent_message_chunk',
                  'agent_thought_chunk',
                  'tool_call',
                  'tool_call_update',
                  'plan',
                  'usage_update',
                  'notice',
                  'compaction_update',
                  'config_option_update',
                  'current_mode_update',
                  'available_commands_update',
                  'session_info_update',
                ),
                content: fc.jsonValue(),
                toolCallId: fc.oneof(fc.constant('a'), fc.jsonValue()),
                rawInput: fc.jsonValue(),
                status: fc.constantFrom('pending', 'in_progress', 'completed', 'failed', 1),
              }),
            }),
          ),
        })
        .chain((message) =>
          fc.option(fc.integer(), { nil: undefined }).map((id) => JSON.stringify({ ...message, id })),
        ),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (lines) => {
        const drive = running()
        drive.feed(...lines)
        finish(drive)
        expect(ofType(drive, 'turn-end')).toHaveLength(1)
      }),
    )
  })
})
