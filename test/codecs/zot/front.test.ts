import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/zot/index.ts'
import { fault } from '../../../src/model/index.ts'
import { plainTurn } from '../../kit/drive.ts'
import { front, type Line, sentLines, serve } from './kit.ts'

const lines = (...commands: Line[]): string[] => commands.map((command) => JSON.stringify(command))
const refused = (command: string, error: string, id?: string): Line => ({
  type: 'response',
  ...(id !== undefined && { id }),
  command,
  success: false,
  error,
})

/** The last line that a front writes for one line of input. */
function reply(line: string, context: Parameters<typeof front>[0] = {}): Line {
  const drive = front(context)
  drive.feed(line)
  expect(drive.sent).toHaveLength(1)
  return sentLines(drive)[0]!
}

describe('commands become canonical ones', () => {
  test('prompt', () => {
    const drive = front()
    drive.feed(
      '{"id":"7","type":"prompt","message":"hi","images":[{"mime_type":"image/png","data":"iVBO"}],"foo":{"b":1.0}}',
    )
    expect(drive.commands).toEqual([
      {
        exchange: 'f2',
        session: { id: 'f1' },
        type: 'turn-start',
        turn: 'f3',
        task: 'prompt',
        request: '7',
        input: [
          { type: 'text', text: 'hi' },
          { type: 'image', mime: 'image/png', base64: 'iVBO' },
        ],
        options: {},
        ext: { protocol: 'zot', json: '{"foo":{"b":1.0}}' },
      },
    ])
    expect(drive.answers.get('f2')).toEqual({
      form: 'stream',
      framing: 'ndjson',
      onDisconnect: 'cancel',
      asks: 'never',
    })
  })

  test('images whose fields a part has not travel as they came', () => {
    const drive = front()
    const images = '[{"mimeType":"image/png","data":"iVBO"}]'
    drive.feed(`{"type":"prompt","images":${images}}`, `{"type":"prompt","images":${images},"x":1}`)
    serve(drive)
    expect(drive.commands[0]).toMatchObject({
      input: [{ type: 'image', base64: 'iVBO' }],
      ext: { json: `{"images":${images}}` },
    })
    expect(drive.commands[1]).toMatchObject({ ext: { protocol: 'zot', json: `{"images":${images},"x":1}` } })
  })

  test('an empty or absent message, image data and id', () => {
    const drive = front()
    drive.feed(...lines({ type: 'prompt', id: '' }, { type: 'prompt', id: null, message: null, images: null }))
    drive.feed(...lines({ type: 'prompt', message: '', images: [{ data: '' }, { mime_type: null, data: null }] }))
    serve(drive)
    expect(drive.commands.map((command) => command.type === 'turn-start' && [command.input, command.request])).toEqual([
      [[], undefined],
      [[], undefined],
      [
        [
          { type: 'image', base64: '' },
          { type: 'image', base64: '' },
        ],
        undefined,
      ],
    ])
    expect(sentLines(drive)[0]).toEqual({ type: 'response', command: 'prompt', success: true, data: { started: true } })
  })

  test('compact, set_model and the queries', () => {
    const drive = front()
    drive.feed(...lines({ id: '1', type: 'compact', x: 1 }, { id: '3', type: 'set_model', model: 'm' }))
    drive.feed(
      ...lines({ type: 'get_state' }, { type: 'get_messages' }, { type: 'get_models' }, { type: 'ping', extra: 1 }),
    )
    const session = { id: 'f1' }
    const ext = { protocol: 'zot', json: '{"x":1}' }
    expect(drive.commands).toEqual([
      {
        exchange: 'f2',
        session,
        type: 'turn-start',
        turn: 'f3',
        task: 'compact',
        request: '1',
        input: [],
        options: {},
        ext,
      },
      { exchange: 'f4', session, type: 'config-set', model: 'm' },
      { exchange: 'f5', session, type: 'query', what: 'state' },
      { exchange: 'f6', session, type: 'query', what: 'messages' },
      { exchange: 'f7', session, type: 'query', what: 'models' },
      { exchange: 'f8', session, type: 'query', what: 'health', ext: { protocol: 'zot', json: '{"extra":1}' } },
    ])
    expect(drive.answers.get('f8')).toEqual({ form: 'whole', framing: 'ndjson', onDisconnect: 'cancel', asks: 'never' })
  })

  test('the session of HTTP and of stdio', () => {
    const session = (context: Parameters<typeof front>[0]): unknown => {
      const drive = front(context)
      drive.feed('{"type":"ping"}')
      return drive.commands[0]!.session
    }
    expect(session({ transport: 'http', headers: { 'turnpike-session': 'a' }, query: 'session=b' })).toEqual({
      id: 'a',
    })
    expect(session({ transport: 'http', query: 'x=1&session=b' })).toEqual({ id: 'b' })
    expect(session({ transport: 'http' })).toEqual({ id: 'f1' })
    expect(session({ argv: ['rpc', '--session', 'c'] })).toEqual({ id: 'c' })
  })
})

