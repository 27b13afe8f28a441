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
