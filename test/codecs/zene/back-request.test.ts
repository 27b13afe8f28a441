import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/zene/index.ts'
import { driveBack } from '../../kit/drive.ts'
import { process, started } from './back-kit.ts'

describe('the request', () => {
  test('one process, one line, end of input', () => {
    const { calls, sent, link } = started()
    expect(link.open).toBeUndefined()
    expect(calls).toEqual([
      { kind: 'process', args: ['host', '--protocol', 'v1', '--bridge-compat'], env: { NO_COLOR: '1' }, stdin: 'end' },
    ])
    expect(sent).toEqual([
      '{"protocol_version":1,"type":"run","request_id":"t1","session_id":"s1","prompt":"hi","idempotency_key":"turnpike-t1"}',
    ])
  })

  test('every field, and unknown ones of the same protocol', () => {
    const { sent, losses } = started({
      request: 'r',
      agent: 'a',
      options: { totalMs: 1500.9, streaming: true },
      session: { id: 's', channel: 'c' },
      ext: { protocol: 'zene', json: '{"metadata":{"n":1.0}}' },
    })
    expect(sent).toEqual([
      '{"protocol_version":1,"type":"run","request_id":"r","session_id":"s","channel_id":"c","agent":"a","prompt":"hi",' +
        '"timeout_ms":1500,"idempotency_key":"turnpike-t1","stream":true,"metadata":{"n":1.0}}',
    ])
    expect(losses).toEqual([])
  })

  test.each([
    [0, 1],
    [0.4, 1],
    [1e300, Number.MAX_SAFE_INTEGER],
  ])('a limit of %d ms is written as %d', (totalMs, written) => {
    expect(JSON.parse(String(started({ options: { totalMs } }).sent[0]))).toMatchObject({ timeout_ms: written })
  })

  test('what has no field of its own is reported; a system prompt is folded in', () => {
    const { sent, losses } = started({
      options: { systemPrompt: 'be brief' },
      session: { id: 's', conversation: 'c2' },
      ext: { protocol: 'zot', json: '{}' },
    })
    expect(JSON.parse(String(sent[0]))).toMatchObject({
      session_id: 's',
      prompt: 'System instruction:\nbe brief\n\nUser message:\nhi',
    })
    expect(losses).toEqual([
      { kind: 'weakened', item: 'session.conversation', field: 'session_id', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'ext', why: 'no-place', count: 1 },
      { kind: 'weakened', item: 'option.systemPrompt', field: 'prompt', why: 'no-place', count: 1 },
    ])
  })

  test("the agent's own session id is named as it is; a turn without any session gets one", () => {
    const bound = started({ session: { id: 's', conversation: 'c', bound: 'fresh' } })
    expect([JSON.parse(String(bound.sent[0])).session_id, bound.losses]).toEqual(['fresh', []])
    const none = started({ session: undefined })
    expect(JSON.parse(String(none.sent[0])).session_id).toBe('t1')
    expect(none.losses).toEqual([
      { kind: 'invented', item: 'session.id', field: 'session_id', why: 'required', count: 1 },
    ])
  })

  test.each([
    [
      ['host', '--protocol', 'v1', '--bridge-compat', '--single-request'],
      ['host', '--protocol', 'v1', '--bridge-compat'],
    ],
    [
      ['host', '--single-request', '--bridge-compat'],
      ['host', '--bridge-compat'],
    ],
    [
      ['host', '--single-request', 'true'],
      ['host', '--single-request', 'true'],
    ],
    [
      ['host', '--single-request=true'],
      ['host', '--single-request=true'],
    ],
    [[], []],
  ])('configured arguments %j become %j', (args, written) => {
    const drive = driveBack(codec, process(args))
    drive.start('hi')
    expect(drive.calls).toMatchObject([{ args: written }])
    const plain = driveBack(codec, process())
    plain.start('hi')
    expect(plain.calls).toMatchObject([{ args: ['host', '--protocol', 'v1', '--bridge-compat'] }])
  })
})

describe('options', () => {
  test('a mode that is none is refused by name', () => {
    const checked = codec.options.schema['~standard'].validate({ mode: 'always' })
    expect(checked).toMatchObject({ issues: [{ message: 'mode must be oneshot or stream' }] })
    expect(codec.options.keys).toEqual(['mode'])
  })
})
