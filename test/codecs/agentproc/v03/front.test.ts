import { describe, expect, test } from 'vitest'
import { codec } from '../../../../codecs/agentproc/index.ts'
import { fault, type TurnEvent } from '../../../../src/model/index.ts'
import { driveFront, type FrontDrive, plainTurn } from '../../../kit/drive.ts'
import { accepted, streamed, turn, whole } from '../turns.ts'

const TURN = { type: 'turn', message: 'hi', session_id: '', session_name: 'default', from_user: 'u' }

function given(more: object = {}, transport: 'stdio' | 'http' = 'stdio'): FrontDrive {
  const front = driveFront(codec, { dialect: transport === 'http' ? '0.4' : '0.3', transport })
  front.feed(JSON.stringify({ ...TURN, protocol_version: '0.3', ...more }))
  return front
}

function play(...events: TurnEvent[]): FrontDrive {
  const front = given()
  front.play(events)
  return front
}

describe('the answer', () => {
  test('the session, partials, and the whole reply as text', () => {
    const front = play(accepted, ...turn(streamed('m1', 'grü', 'ße')))
    expect(front.sent).toEqual([
      '{"type":"session","id":"sess-abc"}',
      '{"type":"partial","text":"gr\\u00fc"}',
      '{"type":"partial","text":"\\u00dfe"}',
      '{"type":"text","text":"gr\\u00fc\\u00dfe"}',
    ])
    expect(front.exitCode).toBe(0)
  })

  test('a whole message is the text; an empty answer is none', () => {
    expect(play(accepted, ...turn(whole('m1', 'hi'))).sent).toEqual([
      '{"type":"session","id":"sess-abc"}',
      '{"type":"text","text":"hi"}',
    ])
    expect(play(accepted, ...turn([])).sent).toEqual(['{"type":"session","id":"sess-abc"}'])
    expect(play(...turn([])).sent).toEqual([])
  })

  test('a failure: the session, partials, one error', () => {
    const failed = { outcome: 'failed', stop: 'error', fault: fault('provider-down', 'Gone.') } as const
    const usage: TurnEvent = { type: 'usage', turn: 't1', scope: 'turn', usage: { input: 1 } }
    expect(play(accepted, ...turn([...whole('m1', 'half'), usage], failed)).sent).toEqual([
      '{"type":"session","id":"sess-abc"}',
      '{"type":"partial","text":"half"}',
      '{"type":"error","message":"Gone."}',
    ])
    expect(play(accepted, ...turn([], failed)).sent).toEqual([
      '{"type":"session","id":"sess-abc"}',
      '{"type":"error","message":"Gone."}',
    ])
  })

  test('a question has the session before it', () => {
    const ask: TurnEvent = {
      type: 'ask',
      turn: 't1',
      ask: 'a1',
      question: {
        kind: 'approval',
        name: 'Bash',
        args: '{}',
        options: [{ id: 'allow', kind: 'allow', scope: 'once' }],
      },
    }
    const front = given({ permission: true })
    front.play([accepted, ask])
    expect(front.sent).toEqual([
      '{"type":"session","id":"sess-abc"}',
      '{"type":"permission_request","request_id":"a1","tool_name":"Bash","input":{}}',
    ])
  })

  test('a refusal names no session', () => {
    expect(given({ message: '', session_id: 's' }).sent).toEqual([
      '{"type":"error","message":"turn.message is required, or turn.attachments; send one of them."}',
    ])
  })
})

test('a body is answered in its version, and what that has no place for is a loss', () => {
  const front = given({}, 'http')
  front.play(plainTurn('hello'))
  expect(front.sent.at(-1)).toBe('{"type":"text","text":"hello"}')
  expect(front.losses).toEqual([{ kind: 'dropped', item: 'usage', why: 'no-place', count: 1 }])
})
