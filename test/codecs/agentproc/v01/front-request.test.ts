import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codec } from '../../../../codecs/agentproc/index.ts'
import type { FrontContext } from '../../../../src/contract/index.ts'
import { type Fault, fault } from '../../../../src/model/index.ts'
import { driveFront, plainTurn } from '../../../kit/drive.ts'
import { turn } from '../turns.ts'
import { http, stdio } from './fronts.ts'

const { accepts } = codec.dialects['0.1']!.front!

describe('who is accepted', () => {
  const context = (env: Record<string, string>): FrontContext => ({
    transport: 'stdio',
    method: '',
    path: '',
    query: '',
    headers: {},
    argv: [],
    env,
  })

  test.each([
    [undefined, { AGENT_MESSAGE: '' }, true],
    [undefined, { AGENT_PROTOCOL_VERSION: '0.1' }, true],
    [undefined, {}, false],
    [undefined, { AGENT_IMAGE_URL: 'https://stale.example' }, false],
    ['{"type":"turn","message":"x"}', { AGENT_MESSAGE: 'stale' }, false],
    ['text on stdin', { AGENT_MESSAGE: 'x' }, true],
    ['text on stdin', {}, false],
    // The message is on stdin as well, and happens to look like a turn.
    ['{"type":"turn"}', { AGENT_MESSAGE: '{"type":"turn"}\nmore' }, true],
    ['{"type":"turn"}', { AGENT_PROTOCOL_VERSION: '0.1' }, false],
  ])('%j with %j: %s', (first, env, expected) => {
    expect(accepts?.(first, context(env))).toBe(expected)
  })
})

