import { expect, test } from 'vitest'
import { UnaskedOutput } from '../../src/codec-kit/index.ts'
import type { BackPorts } from '../../src/contract/index.ts'
import type { AgentEvent, TurnEvent } from '../../src/model/index.ts'

const turn = ''
const open = (message: string, role: 'assistant' | 'user' = 'assistant'): TurnEvent => ({
  type: 'message-start',
  turn,
  message,
  role,
})
const delta = (message: string, text: string): TurnEvent => ({ type: 'text-delta', turn, message, text })

/** What is told of these events, and what passes. */
function told(events: readonly AgentEvent[]): AgentEvent[] {
  const passed: AgentEvent[] = []
  const output = new UnaskedOutput({ emit: (event) => passed.push(event) } as Partial<BackPorts> as BackPorts)
  for (const event of events) output.ports.emit(event)
  output.ports.report({ kind: 'dropped', item: 'ext', why: 'no-place', count: 1 }, turn)
  output.tell()
  return passed
}

const notice = (text: string, severity = 'info') => ({
  turn: null,
  type: 'notice',
  severity,
  code: 'unasked-output',
  text,
})

test.each<[string, TurnEvent[], object[]]>([
  ['pieces are put together', [open('a'), delta('a', 'JOB '), delta('a', 'DONE')], [notice('JOB DONE')]],
  [
    'messages are parted by an empty line',
    [open('a'), delta('a', 'x'), open('b'), delta('b', 'y')],
    [notice('x\n\ny')],
  ],
  [
    'a whole message is its text',
    [
      open('a'),
      delta('a', 'dra'),
      {
        type: 'message-end',
        turn,
        message: 'a',
        parts: [
          { type: 'text', text: 'x' },
          { type: 'data', json: '1' },
        ],
      },
      { type: 'message-end', turn, message: 'z', parts: [{ type: 'text', text: 'z' }] },
      { type: 'message-end', turn, message: 'a' },
    ],
    [notice('x')],
  ],
  [
    'what is taken back is gone',
    [open('a'), delta('a', 'x'), { type: 'message-retract', turn, message: 'a', keepText: false }],
    [],
  ],
  [
    'what is only interrupted is not',
    [open('a'), delta('a', 'x'), { type: 'message-retract', turn, message: 'a', keepText: true }],
    [notice('x')],
  ],
  ['what users say is not the agent', [open('a', 'user'), delta('a', 'x')], []],
  ['blank text is nothing', [open('a'), delta('a', ' \n')], []],
  [
    'a failure is told with its reason',
    [
      open('a'),
      delta('a', 'x'),
      { type: 'turn-end', turn, outcome: 'failed', fault: { code: 'internal', message: 'M', retryable: false } },
    ],
    [notice('x\n\nM', 'warning')],
  ],
  ['a cancelled turn has none', [{ type: 'turn-end', turn, outcome: 'cancelled' }], []],
  ['other events are nothing', [{ type: 'step-start', turn, step: 1 }], []],
])('%s', (_name, events, expected) => {
  expect(told(events)).toEqual(expected)
})

test('what no turn owns passes as it is', () => {
  const bound: AgentEvent = { turn: null, type: 'session-bound', agentSession: 's' }
  expect(told([bound])).toEqual([bound])
})

test.each([
  ['as it is', 'x'.repeat(16_384), 'x'.repeat(16_384)],
  ['cut, in whole words', `${'x'.repeat(16_380)} word more`, `${'x'.repeat(16_380)}…`],
])('output of one turn is kept %s', (_how, text, kept) => {
  expect(told([open('a'), delta('a', text)])).toEqual([notice(kept)])
})

test('of a message that is long enough no more is collected, and of the next one it is', () => {
  const pieces = Array.from({ length: 100 }, () => delta('a', 'x '.repeat(500)))
  const [one] = told([open('a'), ...pieces]) as unknown as [{ text: string }]
  expect(one.text.length).toBeLessThanOrEqual(16_385)
  const two = told([open('a'), ...pieces, { type: 'turn-end', turn, outcome: 'completed' }, open('b'), delta('b', 'y')])
  expect(two.at(-1)).toEqual(notice('y'))
})

test('each turn is told by itself, with its own reason', () => {
  const fault = { code: 'internal', message: 'M', retryable: false } as const
  const end = (outcome: 'completed' | 'failed'): TurnEvent =>
    outcome === 'failed' ? { type: 'turn-end', turn, outcome, fault } : { type: 'turn-end', turn, outcome }
  expect(told([open('a'), end('failed'), open('b'), delta('b', 'y'), end('completed')])).toEqual([
    notice('M', 'warning'),
    notice('y'),
  ])
})

test('a fault of a turn that was cancelled is no failure', () => {
  const fault = { code: 'cancelled', message: 'M', retryable: false } as const
  expect(told([open('a'), delta('a', 'x'), { type: 'turn-end', turn, outcome: 'cancelled', fault }])).toEqual([
    notice('x'),
  ])
})

test('losses of such a turn are of no turn, and not reported', () => {
  const losses: unknown[] = []
  const ports = { emit() {}, report: (loss: unknown) => losses.push(loss), newId: () => 'id' }
  const output = new UnaskedOutput(ports as Partial<BackPorts> as BackPorts)
  output.ports.report({ kind: 'dropped', item: 'ext', why: 'no-place', count: 1 }, turn)
  expect([losses, output.ports.newId()]).toEqual([[], 'id'])
})
