import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codec } from '../../../../codecs/agentproc/index.ts'
import type { CallEnd } from '../../../../src/contract/index.ts'
import { driveBack } from '../../../kit/drive.ts'
import { PUBLISHED } from '../../../kit/recordings.ts'
import { OK, outcome, run } from './runs.ts'

describe('events', () => {
  test('partials are one message of deltas', () => {
    expect(run(['AGENT_PARTIAL:"one "', 'AGENT_PARTIAL:', 'AGENT_PARTIAL:"two"']).events).toEqual([
      { type: 'turn-started', turn: 't1' },
      { type: 'message-start', turn: 't1', message: 'b1', role: 'assistant' },
      { type: 'text-delta', turn: 't1', message: 'b1', text: 'one ' },
      { type: 'text-delta', turn: 't1', message: 'b1', text: 'two' },
      { type: 'message-end', turn: 't1', message: 'b1' },
      { type: 'turn-end', turn: 't1', outcome: 'completed', stop: 'end' },
    ])
  })

  test('body lines are joined by LF, blank ones kept, without a final one', () => {
    expect(outcome(run(['', 'a', '', ' b\r', '']).events).texts).toEqual(['\na\n\n b\r\n'])
  })

  test('partials and body are both answer, in wire order', () => {
    const { events } = run(['AGENT_PARTIAL:"p1"', 'body 1', 'body 2', 'AGENT_PARTIAL:"p2"', 'body 3'])
    expect(outcome(events).texts).toEqual(['p1', 'body 1\nbody 2', 'p2', 'body 3'])
  })

  test('a blank line between partials does not part them', () => {
    const { events } = run(['AGENT_PARTIAL:"p1"', '', 'AGENT_PARTIAL:"p2"', ''])
    expect(outcome(events).texts).toEqual(['p1p2'])
  })

  test('a frame with a call name is a line too', () => {
    const back = driveBack(codec)
    back.start('hi')
    back.feed({ data: 'words', call: 'c' })
    back.link.decodeEnd(OK)
    expect(outcome(back.events).texts).toEqual(['words'])
  })

  test('an empty answer is a success and says so', () => {
    for (const lines of [[], [''], ['AGENT_SESSION:s'], ['AGENT_PARTIAL:" "']]) {
      const { events } = run(lines)
      expect(events.at(-1)).toMatchObject({ type: 'turn-end', outcome: 'completed' })
      expect(events.filter((event) => event.type === 'notice')).toEqual([
        {
          type: 'notice',
          turn: 't1',
          severity: 'info',
          code: 'empty-answer',
          text: 'The agent ended without an answer.',
        },
      ])
    }
  })

  test('streaming: false ignores partials', () => {
    const back = run(['AGENT_PARTIAL:"p"', 'body', 'AGENT_PARTIAL:"q"'], OK, { streaming: false })
    expect(outcome(back.events).texts).toEqual(['body'])
    expect(back.losses).toEqual([
      { kind: 'dropped', item: 'text-delta', field: 'AGENT_PARTIAL', why: 'policy', count: 1 },
      { kind: 'dropped', item: 'text-delta', field: 'AGENT_PARTIAL', why: 'policy', count: 1 },
    ])
  })

  test('nothing is said outside a turn', () => {
    const back = run(['body'])
    const { length } = back.events
    back.feed('late')
    back.link.decodeEnd(OK)
    back.link.encode({ exchange: 'x', type: 'turn-cancel', target: 'running' })
    back.link.encode({ exchange: 'x', type: 'session-close' })
    expect(back.events).toHaveLength(length)
  })

  test('a link serves one turn after another', () => {
    const back = run(['AGENT_SESSION:a', 'AGENT_ERROR:"x"'])
    back.start('again', { turn: 't2' })
    back.feed('fine')
    back.link.decodeEnd(OK)
    expect(back.events.slice(-5).map((event) => [event.turn, event.type])).toEqual([
      ['t2', 'turn-started'],
      ['t2', 'message-start'],
      ['t2', 'text-delta'],
      ['t2', 'message-end'],
      ['t2', 'turn-end'],
    ])
  })
})

describe('sessions', () => {
  test.each([
    [['AGENT_SESSION:a', 'AGENT_SESSION:b', 'x'], 'b'],
    [['AGENT_SESSION:a', 'AGENT_SESSION:', 'x'], 'a'],
    [['AGENT_SESSION:a', 'AGENT_SESSION:has space', 'x'], 'a'],
    [['AGENT_SESSION:"quoted"', 'x'], ''],
    [['x'], ''],
  ])('%j binds %j', (lines, session) => {
    expect(outcome(run(lines).events).session).toBe(session)
  })

  test('it is bound right before the end, with a warning for an invalid one', () => {
    const { events } = run(['AGENT_SESSION:a', 'AGENT_SESSION:b/c', 'AGENT_SESSION: '])
    expect(events.slice(-4)).toEqual([
      {
        type: 'notice',
        turn: 't1',
        severity: 'warning',
        code: 'invalid-session-id',
        text: 'The agent announced a session id that is not valid; ignored.',
      },
      {
        type: 'notice',
        turn: 't1',
        severity: 'info',
        code: 'empty-answer',
        text: 'The agent ended without an answer.',
      },
      { turn: null, type: 'session-bound', agentSession: 'a' },
      { type: 'turn-end', turn: 't1', outcome: 'completed', stop: 'end' },
    ])
  })

  test("a profile's own prefix", () => {
    const { events } = run(['SID:mine', 'AGENT_SESSION:text'], OK, { session_line_prefix: 'SID:' })
    expect(outcome(events)).toMatchObject({ session: 'mine', texts: ['AGENT_SESSION:text'] })
  })
})