describe('what is no command', () => {
  test.each([
    ['{broken', 'malformed json: the line is not JSON'],
    ['{"type":"ping"} trailing', 'malformed json: the line is not JSON'],
    ['[]', 'malformed json: the line is not a JSON object'],
    ['null', 'malformed json: the line is not a JSON object'],
    ['42', 'malformed json: the line is not a JSON object'],
    ['{"id":5,"type":"ping"}', 'malformed json: id is not a string'],
    ['{"id":"5","type":7}', 'malformed json: type is not a string'],
    ['{"id":false,"type":"ping"}', 'malformed json: id is not a string'],
  ])('%s', (line, error) => {
    const drive = front()
    drive.feed(line, '{"id":"n","type":"prompt","message":"goes on"}')
    expect(sentLines(drive)).toEqual([refused('', error)])
    expect(drive.faults[0]!.fault).toEqual(fault('invalid-request', error))
    expect(drive.commands).toHaveLength(1)
  })

  test.each([
    [{ id: '1', type: 'reload_ext' }, refused('reload_ext', 'unknown command', '1')],
    [{ id: '2', type: 'Ping' }, refused('Ping', 'unknown command', '2')],
    [{ id: '3' }, refused('', 'unknown command', '3')],
    [{ id: '4', type: null }, refused('', 'unknown command', '4')],
    [{ TYPE: 'ping', ID: '7' }, refused('', 'unknown command')],
    [{ id: '5', type: 'constructor' }, refused('constructor', 'unknown command', '5')],
    [{ id: '6', type: 'prompt', message: 5 }, refused('prompt', 'prompt: message must be a string', '6')],
    [{ id: '7', type: 'prompt', message: 'a', images: {} }, refused('prompt', 'prompt: images must be an array', '7')],
    [{ id: '8', type: 'prompt', images: ['x'] }, refused('prompt', 'prompt: images.0 must be an object', '8')],
    [
      { id: '9', type: 'prompt', images: [{ data: '***' }] },
      refused('prompt', 'prompt: images.0.data is not base64', '9'),
    ],
    [
      { id: 'a', type: 'prompt', images: [{ data: 'a=bc' }] },
      refused('prompt', 'prompt: images.0.data is not base64', 'a'),
    ],
    [
      { id: 'b', type: 'prompt', images: [{ data: 'abc' }] },
      refused('prompt', 'prompt: images.0.data is not base64', 'b'),
    ],
    [
      { id: 'c', type: 'prompt', images: [{ data: 'ab=c' }] },
      refused('prompt', 'prompt: images.0.data is not base64', 'c'),
    ],
    [
      { id: 'd', type: 'prompt', images: [{ data: 5 }] },
      refused('prompt', 'prompt: images.0.data must be a string', 'd'),
    ],
    [
      { id: 'e', type: 'prompt', images: [{ mime_type: 5 }] },
      refused('prompt', 'prompt: images.0.mime_type must be a string', 'e'),
    ],
    [{ id: 'f', type: 'set_model' }, refused('set_model', 'set_model: model must be a string', 'f')],
  ])('%j', (command, expected) => {
    expect(reply(JSON.stringify(command))).toEqual(expected)
  })
})

