import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/native/index.ts'
import type { Frame } from '../../../src/contract/index.ts'
import { LiveView } from '../../../src/engine/events/view.ts'
import { fault } from '../../../src/model/index.ts'
import { driveFront, type FrontDrive, plainTurn } from '../../kit/drive.ts'

function ask(
  method: string,
  path: string,
  more: { body?: string; headers?: Record<string, string>; query?: string } = {},
): FrontDrive {
  const params = { turn: 't"1', ask: 'a1', session: 's1' }
  const { body = '', headers = {}, query = '' } = more
  const drive = driveFront(codec, { dialect: 'resource', transport: 'http', method, path, params, headers, query })
  drive.feed(body)
  return drive
}

const APPROVAL = '/v1/turns/:turn/approvals/:ask'
const EVENTS = '/v1/turns/:turn/events'

describe('requests for what there is', () => {
  test.each([
    ['GET', '/v1/turns', { type: 'query', what: 'turns', args: '{"all":true}' }],
    ['GET', '/v1/turns/:turn', { type: 'query', what: 'turn', args: '{"turn":"t\\"1"}' }],
    ['DELETE', '/v1/turns/:turn', { type: 'turn-delete', id: 't"1' }],
    ['GET', '/v1/turns/:turn/input', { type: 'query', what: 'input', args: '{"turn":"t\\"1"}' }],
    ['GET', EVENTS, { type: 'turn-follow', target: { turn: 't"1' } }],
    ['POST', '/v1/turns/:turn/cancel', { type: 'turn-cancel', target: { turn: 't"1' } }],
    ['GET', '/v1/sessions', { type: 'query', what: 'sessions', args: '{"all":true}' }],
    ['GET', '/v1/sessions/:session', { type: 'query', what: 'session', args: '{"id":"s1"}' }],
    ['DELETE', '/v1/sessions/:session', { type: 'session-delete', id: 's1' }],
    ['POST', '/v1/sessions/:session/fork', { type: 'session-fork', id: 's1' }],
    ['GET', '/v1/agents/:agent/sessions', { type: 'query', what: 'agent-sessions', args: '{}' }],
  ])('%s %s', (method, path, command) => {
    expect(ask(method, path).commands).toEqual([{ exchange: 'f1', ...command }])
  })

  test.each([
    ['limit=5&state=failed', '{"state":"failed","limit":5,"all":true}'],
    ['limit=', '{"all":true}'],
    ['limit=many', '{"limit":"many","all":true}'],
  ])('a list of turns by %s', (query, args) => {
    expect(ask('GET', '/v1/turns', { query }).commands).toMatchObject([{ what: 'turns', args }])
  })

  test('the sessions of an agent in a folder, a page of them', () => {
    const query = 'cwd=%2Fa&before=2'
    const args = '{"cwd":"/a","before":"2"}'
    expect(ask('GET', '/v1/agents/:agent/sessions', { query }).commands).toMatchObject([{ args }])
  })

  test.each([
    ['{"session":{"id":"copy"}}', { session: { id: 'copy' } }],
    [' ', {}],
  ])('a copy of a session by %s', (body, more) => {
    const { commands } = ask('POST', '/v1/sessions/:session/fork', { body })
    expect(commands).toEqual([{ exchange: 'f1', type: 'session-fork', id: 's1', ...more }])
  })

  test.each(['[]', '{"session":1}', '{"id":"other"}', '{"type":"session-delete"}', '{"id":"a","id":"b"}'])(
    'no copy of a session by %s',
    (body) => {
      const { commands, faults } = ask('POST', '/v1/sessions/:session/fork', { body })
      expect([commands, faults.map(({ fault: why }) => why.code)]).toEqual([[], ['invalid-request']])
    },
  )

  test('what a client answered to a parked turn is asked for by the token of the park', () => {
    const { commands } = ask('GET', '/v1/turns/:turn/input', { query: 'continuation=t%221.x' })
    expect(commands).toMatchObject([{ what: 'input', args: '{"turn":"t\\"1","continuation":"t\\"1.x"}' }])
  })

  test.each([
    ['{"option":"yes"}', { kind: 'approval', option: 'yes' }],
    ['{"option":"yes","message":"go"}', { kind: 'approval', option: 'yes', message: 'go' }],
    [' {"reply":{"kind":"input","values":{"n":1e400}}}', { kind: 'input', values: '{"n":1e400}' }],
    ['{"type":"ask-reply","reply":{"kind":"approval","option":"no"}}', { kind: 'approval', option: 'no' }],
  ])('an answer to a question: %s', (body, reply) => {
    expect(ask('POST', APPROVAL, { body }).commands).toEqual([
      { exchange: 'f1', type: 'ask-reply', target: { turn: 't"1' }, ask: 'a1', reply },
    ])
  })

  test.each([
    '',
    '[]',
    '{}',
    '{"option":1}',
    '{"reply":{"kind":"nothing"}}',
    '{"type":"turn-start","input":"Hi","reply":{}}',
    '{"type":"session-delete","id":"s1","reply":{}}',
  ])('%s is no answer', (body) => {
    const drive = ask('POST', APPROVAL, { body })
    expect(drive.commands).toEqual([])
    expect(drive.faults).toMatchObject([{ fault: { code: 'invalid-request' } }])
    expect(JSON.parse(String(drive.sent[0]))).toMatchObject({ type: 'fault', fault: { code: 'invalid-request' } })
  })
})

