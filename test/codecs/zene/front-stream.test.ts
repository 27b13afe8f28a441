import { describe, expect, test } from 'vitest'
import { fault } from '../../../src/model/index.ts'
import { plainTurn } from '../../kit/drive.ts'
import { accepted, lines, run, statuses, stream } from './stream-kit.ts'

describe('one run', () => {
  test('ack, numbered events, final; byte for byte', () => {
    const drive = stream()
    drive.feed(run('r', { ts_ms: 17 }))
    expect(drive.answers.get('f1')).toEqual({ form: 'stream', framing: 'ndjson', onDisconnect: 'drain', asks: 'never' })
    drive.play(plainTurn('hi'))
    const head = '{"protocol_version":1,"type":"event","request_id":"r","session_id":"s","ts_ms":1250,"event_type":'
    expect(drive.sent).toEqual([
      '{"protocol_version":1,"type":"ack","request_id":"r","session_id":"s","ts_ms":1250,"status":"ACCEPTED","request_ts_ms":17}',
      `${head}"REQUEST_ACCEPTED","seq":1,"payload":{}}`,
      `${head}"RUN_STARTED","seq":2,"payload":{}}`,
      `${head}"TEXT_DELTA","seq":3,"payload":{"delta":"hi"}}`,
      `${head}"RUN_FINISHED","seq":4,"payload":{"status":"OK"}}`,
      '{"protocol_version":1,"type":"final","request_id":"r","session_id":"s","ts_ms":1250,"status":"OK","text":"hi",' +
        '"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7},"error":null,"latency_ms":250}',
    ])
    expect(drive.exitCode).toBeUndefined()
  })

  test('stream:false keeps the deltas back, and the run passes it on', () => {
    const drive = stream()
    drive.feed(run('r', { stream: false }))
    drive.play(plainTurn('hi'))
    expect(statuses(drive)).toEqual(['ACCEPTED', 'REQUEST_ACCEPTED', 'RUN_STARTED', 'RUN_FINISHED', 'OK'])
    expect(drive.commands[0]).toMatchObject({ options: { streaming: false } })
  })

  test('several messages are joined as the final text joins them; what is not the answer stays out', () => {
    const drive = stream()
    drive.feed(run('r'))
    const turn = 't1'
    drive.play([
      accepted('new'),
      { type: 'message-start', turn, message: 'm0', role: 'user', ext: { protocol: 'zot', json: '{}' } },
      { type: 'message-end', turn, message: 'm0', parts: [{ type: 'text', text: 'asked' }] },
      { type: 'message-start', turn, message: 'm1', role: 'assistant' },
      { type: 'text-delta', turn, message: 'm1', text: 'one' },
      { type: 'message-end', turn, message: 'm1' },
      { type: 'message-start', turn, message: 'm2', role: 'assistant', lane: 'sub' },
      { type: 'text-delta', turn, message: 'm2', text: 'nested', lane: 'sub' },
      { type: 'message-start', turn, message: 'm3', role: 'assistant', phase: 'commentary' },
      { type: 'text-delta', turn, message: 'm3', text: 'aside' },
      { type: 'message-start', turn, message: 'm4', role: 'assistant' },
      { type: 'message-end', turn, message: 'm4', parts: [{ type: 'text', text: 'two' }] },
      { type: 'message-start', turn, message: 'm5', role: 'assistant' },
      { type: 'message-end', turn, message: 'm5' },
      { type: 'message-end', turn, message: 'm9' },
      { type: 'message-retract', turn, message: 'm1', keepText: false },
      { type: 'message-retract', turn, message: 'm4', keepText: true },
      { type: 'message-retract', turn, message: 'm4', keepText: false },
      { type: 'turn-end', turn, outcome: 'completed' },
    ])
    const deltas = lines(drive).flatMap(({ event_type, payload }) =>
      event_type === 'TEXT_DELTA' ? (payload as { delta: string }).delta : [],
    )
    expect(deltas).toEqual(['one', '\n\ntwo'])
    expect(drive.losses).toEqual([
      { kind: 'dropped', item: 'ext', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'text-delta', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'text-delta', why: 'no-place', count: 1 },
      { kind: 'weakened', item: 'message-retract', why: 'too-narrow', count: 1 },
      { kind: 'invented', item: 'usage.total', field: 'total_tokens', why: 'required', count: 1 },
    ])
  })

  test("another zene's events pass under our ids and count, other protocols' frames are a loss", () => {
    const drive = stream()
    drive.feed(run('r'))
    const turn = 't1'
    drive.play([
      accepted('new'),
      {
        type: 'foreign',
        turn,
        protocol: 'zene',
        frame: '{"type":"event","event_type":"TASK","seq":9,"payload":{"n":1.0}}',
      },
      { type: 'foreign', turn, protocol: 'zene', frame: '{"type":"event"}' },
      { type: 'foreign', turn, protocol: 'zene', frame: '{"type":"other"}' },
      { type: 'foreign', turn, protocol: 'zot', frame: '{"type":"event"}' },
      { type: 'turn-end', turn, outcome: 'cancelled' },
    ])
    const head = '{"protocol_version":1,"type":"event","request_id":"r","session_id":"s","ts_ms":1250,"event_type":'
    expect(drive.sent.slice(2, 5)).toEqual([
      `${head}"TASK","seq":2,"payload":{"n":1.0}}`,
      `${head}null,"seq":3,"payload":{}}`,
      `${head}"RUN_FINISHED","seq":4,"payload":{"status":"CANCELED"}}`,
    ])
    expect(drive.losses).toEqual([
      { kind: 'dropped', item: 'foreign', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'foreign', why: 'no-place', count: 1 },
    ])
  })

  test('a run that is cancelled before it is accepted has a final and no events', () => {
    const drive = stream()
    drive.feed(run('r'))
    drive.play([{ type: 'turn-end', turn: 't1', outcome: 'cancelled' }])
    expect(lines(drive)).toMatchObject([{ type: 'final', request_id: 'r', status: 'CANCELED' }])
  })

  test('a placeholder ends in a final with an error, not in an error line', () => {
    const drive = stream()
    drive.feed(run('r'))
    drive.play(plainTurn('Plan completed.'))
    expect(statuses(drive).slice(-2)).toEqual(['RUN_FINISHED', 'ERROR'])
    expect(lines(drive).at(-2)).toMatchObject({ payload: { status: 'ERROR' } })
  })
})

