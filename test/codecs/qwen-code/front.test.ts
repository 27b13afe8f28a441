import { describe, expect, test } from 'vitest'
import { fault } from '../../../src/model/index.ts'
import { driveFront, type FrontDrive, plainTurn } from '../../kit/drive.ts'
import { codec, control, SESSION, STREAM, say, sentObjects, streamClient } from './kit.ts'

const results = (front: FrontDrive) => sentObjects(front).filter(({ type }) => type === 'result')
const inputs = (front: FrontDrive) =>
  front.commands.flatMap((command) => (command.type === 'turn-start' ? [command.input] : []))
const failed = {
  type: 'turn-end',
  turn: 't1',
  outcome: 'failed',
  stop: 'error',
  fault: fault('provider-down', '503 busy'),
} as const

describe('messages', () => {
  test('are turns of one session, with ids in their order', () => {
    const front = streamClient()
    front.feed(`\ufeff${say('hi')}\r`)
    expect(front.commands).toEqual([
      {
        exchange: 'f2',
        session: { id: SESSION },
        type: 'turn-start',
        turn: 'f3',
        task: 'prompt',
        input: [{ type: 'text', text: 'hi' }],
        options: { streaming: false },
      },
    ])
    expect(front.answers.get('f2')).toEqual({
      form: 'stream',
      framing: 'ndjson',
      onDisconnect: 'cancel',
      asks: 'never',
    })
  })

  test('the model may be the name of an agent', () => {
    const front = driveFront(codec, { argv: [...STREAM, '--model', 'coder'] })
    front.feed(say('hi'))
    expect(front.commands).toMatchObject([{ agent: 'coder', options: { model: 'coder' } }])
  })

  test('a session without a name gets a UUID, the same for the same wire', () => {
    const id = () => {
      const front = driveFront(codec, { argv: STREAM })
      front.feed(say('hi'))
      return front.commands[0]!.session!.id!
    }
    expect(id()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-000000000001$/)
    expect(id()).toBe(id())
  })

  test('wait for the result before them', () => {
    const front = streamClient()
    front.feed(say('one'), say('two'))
    expect(inputs(front)).toHaveLength(1)
    front.play(plainTurn('first'))
    expect(inputs(front)).toHaveLength(2)
    front.play(plainTurn('second'))
    expect(results(front).map(({ result }) => result)).toEqual(['first', 'second'])
  })

  test('blocks of text are parts, others the JSON that they are', () => {
    const front = streamClient()
    front.feed(
      '{"type":"user","message":{"content":[{"type":"text","text":"a"},{"type":"image","n":1.0},7,{"type":"text","text":""}]}}',
    )
    expect(inputs(front)).toEqual([
      [
        { type: 'text', text: 'a' },
        { type: 'data', json: '{"type":"image","n":1.0}' },
        { type: 'data', json: '7' },
      ],
    ])
  })

  test('unknown members ride along', () => {
    const front = streamClient()
    front.feed(say('hi', { options: { x: 1 }, uuid: 'u' }))
    expect(front.commands[0]!.ext).toEqual({ protocol: 'qwen-code', json: '{"options":{"x":1}}' })
  })

  test.each([
    ['{"type":"user"}', 'a message without content'],
    ['{"type":"user","message":"hi"}', 'a message without content'],
    ['{"type":"user","message":{}}', 'a message without content'],
    [say(''), 'a message without content'],
    [say([]), 'a message without content'],
    ['{"type":"assistant"}', 'a line of an unknown type'],
    ['{"type":"control_request","request_id":"x"}', 'a line of an unknown type'],
    ['{"type":"control_request","request":{}}', 'a line of an unknown type'],
  ])('%s is ignored', (line, what) => {
    const front = streamClient()
    front.feed(line)
    expect(front.commands).toEqual([])
    expect(front.sent).toEqual([])
    expect(front.warned).toEqual([`turnpike as qwen: ${what} on stdin is ignored.`])
  })

  test.each([['{"type":"control_response","response":null}'], ['{"type":"control_cancel_request"}'], [' \r'], ['']])(
    '%j is nothing',
    (line) => {
      const front = streamClient()
      front.feed(line)
      expect([front.commands, front.sent, front.warned]).toEqual([[], [], []])
    },
  )

  test('a message that is null has a result of its own', () => {
    const front = streamClient()
    front.feed('{"type":"user","message":null}')
    const [result] = results(front)
    expect(result).toEqual({
      type: 'result',
      subtype: 'error_during_execution',
      uuid: result!['uuid'],
      session_id: SESSION,
      is_error: true,
      duration_ms: 0,
      duration_api_ms: 0,
      num_turns: 0,
      usage: { input_tokens: 0, output_tokens: 0 },
      permission_denials: [],
      error: { message: 'The message of a user line is null.', code: 'QWEN_INVALID_REQUEST' },
    })
    expect(front.exitCode).toBeUndefined()
  })

  test('too many that wait are refused', () => {
    const front = streamClient()
    for (let count = 0; count <= 1001; count += 1) front.feed(say(`${count}`))
    expect(front.faults).toMatchObject([{ fault: { code: 'overloaded' } }])
    expect(results(front)).toHaveLength(1)
  })

  test('a long queue of refused ones is answered in order', () => {
    const front = streamClient()
    front.feed(say('first'))
    for (let count = 0; count < 5; count += 1) front.feed(say(`${count}`))
    for (let count = 0; count < 6; count += 1) {
      front.link.encodeFault(
        fault('agent-not-found', `no agent ${count}`),
        front.commands.at(-1)!.exchange,
        'continues',
      )
    }
    expect(results(front).map(({ error }) => (error as { message: string }).message)).toEqual(
      [0, 1, 2, 3, 4, 5].map((count) => `no agent ${count}`),
    )
  })
})

