import { describe, expect, test } from 'vitest'
import { fault } from '../../../src/model/index.ts'
import { plainTurn } from '../../kit/drive.ts'
import { end, line, MINIMAL, oneshot } from './front-kit.ts'

describe('flat answers', () => {
  test('a success, byte for byte', () => {
    const drive = oneshot()
    drive.feed(MINIMAL)
    drive.play(plainTurn('Hi\u2028there'))
    expect(drive.sent).toEqual([
      '{"ok":true,"request_id":"r","session_id":"s","text":"Hi\\u2028there","error_code":null,"error_message":null,' +
        '"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}',
    ])
    expect([drive.exitCode, drive.warned, drive.losses]).toEqual([0, [], []])
  })

  test('what an agent of another protocol says of itself is a loss', () => {
    const drive = oneshot()
    drive.feed(MINIMAL)
    const [accepted, ...rest] = plainTurn('Hi')
    drive.play([
      accepted!,
      { type: 'turn-started', turn: 't1', ext: { protocol: 'zot', json: '{}' } },
      ...rest.slice(1),
    ])
    expect(drive.losses).toEqual([{ kind: 'dropped', item: 'ext', why: 'no-place', count: 1 }])
  })

  test('a failure, byte for byte', () => {
    const drive = oneshot()
    drive.feed(MINIMAL)
    drive.play(end({ outcome: 'failed', fault: fault('provider-auth', 'bad key') }))
    expect(drive.sent).toEqual([
      '{"ok":false,"request_id":"r","session_id":"s","text":"","error_code":"PROVIDER_AUTH","error_message":"bad key",' +
        '"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}',
    ])
    expect(drive.exitCode).toBe(0)
  })

  test('a cancelled run, and a failed one that does not say why', () => {
    const codes = [end({ outcome: 'cancelled' }), end({ outcome: 'failed' })].map((turn) => {
      const drive = oneshot()
      drive.feed(MINIMAL)
      drive.play(turn)
      return line(drive.sent[0])
    })
    expect(codes).toMatchObject([
      { ok: false, error_code: 'CANCELED', error_message: 'the run was canceled' },
      { ok: false, error_code: 'INTERNAL', error_message: 'the run failed; see the gateway log' },
    ])
  })

  test('usage that the agent did not count is estimated, said so and reported', () => {
    const drive = oneshot()
    drive.feed(MINIMAL)
    drive.play(plainTurn('12345').filter(({ type }) => type !== 'usage'))
    expect(line(drive.sent[0])).toMatchObject({
      ok: true,
      usage: { prompt_tokens: 2, completion_tokens: 2, total_tokens: 4, estimated: true },
    })
    expect(drive.losses).toEqual([
      { kind: 'invented', item: 'usage.total', field: 'total_tokens', why: 'required', count: 1 },
    ])
  })

  test.each([
    [
      { input: 2, output: 3 },
      { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 },
    ],
    [{ total: 9.4 }, { prompt_tokens: 0, completion_tokens: 0, total_tokens: 9 }],
    [{ total: 1e300 }, { prompt_tokens: 0, completion_tokens: 0, total_tokens: Number.MAX_SAFE_INTEGER }],
  ])('counts %j are whole numbers with a total', (usage, counts) => {
    const drive = oneshot()
    drive.feed(MINIMAL)
    drive.play(plainTurn('x').map((event) => (event.type === 'usage' ? { ...event, usage } : event)))
    expect(line(drive.sent[0])).toMatchObject({ usage: counts })
    expect(drive.losses).toEqual([])
  })

  test('an estimate of the agent stays one; a failure tells what was used', () => {
    const turn = plainTurn('x').map((event) =>
      event.type === 'usage' ? { ...event, estimated: true as const } : event,
    )
    turn[turn.length - 1] = { type: 'turn-end', turn: 't1', outcome: 'failed', fault: fault('timeout', 'too slow') }
    const drive = oneshot()
    drive.feed(MINIMAL)
    drive.play(turn)
    expect(line(drive.sent[0])).toMatchObject({
      ok: false,
      error_code: 'TIMEOUT',
      usage: { total_tokens: 7, estimated: true },
    })
    expect(drive.losses).toEqual([{ kind: 'dropped', item: 'text-delta', field: 'text', why: 'policy', count: 1 }])
  })

  test.each([
    [' \n\u0085\t', 'the agent ended without an answer'],
    ['', 'the agent ended without an answer'],
    [' Plan Completed.\n', 'the agent ended without a result of its own'],
    ['plan completed (or explicit empty plan).', 'the agent ended without a result of its own'],
    ['No changes were made.\u0085', 'the agent ended without a result of its own'],
  ])('%j is no success', (text, message) => {
    const drive = oneshot()
    drive.feed(MINIMAL)
    drive.play(plainTurn(text))
    expect(drive.sent).toHaveLength(1)
    expect(line(drive.sent[0])).toMatchObject({
      ok: false,
      request_id: 'r',
      text: '',
      error_code: 'INTERNAL',
      error_message: message,
      usage: { total_tokens: 7 },
    })
    expect(drive.faults).toEqual([{ fault: fault('internal', message), exchange: 'f1' }])
    expect(drive.exitCode).toBe(0)
  })

  test('a text that only holds a placeholder is an answer', () => {
    const drive = oneshot()
    drive.feed(MINIMAL)
    drive.play(plainTurn('Done. No changes were made.'))
    expect(line(drive.sent[0])).toMatchObject({ ok: true, text: 'Done. No changes were made.' })
  })

  test('messages never hold the words that start a retry, unless it is a timeout', () => {
    const say = (code: 'internal' | 'timeout'): unknown => {
      const drive = oneshot()
      drive.feed(MINIMAL)
      drive.play(
        end({ outcome: 'failed', fault: fault(code, 'it Timed out\r\nwith placeholder text, suspicious success') }),
      )
      return (line(drive.sent[0]) as { error_message: unknown }).error_message
    }
    expect(say('internal')).toBe('it ran out of time with stand-in text, doubtful success')
    expect(say('timeout')).toBe('it Timed out with placeholder text, suspicious success')
  })

  test('half a surrogate pair is replaced: the client refuses its escape', () => {
    const drive = oneshot()
    drive.feed(MINIMAL)
    drive.play(plainTurn('a\ud83d b'))
    expect(line(drive.sent[0])).toMatchObject({ ok: true, text: 'a\ufffd b' })
    expect(drive.losses).toEqual([{ kind: 'weakened', item: 'part.text', field: 'text', why: 'too-narrow', count: 1 }])
  })

  test("the agent's own unknown members come back, another protocol's are a loss", () => {
    const ext = { protocol: 'zene', json: '{"trace":1e400,"usage":{"cached":2}}' }
    const own = oneshot()
    own.feed(MINIMAL)
    own.play(plainTurn('x').map((event) => (event.type === 'turn-end' ? { ...event, ext } : event)))
    expect(own.sent[0]).toBe(
      '{"ok":true,"request_id":"r","session_id":"s","text":"x","error_code":null,"error_message":null,' +
        '"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7,"cached":2},"trace":1e400}',
    )
    const other = oneshot()
    other.feed(MINIMAL)
    const foreign = { protocol: 'zot', json: '{"a":1}' }
    other.play(plainTurn('x').map((event) => (event.type === 'turn-end' ? { ...event, ext: foreign } : event)))
    expect(other.losses).toEqual([{ kind: 'dropped', item: 'ext', why: 'no-place', count: 1 }])
  })
})

