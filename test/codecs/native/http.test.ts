import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/native/index.ts'
import type { Frame } from '../../../src/contract/index.ts'
import { LiveView } from '../../../src/engine/events/view.ts'
import { fault, type TurnEvent, type TurnView } from '../../../src/model/index.ts'
import { driveFront, type FrontDrive, plainTurn } from '../../kit/drive.ts'
import { lossyFront } from './kit.ts'

function open(headers: Record<string, string> = {}): FrontDrive {
  return driveFront(codec, { dialect: 'http', transport: 'http', method: 'POST', path: '/v1/turns', headers })
}

function asked(body: string, headers: Record<string, string> = {}): FrontDrive {
  const drive = open(headers)
  drive.feed(body)
  return drive
}

function json(frame: Frame | undefined): unknown {
  return JSON.parse(String(frame))
}

const BODY = '{"input":"hi"}'
const SSE = { accept: 'text/event-stream' }
const ASYNC = { prefer: 'respond-async' }

describe('a request', () => {
  test('is a turn-start', () => {
    const drive = asked('{"input":"hi","agent":"a","session":{"id":"s"},"options":{"model":"m"},"new":1}')
    expect(drive.commands).toEqual([
      {
        exchange: 'f1',
        type: 'turn-start',
        turn: 'f2',
        task: 'prompt',
        input: [{ type: 'text', text: 'hi' }],
        agent: 'a',
        session: { id: 's' },
        options: { model: 'm' },
        ext: { protocol: 'native', json: '{"new":1}' },
      },
    ])
    expect(drive.answers.get('f1')).toEqual({
      form: 'whole',
      framing: 'body',
      headers: {},
      onDisconnect: 'cancel',
      asks: 'next-request',
    })
  })

  test('has its ids in headers, where the body has none', () => {
    const headers = { 'x-request-id': 'r1', 'idempotency-key': 'k1' }
    expect(asked(BODY, headers).commands).toMatchObject([
      { request: 'r1', once: { key: 'k1', duplicate: 'join', replay: 'success' }, session: { id: 'k1' } },
    ])
    const once = '{"key":"k2","duplicate":"tell","replay":"never"}'
    const own = asked(`{"input":"hi","request":"r2","once":${once}}`, headers)
    expect(own.commands).toMatchObject([{ request: 'r2', once: JSON.parse(once) as object }])
    expect(own.commands[0]).not.toHaveProperty('session')
    const named = asked('{"input":"hi","session":{"id":"s1"}}', headers)
    expect(named.commands).toMatchObject([{ once: { key: 'k1' }, session: { id: 's1' } }])
    const channel = asked('{"input":"hi","session":{"channel":"c"}}', headers)
    expect(channel.commands).toMatchObject([{ session: { id: 'k1', channel: 'c' } }])
    const empty = asked(BODY, { 'x-request-id': '', 'idempotency-key': '' })
    expect(Object.keys(empty.commands[0]!)).toEqual(['exchange', 'type', 'turn', 'task', 'input', 'options'])
  })

  test.each([
    [{ 'x-request-id': 'r1' }, BODY, 'r1'],
    [{ 'x-request-id': 'r1' }, '{"input":"hi","request":"r2"}', 'r2'],
    [{ 'x-request-id': 'nicht möglich' }, BODY, undefined],
  ])('is told its id back in a header: %j', (headers, body, told) => {
    expect(asked(body, headers).answers.get('f1')!.headers!['x-request-id']).toBe(told)
  })

  test.each([
    ['', { 'content-type': 'text/plain' }, 415, 'The body must be JSON; send it as Content-Type: application/json.'],
    ['[]', {}, undefined, 'The body is not a JSON object; send {"input":"…"}.'],
    [
      '{}',
      { 'content-type': 'application/json; charset=utf-8' },
      undefined,
      'The request cannot be read: input is missing.',
    ],
    ['{"input":[7]}', { 'content-type': 'application/x+json' }, undefined, expect.stringContaining('input.0 ')],
    ['{"type":"query","what":"state"}', {}, undefined, expect.stringMatching(/^type must be "turn-start", or/)],
    [
      '{"type":"ask-reply","reply":{"kind":"input","values":{}}}',
      {},
      undefined,
      'target.continuation is missing; it is in the answer that asked.',
    ],
    [
      '{"type":"ask-reply","target":{"turn":"t"},"reply":{"kind":"input","values":{}}}',
      {},
      undefined,
      'target.continuation is missing; it is in the answer that asked.',
    ],
  ])('is refused: %s %j', (body, headers, http, message) => {
    const drive = asked(body, headers)
    expect(drive.faults).toEqual([{ fault: fault('invalid-request', message as string), ...(http && { http }) }])
    expect(json(drive.sent[0])).toEqual({
      type: 'fault',
      fault: { code: 'invalid-request', message, retryable: false },
    })
  })

  test('goes on with a parked turn', () => {
    const body =
      '{"type":"ask-reply","target":{"continuation":"c"},"ask":"a","reply":{"kind":"approval","option":"yes"}}'
    const drive = asked(body, ASYNC)
    expect(drive.commands).toEqual([
      {
        exchange: 'f1',
        type: 'ask-reply',
        target: { continuation: 'c' },
        ask: 'a',
        reply: { kind: 'approval', option: 'yes' },
      },
    ])
    expect(drive.answers.get('f1')!.form).toBe('whole')
  })
})

