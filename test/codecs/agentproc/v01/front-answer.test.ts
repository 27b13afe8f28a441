import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codec } from '../../../../codecs/agentproc/index.ts'
import { fault, type TurnEvent } from '../../../../src/model/index.ts'
import { driveFront, type FrontDrive } from '../../../kit/drive.ts'
import { PUBLISHED } from '../../../kit/recordings.ts'
import { accepted, streamed, turn, whole } from '../turns.ts'
import { stdio } from './fronts.ts'

describe('the answer in one piece', () => {
  const play = (events: TurnEvent[]): FrontDrive => {
    const front = stdio({ MESSAGE: 'hi', STREAMING: '0' })
    front.play(events)
    return front
  }

  test('a session line, then the body', () => {
    const front = play([accepted, ...turn(streamed('m1', 'a', 'b'))])
    expect(front.sent).toEqual(['AGENT_SESSION:sess-abc', 'ab'])
    expect(front.exitCode).toBe(0)
  })

  test('lines that would be protocol begin with a space, CRs are line ends', () => {
    const front = play(turn(whole('m1', 'AGENT_ERROR:"x"\r\nb AGENT_ERROR:\rAGENT_SESSION:s\nAGENT_PARTIAL')))
    expect(front.sent).toEqual([' AGENT_ERROR:"x"\nb AGENT_ERROR:\n AGENT_SESSION:s\nAGENT_PARTIAL'])
    expect(front.losses).toEqual([{ kind: 'weakened', item: 'part.text', why: 'too-narrow', count: 1 }])
  })

  test('an empty success is the session line alone', () => {
    expect(play([accepted, ...turn([])]).sent).toEqual(['AGENT_SESSION:sess-abc'])
    expect(play(turn([])).sent).toEqual([])
  })

  test('separate messages are an empty line apart, pictures have no place', () => {
    const front = play(turn([...whole('m1', 'one', { type: 'image', url: 'u' }), ...whole('m2', 'two')]))
    expect(front.sent).toEqual(['one\n\ntwo'])
    expect(front.losses).toEqual([{ kind: 'dropped', item: 'part.image', why: 'no-place', count: 1 }])
  })

  test('a failure discards the body', () => {
    const front = play([
      accepted,
      ...turn(whole('m1', 'half'), { outcome: 'failed', fault: fault('timeout', 'Late.') }),
    ])
    expect(front.sent).toEqual(['AGENT_SESSION:sess-abc', 'AGENT_ERROR:"Late."'])
    expect(front.losses).toEqual([{ kind: 'dropped', item: 'message-end', why: 'no-place', count: 1 }])
    expect(front.exitCode).toBe(124)
  })
})

