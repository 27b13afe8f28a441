import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromWireSession, wireSession } from '../../../../codecs/agentproc/session.ts'
import { isSessionId } from '../../../../codecs/agentproc/v04/schema.ts'
import { fault, type TurnEvent } from '../../../../src/model/index.ts'
import { PUBLISHED } from '../../../kit/recordings.ts'
import { accepted, streamed, turn, whole } from '../turns.ts'
import { given, play } from './fronts.ts'

describe('the answer', () => {
  test('partials, then the whole reply again; the session id on the first event', () => {
    const front = play(accepted, ...turn(streamed('m1', 'grü', '', 'ße')))
    expect(front.sent).toEqual([
      '{"type":"partial","text":"gr\\u00fc","session_id":"sess-abc"}',
      '{"type":"partial","text":"\\u00dfe"}',
      '{"type":"result","text":"gr\\u00fc\\u00dfe"}',
    ])
    expect(front.exitCode).toBe(0)
  })

  test('a whole message is the result', () => {
    expect(play(accepted, ...turn(whole('m1', 'hi there'))).sent).toEqual([
      '{"type":"result","text":"hi there","session_id":"sess-abc"}',
    ])
  })

  test('once partials were shown, whole messages are partials too', () => {
    const front = play(
      ...turn([...whole('m0', 'z'), ...streamed('m1', 'a'), ...whole('m2', 'b', { type: 'image', url: 'u' })]),
    )
    expect(front.sent).toEqual([
      '{"type":"partial","text":"z"}',
      '{"type":"partial","text":"\\n\\na"}',
      '{"type":"partial","text":"\\n\\nb"}',
      '{"type":"result","text":"z\\n\\na\\n\\nb"}',
    ])
    expect(front.losses).toEqual([{ kind: 'dropped', item: 'part.image', why: 'no-place', count: 1 }])
  })

  test('thinking has its role; its parts are not lost; nested text is', () => {
    const front = play(
      ...turn([
        { type: 'message-start', turn: 't1', message: 'm1', role: 'assistant' },
        { type: 'reasoning-delta', turn: 't1', message: 'm1', text: '' },
        { type: 'reasoning-delta', turn: 't1', message: 'm1', text: 'hm' },
        { type: 'message-end', turn: 't1', message: 'm1', parts: [{ type: 'reasoning', text: 'hm' }] },
        { type: 'message-start', turn: 't1', message: 'm2', role: 'assistant', lane: 'sub' },
        { type: 'text-delta', turn: 't1', message: 'm2', lane: 'sub', text: 'x' },
        { type: 'message-end', turn: 't1', message: 'm2', lane: 'sub' },
      ]),
    )
    expect(front.sent).toEqual(['{"type":"partial","text":"hm","role":"thinking"}', '{"type":"result","text":""}'])
    expect(front.losses).toEqual([{ kind: 'dropped', item: 'text-delta', why: 'no-place', count: 1 }])
  })

  test('usage, an estimate, and unknown members of this wire', () => {
    const own = (text: string) => ({ protocol: 'agentproc@0.4', json: text })
    const front = play(
      ...turn(
        [
          { type: 'message-start', turn: 't1', message: 'm1', role: 'assistant' },
          { type: 'text-delta', turn: 't1', message: 'm1', text: 'a', ext: own('{"extra":1.0}') },
          { type: 'usage', turn: 't1', scope: 'call', usage: { input: 9 }, ext: own('{"no":1}') },
          {
            type: 'usage',
            turn: 't1',
            scope: 'turn',
            usage: { input: 1, costUsd: 0.5 },
            estimated: true,
            ext: own('{"duration_ms":50}'),
          },
          { type: 'usage', turn: 't1', scope: 'session', usage: { input: 9 }, ext: own('{"no":1}') },
        ],
        { ext: own('{"foo":"bar"}') },
      ),
    )
    expect(front.sent).toEqual([
      '{"type":"partial","text":"a","extra":1.0}',
      '{"type":"result","text":"a","usage":{"input_tokens":1,"cost_usd":0.5,"estimated":true,"duration_ms":50},"foo":"bar"}',
    ])
    expect(front.losses).toEqual([])
  })

  test("another protocol's fields are a loss", () => {
    const front = play(...turn([], { ext: { protocol: 'zot', json: '{"a":1}' } }))
    expect(front.sent).toEqual(['{"type":"result","text":""}'])
    expect(front.losses).toEqual([{ kind: 'dropped', item: 'ext', why: 'no-place', count: 1 }])
  })

  test('what was shown cannot be taken back, what was not can', () => {
    const retract = (message: string, keepText: boolean): TurnEvent => ({
      type: 'message-retract',
      turn: 't1',
      message,
      keepText,
    })
    const front = play(
      ...turn([
        ...streamed('m1', 'shown'),
        retract('m1', true),
        retract('m1', false),
        ...whole('m2', 'waiting'),
        retract('m2', false),
        retract('m9', false),
      ]),
    )
    expect(front.sent).toEqual(['{"type":"partial","text":"shown"}', '{"type":"result","text":""}'])
    expect(front.losses).toEqual([{ kind: 'weakened', item: 'message-retract', why: 'no-place', count: 1 }])
  })

  test('thoughts that came with their whole message, and those that came before it', () => {
    const thought = { type: 'reasoning', text: 'Hm.' } as const
    const text = { type: 'text', text: 'Yes.' } as const
    const address = { turn: 't1', message: 'm1' }
    const begun = { ...address, type: 'message-start', role: 'assistant' } as const
    const ended = { ...address, type: 'message-end', parts: [thought, text] } as const
    const thinking = '{"type":"partial","text":"Hm.","role":"thinking"}'
    const result = '{"type":"result","text":"Yes."}'
    expect(play(...turn([begun, ended])).sent).toEqual([thinking, result])
    const piece = { ...address, type: 'reasoning-delta', text: 'Hm.' } as const
    expect(play(...turn([begun, piece, ended])).sent).toEqual([thinking, result])
  })

  test('a failure: what was said stands, then the one error, with the session', () => {
    const front = play(accepted, ...turn(whole('m1', 'half'), { outcome: 'failed', fault: fault('timeout', 'Late.') }))
    expect(front.sent).toEqual([
      '{"type":"partial","text":"half","session_id":"sess-abc"}',
      '{"type":"error","message":"Late.","session_id":"sess-abc"}',
    ])
    expect(front.exitCode).toBe(124)
  })

  test('what another protocol said of a failure is a loss', () => {
    const ext = { protocol: 'zene', json: '{}' }
    const front = play(...turn([], { outcome: 'failed', fault: fault('internal', 'x', { ext }) }))
    expect(front.losses).toEqual([{ kind: 'dropped', item: 'ext', why: 'no-place', count: 1 }])
  })

  test('a cancellation without a fault', () => {
    const front = play(...turn([], { outcome: 'cancelled' }))
    expect(front.sent).toEqual(['{"type":"error","message":"The turn was cancelled."}'])
    expect(front.exitCode).toBe(143)
  })
})

