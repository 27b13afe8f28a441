import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/zene/index.ts'
import type { CallEnd } from '../../../src/contract/index.ts'
import { driveBack } from '../../kit/drive.ts'
import { ended, final, flat, process, started } from './back-kit.ts'

describe('exits', () => {
  const exits: [name: string, lines: string[], end: Partial<CallEnd>, code: string, message: string][] = [
    [
      'nothing said',
      [],
      { exitCode: 0 },
      'agent-crashed',
      'The agent exited with code 0 before it had answered; see its stderr in the gateway log.',
    ],
    [
      'accepted without a final',
      ['{"type":"ack","status":"ACCEPTED"}'],
      { exitCode: 2, stderr: 'x' },
      'agent-crashed',
      'The agent exited with code 2 before it had answered; see its stderr in the gateway log.',
    ],
    [
      'input error',
      [],
      {
        exitCode: 2,
        stderr:
          '\n2026-11-28T00:47:22.568143Z ERROR zene: Host failed: PROTOCOL: invalid JSON payload: duplicate field\nmore',
      },
      'invalid-request',
      'invalid JSON payload: duplicate field',
    ],
    [
      'input error in colours',
      [],
      { exitCode: 2, stderr: '\u001b[31mplain\u001b[0m reason' },
      'invalid-request',
      'plain reason',
    ],
    [
      'input error without a word',
      [],
      { exitCode: 2 },
      'invalid-request',
      'The agent refused the request without a reason.',
    ],
    [
      'stdin timed out',
      [],
      {
        exitCode: 2,
        stderr: '2026-11-28T00:47:26.467312Z ERROR zene: Host failed: PROTOCOL: stdin read timeout after 300ms',
      },
      'internal',
      'The agent stopped waiting for the request; see the gateway log.',
    ],
    [
      'bad arguments',
      [],
      { exitCode: 2, stderr: "error: a value is required for '--single-request'" },
      'agent-unavailable',
      'The agent refused its command line; check the args of the agent.',
    ],
    [
      'killed',
      [],
      { signal: 'SIGKILL' },
      'agent-crashed',
      'The agent was ended by SIGKILL before it had answered; see its stderr in the gateway log.',
    ],
    ['too slow', [], { why: 'timeout', exitCode: 2 }, 'timeout', 'The agent did not answer within its time limit.'],
  ]
  test.each(exits)('%s', (_name, lines, end, code, message) => {
    const drive = ended(...lines)
    drive.link.decodeEnd({ why: 'closed', ...end })
    drive.link.decodeEnd({ why: 'closed', ...end })
    expect(drive.events.filter(({ type }) => type === 'turn-end')).toMatchObject([
      { outcome: 'failed', stop: 'error', fault: { code, message } },
    ])
  })

  test('a process that ends after its answer changes nothing', () => {
    const drive = ended(flat())
    const count = drive.events.length
    drive.link.decodeEnd({ why: 'closed', exitCode: 4 })
    expect(drive.events).toHaveLength(count)
  })

  test('the next turn starts anew', () => {
    const drive = ended(flat())
    drive.start('again', { turn: 't2' })
    drive.link.decodeEnd({ why: 'closed', exitCode: 2, stderr: 'no' })
    expect(drive.calls).toHaveLength(2)
    expect(drive.events.at(-1)).toMatchObject({ turn: 't2', fault: { code: 'invalid-request', message: 'no' } })
  })
})

describe('cancel', () => {
  const cancel = { exchange: 'x2', type: 'turn-cancel', target: { turn: 't1' } } as const

  test('a one-shot has no verb: whatever ends it afterwards is a cancellation', () => {
    for (const line of [
      flat(),
      flat({ ok: false, text: '', error_code: 'INTERNAL', error_message: 'request failed' }),
    ]) {
      const drive = started()
      drive.link.encode(cancel)
      drive.feed(line)
      expect(drive.sent).toHaveLength(1)
      expect(drive.events.at(-1)).toEqual({ turn: 't1', type: 'turn-end', outcome: 'cancelled', stop: 'aborted' })
    }
  })

  test('the process stopped, or the agent said so by itself', () => {
    const asked = started()
    asked.link.encode(cancel)
    asked.link.decodeEnd({ why: 'closed', signal: 'SIGTERM' })
    const stopped = started()
    stopped.link.decodeEnd({ why: 'cancelled' })
    const said = ended(final({ status: 'CANCELED', text: '' }))
    for (const { events } of [asked, stopped, said]) expect(events.at(-1)).toMatchObject({ outcome: 'cancelled' })
  })

  test('without a turn, and other commands, nothing happens', () => {
    const { link, sent, events } = driveBack(codec)
    link.encode(cancel)
    link.encode({ exchange: 'x', type: 'session-close', session: { id: 's' } })
    expect([sent, events]).toEqual([[], []])
  })
})