describe('the request of a stand-in', () => {
  test('all variables', () => {
    const front = stdio({
      MESSAGE: 'hi there',
      SESSION_ID: 'a=002fb',
      SESSION_NAME: 'My chat',
      FROM_USER: 'alice',
      STREAMING: '1',
      PROTOCOL_VERSION: '0.1',
      IMAGE_URL: 'https://x/a.png',
      FILE_URL: 'https://x/b.pdf',
    })
    expect(front.commands).toEqual([
      {
        exchange: 'f1',
        type: 'turn-start',
        turn: 'f2',
        task: 'prompt',
        input: [
          { type: 'text', text: 'hi there' },
          { type: 'image', url: 'https://x/a.png' },
          { type: 'file', url: 'https://x/b.pdf' },
        ],
        options: { streaming: true },
        session: { id: 'a/b', name: 'My chat' },
        ext: { protocol: 'agentproc', json: '{"AGENT_FROM_USER":"alice"}' },
      },
    ])
    expect(front.answers.get('f1')).toEqual({
      form: 'stream',
      framing: 'text',
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      onDisconnect: 'cancel',
      asks: 'never',
    })
    expect(front.warned).toEqual([])
  })

  test('a bare message: a new session, not streamed', () => {
    const front = stdio({ MESSAGE: 'hi', SESSION_ID: '', SESSION_NAME: '', FROM_USER: '', IMAGE_URL: '' })
    expect(front.commands).toMatchObject([
      { input: [{ type: 'text', text: 'hi' }], options: { streaming: false }, session: {} },
    ])
    expect(front.commands[0]).not.toHaveProperty('ext')
    expect(front.answers.get('f1')?.form).toBe('whole')
  })

  test('the list of attachments wins over the single ones', () => {
    const list = [
      { type: 'image', url: 'u1', name: 'n1' },
      { type: 'audio', url: 'u2' },
      { type: 'video', url: 'u3', name: '' },
      { type: 'hologram', url: 'u4', size: 3 },
      { type: 'file' },
      'u5',
    ]
    const front = stdio({ MESSAGE: '', ATTACHMENTS: JSON.stringify(list), IMAGE_URL: 'https://stale.example' })
    expect(front.commands).toMatchObject([
      {
        input: [
          { type: 'image', url: 'u1', name: 'n1' },
          { type: 'audio', url: 'u2' },
          { type: 'file', url: 'u3', mime: 'video/*' },
          { type: 'file', url: 'u4' },
        ],
      },
    ])
    expect(front.losses).toEqual([
      { kind: 'dropped', item: 'ext', field: 'size', why: 'no-place', count: 1 },
      { kind: 'unparsed', item: 'part.file', field: 'AGENT_ATTACHMENTS', why: 'unknown', count: 1 },
      { kind: 'unparsed', item: 'part.file', field: 'AGENT_ATTACHMENTS', why: 'unknown', count: 1 },
    ])
  })

  test('an empty list is a list', () => {
    const front = stdio({ MESSAGE: 'hi', ATTACHMENTS: '[]', IMAGE_URL: 'https://stale.example' })
    expect(front.commands).toMatchObject([{ input: [{ type: 'text', text: 'hi' }] }])
  })

  test('an unreadable list is a loss, and the single ones count', () => {
    const front = stdio({ MESSAGE: 'hi', ATTACHMENTS: '{"a":1}', FILE_URL: 'u' })
    expect(front.commands).toMatchObject([{ input: [{ type: 'text' }, { type: 'file', url: 'u' }] }])
    expect(front.losses).toEqual([
      { kind: 'unparsed', item: 'part.file', field: 'AGENT_ATTACHMENTS', why: 'unknown', count: 1 },
    ])
  })

  test('nothing to do is an error', () => {
    const front = stdio({ MESSAGE: '', PROTOCOL_VERSION: '0.1' })
    expect(front.commands).toEqual([])
    expect(front.sent).toEqual(['AGENT_ERROR:"There is neither a message nor an attachment; set AGENT_MESSAGE."'])
    expect(front.exitCode).toBe(1)
  })

  test('stdin is not waited for and not read when the message is in the environment', () => {
    const front = stdio({ MESSAGE: 'hi' })
    expect(front.link.idleMs).toBeUndefined()
    front.feed('hi')
    front.link.decodeEnd?.('eof')
    expect(front.commands).toHaveLength(1)
  })

  test('without AGENT_MESSAGE the message is what stdin holds', () => {
    const front = stdio({ PROTOCOL_VERSION: '0.1', SESSION_ID: 's' })
    expect(front.commands).toEqual([])
    expect(front.link.idleMs).toBe(5000)
    front.feed('line one', '', 'line three')
    front.link.decodeEnd?.('eof')
    expect(front.commands).toMatchObject([
      { input: [{ type: 'text', text: 'line one\n\nline three' }], session: { id: 's' } },
    ])
  })

  test('nothing on stdin in time is an error, a signal ends the wait', () => {
    const idle = stdio({ PROTOCOL_VERSION: '0.1' })
    idle.link.decodeEnd?.('idle')
    expect([idle.sent.length, idle.exitCode]).toEqual([1, 1])
    const stopped = stdio({ PROTOCOL_VERSION: '0.1' })
    stopped.link.decodeEnd?.('signal')
    expect([stopped.sent, stopped.exitCode]).toEqual([[], 143])
  })
})

