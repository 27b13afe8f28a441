import { expect, test } from 'vitest'
import { askIdOf } from '../../src/codec-kit/index.ts'

test.each([
  ['"a"', [], 'a'],
  ['7', [], '7'],
  ['"a"', ['a'], 'a#2'],
  ['"a"', ['a', 'a#2'], 'a#3'],
  ['"a"', ['b'], 'a'],
])('the question of request %s while %j are open', (request, open, ask) => {
  expect(askIdOf(request, new Map(open.map((id) => [id, true])))).toBe(ask)
})