describe('the answer as it comes', () => {
  const play = (...events: TurnEvent[]): FrontDrive => {
    const front = stdio({ MESSAGE: 'hi', STREAMING: '1' })
    front.play(events)
    return front
  }

  test('deltas are partials, behind the session line', () => {
    const front = play(accepted, ...turn(streamed('m1', 'a\n', '', '\u2028"ü')))
    expect(front.sent).toEqual(['AGENT_SESSION:sess-abc', 'AGENT_PARTIAL:"a\\n"', 'AGENT_PARTIAL:"\\u2028\\"ü"'])
    expect(front.exitCode).toBe(0)
  })

  test('the session line waits for the first output', () => {
    const front = stdio({ MESSAGE: 'hi', STREAMING: '1' })
    front.play([accepted, { type: 'turn-started', turn: 't1' }])
    expect(front.sent).toEqual([])
    front.play(turn([]).slice(1))
    expect(front.sent).toEqual(['AGENT_SESSION:sess-abc'])
  })

  test('a session id of ours is mapped into the alphabet', () => {
    const front = play({ ...accepted, session: 'a/b' }, ...turn([]))
    expect(front.sent).toEqual(['AGENT_SESSION:a=002fb'])
  })

  test('messages are an empty line apart, and a whole one behind the partials is the body', () => {
    const front = play(
      ...turn([...streamed('m1', 'a', 'b'), ...streamed('m2', 'c'), ...whole('m3', 'd'), ...whole('m4', 'e')]),
    )
    expect(front.sent).toEqual(['AGENT_PARTIAL:"a"', 'AGENT_PARTIAL:"b"', 'AGENT_PARTIAL:"\\n\\nc"', 'd\n\ne'])
  })

  test('a whole message that more text follows is a partial', () => {
    const front = play(...turn([...whole('m1', 'first'), ...whole('m2', ''), ...streamed('m3', 'second')]))
    expect(front.sent).toEqual(['AGENT_PARTIAL:"first"', 'AGENT_PARTIAL:"\\n\\nsecond"'])
  })

  test("the parts of a streamed message are not shown again, a sub-agent's and a tool's words never", () => {
    const front = play(
      ...turn([
        { type: 'message-start', turn: 't1', message: 'm1', role: 'assistant' },
        { type: 'text-delta', turn: 't1', message: 'm1', text: 'a' },
        { type: 'message-end', turn: 't1', message: 'm1', parts: [{ type: 'text', text: 'a' }] },
        { type: 'message-start', turn: 't1', message: 'm2', role: 'assistant', lane: 'sub' },
        { type: 'text-delta', turn: 't1', message: 'm2', text: 'nested', lane: 'sub' },
        { type: 'message-end', turn: 't1', message: 'm2', lane: 'sub' },
        { type: 'message-start', turn: 't1', message: 'm3', role: 'tool' },
        { type: 'message-end', turn: 't1', message: 'm3', parts: [{ type: 'text', text: 'tool' }] },
      ]),
    )
    expect(front.sent).toEqual(['AGENT_PARTIAL:"a"'])
    expect(front.losses).toEqual([{ kind: 'dropped', item: 'text-delta', why: 'no-place', count: 1 }])
  })

  test('what was shown cannot be taken back', () => {
    const retract = (message: string, keepText: boolean): TurnEvent => {
      return { type: 'message-retract', turn: 't1', message, keepText }
    }
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
    expect(front.sent).toEqual(['AGENT_PARTIAL:"shown"'])
    expect(front.losses).toEqual([{ kind: 'weakened', item: 'message-retract', why: 'no-place', count: 1 }])
  })

  test('fields of other protocols are a loss', () => {
    const front = play(...turn([], { ext: { protocol: 'zot', json: '{"a":1}' } }))
    expect(front.losses).toEqual([{ kind: 'dropped', item: 'ext', why: 'no-place', count: 1 }])
  })

  test('a failure: what was said stands as partials, then the one error', () => {
    const front = play(
      accepted,
      ...turn([...streamed('m1', 'a'), ...whole('m2', 'b')], {
        outcome: 'failed',
        fault: fault('agent-crashed', 'Broken "x".', { ext: { protocol: 'agentproc', json: '{"exit_code":3}' } }),
      }),
    )
    expect(front.sent).toEqual([
      'AGENT_SESSION:sess-abc',
      'AGENT_PARTIAL:"a"',
      'AGENT_PARTIAL:"\\n\\nb"',
      'AGENT_ERROR:"Broken \\"x\\"."',
    ])
    expect(front.exitCode).toBe(3)
  })

  test.each<[Partial<Extract<TurnEvent, { type: 'turn-end' }>>, string, number]>([
    [{ outcome: 'cancelled' }, 'The turn was cancelled.', 143],
    [{ outcome: 'cancelled', fault: fault('cancelled', 'Stopped.') }, 'Stopped.', 143],
    [{ outcome: 'failed', fault: fault('timeout', 'Late.') }, 'Late.', 124],
    [{ outcome: 'failed', fault: fault('internal', '') }, 'The turn did not complete.', 1],
    [{ outcome: 'failed', fault: fault('internal', 'x', { ext: { protocol: 'zot', json: '{}' } }) }, 'x', 1],
    [{ outcome: 'failed', fault: fault('internal', 'x', { ext: { protocol: 'agentproc', json: '{}' } }) }, 'x', 1],
  ])('%j', (end, message, exitCode) => {
    const front = play(...turn([], end))
    expect(front.sent).toEqual([`AGENT_ERROR:${JSON.stringify(message)}`])
    expect(front.exitCode).toBe(exitCode)
  })

  test.each(['zene', 'agentproc'])('of what %s said of a failure, all but an exit code is a loss', (protocol) => {
    const front = play(
      ...turn([], { outcome: 'failed', fault: fault('internal', 'x', { ext: { protocol, json: '{}' } }) }),
    )
    expect(front.losses).toEqual(
      protocol === 'agentproc' ? [] : [{ kind: 'dropped', item: 'ext', why: 'no-place', count: 1 }],
    )
  })

  test('a failure before the turn', () => {
    const front = stdio({ MESSAGE: 'hi' })
    front.link.encodeFault(fault('agent-not-found', 'There is no agent x.'), 'f1', 'continues')
    expect(front.sent).toEqual(['AGENT_ERROR:"There is no agent x."'])
    expect(front.exitCode).toBe(1)
  })
})

