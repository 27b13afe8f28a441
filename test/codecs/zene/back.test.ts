import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/zene/index.ts'
import { fault } from '../../../src/model/index.ts'
import { driveBack } from '../../kit/drive.ts'
import { ended, final, flat } from './back-kit.ts'

describe('answers', () => {
  test('a flat success; a usage of zeros is unknown', () => {
    const { events, losses } = ended(flat())
    expect(events).toEqual([
      { turn: 't1', type: 'turn-started' },
      { turn: 't1', type: 'message-start', message: 'b1', role: 'assistant' },
      { turn: 't1', type: 'message-end', message: 'b1', parts: [{ type: 'text', text: 'Task 1: Completed\n' }] },
      { turn: 't1', type: 'turn-end', outcome: 'completed', stop: 'end' },
    ])
    expect(losses).toEqual([])
  })

  test('ack, events, deltas, final', () => {
    const event = (event_type: string, payload: unknown): string =>
      JSON.stringify({
        protocol_version: 1,
        type: 'event',
        request_id: 't1',
        session_id: 's1',
        ts_ms: 1,
        event_type,
        seq: 1,
        payload,
      })
    const { events } = ended(
      '{"protocol_version":1,"type":"ack","request_id":"t1","session_id":"s1","status":"ACCEPTED"}',
      event('REQUEST_ACCEPTED', {}),
      event('RUN_STARTED', {}),
      event('TEXT_DELTA', { delta: 'do' }),
      event('TASK', { n: 1 }),
      event('TEXT_DELTA', { delta: 'ne' }),
      event('RUN_FINISHED', {}),
      final({ usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, estimated: true } }),
    )
    expect(events).toEqual([
      { turn: 't1', type: 'turn-started' },
      { turn: 't1', type: 'message-start', message: 'b1', role: 'assistant' },
      { turn: 't1', type: 'text-delta', message: 'b1', text: 'do' },
      { turn: 't1', type: 'foreign', protocol: 'zene', frame: event('TASK', { n: 1 }) },
      { turn: 't1', type: 'text-delta', message: 'b1', text: 'ne' },
      { turn: 't1', type: 'message-end', message: 'b1', parts: [{ type: 'text', text: 'done' }] },
      { turn: 't1', type: 'usage', scope: 'turn', usage: { input: 1, output: 2, total: 3 }, estimated: true },
      { turn: 't1', type: 'turn-end', outcome: 'completed', stop: 'end' },
    ])
  })

  test('unknown members of the answer, its usage and its error', () => {
    const both = ended(flat({ usage: { total_tokens: 2, cached: 1 }, trace: 'x' }))
    expect(both.events.at(-1)).toMatchObject({ ext: { protocol: 'zene', json: '{"trace":"x","usage":{"cached":1}}' } })
    const usage = ended(flat({ usage: { total_tokens: 2, cached: 1 } }))
    expect(usage.events.at(-1)).toMatchObject({ ext: { protocol: 'zene', json: '{"usage":{"cached":1}}' } })
    const top = ended('{"ok":true,"text":"x","trace":1e400}')
    expect(top.events.at(-1)).toMatchObject({ ext: { protocol: 'zene', json: '{"trace":1e400}' } })
    const error = ended(final({ status: 'ERROR', text: '', error: { code: 'INTERNAL', message: 'm', hint: 1 } }))
    expect(error.events.at(-1)).toMatchObject({ fault: { ext: { protocol: 'zene', json: '{"hint":1}' } } })
  })

  test('counts that are no whole numbers are dropped and reported', () => {
    const { events, losses } = ended(
      '{"ok":true,"text":"x","usage":{"prompt_tokens":"x","completion_tokens":1.5,"total_tokens":18446744073709551615}}',
    )
    expect(events.some(({ type }) => type === 'usage')).toBe(false)
    expect(losses).toEqual([
      { kind: 'dropped', item: 'usage.input', field: 'prompt_tokens', why: 'precision', count: 1 },
      { kind: 'dropped', item: 'usage.output', field: 'completion_tokens', why: 'precision', count: 1 },
      { kind: 'dropped', item: 'usage.total', field: 'total_tokens', why: 'precision', count: 1 },
    ])
  })

  test.each([
    [
      flat({ ok: false, error_code: 'PROVIDER_RATE_LIMIT', error_message: 'slow down' }),
      fault('provider-rate-limit', 'slow down'),
    ],
    [flat({ ok: false }), fault('internal', 'The agent answered with the error internal.')],
    [
      final({ status: 'TIMEOUT', text: null, error: { code: 'TIMEOUT', message: 'late', retryable: false } }),
      fault('timeout', 'late', { retryable: false }),
    ],
    [
      final({ status: 'ERROR', text: '', error: null }),
      fault('internal', 'The agent answered with the error internal.'),
    ],
    [
      '{"type":"error","request_id":"t1","error":{"code":"BUSY","message":"server is overloaded","retryable":true,"http_status":429}}',
      fault('overloaded', 'server is overloaded'),
    ],
    [
      '{"type":"error","request_id":"t1"}',
      fault(
        'protocol-violation',
        'The agent wrote an answer line that is not of Zene Host Protocol v1; check its version.',
      ),
    ],
    [
      '{"ok":"true","text":"x"}',
      fault(
        'protocol-violation',
        'The agent wrote an answer line that is not of Zene Host Protocol v1; check its version.',
      ),
    ],
    [
      '{"ok":true,"text":null}',
      fault(
        'protocol-violation',
        'The agent wrote an answer line that is not of Zene Host Protocol v1; check its version.',
      ),
    ],
    [
      '{"type":"final","status":"DONE","text":"x"}',
      fault(
        'protocol-violation',
        'The agent wrote an answer line that is not of Zene Host Protocol v1; check its version.',
      ),
    ],
    [flat({ text: ' \n' }), fault('internal', 'The agent answered without a text.')],
    [
      '{"type":"ack","request_id":"t1","status":"DUPLICATE_IN_PROGRESS","existing_request_id":"t0"}',
      fault('session-busy', 'The agent is still at this run; try again later.'),
    ],
  ])('%s fails the turn', (line, why) => {
    const { events, losses } = ended(line)
    expect(events.filter(({ type }) => type !== 'turn-started')).toEqual([
      { turn: 't1', type: 'turn-end', outcome: 'failed', stop: 'error', fault: why },
    ])
    expect(losses).toEqual(line.includes('"text":"Task 1') ? [lostText] : [])
  })

  const lostText = { kind: 'dropped', item: 'message-end', field: 'text', why: 'policy', count: 1 }

  test('a code that the protocol does not name', () => {
    const { events, losses } = ended(
      flat({ ok: false, text: '', error_code: 'timeout', error_message: 'x'.repeat(2000) }),
    )
    expect(events).toEqual([
      { turn: 't1', type: 'turn-end', outcome: 'failed', stop: 'error', fault: fault('internal', 'x'.repeat(744)) },
    ])
    expect(losses).toEqual([{ kind: 'weakened', item: 'turn-end', field: 'error_code', why: 'unknown', count: 1 }])
  })

  test.each(['Plan completed (or explicit empty plan).', ' plan COMPLETED.\n', 'No changes were made.'])(
    'the placeholder %j asks for a fresh session',
    (text) => {
      const { events, losses } = ended(flat({ text, usage: { total_tokens: 3 } }))
      expect(events).toEqual([
        {
          turn: 't1',
          type: 'turn-end',
          outcome: 'failed',
          stop: 'error',
          fault: fault(
            'internal',
            'The agent did nothing for this prompt: a plan of its session, or a failed planner, stands in the way.',
            { retry: 'fresh-session' },
          ),
        },
      ])
      expect(losses).toEqual([])
    },
  )

  test.each([
    ['LLM Connector error: Authentication failed: OpenAI: bad key', 'provider-auth'],
    ['LLM Connector error: Rate limit exceeded: OpenAI', 'provider-rate-limit'],
    ['LLM Connector error: Server error: OpenAI', 'provider-down'],
    ['Provider error: Parse error', 'provider-down'],
    ['the tool failed', 'internal'],
  ])('a plan halted by %j fails with %s and nothing of its text', (reason, code) => {
    const { events } = ended(flat({ text: `Execution halted due to task failure: ${reason}` }))
    expect(events).toMatchObject([{ type: 'turn-end', outcome: 'failed', fault: { code } }])
    expect(JSON.stringify(events)).not.toContain('OpenAI')
  })

  test('a failure may tell what it used', () => {
    const { events } = ended(flat({ ok: false, text: '', usage: { total_tokens: 5 } }))
    expect(events.map(({ type }) => type)).toEqual(['turn-started', 'usage', 'turn-end'])
  })

  test('garbage and half messages are reported, other messages travel on, what follows the end is ignored', () => {
    const { events, losses } = ended(
      'garbage',
      '{"type":"ack"}',
      '{"type":"event"}',
      '{"type":"hello"}',
      '{"type":"ack","status":"PAUSED"}',
      flat(),
      flat(),
      'garbage',
    )
    const unparsed = { kind: 'unparsed', item: 'foreign', why: 'unknown', count: 1 }
    expect(losses).toEqual([unparsed, unparsed, unparsed])
    expect(events.filter(({ type }) => type === 'foreign')).toHaveLength(2)
    expect(events.filter(({ type }) => type === 'turn-end')).toHaveLength(1)
  })
})

