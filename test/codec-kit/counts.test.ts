import { expect, test } from 'vitest'
import { isUncounted, readCounts } from '../../src/codec-kit/index.ts'
import type { Loss } from '../../src/model/index.ts'

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
