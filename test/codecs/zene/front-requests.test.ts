import { describe, expect, test } from 'vitest'
import { fault } from '../../../src/model/index.ts'
import { plainTurn } from '../../kit/drive.ts'
import { line, MINIMAL, oneshot, ZERO } from './front-kit.ts'

describe('requests', () => {
  test('the published minimum becomes a turn with the default limit and no idempotency', () => {
    const drive = oneshot()
    drive.feed(MINIMAL)
    expect(drive.commands).toEqual([
      {
        exchange: 'f1',
        type: 'turn-start',
        turn: 'f2',
        task: 'prompt',
        request: 'r',
        input: [{ type: 'text', text: 'Say hi' }],
        options: { totalMs: 120_000 },
        session: { id: 's' },
      },
    ])
    expect(drive.answers.get('f1')).toEqual({ form: 'whole', framing: 'ndjson', onDisconnect: 'cancel', asks: 'never' })
  })

  test('a full one keeps every field', () => {
    const drive = oneshot()
    drive.feed(
      '{"protocol_version":1,"type":"run","request_id":"r","session_id":"s","channel_id":"c","agent":"a","prompt":"p",' +
        '"timeout_ms":1500.5,"idempotency_key":"k","stream":false,"ts_ms":5,"metadata":{"n":1.0},"target_request_id":null}',
    )
    expect(drive.commands).toEqual([
      {
        exchange: 'f1',
        type: 'turn-start',
        turn: 'f2',
        task: 'prompt',
        request: 'r',
        agent: 'a',
        input: [{ type: 'text', text: 'p' }],
        options: { streaming: false, totalMs: 1500 },
        once: { key: 'k', duplicate: 'join', replay: 'undelivered', incidental: ['ts_ms'] },
        session: { id: 's', channel: 'c' },
        ext: { protocol: 'zene', json: '{"ts_ms":5,"metadata":{"n":1.0}}' },
      },
    ])
    expect(drive.answers.get('f1')).toMatchObject({ onDisconnect: 'drain' })
  })

  test('optional fields may be null, a blank key is none, a timeout of zero is kept', () => {
    const drive = oneshot()
    drive.feed(
      '{"protocol_version":null,"type":null,"request_id":"r","session_id":"s","channel_id":null,"agent":null,"prompt":"p",' +
        '"timeout_ms":0,"idempotency_key":" ","stream":null,"ts_ms":null,"metadata":null}',
    )
    expect(drive.commands[0]).toMatchObject({ options: { totalMs: 0 }, session: { id: 's' } })
    expect(Object.keys(drive.commands[0]!)).toEqual([
      'exchange',
      'type',
      'turn',
      'task',
      'request',
      'input',
      'options',
      'session',
    ])
  })

  const business: [request: Record<string, unknown>, message: string][] = [
    [{ request_id: 'r', session_id: 's' }, 'run request requires non-empty prompt'],
    [{ request_id: 'r', session_id: 's', prompt: ' \n' }, 'run request requires non-empty prompt'],
    [{ request_id: 'r', session_id: 's', prompt: 5 }, 'run request requires non-empty prompt'],
    [{ request_id: 'r', prompt: 'p' }, 'run request requires non-empty session_id'],
    [{ request_id: ' ', session_id: 's', prompt: 'p' }, 'run request requires non-empty request_id'],
    [{ request_id: 'r', session_id: 's', prompt: 'p', agent: 7 }, 'agent must be a string'],
    [{ request_id: 'r', session_id: 's', prompt: 'p', stream: 'yes' }, 'stream must be true or false'],
    [
      { request_id: 'r', session_id: 's', prompt: 'p', timeout_ms: -1 },
      'timeout_ms must be a number of milliseconds, zero or more',
    ],
    [{ type: 'cancel', request_id: 'r' }, 'cancel request requires target_request_id or cancel_request_id'],
    [
      { type: 'cancel', request_id: 'r', target_request_id: '', cancel_request_id: 'x' },
      'cancel request requires target_request_id or cancel_request_id',
    ],
    [{ type: 'session_close', request_id: 'r', session_id: 7 }, 'session_id must be a string'],
  ]
  test.each(business)('%j is answered as a business error, exit 0', (request, message) => {
    const drive = oneshot()
    drive.feed(JSON.stringify(request))
    expect(line(drive.sent[0])).toEqual({
      ok: false,
      request_id: request['request_id'],
      session_id: typeof request['session_id'] === 'string' ? request['session_id'] : '',
      text: '',
      error_code: 'INVALID_REQUEST',
      error_message: message,
      usage: ZERO,
    })
    expect([drive.exitCode, drive.warned, drive.commands]).toEqual([0, [], []])
  })

  const unreadable: [line: string, ids: [unknown, unknown], message: string][] = [
    ['this is not json', ['unknown', ''], 'invalid JSON payload: the request is not valid JSON'],
    ['\ufeff{}', ['unknown', ''], 'invalid JSON payload: the request is not valid JSON'],
    ['[1,2]', ['unknown', ''], 'invalid JSON payload: the request is not a JSON object'],
    ['null', ['unknown', ''], 'invalid JSON payload: the request is not a JSON object'],
    [
      '{"protocol_version":2,"request_id":"r","session_id":"s"}',
      ['r', 's'],
      'unsupported protocol_version (expected 1): the request has 2; send 1 or leave it out',
    ],
    [
      '{"protocol_version":"1","request_id":4}',
      ['unknown', ''],
      'unsupported protocol_version (expected 1): the request has "1"; send 1 or leave it out',
    ],
    ['{"type":"foo","request_id":"r","session_id":"s"}', ['r', 's'], 'unsupported request type'],
  ]
  test.each(unreadable)(
    '%s is answered with exit 2 and the message first on stderr',
    (text, [request, session], message) => {
      const drive = oneshot()
      drive.feed(text)
      expect(line(drive.sent[0])).toMatchObject({
        ok: false,
        request_id: request,
        session_id: session,
        error_code: 'INVALID_REQUEST',
        error_message: message,
      })
      expect([drive.exitCode, drive.warned]).toEqual([2, [message]])
    },
  )

  test('in protocol shape a refusal is an error line, with null for an unknown session', () => {
    const drive = oneshot(['host', '--protocol', 'v1'])
    drive.feed('{"request_id":"r","prompt":"p"}')
    expect(drive.sent).toEqual([
      '{"protocol_version":1,"type":"error","request_id":"r","session_id":null,"ts_ms":0,' +
        '"error":{"code":"INVALID_REQUEST","message":"run request requires non-empty session_id","retryable":false}}',
    ])
  })

  test('whatever follows the first request is ignored', () => {
    const drive = oneshot()
    drive.feed(MINIMAL, MINIMAL, 'garbage')
    drive.link.decodeEnd?.('eof')
    drive.link.decodeEnd?.('signal')
    expect([drive.commands.length, drive.sent, drive.exitCode]).toEqual([1, [], undefined])
    drive.play(plainTurn('x'))
    expect([drive.sent.length, drive.exitCode]).toEqual([1, 0])
    drive.play(plainTurn('again'), 'f1')
    expect(drive.sent.length).toBe(1)
  })

  test('no line in time, and no line at all', () => {
    const idle = oneshot(['host', '--bridge-compat', '--stdin-timeout-ms', '300'])
    idle.link.decodeEnd?.('idle')
    expect(line(idle.sent[0])).toMatchObject({
      ok: false,
      error_message: 'no request line came on stdin within 300 ms',
    })
    expect([idle.exitCode, idle.warned]).toEqual([2, ['no request line came on stdin within 300 ms']])
    const eof = oneshot()
    eof.link.decodeEnd?.('eof')
    expect([eof.exitCode, eof.warned]).toEqual([2, ['stdin ended before a request came']])
  })

  test('ping and session_close are acknowledged in protocol shape', () => {
    const ping = oneshot()
    ping.feed('{"type":"ping","request_id":""}')
    expect(ping.sent).toEqual([
      '{"protocol_version":1,"type":"ack","request_id":"","session_id":null,"ts_ms":0,"status":"PONG"}',
    ])
    expect(ping.exitCode).toBe(0)
    const close = oneshot()
    close.feed('{"type":"session_close","request_id":"x","session_id":"s"}')
    expect(close.commands).toEqual([{ exchange: 'f1', type: 'session-close', session: { id: 's' } }])
    expect(close.sent).toEqual([])
    close.link.encodeLink?.({ turn: null, type: 'session-bound', agentSession: 'z' })
    close.link.encodeLink?.({ turn: null, type: 'command-reply', exchange: 'other' })
    close.link.encodeLink?.({ turn: null, type: 'command-reply', exchange: 'f1' })
    expect(close.sent).toEqual([
      '{"protocol_version":1,"type":"ack","request_id":"x","session_id":"s","ts_ms":0,"status":"SESSION_CLOSED"}',
    ])
    expect(close.exitCode).toBe(0)
  })

  test.each([
    ['{"type":"session_close","request_id":"x"}', 'null'],
    ['{"type":"session_close","request_id":"x","session_id":null}', 'null'],
    ['{"type":"session_close","request_id":"x","session_id":""}', '""'],
    ['{"type":"session_close","request_id":"x","session_id":" "}', '" "'],
  ])('%s closes nothing, and is acknowledged', (request, session) => {
    const close = oneshot()
    close.feed(request)
    expect(close.commands).toEqual([])
    expect(close.sent).toEqual([
      `{"protocol_version":1,"type":"ack","request_id":"x","session_id":${session},"ts_ms":0,"status":"SESSION_CLOSED"}`,
    ])
    expect(close.exitCode).toBe(0)
  })

  test('a session that cannot be closed says why', () => {
    const drive = oneshot()
    drive.feed('{"type":"session_close","request_id":"x","session_id":"s"}')
    drive.link.encodeLink?.({
      turn: null,
      type: 'command-reply',
      exchange: 'f1',
      fault: fault('forbidden', 'not yours'),
    })
    expect(line(drive.sent[0])).toMatchObject({ ok: false, request_id: 'x', error_message: 'not yours' })
    const refused = oneshot()
    refused.feed('{"type":"session_close","request_id":"x","session_id":"s"}')
    refused.link.encodeFault(fault('overloaded', 'full'), 'f1', 'continues')
    expect(line(refused.sent[0])).toMatchObject({ ok: false, request_id: 'x', error_code: 'BUSY' })
  })

  test('a cancel of its own asks the gateway for the run', () => {
    const known = oneshot()
    known.feed('{"type":"cancel","request_id":"c","cancel_request_id":"r"}')
    expect(known.commands).toEqual([{ exchange: 'f1', type: 'turn-cancel', target: { request: 'r' } }])
    known.link.encodeLink?.({ turn: null, type: 'command-reply', exchange: 'f1' })
    expect(line(known.sent[0])).toMatchObject({ type: 'ack', status: 'CANCEL_ACCEPTED', target_request_id: 'r' })
    const placed = oneshot()
    placed.feed('{"type":"cancel","request_id":"c","target_request_id":"r","session_id":"s"}')
    expect(placed.commands).toEqual([
      { exchange: 'f1', session: { id: 's' }, type: 'turn-cancel', target: { request: 'r' } },
    ])
    const unknown = oneshot()
    unknown.feed('{"type":"cancel","request_id":"c","target_request_id":"r"}')
    unknown.link.encodeLink?.({
      turn: null,
      type: 'command-reply',
      exchange: 'f1',
      fault: fault('session-not-found', 'x'),
    })
    expect(line(unknown.sent[0])).toMatchObject({ ok: false, error_message: 'target_request_id is not running' })
  })
})
