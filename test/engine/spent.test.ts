import { describe, expect, test } from 'vitest'
import { addSpent, dayOf, endOfDay, spentBy } from '../../src/engine/record/spent.ts'
import type { TurnEvent, Usage } from '../../src/model/index.ts'
import { plainTurn, start } from '../kit/plain.ts'

const DAY = 86_400_000
const AT = Date.UTC(2026, 10, 29, 23, 59, 59, 999)

/** What a turn with these events has used. `prompt` is its input. */
function usedBy(events: readonly TurnEvent[], prompt = 'four') {
  const { turn } = plainTurn({ command: start({ input: [{ type: 'text', text: prompt }] }), now: () => AT })
  for (const event of [...events, { type: 'turn-end', turn: 't', outcome: 'completed' } as const]) turn.take(event)
  return spentBy(turn)
}

const usage = (counts: Usage, estimated?: true): TurnEvent => ({
  type: 'usage',
  turn: 't',
  scope: 'turn',
  usage: counts,
  ...(estimated && { estimated }),
})
const SAID: TurnEvent[] = [
  { type: 'message-start', turn: 't', message: 'm', role: 'assistant' },
  { type: 'reasoning-delta', turn: 't', message: 'm', text: 'abc' },
  { type: 'text-delta', turn: 't', message: 'm', text: 'efghi' },
  { type: 'tool-call', turn: 't', tool: 'c', name: 'n', args: '{}', executor: 'agent' },
]

describe('a day', () => {
  test('is one of UTC', () => {
    expect(new Date(dayOf(AT)).toISOString()).toBe('2026-11-29T00:00:00.000Z')
    expect([dayOf(endOfDay(dayOf(AT))), dayOf(AT + 1)]).toEqual([endOfDay(dayOf(AT)), AT + 1])
  })
})

describe('what a turn has used', () => {
  test.each<[string, Usage, number]>([
    ['the total that its agent tells', { input: 1, output: 2, total: 9 }, 9],
    ['input and output without a total', { input: 1, output: 2 }, 3],
    ['input alone', { input: 4 }, 4],
    ['output alone', { output: 5 }, 5],
  ])('is %s', (_name, counts, tokens) => {
    expect(usedBy([...SAID, usage(counts)])).toEqual({ day: dayOf(AT), tokens, estimated: 0, costUsd: 0 })
  })

  test('is estimated where its agent says so', () => {
    expect(usedBy([usage({ total: 8, costUsd: 0.5 }, true)])).toMatchObject({ tokens: 8, estimated: 8, costUsd: 0.5 })
  })

  test('is estimated by the texts where its agent counts no tokens, a token for four characters', () => {
    expect(usedBy(SAID)).toMatchObject({ tokens: 4, estimated: 4, costUsd: 0 })
    expect(usedBy([...SAID, usage({ costUsd: 2 })])).toMatchObject({ tokens: 4, estimated: 4, costUsd: 2 })
  })

  test('is nothing where the agent said nothing', () => {
    expect(usedBy([])).toEqual({ day: dayOf(AT), tokens: 0, estimated: 0, costUsd: 0 })
  })

  test('adds up', () => {
    const one = { tokens: 1, estimated: 2, costUsd: 3 }
    expect(addSpent(one, { tokens: 10, estimated: 20, costUsd: 30 })).toEqual({
      tokens: 11,
      estimated: 22,
      costUsd: 33,
    })
    expect(endOfDay(DAY)).toBe(2 * DAY)
  })
})