describe('AGENT_ERROR', () => {
  test('takes the body back and leaves the partials, whatever the exit code', () => {
    const back = run([
      'AGENT_SESSION:s-1',
      'AGENT_PARTIAL:"before"',
      'body before',
      'AGENT_ERROR:"rate limited"',
      'AGENT_PARTIAL:"after"',
      'body after',
      'AGENT_SESSION:s-2',
    ])
    expect(back.events).toEqual([
      { type: 'turn-started', turn: 't1' },
      { type: 'message-start', turn: 't1', message: 'b1', role: 'assistant' },
      { type: 'text-delta', turn: 't1', message: 'b1', text: 'before' },
      { type: 'message-end', turn: 't1', message: 'b1' },
      { type: 'message-start', turn: 't1', message: 'b2', role: 'assistant' },
      { type: 'text-delta', turn: 't1', message: 'b2', text: 'body before' },
      { type: 'message-end', turn: 't1', message: 'b2' },
      { type: 'message-retract', turn: 't1', message: 'b2', keepText: false },
      { turn: null, type: 'session-bound', agentSession: 's-2' },
      {
        type: 'turn-end',
        turn: 't1',
        outcome: 'failed',
        stop: 'error',
        fault: { code: 'provider-rate-limit', message: 'rate limited', retryable: true },
      },
    ])
    expect(back.losses).toEqual([
      { kind: 'dropped', item: 'text-delta', field: 'AGENT_PARTIAL', why: 'policy', count: 1 },
      { kind: 'dropped', item: 'text-delta', field: 'body', why: 'policy', count: 1 },
    ])
  })

  test('the last one wins, an empty one never counts', () => {
    expect(outcome(run(['AGENT_ERROR:"first"', 'AGENT_ERROR:"second"', 'AGENT_ERROR:']).events).fault?.message).toBe(
      'second',
    )
    expect(outcome(run(['AGENT_ERROR:""', 'body']).events)).toMatchObject({ outcome: 'completed', texts: ['body'] })
  })

  test('is honoured without streaming', () => {
    expect(outcome(run(['AGENT_ERROR:"x"'], OK, { streaming: false }).events).fault?.message).toBe('x')
  })
})

const SCENARIOS = join(PUBLISHED, 'agentproc-0.1/scenarios.json')

interface Scenario {
  name: string
  lines: string[]
  streaming: boolean
  profile_overrides?: Record<string, unknown>
  expect: { reply: string; session_id: string; error: string; exit_code: number; partials: string[] }
}

test('the published scenarios', () => {
  const { scenarios } = JSON.parse(readFileSync(SCENARIOS, 'utf8')) as { scenarios: Scenario[] }
  expect(scenarios.length).toBeGreaterThan(10)
  for (const { name, lines, streaming, profile_overrides, expect: wanted } of scenarios) {
    const found = outcome(run(lines, OK, { streaming, ...profile_overrides }).events)
    const { partials, reply } = wanted
    expect(found.deltas.join(''), name).toBe([...partials, reply].join(''))
    if (partials.length > 0) expect(found.deltas, name).toEqual(partials)
    expect(found.session, name).toBe(wanted.session_id)
    expect(found.fault?.message ?? '', name).toBe(wanted.error)
    expect(found.outcome, name).toBe(wanted.exit_code === 0 ? 'completed' : 'failed')
  }
})

test('whatever an agent prints, its turn ends once and last', () => {
  const line = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc
      .tuple(fc.constantFrom('AGENT_SESSION:', 'AGENT_PARTIAL:', 'AGENT_ERROR:'), fc.oneof(fc.json(), fc.string()))
      .map(([prefix, value]) => prefix + value),
  )
  const end = fc.record(
    {
      why: fc.constantFrom('closed', 'timeout', 'cancelled', 'failed'),
      exitCode: fc.nat({ max: 255 }),
      signal: fc.constantFrom('SIGTERM', 'SIGKILL'),
      stderr: fc.string(),
    },
    { requiredKeys: ['why'] },
  ) as fc.Arbitrary<CallEnd>
  fc.assert(
    fc.property(fc.array(line), end, fc.boolean(), (lines, why, streaming) => {
      const { events } = run(lines, why, { streaming, include_stderr_in_reply: true })
      expect(events.filter((event) => event.type === 'turn-end')).toHaveLength(1)
      expect(events.at(-1)?.type).toBe('turn-end')
      const open = new Set<string>()
      for (const event of events) {
        if (event.type === 'message-start') open.add(event.message)
        if (event.type === 'text-delta') expect(open.has(event.message)).toBe(true)
        if (event.type === 'message-end') open.delete(event.message)
      }
      expect(open.size).toBe(0)
    }),
  )
})
