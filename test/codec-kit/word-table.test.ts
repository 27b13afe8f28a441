import { expect, test } from 'vitest'
import { wordTable } from '../../src/codec-kit/index.ts'

test('a table has the values of its words, in their order, and of nothing else', () => {
  const table = wordTable<number | undefined>({ one: 1, two: 2, none: undefined })
  expect([...table]).toEqual([
    ['one', 1],
    ['two', 2],
    ['none', undefined],
  ])
  expect(
    ['one', 'none', 'three', 'constructor', '__proto__', 1, null, undefined, {}].map((word) => table.get(word)),
  ).toEqual([1, ...Array(8).fill(undefined)])
  expect(['two', 'none', 'toString', 2].map((word) => table.has(word))).toEqual([true, true, false, false])
})
