import { describe, expect, test } from 'vitest'
import { align } from '../../console/logic/align.ts'
import { textOfEvents, textOfParts } from '../../console/logic/event-text.ts'
import { hopsOf, timesOf } from '../../console/logic/hops.ts'
import { lossCount, lossText } from '../../console/logic/losses.ts'
import { fullBarOf, phasesOf } from '../../console/logic/phases.ts'
import type { NumberedEvent, TurnRow, Wire } from '../../console/logic/types.ts'
import type { Loss } from '../../src/model/index.ts'

const TURN: TurnRow = {
  turn: 't',
  state: 'completed',
  agent: 'coder',
  front: 'zene',
  session: 's',
  startedAt: 10_000,
  endedAt: 11_000,
  timings: { queue: 100, agentStart: 200, firstEvent: 300, total: 1_000 },
}

/** Events in order, numbered from 1. */
function numbered(...events: object[]): NumberedEvent[] {
  return events.map((event, at) => ({ turn: 't', seq: at + 1, ...event }) as NumberedEvent)
}

const EVENTS = numbered(
  { type: 'turn-accepted', how: 'new', session: 's' },
  { type: 'message-start', message: 'm', role: 'assistant' },
  { type: 'text-delta', message: 'm', text: 'Hel' },
  { type: 'text-delta', message: 'm', text: 'lo' },
  { type: 'text-delta', message: 'n', text: '!' },
  { type: 'tool-start', tool: 'a', name: 'bash', executor: 'agent' },
  { type: 'ask', ask: 'q', question: { kind: 'approval', name: 'bash', args: {}, options: [] } },
  { type: 'ask-settled', ask: 'q', how: 'answered' },
  { type: 'tool-end', tool: 'a', status: 'ok', parts: [{ type: 'image', mime: 'image/png' }] },
  { type: 'usage', scope: 'turn', usage: { input: 1 } },
  { type: 'turn-end', outcome: 'completed', stop: 'end' },
)

function wire(client: Wire['client'], agent: Wire['agent']): Wire {
  return { kept: true, clientProtocol: 'zene', agentProtocol: 'zot', client, agent }
}

describe('the lines of a turn', () => {
  const shape = (rows: ReturnType<typeof align>): string[] =>
    rows.map(({ events, client, agent }) =>
      [
        events.map(({ seq }) => seq).join(),
        ...client.map(({ text }) => `c:${text}`),
        ...agent.map(({ text }) => `a:${text}`),
      ].join(' '),
    )

  test('hold events that are one text together, and frames at their events', () => {
    const rows = align(
      EVENTS,
      wire(
        [
          { dir: 'in', text: 'ask' },
          { dir: 'out', seq: 4, text: 'Hello' },
          { dir: 'out', text: 'more' },
          { dir: 'out', seq: 11, text: 'end' },
        ],
        [
          { dir: 'out', seq: 0, text: 'prompt' },
          { dir: 'in', seq: 3, text: 'Hel' },
          { dir: 'in', seq: 4, text: 'lo' },
          { dir: 'in', seq: 99, text: 'late' },
        ],
      ),
    )
    expect(shape(rows)).toEqual([
      ' c:ask a:prompt',
      '1',
      '2',
      '3,4 c:Hello c:more a:Hel a:lo',
      '5',
      '6',
      '7',
      '8',
      '9',
      '10',
      '11 c:end a:late',
    ])
  })

  test('are those of the events alone where there is no wire', () => {
    expect(shape(align(EVENTS.slice(0, 2), undefined))).toEqual(['1', '2'])
    expect(align([], undefined)).toEqual([])
  })

  test.each<[Loss['item'], string]>([
    ['start.history', ''],
    ['option.model', ''],
    ['session.name', ''],
    ['text-delta', '3,4'],
    ['tool.kind', '6'],
    ['ask.approval', '7'],
    ['part.image', '9'],
    ['usage.costUsd', '10'],
    ['fault.code', '11'],
    ['plan', '11'],
  ])('show the loss of %s at line "%s"', (item, place) => {
    const loss: Loss = { kind: 'dropped', item, why: 'no-place', count: 1 }
    const rows = align(EVENTS, undefined, [loss])
    expect(
      rows.filter(({ losses }) => losses.length > 0).map(({ events }) => events.map(({ seq }) => seq).join()),
    ).toEqual([place])
  })
})

test('losses are sentences', () => {
  const loss: Loss = { kind: 'weakened', item: 'tool-end', field: 'parts', why: 'too-narrow', count: 3 }
  expect(lossText(loss)).toBe('3 × tool-end (parts) arrived with less: its place in the other protocol is too narrow')
  expect(lossText({ kind: 'dropped', item: 'plan', why: 'no-place', count: 1 })).toBe(
    'plan did not arrive: the other protocol has no place for it',
  )
  expect([lossCount(undefined), lossCount([loss, loss])]).toEqual([0, 6])
})

