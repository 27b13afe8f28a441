import { expect, test } from 'vitest'
import { scalarText } from '../../src/codec-kit/index.ts'

test.each([
  ['a', 'a'],
  [1.5, '1.5'],
  [true, 'true'],
  [undefined, 'undefined'],
  [null, ''],
  [{ toString: 1 }, ''],
  [['a'], ''],
])('the word of %j', (value, word) => {
  expect(scalarText(value)).toBe(word)
})