describe('the form of the answer', () => {
  test.each([
    ['', 'body'],
    ['*/*', 'body'],
    ['text/html', 'body'],
    ['text/event-stream', 'sse'],
    ['Text/Event-Stream; q=0.9', 'sse'],
    ['application/x-ndjson', 'ndjson'],
    ['application/json, text/event-stream', 'body'],
    ['application/json;q=0.5, text/event-stream', 'sse'],
    ['text/event-stream;q=0, application/x-ndjson;q=0.1', 'ndjson'],
    ['text/event-stream;q=x', 'body'],
  ])('Accept: %s → %s', (accept, framing) => {
    const drive = asked(BODY, { accept })
    const answer = drive.answers.get('f1')!
    expect(answer).toMatchObject({ framing, form: framing === 'body' ? 'whole' : 'stream' })
    expect(answer.asks).toBe(framing === 'body' ? 'next-request' : 'inline')
    expect(drive.commands).toMatchObject([{ options: framing === 'body' ? {} : { streaming: true } }])
  })

  test('a stream may still be told in whole messages', () => {
    const drive = asked('{"input":"hi","options":{"streaming":false}}', SSE)
    expect(drive.commands).toMatchObject([{ options: { streaming: false } }])
  })

  test.each([
    ['respond-async', 'accepted'],
    ['handling=lenient, Respond-Async; x=1', 'accepted'],
    ['respond-asynchronously', 'whole'],
    ['wait=10', 'whole'],
  ])('Prefer: %s → %s', (prefer, form) => {
    expect(asked(BODY, { prefer }).answers.get('f1')!.form).toBe(form)
  })
})

const TOOLS: TurnEvent[] = [
  { type: 'turn-accepted', turn: 'f2', how: 'new', session: 's1' },
  { type: 'message-start', turn: 'f2', message: 'm1', role: 'assistant', lane: 'l' },
  { type: 'reasoning-delta', turn: 'f2', message: 'm1', text: 'hm' },
  {
    type: 'message-end',
    turn: 'f2',
    message: 'm1',
    parts: [{ type: 'tool-call', tool: 'c1', name: 'run', args: '{"n":1e400}' }],
  },
  { type: 'tool-call', turn: 'f2', tool: 'c1', name: 'run', args: '{"n":1e400}', executor: 'agent' },
  { type: 'tool-end', turn: 'f2', tool: 'c1', status: 'ok', parts: [] },
  { type: 'tool-start', turn: 'f2', tool: 'c2', name: 'look', executor: 'agent' },
  { type: 'directive', turn: 'f2', action: 'show', json: '[1.0]' },
  { type: 'notice', turn: 'f2', severity: 'info', code: 'n', text: 'x' },
  { type: 'usage', turn: 'f2', scope: 'turn', usage: { total: 7 }, estimated: true },
]