describe('the end', () => {
  test.each([
    ['not json', 'it is not JSON'],
    ['{"type":"user"', 'it is not JSON'],
    ['42', 'it has no type'],
    ['null', 'it has no type'],
    ['[]', 'it has no type'],
    ['{}', 'it has no type'],
    ['{"type":7}', 'it has no type'],
  ])('%s ends the input, what came before still gets its result', (line, what) => {
    const front = streamClient()
    front.feed(say('hi'), line, say('never read'))
    const text = `A line on stdin cannot be read: ${what}. Nothing after it is read.`
    expect(front.warned).toEqual([text])
    expect(front.exitCode).toBeUndefined()
    front.play(plainTurn('fine'))
    expect(results(front).map(({ is_error }) => is_error)).toEqual([true, false])
    expect(inputs(front)).toHaveLength(1)
    expect(front.exitCode).toBe(1)
  })

  test('comes when the input has ended and all has its result, with 0 also when turns failed', () => {
    const front = streamClient()
    front.link.decodeEnd!('eof')
    expect(front.exitCode).toBe(0)
    const late = streamClient()
    late.feed(say('one'), say('two'))
    late.link.decodeEnd!('eof')
    late.play([failed])
    expect(late.exitCode).toBeUndefined()
    late.play(plainTurn('fine'))
    expect(late.exitCode).toBe(0)
  })

  test('a signal forgets what waits, and exits with 130', () => {
    const front = streamClient()
    front.feed(say('one'), say('two'))
    front.link.decodeEnd!('signal')
    front.play([{ type: 'turn-end', turn: 't1', outcome: 'cancelled' }])
    expect(inputs(front)).toHaveLength(1)
    expect(front.exitCode).toBe(130)
    const idle = streamClient()
    idle.link.decodeEnd!('signal')
    expect(idle.exitCode).toBe(130)
  })

  test('a frame boundary that is lost is the end of the input', () => {
    const front = streamClient()
    front.feed(say('hi'))
    const lost = fault('payload-too-large', 'The line is too long.')
    front.link.encodeFault(lost, undefined, 'ends')
    front.link.decodeEnd!('eof')
    expect(front.exitCode).toBeUndefined()
    front.play(plainTurn('fine'))
    expect(front.exitCode).toBe(1)
    expect(results(front)).toHaveLength(2)
  })

  test('what nobody waits for is answered by a result', () => {
    const front = streamClient()
    front.link.encodeFault(fault('internal', 'broken'), 'unknown', 'continues')
    expect(results(front)).toMatchObject([{ error: { message: 'broken' } }])
  })

  test('events of another exchange are not shown', () => {
    const front = streamClient()
    front.feed(say('hi'))
    front.play(plainTurn('x'), 'another')
    expect(front.sent).toEqual([])
    expect(results(front)).toEqual([])
  })
})

