import { describe, expect, test } from 'vitest'
import type { AskReply } from '../../../../src/model/index.ts'
import type { BackDrive } from '../../../kit/drive.ts'
import { replyTo } from './replies.ts'
import { codes, error, open, request, result, run } from './runs.ts'

describe('permissions', () => {
  /** A running turn that has asked. */
  function asking(...lines: string[]): BackDrive {
    const back = open({ permission: true })
    back.start('hello')
    back.sent.length = 0
    back.feed(...lines)
    return back
  }

  test('a request with all its members', () => {
    const line =
      '{"type":"permission_request","request_id":"p1","tool_name":"Bash","input":{"n":1.0},"description":"d","tool_use_id":"tu","risk":2}'
    expect(asking(line).events.at(-1)).toEqual({
      type: 'ask',
      turn: 't1',
      ask: 'p1',
      question: {
        kind: 'approval',
        tool: 'tu',
        name: 'Bash',
        args: '{"n":1.0}',
        description: 'd',
        options: [
          { id: 'allow', kind: 'allow', scope: 'once' },
          { id: 'deny', kind: 'deny', scope: 'once' },
        ],
        editable: true,
      },
      ext: { protocol: 'agentproc@0.4', json: '{"risk":2}' },
    })
  })

  test.each<[AskReply, string, number]>([
    [{ kind: 'approval', option: 'allow' }, '{"type":"permission_response","request_id":"p1","behavior":"allow"}', 0],
    [
      { kind: 'approval', option: 'allow', edited: '{"a":1.0}', message: 'ü' },
      '{"type":"permission_response","request_id":"p1","behavior":"allow","updated_input":{"a":1.0},"message":"\\u00fc"}',
      0,
    ],
    [
      { kind: 'approval', option: 'deny', edited: '{"a":1}', message: 'no' },
      '{"type":"permission_response","request_id":"p1","behavior":"deny","message":"no"}',
      1,
    ],
    [
      { kind: 'approval', option: 'allow', edited: '[1]' },
      '{"type":"permission_response","request_id":"p1","behavior":"allow"}',
      1,
    ],
    [
      { kind: 'approval', option: 'maybe', stopTurn: true },
      '{"type":"permission_response","request_id":"p1","behavior":"deny"}',
      1,
    ],
    [{ kind: 'input', values: '{}' }, '{"type":"permission_response","request_id":"p1","behavior":"deny"}', 0],
  ])('%j', (reply, line, losses) => {
    const back = asking(request('p1'))
    back.link.encode(replyTo('p1', reply))
    expect(back.sent).toEqual([line])
    expect(back.losses).toHaveLength(losses)
  })

  const ids = (back: BackDrive) =>
    back.sent.map((frame) => [
      (JSON.parse(String(frame)) as { request_id: string }).request_id,
      String(frame).includes('allow'),
    ])

  test('answers go out in the order of the requests, once each', () => {
    const back = asking(request('p1'), request('p2'), request('p3', { input: [1] }))
    back.link.encode(replyTo('p2', { kind: 'approval', option: 'deny' }))
    back.link.encode(replyTo('p9', { kind: 'approval', option: 'allow' }))
    expect(back.sent).toEqual([])
    back.link.encode(replyTo(undefined, { kind: 'approval', option: 'allow' }))
    back.link.encode(replyTo('p1', { kind: 'approval', option: 'allow' }))
    expect(ids(back)).toEqual([
      ['p1', true],
      ['p2', false],
      ['p3', false],
    ])
  })

  test('a second request under one id is another question', () => {
    const back = asking(request('p1'), request('p1'))
    expect(back.events.flatMap((event) => (event.type === 'ask' ? [event.ask] : []))).toEqual(['p1', 'p1#b1'])
    back.link.encode(replyTo('p1#b1', { kind: 'approval', option: 'deny' }))
    back.link.encode(replyTo('p1', { kind: 'approval', option: 'allow' }))
    expect(ids(back)).toEqual([
      ['p1', true],
      ['p1', false],
    ])
  })

  test('what is malformed is denied at once, or cannot be answered', () => {
    const back = asking(
      request('m1', { tool_name: undefined }),
      request('m 2'),
      request(undefined),
      request('m4', { input: undefined }),
    )
    expect(back.sent).toEqual([
      '{"type":"permission_response","request_id":"m1","behavior":"deny","message":"malformed permission request"}',
      '{"type":"permission_response","request_id":"m4","behavior":"deny","message":"malformed permission request"}',
    ])
    expect(codes(back.events)).toEqual(['invalid-request-id', 'invalid-request-id'])
    expect(back.events.filter(({ type }) => type === 'ask')).toEqual([])
  })

  test('the result ends what is open, and stdin', () => {
    const back = asking(request('p1'), result('no need'), request('p2'))
    expect(ids(back)).toEqual([['p1', false]])
    expect(back.ended).toEqual([undefined])
    expect(back.events.filter(({ type }) => type === 'ask' || type === 'ask-settled').slice(1)).toEqual([
      { type: 'ask-settled', turn: 't1', ask: 'p1', how: 'cancelled' },
    ])
    expect(back.events.at(-1)).toMatchObject({ type: 'turn-end', outcome: 'completed' })
  })

  test('an error ends what is open, and later requests are ignored', () => {
    const back = asking(request('p1'), error('no'), request('p2'))
    expect(ids(back)).toEqual([['p1', false]])
    expect(back.ended).toEqual([undefined])
    expect(back.events.at(-1)).toEqual({ type: 'ask-settled', turn: 't1', ask: 'p1', how: 'cancelled' })
  })

  test('so does a cancel; the end of the process needs no answer', () => {
    const back = asking(request('p1'))
    back.link.encode({ exchange: 'x', type: 'turn-cancel', target: 'running' })
    expect(ids(back)).toEqual([['p1', false]])
    const gone = asking(request('p1'))
    gone.link.decodeEnd({ why: 'closed', exitCode: 1 })
    expect(gone.sent).toEqual([])
    expect(gone.events.filter(({ type }) => type === 'ask-settled')).toHaveLength(1)
  })

  test('without permission: true nobody is asked', () => {
    const back = run([request('p1'), result('x')])
    expect(codes(back.events)).toEqual(['permission-off'])
    expect(back.sent).toHaveLength(1)
    expect(back.ended).toEqual([])
  })
})