describe('a whole answer', () => {
  test('of a plain turn', () => {
    const drive = asked(BODY)
    drive.play(plainTurn('yes', 'f2'))
    expect(drive.sent).toHaveLength(1)
    expect(json(drive.sent[0])).toEqual({
      turn: 't1',
      session: 's1',
      agent: 'agent',
      outcome: 'completed',
      stop: 'end',
      text: 'yes',
      messages: [{ id: 'm1', role: 'assistant', text: 'yes' }],
      tools: [],
      usage: { input: 3, output: 4, total: 7 },
      startedAt: 1000,
      endedAt: 1250,
    })
  })

  test('of one with everything', () => {
    const drive = asked(BODY)
    drive.play(TOOLS)
    drive.play([
      {
        type: 'turn-end',
        turn: 'f2',
        outcome: 'failed',
        stop: 'error',
        fault: fault('provider-down', 'Down.'),
        continuation: 'c',
        summary: 'sum',
        ext: { protocol: 'zot', json: '{"x":1.0}' },
      },
    ])
    expect(String(drive.sent[0])).toBe(
      '{"turn":"t1","session":"s1","agent":"agent","outcome":"failed","stop":"error","text":"",' +
        '"messages":[{"id":"m1","role":"assistant","lane":"l","text":"","reasoning":"hm",' +
        '"parts":[{"type":"tool-call","tool":"c1","name":"run","args":{"n":1e400}}]}],' +
        '"tools":[{"id":"c1","name":"run","executor":"agent","args":{"n":1e400},"status":"ok","parts":[]},' +
        '{"id":"c2","name":"look","executor":"agent","parts":[]}],' +
        '"directives":[{"action":"show","json":[1.0]}],"notices":[{"severity":"info","code":"n","text":"x"}],' +
        '"usage":{"total":7},"usageEstimated":true,' +
        '"fault":{"code":"provider-down","message":"Down.","retryable":true},"continuation":"c","summary":"sum",' +
        '"startedAt":1000,"endedAt":1250,"ext":{"protocol":"zot","json":{"x":1.0}}}',
    )
  })

  test('of a parked turn says what is asked, and how to go on', () => {
    const drive = asked(BODY)
    const question = { kind: 'approval', name: 'rm', args: '{"f":"x"}', options: [] } as const
    drive.play([
      { type: 'turn-accepted', turn: 'f2', how: 'new', session: 's1' },
      {
        type: 'turn-parked',
        turn: 'f2',
        asks: [
          { ask: 'a1', question, deadline: 9000 },
          { ask: 'a2', question: { kind: 'tool', tool: 'c' } },
        ],
        continuation: 'c',
        deadline: 9000,
      },
    ])
    expect(json(drive.sent[0])).toMatchObject({
      outcome: 'parked',
      asks: [
        { ask: 'a1', question: { ...question, args: { f: 'x' } }, deadline: 9000 },
        { ask: 'a2', question: { kind: 'tool', tool: 'c' } },
      ],
      continuation: 'c',
      deadline: 9000,
    })
    expect(json(drive.sent[0])).not.toHaveProperty('losses')
  })

  test('that never was is a fault', () => {
    const drive = asked(BODY)
    drive.link.encodeLink!({ turn: null, type: 'session-changed', json: '1' })
    drive.link.keepAlive!()
    drive.link.encodeFault(fault('overloaded', 'Full.'), 'f1', 'continues')
    expect(drive.sent.map(json)).toEqual([
      { type: 'fault', fault: { code: 'overloaded', message: 'Full.', retryable: true } },
    ])
  })
})

