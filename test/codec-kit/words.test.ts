import { expect, test } from 'vitest'
import { wordOf } from '../../src/codec-kit/index.ts'

test.each([
  ['a', 'a'],
  [1.5, '1.5'],
  [true, 'true'],
  [undefined, 'undefined'],
  [null, ''],
  [{ toString: 1 }, ''],
  [['a'], ''],
])('the word of %j', (value, word) => {
  expect(wordOf(value)).toBe(word)
})