describe('many runs', () => {
  test('over the cap is BUSY, except for duplicates and replays', () => {
    const drive = stream({ ZENE_MAX_CONCURRENCY: '1' })
    drive.feed(run('r0'))
    drive.play(plainTurn('done'))
    drive.feed(run('r1'))
    const from = drive.sent.length
    drive.feed(run('r2'))
    expect(lines(drive, from)).toEqual([
      {
        protocol_version: 1,
        type: 'error',
        request_id: 'r2',
        session_id: 's',
        ts_ms: 1250,
        error: { code: 'BUSY', message: 'server is overloaded; retry later', retryable: true, http_status: 429 },
      },
    ])
    drive.feed(run('r3', { idempotency_key: 'k-r0' }), run('r4', { idempotency_key: 'k-r1' }))
    expect(drive.commands.filter(({ type }) => type === 'turn-start')).toHaveLength(4)
  })

  test('the default cap is eight', () => {
    const drive = stream()
    for (let n = 0; n < 9; n++) drive.feed(run(`r${n}`))
    expect(drive.commands).toHaveLength(8)
    expect(lines(drive)).toMatchObject([{ type: 'error', request_id: 'r8' }])
  })

  test('a cancel is acknowledged before it is carried out', () => {
    const drive = stream()
    drive.feed(run('r'), '{"type":"cancel","request_id":"c","session_id":"other","target_request_id":"r"}')
    expect(lines(drive)).toMatchObject([
      { request_id: 'c', session_id: 'other', status: 'CANCEL_ACCEPTED', target_request_id: 'r' },
    ])
    expect(drive.commands[1]).toEqual({ exchange: 'f3', type: 'turn-cancel', target: { turn: 'f2' } })
    drive.play([{ type: 'turn-end', turn: 't1', outcome: 'cancelled' }], 'f1')
    expect(lines(drive).at(-1)).toMatchObject({ type: 'final', status: 'CANCELED', error: null, text: '' })
    drive.feed('{"type":"cancel","request_id":"c2","target_request_id":"r"}')
    expect(lines(drive).at(-1)).toMatchObject({
      type: 'error',
      request_id: 'c2',
      error: { message: 'target_request_id is not running' },
    })
  })

  test('a bad line gets its error line and the stream goes on', () => {
    const drive = stream()
    drive.feed('{"type":"ping","request_id":"p1"}', '{bad json', '{"type":"ping","request_id":"p2","session_id":"s"}')
    expect(statuses(drive)).toEqual(['PONG', 'error', 'PONG'])
    expect(lines(drive)[1]).toMatchObject({ request_id: 'unknown', session_id: null })
    drive.link.decodeEnd?.('eof')
    expect(drive.exitCode).toBe(0)
  })

  test('the end of input waits for what is in flight', () => {
    const drive = stream()
    drive.feed(run('r1'), '{"type":"session_close","request_id":"x","session_id":"s"}')
    drive.link.decodeEnd?.('eof')
    expect(drive.exitCode).toBeUndefined()
    drive.play(plainTurn('x'), 'f1')
    expect(drive.exitCode).toBeUndefined()
    drive.link.encodeLink?.({ turn: null, type: 'command-reply', exchange: 'f3' })
    expect(drive.exitCode).toBe(0)
  })

  test('nothing but bad lines, or nothing at all, is exit 2', () => {
    const bad = stream()
    bad.feed('{bad')
    bad.link.decodeEnd?.('eof')
    expect([bad.exitCode, bad.warned]).toEqual([2, ['invalid JSON payload: the request is not valid JSON']])
    for (const why of ['eof', 'idle'] as const) {
      const none = stream()
      none.link.decodeEnd?.(why)
      expect([none.sent.length, none.exitCode]).toEqual([1, 2])
    }
    const invalid = stream()
    invalid.feed('{"request_id":"r"}')
    invalid.link.decodeEnd?.('eof')
    expect(invalid.exitCode).toBe(0)
  })

  test('a failure of the whole wire closes it only when nothing can be done', () => {
    const drive = stream()
    drive.link.encodeFault(fault('invalid-request', 'not UTF-8'), undefined, 'continues')
    expect(drive.exitCode).toBeUndefined()
    drive.link.encodeFault(fault('internal', 'no configuration'), undefined, 'continues')
    expect(drive.exitCode).toBe(3)
  })
})

describe('bridge-compatible stream mode', () => {
  const FLAT = ['host', '--protocol', 'v1', '--bridge-compat', '--single-request=false']

  test('acks in protocol shape, answers flat, a replay in both', () => {
    const drive = stream({ ZENE_MAX_CONCURRENCY: '1' }, FLAT)
    drive.feed(run('r1'), run('r2'))
    drive.play(plainTurn('hi'), 'f1')
    drive.feed(run('r3', { idempotency_key: 'k-r1' }))
    drive.play([accepted('replayed'), ...plainTurn('hi').slice(1)])
    const [busy, ack] = lines(drive)
    expect(busy).toMatchObject({ ok: false, request_id: 'r2', error_code: 'BUSY' })
    expect(ack).toMatchObject({ type: 'ack', status: 'ACCEPTED', request_ts_ms: 1250 })
    expect(lines(drive).at(-2)).toEqual({
      ok: true,
      request_id: 'r1',
      session_id: 's',
      text: 'hi',
      error_code: null,
      error_message: null,
      usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    })
    expect(lines(drive).at(-1)).toMatchObject({
      ok: true,
      type: 'final',
      status: 'OK',
      request_id: 'r3',
      replayed: true,
    })
  })
})