describe('a prompt in the arguments', () => {
  const print = (...argv: string[]) => driveFront(codec, { argv })

  test('is one turn, and the program ends with it', () => {
    const front = print('-p', 'hi', '-o', 'stream-json')
    expect(front.link.idleMs).toBe(500)
    expect(front.commands).toEqual([])
    front.link.decodeEnd!('idle')
    expect(inputs(front)).toEqual([[{ type: 'text', text: 'hi' }]])
    front.play(plainTurn('fine'))
    expect(results(front)).toMatchObject([{ result: 'fine' }])
    expect(front.exitCode).toBe(0)
  })

  test('stands behind the text on stdin', () => {
    const front = print('say', 'this')
    front.feed('a', '', 'b')
    front.link.decodeEnd!('eof')
    expect(inputs(front)).toEqual([[{ type: 'text', text: 'a\n\nb\n\nsay this' }]])
  })

  test('goes first where lines of messages follow', () => {
    const front = print(...STREAM, '-p', 'hi')
    expect(front.link.idleMs).toBeUndefined()
    front.feed(say('more'))
    front.play(plainTurn('a'))
    front.play(plainTurn('b'))
    expect(inputs(front)).toEqual([[{ type: 'text', text: 'hi' }], [{ type: 'text', text: 'more' }]])
    front.link.decodeEnd!('eof')
    expect(front.exitCode).toBe(0)
  })

  test.each([
    [failed, 1],
    [{ ...failed, stop: 'max-turns' as const }, 53],
    [{ type: 'turn-end' as const, turn: 't1', outcome: 'cancelled' as const }, 130],
  ])('that ends with %j exits with %i', (end, code) => {
    const front = print('-p', 'hi', '-o', 'stream-json')
    front.link.decodeEnd!('eof')
    front.play([end])
    expect(front.exitCode).toBe(code)
  })

  test('a signal after the end of the input', () => {
    const front = print('-p', 'hi')
    front.link.decodeEnd!('eof')
    front.link.decodeEnd!('signal')
    front.play([{ type: 'turn-end', turn: 't1', outcome: 'cancelled' }])
    expect(front.exitCode).toBe(130)
    expect(front.commands).toHaveLength(1)
  })

  test('as text: the answer on stdout, a failure on stderr', () => {
    const front = print('hi')
    front.link.decodeEnd!('eof')
    expect(front.answers.get('f2')).toMatchObject({ form: 'whole', asks: 'never' })
    front.play(plainTurn('fine'))
    expect([front.sent, front.exitCode]).toEqual([['fine'], 0])
    const broken = print('hi')
    broken.link.decodeEnd!('eof')
    broken.play([failed])
    expect([broken.sent, broken.warned, broken.exitCode]).toEqual([[], ['503 busy'], 1])
    const refused = print('hi')
    refused.link.decodeEnd!('eof')
    refused.link.encodeFault(fault('agent-not-found', 'There is no agent "x".'), 'f2', 'continues')
    expect([refused.sent, refused.warned, refused.exitCode]).toEqual([[], ['There is no agent "x".'], 1])
  })

  test('as one array of lines', () => {
    const front = print('hi', '-o', 'json', '--include-partial-messages')
    front.link.decodeEnd!('eof')
    front.play(plainTurn('fine'))
    expect(front.sent).toHaveLength(1)
    const lines = JSON.parse(String(front.sent[0])) as { type: string }[]
    expect(lines.map(({ type }) => type)).toEqual(['system', 'assistant', 'result'])
  })

  test('a failure that no turn owns, in every form', () => {
    const broken = fault('unauthenticated', 'Bring a key.')
    const json = print('hi', '-o', 'json')
    json.link.encodeFault(broken, undefined, 'continues')
    expect(JSON.parse(String(json.sent[0]))).toMatchObject([{ type: 'result', error: { message: 'Bring a key.' } }])
    const text = print('hi')
    text.link.encodeFault(broken, undefined, 'continues')
    text.link.decodeEnd!('eof')
    text.play(plainTurn('fine'))
    expect([text.sent, text.warned, text.exitCode]).toEqual([['fine'], ['Bring a key.'], 1])
  })

  test('none at all exits with 1', () => {
    const front = print('-o', 'stream-json')
    front.link.decodeEnd!('eof')
    expect(front.warned).toEqual([
      'No input provided via stdin. Input can be provided by piping data or using the --prompt option.',
    ])
    expect([front.exitCode, front.commands, front.sent]).toEqual([1, [], []])
  })

  test('a text on stdin is cut at its limit', () => {
    const front = print()
    const line = 'x'.repeat(5 * 1024 * 1024)
    front.feed(line, line, line)
    front.link.decodeEnd!('eof')
    expect(front.warned).toEqual(['turnpike as qwen: the text on stdin is too long; it is cut at 8 MiB.'])
    expect(inputs(front).map(([part]) => (part?.type === 'text' ? part.text.length : 0))).toEqual([8 * 1024 * 1024])
  })
})