describe('a stream', () => {
  test('of server-sent events', () => {
    const drive = asked(BODY, SSE)
    drive.link.keepAlive!()
    drive.play(plainTurn('yes', 'f2').slice(0, 2))
    drive.link.keepAlive!()
    drive.link.encodeLink!({ turn: null, type: 'session-changed', json: '{"m":1.0}' })
    drive.play([{ type: 'turn-end', turn: 'f2', outcome: 'completed' }])
    expect(drive.answers.get('f1')!.headers).toEqual({ 'cache-control': 'no-cache' })
    expect(drive.sent).toEqual([
      {
        id: '1',
        event: 'turn-accepted',
        data: '{"type":"turn-accepted","turn":"f2","seq":1,"how":"new","session":"s1"}',
      },
      { id: '2', event: 'turn-started', data: '{"type":"turn-started","turn":"f2","seq":2}' },
      { event: 'ping', data: '{}' },
      { event: 'session-changed', data: '{"type":"session-changed","turn":null,"json":{"m":1.0}}' },
      { id: '3', event: 'turn-end', data: '{"type":"turn-end","turn":"f2","seq":3,"outcome":"completed"}' },
    ])
  })

  test('that has begun tells a fault as an event; before, it is a plain body', () => {
    const drive = asked(BODY, SSE)
    drive.link.encodeFault(fault('internal', 'Oh.'), 'f1', 'continues')
    drive.play(plainTurn('yes', 'f2').slice(0, 1))
    drive.link.encodeFault(fault('internal', 'Oh.'), 'f1', 'continues')
    const line = '{"type":"fault","fault":{"code":"internal","message":"Oh.","retryable":false}}'
    expect([drive.sent[0], drive.sent[2]]).toEqual([line, { event: 'fault', data: line }])
  })

  test('of lines', () => {
    const drive = asked(BODY, { accept: 'application/x-ndjson' })
    drive.play(plainTurn('yes', 'f2').slice(0, 2))
    drive.link.keepAlive!()
    expect(drive.answers.get('f1')!.headers).toEqual({})
    expect(drive.sent).toEqual([
      '{"type":"turn-accepted","turn":"f2","seq":1,"how":"new","session":"s1"}',
      '{"type":"turn-started","turn":"f2","seq":2}',
      '',
    ])
  })
})

describe('what was lost', () => {
  const lost = { kind: 'dropped', item: 'start.history', why: 'no-place', count: 1 } as const
  const end = { type: 'turn-end', turn: 't1', outcome: 'completed' } as const

  test('is told with the end of a stream', () => {
    const { link, sent } = lossyFront('http', [lost], SSE)
    link.decode(BODY)
    link.encode(end, 'x1', { seq: 3 } as TurnView)
    expect(sent).toEqual([
      {
        id: '3',
        event: 'turn-end',
        data: `{"type":"turn-end","turn":"t1","seq":3,"outcome":"completed","losses":[${JSON.stringify(lost)}]}`,
      },
    ])
  })

  test('is told with a fault', () => {
    const { link, sent } = lossyFront('http', [lost])
    link.decode(BODY)
    link.encodeFault(fault('lossy-refused', 'No.'), 'x1', 'continues')
    expect(json(sent[0])).toMatchObject({ type: 'fault', losses: [lost] })
  })

  test('is told with a whole answer', () => {
    const { link, sent } = lossyFront('http', [lost])
    link.decode(BODY)
    const identity = { turn: 't1', session: 's1', agent: 'agent', at: 1000 }
    link.encode(end, 'x1', new LiveView({ ...identity }))
    expect(json(sent[0])).toMatchObject({ outcome: 'completed', losses: [lost] })
  })
})

describe('an accepted turn', () => {
  test('is answered with where to find it', () => {
    const drive = asked(BODY, { ...ASYNC, 'x-request-id': 'r1' })
    const answer = drive.answers.get('f1')!
    expect(answer).toMatchObject({ form: 'accepted', framing: 'body', status: 202, onDisconnect: 'drain' })
    expect(answer.asks).toBe('next-request')
    expect(answer.headers).toEqual({ 'x-request-id': 'r1' })
    drive.play([{ type: 'turn-accepted', turn: 't9', how: 'joined', session: 's1' }])
    expect(drive.sent).toEqual(['{"id":"t9","status":"accepted","session":"s1"}'])
    expect(answer.headers).toEqual({
      'x-request-id': 'r1',
      location: '/v1/turns/t9',
      'preference-applied': 'respond-async',
    })
  })
})