describe('answers', () => {
  test('to a question are its data, with JSON in it as it is', () => {
    const drive = ask('GET', '/v1/sessions/:session')
    const data = '{"id":"s1","messages":[{"role":"assistant","parts":[{"type":"tool-call","args":"{\\"n\\":1e400}"}]}]}'
    drive.link.encodeLink!({ turn: null, type: 'session-bound', agentSession: 'x' })
    drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange: 'f1', data })
    expect(drive.sent).toEqual([
      '{"id":"s1","messages":[{"role":"assistant","parts":[{"type":"tool-call","args":{"n":1e400}}]}]}',
    ])
  })

  test('to a command are empty, or the failure', () => {
    const drive = ask('POST', '/v1/turns/:turn/cancel')
    drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange: 'f1' })
    const gone = fault('invalid-request', 'It is over.')
    drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange: 'f1', fault: gone })
    drive.link.keepAlive!()
    expect(drive.sent).toEqual([
      '{}',
      '{"type":"fault","fault":{"code":"invalid-request","message":"It is over.","retryable":false}}',
    ])
  })
})

describe('all turns, followed', () => {
  const command = { exchange: 'f1', type: 'query', what: 'turns', args: '{"all":true,"follow":true}' }
  const told = { turn: null, type: 'command-reply', exchange: 'f1', data: '{"turns":[]}', more: true } as const

  test('are events until the last answer, which says nothing', () => {
    const drive = ask('GET', '/v1/turns', { query: 'follow=1' })
    expect(drive.commands).toEqual([command])
    expect(drive.answers.get('f1')).toMatchObject({ form: 'stream', framing: 'sse', onDisconnect: 'drain' })
    drive.link.encodeLink!(told)
    drive.link.keepAlive!()
    drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange: 'f1' })
    expect(drive.sent).toEqual([
      { event: 'turns', data: '{"turns":[]}' },
      { event: 'ping', data: '{}' },
    ])
  })

  test('can be lines', () => {
    const drive = ask('GET', '/v1/turns', { query: 'a=1&follow=true', headers: { accept: 'application/x-ndjson' } })
    drive.link.encodeLink!(told)
    expect(drive.sent).toEqual(['{"turns":[]}'])
  })

  test.each([
    ['', {}],
    ['follow=0', {}],
    ['follow=10', {}],
    ['nofollow=1', { nofollow: '1' }],
    ['agent=a%20b&q=&limit=20', { agent: 'a b', q: '', limit: 20 }],
    ['limit=', {}],
    ['limit=many', { limit: 'many' }],
  ])('only when that is asked for: %s', (query, args) => {
    const drive = ask('GET', '/v1/turns', { query })
    expect(drive.commands).toMatchObject([{ exchange: 'f1', type: 'query', what: 'turns' }])
    const [given] = drive.commands as { args: string }[]
    expect(JSON.parse(given!.args)).toEqual({ ...args, all: true })
    expect(drive.answers.get('f1')).toMatchObject({ form: 'whole' })
  })

  test('may be refused', () => {
    const drive = ask('GET', '/v1/turns', { query: 'follow=1' })
    const full = fault('overloaded', 'Enough.')
    drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange: 'f1', fault: full })
    expect(drive.sent).toEqual(['{"type":"fault","fault":{"code":"overloaded","message":"Enough.","retryable":true}}'])
  })
})

