import { expect, test } from 'vitest'
import { capabilities } from '../../src/contract/index.ts'
import { carryMembers, reportMembers } from '../../src/engine/carry/carry-members.ts'
import { ITEMS, type Loss, type TurnEvent } from '../../src/model/index.ts'

const none = capabilities({ full: [] })
const all = capabilities({ full: ITEMS })

function carried(event: TurnEvent, of = none): { event: TurnEvent; losses: string[] } {
  const losses: Loss[] = []
  return {
    event: carryMembers(of, event, (loss) => losses.push(loss)),
    losses: losses.map(({ kind, item }) => `${kind} ${item}`),
  }
}

const end = { type: 'turn-end', turn: 't' } as const
const start = { type: 'tool-start', turn: 't', tool: 'x', name: 'read', executor: 'agent' } as const

test.each<[TurnEvent, string[]]>([
  [{ ...end, outcome: 'completed', stop: 'end' }, []],
  [{ ...end, outcome: 'cancelled', stop: 'aborted', fault: { code: 'cancelled', message: 'm', retryable: false } }, []],
  [{ ...end, outcome: 'completed', stop: 'refusal' }, ['weakened end.stop']],
  [{ ...end, outcome: 'failed', stop: 'error', fault: { code: 'internal', message: 'm', retryable: false } }, []],
  [
    { ...end, outcome: 'failed', fault: { code: 'overloaded', message: 'm', retryable: false } },
    ['weakened fault.code', 'weakened fault.retryable'],
  ],
  [{ type: 'message-start', turn: 't', message: 'm', role: 'assistant', phase: 'final' }, []],
  [{ type: 'tool-call', turn: 't', tool: 'x', name: 'n', args: '{}', executor: 'client' }, ['weakened tool.executor']],
  [
    {
      type: 'message-end',
      turn: 't',
      message: 'm',
      parts: [{ type: 'reasoning', text: 'r', seal: { provider: 'p', data: 'd' } }],
    },
    ['weakened reasoning.seal'],
  ],
])('a front without words for members is told %j with these losses: %j', (event, losses) => {
  expect(carried(event)).toEqual({ event, losses })
  expect(carried(event, all)).toEqual({ event, losses: [] })
})

test('members that only some events have are taken out, each a loss', () => {
  const told = { ...start, kind: 'read', title: 'Read it' }
  expect(carried(told)).toEqual({ event: start, losses: ['dropped tool.kind', 'dropped tool.title'] })
  const summed = { ...end, outcome: 'completed', summary: 's', continuation: 'c' } as const
  expect(carried(summed)).toEqual({
    event: { ...end, outcome: 'completed' },
    losses: ['dropped end.summary', 'dropped end.continuation'],
  })
})

test('they are losses of an event that is not shown as well', () => {
  const losses: Loss[] = []
  reportMembers(none, { ...start, kind: 'read' }, (loss) => losses.push(loss))
  expect(losses).toEqual([{ kind: 'dropped', item: 'tool.kind', why: 'no-place', count: 1 }])
})