describe('the phases of a turn', () => {
  test('follow each other', () => {
    expect(phasesOf(TURN, 0)).toEqual([
      { name: 'queue', from: 0, ms: 100 },
      { name: 'start', from: 100, ms: 200 },
      { name: 'first event', from: 300, ms: 300 },
      { name: 'work', from: 600, ms: 400 },
    ])
  })

  test.each([
    ['waits in line', { phase: 'queued', timings: {} }, ['queue 500']],
    ['starts', { phase: 'starting', timings: { queue: 100 } }, ['queue 100', 'first event 400']],
    [
      'works',
      { phase: 'working', timings: { queue: 100, firstEvent: 150 } },
      ['queue 100', 'first event 150', 'work 250'],
    ],
  ] as const)('of one that %s go on until now', (_name, more, phases) => {
    const { endedAt: _, ...running } = TURN
    const found = phasesOf({ ...running, state: 'running', ...more } as TurnRow, 10_500)
    expect(found.map(({ name, ms }) => `${name} ${ms}`)).toEqual(phases)
  })

  test('never exceed the whole', () => {
    expect(phasesOf({ ...TURN, timings: { queue: 700, firstEvent: 700, total: 1_000 } }, 0)).toEqual([
      { name: 'queue', from: 0, ms: 700 },
      { name: 'first event', from: 700, ms: 300 },
    ])
  })
})

test('a bar is full at a time that few turns exceed', () => {
  const turns = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 60_000].map((total) => ({ ...TURN, timings: { total } }))
  expect([fullBarOf(turns, 0), fullBarOf([], 0)]).toEqual([125, 0])
})

describe('the waterfall', () => {
  const inner = (times: Map<number, number>): unknown[] =>
    hopsOf(TURN, EVENTS, times, 0)
      .slice(4)
      .map(({ name, from, to, guessed = false }) => [name, Math.round(from), Math.round(to), guessed])

  test('has tools and questions at their times', () => {
    const kept = timesOf(
      wire([], [{ dir: 'in', seq: 6, at: 10_700, text: '' }]),
      new Map([
        [6, 1],
        [9, 10_900],
        [7, 10_750],
        [8, 10_800],
      ]),
    )
    expect(inner(new Map(kept))).toEqual([
      ['bash', 700, 900, false],
      ['asks: approval', 750, 800, false],
    ])
  })

  test('has them in their order where the times are not known', () => {
    expect(inner(new Map())).toEqual([
      ['bash', 800, 920, true],
      ['asks: approval', 840, 880, true],
    ])
  })

  test('has what is open until the end', () => {
    const events = EVENTS.slice(0, 6)
    expect(hopsOf(TURN, events, new Map([[6, 10_650]]), 0).at(-1)).toEqual({
      name: 'bash',
      kind: 'tool',
      from: 650,
      to: 1_000,
    })
  })
})

test('events have texts', () => {
  const text = (event: object): string => textOfEvents(numbered(event))
  expect(textOfEvents(EVENTS.slice(2, 4))).toBe('Hello')
  expect(textOfEvents(EVENTS.slice(0, 1))).toBe('session s')
  expect(text({ type: 'turn-accepted', how: 'replayed', session: 's', request: 'r' })).toBe('session s, request r')
  expect(text({ type: 'tool-call', name: 'bash', args: { n: 1 } })).toBe('bash {"n":1}')
  expect(text({ type: 'tool-start', name: 'bash', title: 'Run it' })).toBe('Run it')
  expect(text({ type: 'tool-end', status: 'error', parts: [{ type: 'text', text: 'no' }] })).toBe('error no')
  expect(text({ type: 'turn-end', outcome: 'failed', fault: { code: 'timeout', message: 'late' } })).toBe(
    'failed · timeout: late',
  )
  expect(text({ type: 'plan', json: { steps: [] } })).toBe('json: {"steps":[]}')
  expect(
    textOfParts([
      { type: 'reasoning', text: 'hm' },
      { type: 'data', json: '{"a":1}' },
      { type: 'tool-call', tool: 'a', name: 'bash', args: '{}' },
      { type: 'tool-reply', tool: 'a', status: 'ok', parts: [{ type: 'text', text: 'done' }] },
      { type: 'diff', path: 'a.ts', before: null, after: 'x' },
      { type: 'diff', path: 'b.ts', before: 'y', after: 'x' },
      { type: 'file', name: 'a.pdf', mime: 'application/pdf' },
    ]),
  ).toBe('hm\n{"a":1}\n[call of bash] {}\n[ok] done\n[new file a.ts]\n[change of b.ts]\n[file application/pdf a.pdf]')
})
