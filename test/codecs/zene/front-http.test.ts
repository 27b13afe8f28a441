import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/zene/index.ts'
import { fault } from '../../../src/model/index.ts'
import { driveFront, plainTurn } from '../../kit/drive.ts'

const MINIMAL = '{"request_id":"r","session_id":"s","prompt":"Say hi"}'
const JSON_TYPE = { 'content-type': 'application/json' }
const http = (headers: Record<string, string> = JSON_TYPE) =>
  driveFront(codec, { transport: 'http', method: 'POST', path: '/v1/zene', headers, argv: ['ignored'] })
const line = (text: unknown): Record<string, unknown> => JSON.parse(String(text)) as Record<string, unknown>

describe('POST /v1/zene', () => {
  test('a flat answer in one body', () => {
    const drive = http()
    expect(drive.link.idleMs).toBeUndefined()
    drive.feed(MINIMAL)
    expect(drive.answers.get('f1')).toEqual({
      form: 'whole',
      framing: 'body',
      headers: { 'content-type': 'application/json' },
      onDisconnect: 'cancel',
      asks: 'never',
    })
    drive.play(plainTurn('hi'))
    expect(line(drive.sent[0])).toMatchObject({ ok: true, text: 'hi' })
    expect(drive.exitCode).toBe(0)
  })

  test.each([
    ['in the body', {}, '{"request_id":"r","session_id":"s","prompt":"p","stream":true}'],
    ['by header', { accept: 'application/json;q=0.5, application/x-ndjson' }, MINIMAL],
  ])('lines when asked %s', (_how, headers, body) => {
    const drive = http({ ...JSON_TYPE, ...headers })
    drive.feed(body)
    expect(drive.answers.get('f1')).toEqual({
      form: 'stream',
      framing: 'ndjson',
      onDisconnect: 'cancel',
      asks: 'never',
    })
    drive.play(plainTurn('hi'))
    expect(drive.sent.map((sent) => line(sent)['type'])).toEqual(['ack', 'event', 'event', 'event', 'event', 'final'])
    expect(drive.exitCode).toBe(0)
  })

  test('a duplicate joins the run and gets its lines under its own ids', () => {
    const drive = http({ accept: 'application/x-ndjson' })
    drive.feed('{"request_id":"r2","session_id":"s","prompt":"p","idempotency_key":"k"}')
    expect(drive.commands[0]).toMatchObject({ once: { key: 'k', duplicate: 'join', replay: 'undelivered' } })
    drive.play(
      plainTurn('hi').map((event) => (event.type === 'turn-accepted' ? { ...event, how: 'joined' as const } : event)),
    )
    expect(line(drive.sent[0])).toMatchObject({ status: 'ACCEPTED', request_id: 'r2' })
    expect(line(drive.sent.at(-1))).toMatchObject({ status: 'OK', request_id: 'r2' })
  })

  test.each(['application/json; charset=utf-8', 'application/vnd.x+json', 'application/x-ndjson', undefined])(
    'content type %s is read',
    (type) => {
      const drive = http(type === undefined ? {} : { 'content-type': type })
      drive.feed(MINIMAL)
      expect(drive.commands).toHaveLength(1)
    },
  )

  test.each(['text/plain', 'application/xml', 'application/jsonp'])('content type %s is 415', (type) => {
    const drive = http({ 'content-type': type })
    expect(drive.faults).toEqual([
      { fault: fault('invalid-request', 'expected content-type application/json'), http: 415 },
    ])
    expect(line(drive.sent[0])).toMatchObject({ ok: false, error_code: 'INVALID_REQUEST' })
    expect(drive.exitCode).toBe(2)
  })

  test('an empty body, and one refused where lines are wanted', () => {
    const empty = http()
    empty.feed('')
    expect(line(empty.sent[0])).toMatchObject({ ok: false, request_id: 'unknown' })
    const lines = http({ accept: 'application/x-ndjson' })
    lines.feed('{}')
    expect(line(lines.sent[0])).toMatchObject({ type: 'error', request_id: 'unknown', session_id: null })
  })

  test('an empty answer is a failure with a status of its own', () => {
    const drive = http()
    drive.feed(MINIMAL)
    drive.play(plainTurn(''))
    expect(drive.faults).toEqual([{ fault: fault('internal', 'the agent ended without an answer'), exchange: 'f1' }])
    expect(codec.errors.internal).toEqual({ code: 'INTERNAL', http: 500 })
  })
})
