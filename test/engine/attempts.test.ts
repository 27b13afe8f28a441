import { expect, test } from 'vitest'
import type { AgentSettings } from '../../src/engine/common/index.ts'
import { type Attempt, repeatedBy } from '../../src/engine/record/attempts.ts'
import { LiveTurns } from '../../src/engine/session/live-turns.ts'
import type { Turn } from '../../src/engine/turn/turn.ts'
import { plainAgent, plainTurn, start } from '../kit/plain.ts'

/** A running turn of this request. */
function running(command = start(), agent: AgentSettings = plainAgent('')): { turns: LiveTurns; turn: Turn } {
  const turns = new LiveTurns()
  const { turn } = plainTurn({ command, agent })
  turns.add(turn)
  return { turns, turn }
}

/** The request again, as its client repeats it. */
const again = (more: Partial<Attempt> = {}, command: Parameters<typeof start>[0] = {}): Attempt => ({
  tenant: 'local',
  front: 'plain',
  agent: 'plain',
  command: start({ turn: 't2', request: 'r2', retry: true, ...command }, 'x2'),
  ...more,
})

test('a repeated request is that of the running turn which is asked for the same', () => {
  const { turns, turn } = running(start({ request: 'r1' }))
  expect(repeatedBy(again(), turns)).toBe(turn)
})

test.each<[what: string, more: Partial<Attempt>, command?: Parameters<typeof start>[0]]>([
  ['another client', { tenant: 'other' }],
  ['another protocol', { front: 'other' }],
  ['another agent', { agent: 'other' }],
  ['another prompt', {}, { input: [{ type: 'text', text: 'ho' }] }],
  ['another session', {}, { session: { id: 'other' } }],
  ['another conversation', {}, { history: [{ role: 'user', parts: [] }] }],
  ['another turn before', {}, { after: 't0' }],
])('one of %s is not', (_what, more, command) => {
  expect(repeatedBy(again(more, command), running().turns)).toBeUndefined()
})

test('a turn that is over, or is to be, is not repeated', () => {
  const { turns, turn } = running()
  turn.cancelled = true
  expect(repeatedBy(again(), turns)).toBeUndefined()
  turn.cancelled = false
  turn.take({ type: 'turn-end', turn: 't', outcome: 'failed' })
  expect(repeatedBy(again(), turns)).toBeUndefined()
})
