import { expect, test } from 'vitest'
import { countMembers, growthOf, isUncounted, readCounts } from '../../src/codec-kit/index.ts'
import type { Loss, Usage } from '../../src/model/index.ts'

const NAMES = { input: 'in', output: 'out', costUsd: 'cost' } as const

function read(fields: unknown): [unknown, Loss[]] {
  const losses: Loss[] = []
  return [readCounts(fields, NAMES, (loss) => losses.push(loss)), losses]
}

test('counts are read by the names of the wire', () => {
  expect(read({ in: 3, out: 0, cost: 0.25, more: 1 })).toEqual([{ input: 3, output: 0, costUsd: 0.25 }, []])
  expect(read({ in: null })).toEqual([{}, []])
  expect([read('3'), read([1])]).toEqual([
    [{}, []],
    [{}, []],
  ])
})

test('counts are written by the names of the wire, in its order', () => {
  expect([...countMembers({ costUsd: 0.25, reasoning: 1, input: 3 }, NAMES)]).toEqual([
    ['in', '3'],
    ['out', undefined],
    ['cost', '0.25'],
  ])
  expect([...countMembers({ input: Number.POSITIVE_INFINITY }, { input: 'in' })]).toEqual([['in', 'null']])
})

test.each([-1, 1.5, 1e13, Number.NaN, '3'])('%j is no count of tokens', (count) => {
  expect(read({ in: count })).toEqual([
    {},
    [{ kind: 'dropped', item: 'usage.input', field: 'in', why: 'precision', count: 1 }],
  ])
})

test('costs have fractions and a limit of their own', () => {
  expect(read({ cost: 1e9 })).toEqual([{ costUsd: 1e9 }, []])
  expect(read({ cost: 1e9 + 1 })[0]).toEqual({})
})

test('zeros alone count nothing', () => {
  expect([{}, { input: 0, output: 0 }, { input: 0, output: 1 }].map(isUncounted)).toEqual([true, true, false])
})

test.each<[now: Usage, before: Usage | undefined, grown: Usage | undefined]>([
  [{ input: 5, output: 2 }, undefined, { input: 5, output: 2 }],
  [
    { input: 5, output: 2 },
    { input: 3, output: 2 },
    { input: 2, output: 0 },
  ],
  [{ input: 5 }, { input: 5 }, undefined],
  [{ input: 5 }, { output: 5 }, { input: 5 }],
  // A program that begins to count again has not given anything back.
  [
    { input: 1, output: 4 },
    { input: 3, output: 2 },
    { input: 0, output: 2 },
  ],
  [{ input: 1 }, { input: 3 }, undefined],
  [{}, { input: 3 }, undefined],
])('counts that are %j after %j have grown by %j', (now, before, grown) => {
  expect(growthOf(now, before)).toEqual(grown)
})

test('the greatest count is one, and more is none', () => {
  expect(read({ in: 1e12 })).toEqual([{ input: 1e12 }, []])
  expect(read({ in: 1e12 + 1 })[0]).toEqual({})
})

test('what is no object has no counts', () => {
  for (const fields of [undefined, null, 7, true]) expect(read(fields)).toEqual([{}, []])
})