test('an answer under another id is not the answer; one that names no request is', () => {
  for (const [id, isOurs] of [
    ['t1', true],
    ['unknown', true],
    [undefined, true],
    [null, true],
    ['', true],
    ['r9', false],
  ] as const) {
    const drive = driveBack(codec)
    drive.start('hi')
    drive.feed(flat({ request_id: id, text: 'stray' }), flat({ text: 'ours' }))
    const said = drive.events.find((event) => event.type === 'message-end')?.parts
    expect(said).toEqual([{ type: 'text', text: isOurs ? 'stray' : 'ours' }])
    const unparsed = { kind: 'unparsed', item: 'foreign', why: 'unknown', count: 1 }
    expect(drive.losses).toEqual(isOurs ? [] : [unparsed])
  }
  const alone = driveBack(codec)
  alone.start('hi')
  alone.feed(flat({ request_id: 'r9' }))
  alone.link.decodeEnd({ why: 'closed', exitCode: 0 })
  expect(alone.events).toMatchObject([{ type: 'turn-end', outcome: 'failed', fault: { code: 'agent-crashed' } }])
})

test('of a recording of both sides only what names the request is its answer', () => {
  const drive = driveBack(codec, { recorded: 'both' })
  drive.start('hi', { request: 'r1' })
  drive.feed(flat({ request_id: 'r2' }))
  expect(drive.events).toEqual([])
  drive.feed(flat({ request_id: 'r1' }))
  expect(drive.events.at(-1)).toEqual({ turn: 't1', type: 'turn-end', outcome: 'completed', stop: 'end' })
})

describe('pieces of text in a row', () => {
  const pieces = (request: string, ...texts: readonly string[]): string =>
    texts
      .map(
        (delta, seq) =>
          `{"protocol_version":1,"type":"event","request_id":"${request}","session_id":"s1","ts_ms":${7 * seq},"event_type":"TEXT_DELTA","seq":${seq},"payload":{"delta":"${delta}"}}\n`,
      )
      .join('')
  const text = (events: readonly { type: string; text?: string }[]): string =>
    events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('')

  test('are those of the run: one of another run, or between two runs, is none', () => {
    const drive = driveBack(codec, { options: { mode: 'stream' } })
    drive.link.open!()
    expect(drive.read('ndjson', pieces('t1', 'x', 'x', 'x'))).toBe(0)
    drive.start('hi')
    expect(drive.read('ndjson', pieces('other', 'x', 'x', 'x', 'x'))).toBe(0)
    expect(drive.read('ndjson', pieces('t1', 'a', 'b', 'c', 'd'))).toBe(3)
    drive.feed(final())
    expect(drive.read('ndjson', pieces('t1', 'x', 'x'))).toBe(0)
    expect(text(drive.events)).toBe('abcd')
  })
})