describe('hello and its token', () => {
  const env = { ZOTCORE_RPC_TOKEN: 's3cret' }
  const hello = { type: 'response', id: '0', command: 'hello', success: true }

  test('without a token it is optional, and any is taken', () => {
    expect(
      reply('{"id":"0","type":"hello","token":"x"}', { argv: ['rpc', '--provider', 'openai', '--model', 'gpt-4.1'] }),
    ).toEqual({
      ...hello,
      data: { protocol_version: 1, version: '0.0.0-turnpike', provider: 'openai', model: 'gpt-4.1' },
    })
    expect(reply('{"id":"0","type":"hello"}', { env: { ZOTCORE_RPC_TOKEN: '' } })).toEqual({
      ...hello,
      data: { protocol_version: 1, version: '0.0.0-turnpike', provider: 'turnpike', model: '' },
    })
  })

  test('with one, any other command first is refused, and the process stays', () => {
    const drive = front({ env })
    drive.feed(...lines({ id: '1', type: 'prompt', message: 'early' }, { id: '2', type: 'nope' }), '{broken')
    drive.feed(...lines({ id: '0', type: 'hello', token: 's3cret' }, { id: '3', type: 'ping' }))
    const error = 'auth required: send hello with token first'
    expect(sentLines(drive).slice(0, 3)).toEqual([
      refused('prompt', error, '1'),
      refused('nope', error, '2'),
      refused('', 'malformed json: the line is not JSON'),
    ])
    expect(sentLines(drive)[3]).toMatchObject(hello)
    expect(drive.commands).toHaveLength(1)
    expect(drive.exitCode).toBeUndefined()
  })

  test.each([['wrong'], [5], [undefined], ['']])('token %j ends the process with 1', (token) => {
    const drive = front({ env })
    drive.feed(JSON.stringify({ id: '0', type: 'hello', token }))
    expect(sentLines(drive)).toEqual([refused('hello', 'invalid token', '0')])
    expect(drive.warned).toEqual(['turnpike as zot: the token of hello is not that of ZOTCORE_RPC_TOKEN.'])
    expect(drive.exitCode).toBe(1)
    drive.link.decode('{"id":"1","type":"ping"}')
    drive.link.decodeEnd!('eof')
    expect(drive.sent).toHaveLength(1)
  })

  test('a wrong one after the right one ends the process too', () => {
    const drive = front({ env })
    const said = ['s3cret', 'S3cret'].map((token, at) => ({ id: String(at), type: 'hello', token }))
    drive.feed(...lines(...said))
    expect(sentLines(drive)[0]).toMatchObject(hello)
    expect(sentLines(drive).slice(1)).toEqual([refused('hello', 'invalid token', '1')])
    expect(drive.exitCode).toBe(1)
  })

  test('over HTTP the keys of the gateway do that', () => {
    const drive = front({ env, transport: 'http' })
    drive.feed('{"id":"1","type":"ping"}')
    expect(drive.commands).toHaveLength(1)
  })
})