describe('a followed turn', () => {
  test('is a stream of its events behind the last one seen', () => {
    const drive = ask('GET', EVENTS, { headers: { 'last-event-id': '5' }, query: 'a=1&asks=now' })
    expect(drive.answers.get('f1')).toEqual({ form: 'stream', framing: 'sse', onDisconnect: 'drain', asks: 'inline' })
    drive.play(plainTurn('hi'))
    drive.link.keepAlive!()
    drive.link.encodeFault(fault('internal', 'Broken.'), 'f1', 'continues')
    expect(drive.sent).toEqual([
      {
        event: 'usage',
        data: '{"type":"usage","turn":"t1","seq":6,"scope":"turn","usage":{"input":3,"output":4,"total":7}}',
        id: '6',
      },
      {
        event: 'turn-end',
        data: '{"type":"turn-end","turn":"t1","seq":7,"outcome":"completed","stop":"end"}',
        id: '7',
      },
      { event: 'ping', data: '{}' },
      { event: 'fault', data: '{"type":"fault","fault":{"code":"internal","message":"Broken.","retryable":false}}' },
    ])
  })

  test('can be lines, with the losses at its end; who only looks on is not asked', () => {
    const headers = { accept: 'application/x-ndjson', 'last-event-id': 'x' }
    const drive = ask('GET', EVENTS, { headers, query: 'a=1&asks=nowhere' })
    expect(drive.answers.get('f1')).toMatchObject({ framing: 'ndjson', asks: 'never' })
    const [accepted, , , , , , end] = plainTurn('hi')
    drive.play([accepted!])
    drive.link.keepAlive!()
    expect(drive.sent).toEqual(['{"type":"turn-accepted","turn":"t1","seq":1,"how":"new","session":"s1"}', ''])
    drive.play([end!])
    expect(JSON.parse(String(drive.sent[2]))).toEqual({
      type: 'turn-end',
      turn: 't1',
      seq: 2,
      outcome: 'completed',
      stop: 'end',
    })
  })

  test('tells at its end what was lost', () => {
    const sent: Frame[] = []
    const front = codec.dialects['resource']!.front!
    const context = {
      transport: 'http',
      method: 'GET',
      path: EVENTS,
      query: '',
      headers: {},
      argv: [],
      env: {},
    } as const
    const nothing = (): void => {}
    const link = front.open(
      { ...context, params: { turn: 't1' } },
      {
        command: nothing,
        sendRun() {},
        send: (frame) => sent.push(frame),
        warn: nothing,
        fault: nothing,
        report: nothing,
        losses: () => [{ kind: 'dropped', item: 'part.image', why: 'no-place', count: 1 }],
        newId: () => 'x1',
        close: nothing,
      },
    )
    link.decode('')
    const end = plainTurn('hi').at(-1)!
    link.encode(end, 'x1', new LiveView({ turn: 't1', session: 's1', agent: 'a', at: 0 }))
    expect(sent).toEqual([])
    const view = new LiveView({ turn: 't1', session: 's1', agent: 'a', at: 0 })
    view.apply(end, 0)
    link.encode(end, 'x1', view)
    expect(JSON.parse((sent[0] as { data: string }).data)).toMatchObject({
      losses: [{ kind: 'dropped', item: 'part.image', why: 'no-place', count: 1 }],
    })
  })
})