describe('a request over HTTP', () => {
  test('its body holds the variables, unknown ones travel along', () => {
    const front = http({ AGENT_MESSAGE: 'hi', AGENT_SESSION_ID: 's', AGENT_FROM_USER: 'bob', AGENT_TEAM: 'blue' })
    expect(front.commands).toMatchObject([
      {
        input: [{ type: 'text', text: 'hi' }],
        session: { id: 's' },
        ext: { protocol: 'agentproc', json: '{"AGENT_FROM_USER":"bob","AGENT_TEAM":"blue"}' },
      },
    ])
    front.play(plainTurn('hello'))
    expect(front.sent).toEqual(['AGENT_SESSION:s1', 'hello'])
    expect(front.losses).toEqual([{ kind: 'dropped', item: 'usage', why: 'no-place', count: 1 }])
    expect(front.exitCode).toBe(0)
  })

  test('the environment of the gateway says nothing', () => {
    const front = driveFront(codec, { transport: 'http', env: { AGENT_MESSAGE: 'stale' } })
    expect(front.commands).toEqual([])
    front.feed('{"AGENT_MESSAGE":"hi"}')
    expect(front.commands).toMatchObject([{ input: [{ type: 'text', text: 'hi' }] }])
  })

  test('thinking beside the answer is a loss', () => {
    const front = http({ AGENT_MESSAGE: 'hi' })
    front.play([
      { type: 'message-start', turn: 't1', message: 'm1', role: 'assistant' },
      { type: 'reasoning-delta', turn: 't1', message: 'm1', text: 'hm' },
      ...turn([]),
    ])
    expect(front.losses).toEqual([{ kind: 'dropped', item: 'reasoning-delta', why: 'no-place', count: 1 }])
  })

  test('a refusal before the body is an error line', () => {
    const front = driveFront(codec, { dialect: '0.4', transport: 'http' })
    front.link.encodeFault(fault('forbidden', 'No.'), undefined, 'continues')
    front.link.encode({ type: 'turn-started', turn: 't1' }, 'x', {} as never)
    expect([front.sent, front.exitCode]).toEqual([['AGENT_ERROR:"No."'], 1])
  })

  test.each([
    [{ 'content-type': 'application/json' }, 1],
    [{ 'content-type': 'Application/JSON; charset=utf-8' }, 1],
    [{ 'content-type': 'application/x-ndjson' }, 1],
    [{ 'content-type': 'application/jsonl' }, 0],
    [{ 'content-type': 'text/plain' }, 0],
  ])('%j starts %d turns', (headers, turns) => {
    const front = http({ AGENT_MESSAGE: 'hi' }, { headers })
    expect(front.commands).toHaveLength(turns)
    expect(front.faults.map(({ http: status }) => status)).toEqual(turns === 1 ? [] : [415])
  })

  test.each<[unknown, Fault['code'], string]>([
    ['', 'invalid-request', 'The body must be a JSON object of'],
    ['{', 'invalid-request', 'The body must be a JSON object of'],
    ['[]', 'invalid-request', 'The body must be a JSON object of'],
    ['null', 'invalid-request', 'The body must be a JSON object of'],
    [{ AGENT_MESSAGE: 'hi', AGENT_STREAMING: true }, 'invalid-request', 'The value of AGENT_STREAMING is no string'],
    [{}, 'invalid-request', 'There is neither a message nor an attachment'],
  ])('%j is %s', (body, code, message) => {
    const front = http(body)
    expect(front.commands).toEqual([])
    expect(front.faults).toMatchObject([{ fault: { code } }])
    expect(front.faults[0]?.fault.message).toContain(message)
    expect(front.sent).toEqual([`AGENT_ERROR:${JSON.stringify(front.faults[0]?.fault.message)}`])
    expect(front.exitCode).toBe(1)
  })

  test('a second message of a socket is not read', () => {
    const front = driveFront(codec, { dialect: '0.4', transport: 'socket' })
    front.feed('{"AGENT_MESSAGE":"one"}', '{"AGENT_MESSAGE":"two"}')
    expect(front.commands).toHaveLength(1)
  })
})

test('whatever the environment or a body holds, there is one turn or one error', () => {
  const variables = fc.dictionary(
    fc.constantFrom(...(codec.dialects['0.1']!.front!.env as string[]), 'AGENT_X'),
    fc.oneof(fc.string({ unit: 'binary' }), fc.json()),
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.json(),
        fc.string(),
        variables.map((one) => JSON.stringify(one)),
      ),
      (body) => {
        const front = http(body)
        expect(front.commands.length + front.faults.length).toBe(1)
        expect(front.sent).toHaveLength(front.faults.length)
      },
    ),
  )
  fc.assert(
    fc.property(variables, fc.array(fc.string()), (env, lines) => {
      const front = driveFront(codec, { env })
      front.feed(...lines)
      front.link.decodeEnd?.('eof')
      expect(front.commands.length + front.faults.length).toBe(1)
    }),
  )
})