describe('stream mode', () => {
  const stream = (args?: readonly string[]) => {
    const drive = driveBack(codec, { options: { mode: 'stream' }, ...process(args) })
    drive.link.open?.()
    return drive
  }
  const pong =
    '{"protocol_version":1,"type":"ack","request_id":"turnpike-hello","session_id":null,"ts_ms":1,"status":"PONG"}'

  test('one process, greeted by a ping, serves many turns', () => {
    const drive = stream()
    expect(drive.calls).toEqual([
      {
        kind: 'process',
        args: ['host', '--protocol', 'v1', '--single-request', 'false'],
        env: { NO_COLOR: '1', ZENE_STDIN_TIMEOUT_MS: '86400000' },
        stdin: 'open',
      },
    ])
    expect(drive.sent).toEqual(['{"protocol_version":1,"type":"ping","request_id":"turnpike-hello"}'])
    drive.feed(pong, pong)
    expect(drive.events).toEqual([{ turn: null, type: 'agent-ready' }])
    drive.start('one')
    drive.feed(final({ request_id: 'other' }), final())
    drive.start('two', { turn: 't2', request: 'r2' })
    drive.feed(final(), flat({ request_id: 'r2', text: 'second' }))
    expect(drive.calls).toHaveLength(1)
    const ends = drive.events.filter(({ type }) => type === 'turn-end')
    expect(ends).toMatchObject([
      { turn: 't1', outcome: 'completed' },
      { turn: 't2', outcome: 'completed' },
    ])
    drive.link.decodeEnd({ why: 'closed', exitCode: 0 })
    expect(drive.events.filter(({ type }) => type === 'turn-end')).toHaveLength(2)
  })

  test('configured arguments are kept', () => {
    expect(stream(['host', '--single-request=false']).calls).toMatchObject([
      { args: ['host', '--single-request=false'] },
    ])
  })

  test('cancel has a verb, sent once; a late OK is a cancellation all the same', () => {
    const drive = stream()
    drive.start('one')
    const cancel = { exchange: 'x2', type: 'turn-cancel', target: { turn: 't1' } } as const
    drive.link.encode(cancel)
    drive.link.encode(cancel)
    expect(drive.sent.slice(2)).toEqual([
      '{"protocol_version":1,"type":"cancel","request_id":"b1","session_id":"s1","target_request_id":"t1"}',
    ])
    drive.feed('{"type":"ack","request_id":"b1","status":"CANCEL_ACCEPTED","target_request_id":"t1"}', final())
    expect(drive.events.at(-1)).toMatchObject({ type: 'turn-end', outcome: 'cancelled' })
  })

  test('a line of ours that was bad fails the turn; a lost process too', () => {
    const bad = stream()
    bad.start('one')
    bad.feed(
      '{"type":"error","request_id":"unknown","error":{"code":"INVALID_REQUEST","message":"invalid JSON payload"}}',
    )
    expect(bad.events).toMatchObject([
      { type: 'turn-end', fault: { code: 'invalid-request', message: 'invalid JSON payload' } },
    ])
    const lost = stream()
    lost.feed(pong)
    lost.start('one')
    lost.link.decodeEnd({ why: 'closed', exitCode: 2, stderr: 'x' })
    expect(lost.events.at(-1)).toMatchObject({ outcome: 'failed', fault: { code: 'agent-crashed' } })
  })

  test('a session can be closed', () => {
    const drive = stream()
    drive.link.encode({ exchange: 'x', type: 'session-close', session: { id: 's', bound: 'b' } })
    drive.link.encode({ exchange: 'x', type: 'session-close', session: { id: 's' } })
    drive.link.encode({ exchange: 'x', type: 'session-close' })
    expect(drive.sent.slice(1)).toEqual([
      '{"protocol_version":1,"type":"session_close","request_id":"b1","session_id":"b"}',
      '{"protocol_version":1,"type":"session_close","request_id":"b2","session_id":"s"}',
    ])
  })
})
