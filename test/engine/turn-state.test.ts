import { expect, test } from 'vitest'
import { LOST } from '../../src/engine/common/faults.ts'
import type { TurnEvent } from '../../src/model/index.ts'
import { plainTurn } from '../kit/plain.ts'

test.each([
  [true, { outcome: 'completed' }],
  [false, { outcome: 'failed', fault: LOST }],
])('a turn whose end counts (%s) ends as its agent says, else as lost', (counts, end) => {
  let asked = 0
  const confirm = (): boolean => {
    asked += 1
    return counts
  }
  const { turn } = plainTurn({ recorder: { confirm } })
  const of = { turn: turn.id }
  const said: TurnEvent[] = [
    { ...of, type: 'message-start', message: 'm', role: 'assistant' },
    { ...of, type: 'text-delta', message: 'm', text: 'hi' },
    { ...of, type: 'turn-end', outcome: 'completed' },
  ]
  for (const event of said) turn.take(event)
  expect(turn.view.end).toMatchObject(end)
  expect(turn.view.text).toBe('hi')
  // Nothing is looked up for an event that is no end.
  expect(asked).toBe(1)
})
