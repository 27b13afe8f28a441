import { describe, expect, test } from 'vitest'
import type { EventOf, TurnEvent } from '../../../../src/model/index.ts'
import type { FrontDrive } from '../../../kit/drive.ts'
import { accepted } from '../turns.ts'
import { given } from './fronts.ts'

describe('approvals', () => {
  const ask = (
    more: Partial<Extract<EventOf<'ask'>['question'], { kind: 'approval' }>> = {},
    id = 'a1',
  ): TurnEvent => ({
    type: 'ask',
    turn: 't1',
    ask: id,
    question: {
      kind: 'approval',
      name: 'Bash',
      args: '{"n":1.0}',
      options: [
        { id: 'always', kind: 'allow', scope: 'always' },
        { id: 'yes', kind: 'allow', scope: 'once' },
        { id: 'never', kind: 'deny', scope: 'always' },
      ],
      ...more,
    },
  })

  function asked(...asks: TurnEvent[]): FrontDrive {
    const front = given({ message: 'hi', permission: true })
    front.play([accepted, ...asks])
    return front
  }

  const replies = (front: FrontDrive) =>
    front.commands.flatMap((command) => (command.type === 'ask-reply' ? [command] : []))

  test('a request and its answer', () => {
    const front = asked(ask({ description: 'ü', tool: 'tu' }))
    expect(front.sent).toEqual([
      '{"type":"permission_request","request_id":"a1","tool_name":"Bash","input":{"n":1.0},"description":"\\u00fc","tool_use_id":"tu","session_id":"sess-abc"}',
    ])
    front.feed(
      '{"type":"permission_response","request_id":"a1","behavior":"allow","updated_input":{"n":2.0},"message":"ok"}',
    )
    expect(replies(front)).toEqual([
      {
        exchange: 'f1',
        type: 'ask-reply',
        target: { turn: 't1' },
        ask: 'a1',
        reply: { kind: 'approval', option: 'yes', edited: '{"n":2.0}', message: 'ok' },
      },
    ])
    front.feed('{"type":"permission_response","request_id":"a1","behavior":"deny"}')
    expect(replies(front)).toHaveLength(1)
  })

  test.each([
    ['{"type":"permission_response","request_id":"a1","behavior":"deny"}', 'never'],
    ['{"type":"permission_response","request_id":"a1","behavior":"maybe","updated_input":[1]}', 'never'],
  ])('%s', (line, option) => {
    const front = asked(ask())
    front.feed(line)
    expect(replies(front)).toMatchObject([{ reply: { kind: 'approval', option } }])
    expect(replies(front)[0]?.reply).not.toHaveProperty('edited')
  })

  test('an answer without a fitting option is the plain word', () => {
    const front = asked(ask({ options: [] }))
    front.feed('{"type":"permission_response","request_id":"a1","behavior":"allow"}')
    expect(replies(front)).toMatchObject([{ reply: { option: 'allow' } }])
  })

  test('other lines and other ids mean nothing', () => {
    const front = asked(ask())
    front.feed(
      'words',
      '{"type":"permission_response","request_id":"zz","behavior":"allow"}',
      '{"type":"turn","message":"x"}',
    )
    expect(front.commands).toHaveLength(1)
    // An error event would end the turn: only stderr has a place for it.
    expect(front.warned).toEqual([
      'turnpike as agentproc: a permission_response is ignored: no request of this id waits for an answer.',
    ])
  })

  test.each([
    [
      'one consent and one refusal, both for once',
      [
        { id: 'y', kind: 'allow', scope: 'once' },
        { id: 'n', kind: 'deny', scope: 'once' },
      ],
      0,
    ],
    [
      'a choice of two consents',
      [
        { id: 'y', kind: 'allow', scope: 'once' },
        { id: 'z', kind: 'allow', scope: 'once' },
      ],
      1,
    ],
    ['a consent for ever', [{ id: 'y', kind: 'allow', scope: 'always' }], 1],
  ] as const)('%s: options lost %d times', (_what, options, lost) => {
    const loss = { kind: 'weakened', item: 'ask.approval', field: 'options', why: 'too-narrow', count: 1 }
    expect(asked(ask({ options })).losses).toEqual(Array.from({ length: lost }, () => loss))
  })

  test('an id with spaces gets one of ours, arguments that are no object are left out', () => {
    const front = asked(ask({ args: '[1]', options: [] }, 'a b'))
    expect(front.sent[0]).toContain('"request_id":"f3","tool_name":"Bash","input":{}')
    expect(front.losses).toEqual([
      { kind: 'weakened', item: 'ask.approval', field: 'args', why: 'too-narrow', count: 1 },
    ])
    front.feed('{"type":"permission_response","request_id":"f3","behavior":"allow"}')
    expect(replies(front)).toMatchObject([{ ask: 'a b' }])
  })

  test('a request that somebody else settled is answered by nobody', () => {
    const front = asked(ask({ options: [] }), ask({ options: [] }, 'a2'), {
      type: 'ask-settled',
      turn: 't1',
      ask: 'a1',
      how: 'timeout',
    })
    expect(front.losses).toEqual([{ kind: 'weakened', item: 'ask-settled', why: 'no-place', count: 1 }])
    front.feed('{"type":"permission_response","request_id":"a1","behavior":"allow"}')
    expect(replies(front)).toEqual([])
  })

  test('what a runner that has closed its end is asked is answered by others', () => {
    const front = asked(ask())
    front.link.decodeEnd?.('eof')
    expect([replies(front), front.exitCode]).toEqual([[], undefined])
  })
})