describe('the order of prompts', () => {
  test('each starts when the one before is done, and its response comes then', () => {
    const drive = front()
    drive.feed(
      ...lines(
        { id: '1', type: 'prompt', message: 'a' },
        { id: '2', type: 'prompt', message: 'b' },
        { id: '3', type: 'compact' },
        { id: '4', type: 'prompt', message: 'c' },
      ),
    )
    expect(drive.commands).toHaveLength(1)
    serve(drive)
    const kinds = sentLines(drive).flatMap((line) => {
      if (line['type'] === 'response') return [`response ${line['id'] as string}`]
      return ['done', 'compact_done'].includes(line['type'] as string) ? [line['type'] as string] : []
    })
    expect(kinds).toEqual([
      'response 1',
      'done',
      'response 2',
      'done',
      'response 3',
      'compact_done',
      'done',
      'response 4',
      'done',
    ])
  })

  test('queries do not wait', () => {
    const drive = front()
    drive.feed(...lines({ id: '1', type: 'prompt', message: 'a' }, { id: '2', type: 'get_state' }))
    expect(drive.commands.map((command) => command.type)).toEqual(['turn-start', 'query'])
  })

  test('a clear has its place among the prompts', () => {
    const drive = front()
    drive.feed(
      ...lines(
        { id: '1', type: 'prompt', message: 'a' },
        { id: '2', type: 'clear', x: 1 },
        { id: '3', type: 'prompt', message: 'b' },
      ),
    )
    const kinds = () => drive.commands.map((command) => command.type)
    expect(kinds()).toEqual(['turn-start'])
    drive.play([{ turn: 't', type: 'turn-end', outcome: 'completed' }])
    expect(drive.commands.slice(1)).toEqual([
      { exchange: 'f4', session: { id: 'f1' }, type: 'session-clear', ext: { protocol: 'zot', json: '{"x":1}' } },
    ])
    drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange: drive.commands[1]!.exchange })
    expect(kinds()).toEqual(['turn-start', 'session-clear', 'turn-start'])
  })

  test('abort answers at once and cancels what runs; idle it only answers', () => {
    const drive = front()
    drive.feed('{"id":"1","type":"abort"}', '{"type":"abort"}')
    expect(drive.commands).toEqual([])
    drive.feed(
      ...lines(
        { id: '2', type: 'prompt', message: 'a' },
        { id: '3', type: 'prompt', message: 'b' },
        { id: '4', type: 'abort', x: 1 },
        { id: '5', type: 'abort' },
      ),
    )
    expect(sentLines(drive)).toEqual([
      { type: 'response', id: '1', command: 'abort', success: true },
      { type: 'response', command: 'abort', success: true },
      { type: 'response', id: '4', command: 'abort', success: true },
      { type: 'response', id: '5', command: 'abort', success: true },
    ])
    expect(drive.commands.slice(1)).toEqual([
      {
        exchange: 'f4',
        session: { id: 'f1' },
        type: 'turn-cancel',
        target: { turn: 'f3' },
        ext: { protocol: 'zot', json: '{"x":1}' },
      },
      { exchange: 'f5', session: { id: 'f1' }, type: 'turn-cancel', target: { turn: 'f3' } },
    ])
    drive.play([{ turn: 'f3', type: 'turn-end', outcome: 'cancelled' }], 'f2')
    expect(drive.commands.at(-1)).toMatchObject({ type: 'turn-start', request: '3' })
  })

  test('a refused prompt lets the next one run', () => {
    const drive = front()
    drive.feed(...lines({ id: '1', type: 'prompt', message: 'a' }, { id: '2', type: 'prompt', message: 'b' }))
    drive.link.encodeFault(fault('overloaded', 'Full.'), 'f2', 'continues')
    drive.link.encodeFault(fault('overloaded', 'Full.'), 'unknown', 'continues')
    drive.link.encode({ turn: 'x', type: 'turn-started' }, 'unknown', undefined as never)
    expect(drive.commands).toHaveLength(2)
    expect(sentLines(drive).map((line) => line['type'])).toEqual(['response', 'error', 'done'])
  })

  test('a queue of prompts that are all refused as they are issued ends without deep recursion', () => {
    let ids = 0
    const starts: string[] = []
    const sent: string[] = []
    const link = codec.dialects['rpc']!.front!.open(
      { transport: 'stdio', method: '', path: '', query: '', headers: {}, argv: [], env: {} },
      {
        command(command) {
          if (command.type === 'turn-start') starts.push(command.exchange)
          if (starts.length > 1) link.encodeFault(fault('agent-not-found', 'Gone.'), command.exchange, 'continues')
        },
        sendRun() {},
        send: (frame) => sent.push(frame as string),
        warn() {},
        fault() {},
        report() {},
        losses: () => [],
        newId: () => `f${++ids}`,
        close() {},
      },
    )
    for (let at = 0; at < 1000; at += 1) link.decode(`{"id":"${at}","type":"prompt","message":"x"}`)
    link.encodeFault(fault('agent-not-found', 'Gone.'), starts[0], 'continues')
    expect(sent.filter((line) => line === '{"type":"done"}')).toHaveLength(1000)
  })

  test('more than a thousand do not wait', () => {
    const drive = front()
    for (let at = 0; at < 1002; at += 1) drive.feed(JSON.stringify({ id: String(at), type: 'prompt', message: 'x' }))
    expect(sentLines(drive)).toEqual([
      refused('prompt', 'Too many prompts are waiting: send more when these have ended.', '1001'),
    ])
    serve(drive)
    expect(sentLines(drive).filter((line) => line['type'] === 'done')).toHaveLength(1001)
  })
})