describe('protocol shape', () => {
  test('a success is one final line and nothing before it', () => {
    const drive = oneshot(['host', '--protocol', 'v1'])
    drive.feed(MINIMAL)
    drive.play(plainTurn('hello'))
    expect(drive.sent).toEqual([
      '{"protocol_version":1,"type":"final","request_id":"r","session_id":"s","ts_ms":1250,"status":"OK","text":"hello",' +
        '"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7},"error":null,"latency_ms":250}',
    ])
  })

  test.each([
    [
      end({ outcome: 'failed', fault: fault('timeout', 'late') }),
      'TIMEOUT',
      { code: 'TIMEOUT', message: 'late', retryable: true },
    ],
    [
      end({ outcome: 'failed', fault: fault('session-busy', 'queue') }),
      'ERROR',
      { code: 'BUSY', message: 'queue', retryable: true, http_status: 409 },
    ],
    [end({ outcome: 'cancelled' }), 'CANCELED', null],
    [
      plainTurn('Plan completed.'),
      'ERROR',
      { code: 'INTERNAL', message: 'the agent ended without a result of its own', retryable: false },
    ],
  ] as const)('an end that is none', (turn, status, error) => {
    const drive = oneshot(['host', '--protocol', 'v1'])
    drive.feed(MINIMAL)
    drive.play(turn)
    expect(line(drive.sent[0])).toMatchObject({ type: 'final', status, text: '', error })
  })

  test('an empty answer is a success here', () => {
    const drive = oneshot(['host', '--protocol', 'v1'])
    drive.feed(MINIMAL)
    drive.play(plainTurn(''))
    expect(line(drive.sent[0])).toMatchObject({ status: 'OK', text: '' })
  })

  test("unknown members of the agent's error come back in it, and are a loss where there is no such object", () => {
    const failed = end({
      outcome: 'failed',
      fault: fault('internal', 'm', { ext: { protocol: 'zene', json: '{"hint":1.0}' } }),
    })
    const protocol = oneshot(['host', '--protocol', 'v1'])
    protocol.feed(MINIMAL)
    protocol.play(failed)
    expect(protocol.sent[0]).toContain('"error":{"code":"INTERNAL","message":"m","retryable":false,"hint":1.0}')
    expect(protocol.losses).toEqual([])
    const flat = oneshot()
    flat.feed(MINIMAL)
    flat.play(failed)
    expect(flat.losses).toEqual([{ kind: 'dropped', item: 'ext', why: 'no-place', count: 1 }])
  })
})

describe("the engine's own failures", () => {
  test('of a run: answered under its ids, exit 0', () => {
    const drive = oneshot()
    drive.feed(MINIMAL)
    drive.link.encodeFault(fault('agent-not-found', 'no such agent'), 'f1', 'continues')
    expect(line(drive.sent[0])).toMatchObject({
      ok: false,
      request_id: 'r',
      session_id: 's',
      error_code: 'INVALID_REQUEST',
    })
    expect([drive.exitCode, drive.warned]).toEqual([0, []])
  })

  test('of the wire: too large is exit 2, a configuration that cannot be used is 3', () => {
    const large = oneshot()
    large.link.encodeFault(fault('payload-too-large', 'a line is too long'), undefined, 'ends')
    large.link.decodeEnd?.('eof')
    expect([large.sent.length, large.exitCode, large.warned]).toEqual([1, 2, ['a line is too long']])
    const broken = oneshot()
    broken.link.encodeFault(fault('internal', 'no agent is configured'), undefined, 'continues')
    expect([broken.sent.length, broken.exitCode, broken.warned]).toEqual([1, 3, ['no agent is configured']])
  })

  test('of an exchange that is not known any more', () => {
    const drive = oneshot()
    drive.link.encodeFault(fault('internal', 'm'), 'gone', 'continues')
    expect(line(drive.sent[0])).toMatchObject({ request_id: 'unknown' })
  })
})