describe('session ids', () => {
  test.each([
    ['plain-1', 'plain-1'],
    ['My id: ü+1', 'My id: ü+1'],
    ['a/b', 'a=002fb'],
    ['a=b', 'a=003db'],
    ['..', '=002e=002e'],
  ])('%j is %j', (id, wire) => {
    expect(wireSession(id)).toBe(wire)
  })

  test('every one is valid and comes back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (id) => {
        expect(isSessionId(wireSession(id))).toBe(true)
        expect(fromWireSession(wireSession(id))).toBe(id)
      }),
    )
  })
})

const SDK = join(PUBLISHED, 'agentproc-0.4/sdk.json')

/** The turns behind the published handlers, and what is printed where ours says more. */
const HANDLERS: Record<string, { events: TurnEvent[]; ours?: { exit: number; stdout_lines: string[] } }> = {
  async_string: { events: turn(whole('m1', 'hello world')) },
  async_result: { events: [accepted, ...turn(whole('m1', 'hi there'))] },
  // A runner that shows no partials needs the whole reply in the result.
  async_none_partial: {
    events: turn(streamed('m1', 'streaming chunk')),
    ours: {
      exit: 0,
      stdout_lines: ['{"type":"partial","text":"streaming chunk"}', '{"type":"result","text":"streaming chunk"}'],
    },
  },
  async_protocol_error: { events: turn([], { outcome: 'failed', fault: fault('agent-crashed', 'bad thing') }) },
  // An error fails the turn for every runner: it is the last line, and the exit code says the same.
  async_send_error_then_return: {
    events: turn(whole('m1', 'after'), { outcome: 'failed', fault: fault('agent-crashed', 'warn') }),
    ours: { exit: 1, stdout_lines: ['{"type":"partial","text":"after"}', '{"type":"error","message":"warn"}'] },
  },
  sync_string: { events: turn(whole('m1', 'hello from sync')) },
  sync_partial_bare: {
    events: turn([...streamed('m1', 'sync chunk'), ...whole('m2', 'done')]),
    ours: {
      exit: 0,
      stdout_lines: [
        '{"type":"partial","text":"sync chunk"}',
        '{"type":"partial","text":"\\n\\ndone"}',
        '{"type":"result","text":"sync chunk\\n\\ndone"}',
      ],
    },
  },
  async_partial_with_role: {
    events: turn([
      { type: 'message-start', turn: 't1', message: 'm1', role: 'assistant' },
      { type: 'reasoning-delta', turn: 't1', message: 'm1', text: 'thinking...' },
      { type: 'message-end', turn: 't1', message: 'm1', parts: [{ type: 'text', text: 'answer' }] },
    ]),
  },
  async_permission_roundtrip: {
    events: turn([
      {
        type: 'ask',
        turn: 't1',
        ask: 'r1',
        question: { kind: 'approval', name: 'Bash', args: '{"command":"echo ok"}', description: 'echo', options: [] },
      },
      ...whole('m1', 'perm=allow'),
    ]),
  },
}

test('the published scenarios of agents', () => {
  const { scenarios } = JSON.parse(readFileSync(SDK, 'utf8')) as {
    scenarios: { name: string; handler: string; turn: object; expect: { exit: number; stdout_lines: string[] } }[]
  }
  for (const { name, handler, turn: object, expect: published } of scenarios) {
    const known = HANDLERS[handler]
    if (!known) throw new Error(`no turn for ${name}`)
    const front = given({ ...object })
    front.play(known.events)
    expect({ exit: front.exitCode, stdout_lines: front.sent }, name).toEqual(known.ours ?? published)
  }
})
