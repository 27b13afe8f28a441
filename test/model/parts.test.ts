import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addUsage, type Part, textOf, type Usage, usageWithout } from '../../src/model/index.ts'

const count = fc.nat({ max: 1_000_000 })
const usage: fc.Arbitrary<Usage> = fc.record(
  { input: count, output: count, reasoning: count, cacheRead: count, cacheWrite: count, total: count, costUsd: count },
  { requiredKeys: [] },
)

describe('the sum of two usages', () => {
  test('has what either has, and nothing that neither has', () => {
    fc.assert(
      fc.property(usage, usage, (one, other) => {
        const sum = addUsage(one, other)
        expect(new Set(Object.keys(sum))).toEqual(new Set([...Object.keys(one), ...Object.keys(other)]))
        for (const key of Object.keys(sum) as (keyof Usage)[])
          expect(sum[key]).toBe((one[key] ?? 0) + (other[key] ?? 0))
      }),
    )
  })

  test('does not depend on the order, and nothing adds nothing', () => {
    fc.assert(
      fc.property(usage, usage, usage, (one, other, third) => {
        expect(addUsage(one, other)).toEqual(addUsage(other, one))
        expect(addUsage(addUsage(one, other), third)).toEqual(addUsage(one, addUsage(other, third)))
        expect(addUsage(one, {})).toEqual(one)
      }),
    )
  })

  test('leaves both as they were', () => {
    const [one, other] = [Object.freeze({ input: 1 }), Object.freeze({ input: 2, output: 3 })]
    expect(addUsage(one, other)).toEqual({ input: 3, output: 3 })
  })

  test('takes a member without a value for an absent one', () => {
    expect(addUsage({ input: 1 }, { input: undefined, output: undefined } as unknown as Usage)).toEqual({ input: 1 })
  })
})

describe('a usage without a part of it', () => {
  test('is what gives all when the part is added again', () => {
    fc.assert(
      fc.property(usage, usage, (part, rest) => {
        const all = addUsage(part, rest)
        const left = usageWithout(all, part)
        expect(addUsage(left, part)).toEqual(all)
      }),
    )
  })

  test.each([
    [{ input: 5 }, { input: 7 }, { input: 0 }],
    [{ input: 5 }, { output: 7 }, { input: 5 }],
    [{ input: 5, output: 1 }, {}, { input: 5, output: 1 }],
    [{}, { input: 5 }, {}],
    [{ costUsd: 0.5 }, { costUsd: 0.25 }, { costUsd: 0.25 }],
  ])('of %j without %j is %j', (all, part, rest) => {
    expect(usageWithout(all, part)).toEqual(rest)
  })
})

describe('the text of parts', () => {
  const text = (said: string): Part => ({ type: 'text', text: said })

  test.each<[string, Part[], string]>([
    ['nothing', [], ''],
    ['one text', [text('a')], 'a'],
    ['several texts', [text('a'), text('b'), text('c')], 'a\nb\nc'],
    ['empty texts at the beginning', [text(''), text('a')], 'a'],
    ['empty texts at the end', [text('a'), text('')], 'a\n'],
    ['other parts between', [text('a'), { type: 'image', url: 'x:y' }, text('b')], 'a\nb'],
    [
      'no text',
      [
        { type: 'reasoning', text: 'r' },
        { type: 'data', json: '"d"' },
      ],
      '',
    ],
    ['the text of a tool', [{ type: 'tool-reply', tool: 't', status: 'ok', parts: [text('in')] }], ''],
  ])('of %s', (_, parts, said) => {
    expect(textOf(parts)).toBe(said)
  })
})
