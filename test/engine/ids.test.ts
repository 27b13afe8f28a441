import { expect, test } from 'vitest'
import { newId } from '../../src/engine/common/ids.ts'

test('ids of one process are in the order of their making, also when the clock was set back', () => {
  const later = Date.now() + 3_600_000
  const [first, second, third] = [newId(later), newId(later - 3_600_000), newId(later + 1)]
  expect(first!.slice(0, 8)).toBe(second!.slice(0, 8))
  expect(third! > second!.slice(0, 8)).toBe(true)
  expect(new Set([first, second, third]).size).toBe(3)
})