describe('over HTTP', () => {
  const post = (more: object = {}) => driveFront(codec, { transport: 'http', method: 'POST', ...more })

  test('the body is lines of messages, in the session that is named', () => {
    const front = post({ headers: { 'turnpike-session': 'mine' }, query: 'session=other&include-partial-messages' })
    front.feed(say('hi'))
    expect(front.commands[0]).toMatchObject({ session: { id: 'mine' }, options: { streaming: true } })
    front.link.decodeEnd!('eof')
    front.play(plainTurn('fine'))
    expect(sentObjects(front).map(({ type }) => type)).toEqual([
      'system',
      ...Array.from({ length: 4 }, () => 'stream_event'),
      'assistant',
      'stream_event',
      'result',
    ])
    expect(front.exitCode).toBe(0)
    const named = post({ query: 'session=other' })
    named.feed(say('hi'))
    expect(named.commands[0]).toMatchObject({ session: { id: 'other' }, options: { streaming: false } })
  })

  test('nobody can be asked', () => {
    const front = post()
    front.feed(control('i', { subtype: 'initialize' }), say('hi'))
    expect(front.answers.get(front.commands[0]!.exchange)!.asks).toBe('never')
  })

  test('another type of body is refused', () => {
    const front = post({ headers: { 'content-type': 'text/plain' } })
    expect(front.faults).toMatchObject([{ http: 415, fault: { code: 'invalid-request' } }])
    expect(front.exitCode).toBe(0)
    expect(results(front)).toHaveLength(1)
    expect(front.warned).toEqual([])
    front.link.decodeEnd!('eof')
    expect(post({ headers: { 'content-type': 'application/x-ndjson; charset=utf-8' } }).faults).toEqual([])
  })

  test('an empty line keeps a connection alive, and a pipe needs none', () => {
    const front = post()
    front.link.keepAlive!()
    expect(front.sent).toEqual([''])
    const piped = driveFront(codec, { argv: STREAM })
    piped.link.keepAlive!()
    expect(piped.sent).toEqual([])
  })

  test('a body without a message is refused', () => {
    const front = post()
    front.link.decodeEnd!('eof')
    expect(front.faults).toMatchObject([
      { fault: { message: 'The body holds no message: send one JSON object a line.' } },
    ])
    expect(front.exitCode).toBe(0)
  })
})