describe('the end of the wire', () => {
  test('at the end of input what runs and waits is finished, and the engine closes with 0', () => {
    const drive = front()
    drive.feed(
      ...lines(
        { id: '1', type: 'prompt', message: 'a' },
        { id: '2', type: 'prompt', message: 'b' },
        { id: '3', type: 'ping' },
      ),
    )
    drive.link.decodeEnd!('eof')
    expect(drive.exitCode).toBeUndefined()
    serve(drive)
    expect(drive.exitCode).toBeUndefined()
    expect(sentLines(drive).filter((line) => line['type'] === 'done')).toHaveLength(2)
  })

  test('a signal cancels what runs and forgets what waits', () => {
    const drive = front()
    drive.feed(...lines({ id: '1', type: 'prompt', message: 'a' }, { id: '2', type: 'prompt', message: 'b' }))
    drive.link.decodeEnd!('signal')
    drive.play([{ turn: 'f3', type: 'turn-end', outcome: 'cancelled' }], 'f2')
    expect(drive.commands.map((command) => command.type)).toEqual(['turn-start', 'turn-cancel'])
    expect(drive.exitCode).toBe(143)
  })

  test('a line that is too long: the running turn finishes, then exit 1', () => {
    const drive = front()
    drive.feed('{"id":"1","type":"prompt","message":"a"}')
    drive.link.encodeFault(fault('payload-too-large', 'A line is longer than 16 MiB.'), undefined, 'ends')
    drive.link.decodeEnd!('eof')
    expect(sentLines(drive)).toEqual([refused('', 'A line is longer than 16 MiB.')])
    drive.play(plainTurn('a'))
    expect(sentLines(drive).at(-1)).toEqual({ type: 'done' })
    expect(drive.exitCode).toBe(1)
  })

  test('a body without a command, and one that is no list of lines', () => {
    const empty = front({ transport: 'http' })
    empty.link.decodeEnd!('eof')
    expect(sentLines(empty)).toEqual([refused('', 'The body holds no command: send one JSON object a line.')])
    const form = front({ transport: 'http', headers: { 'content-type': 'application/x-www-form-urlencoded' } })
    expect(sentLines(form)).toEqual([refused('', 'The body must be lines of JSON: send it as application/x-ndjson.')])
    expect([form.faults[0]!.http, form.exitCode]).toEqual([415, 0])
    form.link.decodeEnd!('signal')
    expect(form.exitCode).toBe(0)
    form.link.decodeEnd!('eof')
    expect(form.sent).toHaveLength(1)
    const long = front({ transport: 'http' })
    long.link.encodeFault(fault('payload-too-large', 'Too long.'), undefined, 'ends')
    long.link.decodeEnd!('eof')
    expect(sentLines(long)).toEqual([refused('', 'Too long.')])
    const typed = front({ transport: 'http', headers: { 'content-type': 'Application/JSON; charset=utf-8' } })
    typed.feed('{"type":"ping"}')
    expect(typed.commands).toHaveLength(1)
  })
})
