import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CallTokens } from '../../src/engine/events/call-tokens.ts'
import { LiveView } from '../../src/engine/events/view.ts'
import { addUsage, type TurnEvent, type Usage } from '../../src/model/index.ts'

const usage = (input: number): Usage => ({ input, output: 1 })
const sum = (usages: readonly Usage[]): Usage => usages.reduce(addUsage, {})

const view = (): LiveView => new LiveView({ turn: 't', session: 's', agent: 'a', at: 5 })
const called = (input: number): TurnEvent => ({ type: 'usage', turn: 't', scope: 'call', usage: usage(input) })
const parked: TurnEvent = { type: 'turn-parked', turn: 't', asks: [], continuation: 't.x', deadline: 9 }
const end: TurnEvent = { type: 'turn-end', turn: 't', outcome: 'completed' }
const total = (of: Usage): TurnEvent => ({ type: 'usage', turn: 't', scope: 'turn', usage: of })

describe('the tokens of an answer', () => {
  test('are those of its calls, when the turn is parked', () => {
    const first = view()
    first.apply(called(3), 6)
    first.apply(called(4), 6)
    expect(first.answerUsage).toEqual({ input: 7, output: 2 })
    first.apply(parked, 6)
    expect(first.answerUsage).toEqual({ input: 7, output: 2 })
    expect(first.usage).toBeUndefined()
  })

  test('are what the total of the turn has beyond earlier ones, at its end', () => {
    const first = view()
    for (const event of [called(3), parked]) first.apply(event, 6)
    const second = view()
    second.continue(first)
    // Whoever is shown the turn from its beginning sees the same answers.
    for (const shown of [first, second]) {
      for (const event of [total({ input: 9, output: 5, cacheRead: 2 }), end]) shown.apply(event, 7)
      expect(shown.answerUsage).toEqual({ input: 6, output: 4, cacheRead: 2 })
      expect(shown.usage).toEqual({ input: 9, output: 5, cacheRead: 2 })
    }
  })

  test('are the total of a turn whose agent tells of no calls', () => {
    const first = view()
    first.apply(parked, 6)
    expect(first.answerUsage).toBeUndefined()
    for (const event of [total(usage(9)), end]) first.apply(event, 7)
    expect(first.answerUsage).toEqual(usage(9))
  })

  test('are unknown when nothing is told of them, and never negative', () => {
    const first = view()
    for (const event of [called(3), parked, parked]) first.apply(event, 6)
    expect(first.answerUsage).toBeUndefined()
    first.apply(end, 7)
    expect(first.answerUsage).toBeUndefined()
    const other = view()
    for (const event of [called(3), parked, total({ input: 2 }), end]) other.apply(event, 6)
    expect(other.answerUsage).toEqual({ input: 0 })
  })

  test('add up to those of the turn, whatever calls and parks there are', () => {
    const answers = fc.array(fc.array(fc.nat(99), { maxLength: 3 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(answers, (rounds) => {
        const calls = rounds.flat().map(usage)
        const tokens = new CallTokens()
        const known = rounds.map((inputs, at) => {
          for (const input of inputs) tokens.add(usage(input))
          if (at < rounds.length - 1) tokens.park()
          return tokens.answer(at < rounds.length - 1 ? undefined : sum(calls), at === rounds.length - 1)
        })
        expect(sum(known.flatMap((one) => one ?? []))).toEqual(sum(calls))
      }),
    )
  })
})