const SDK = join(PUBLISHED, 'agentproc-0.1/sdk.json')

/** The turns behind the published handlers, and what is printed for one where our rule is stricter. */
const HANDLERS: Record<string, { events: TurnEvent[]; stricter?: { exit: number; stdout_lines: string[] } }> = {
  async_string: { events: turn(whole('m1', 'hello world')) },
  async_result: { events: [accepted, ...turn(whole('m1', 'hi there'))] },
  async_none_partial: { events: turn(streamed('m1', 'streaming chunk')) },
  async_protocol_error: { events: turn([], { outcome: 'failed', fault: fault('agent-crashed', 'bad thing') }) },
  // An error line fails the turn for every runner: it is the last line, and the exit code says the same.
  async_send_error_then_return: {
    events: turn(whole('m1', 'after'), { outcome: 'failed', fault: fault('agent-crashed', 'warn') }),
    stricter: { exit: 1, stdout_lines: ['AGENT_PARTIAL:"after"', 'AGENT_ERROR:"warn"'] },
  },
  sync_string: { events: turn(whole('m1', 'hello from sync')) },
  sync_partial_bare: { events: turn([...streamed('m1', 'sync chunk'), ...whole('m2', 'done')]) },
}

interface SdkScenario {
  name: string
  handler: string
  env: Record<string, string>
  expect: { exit: number; stdout_lines: string[] }
}

test('the published scenarios of agents', () => {
  const { scenarios } = JSON.parse(readFileSync(SDK, 'utf8')) as { scenarios: SdkScenario[] }
  for (const { name, handler, env, expect: published } of scenarios) {
    const { events, stricter } = HANDLERS[handler]!
    const front = driveFront(codec, { env })
    front.play(events)
    expect({ exit: front.exitCode, stdout_lines: front.sent }, name).toEqual(stricter ?? published)
  }
})

test('what a runner reads back is the answer', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.boolean(), (texts, streaming) => {
      const front = stdio({ MESSAGE: 'hi', STREAMING: streaming ? '1' : '0' })
      front.play(turn(streaming ? streamed('m1', ...texts) : whole('m1', ...texts)))
      const lines = front.sent.flatMap((frame) => String(frame).split('\n'))
      const partials = lines.filter((line) => line.startsWith('AGENT_PARTIAL:'))
      const body = lines.filter((line) => !line.startsWith('AGENT_'))
      const read = partials.map((line) => JSON.parse(line.slice('AGENT_PARTIAL:'.length)) as string).join('')
      const wanted = texts.join('')
      expect(read + body.join('\n')).toBe(streaming ? wanted : wanted.replace(/\r\n?/g, '\n'))
    }),
  )
})
