import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { digestOf } from '../../src/engine/common/digest.ts'
import { newId } from '../../src/engine/common/ids.ts'
import { randomId } from '../../src/engine/common/random.ts'
import { sha256 } from '../../src/model/index.ts'

const expected = (text: string): string => createHash('sha256').update(text).digest('hex')

test('a digest is SHA-256, whatever the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      expect(sha256(text)).toBe(expected(text))
    }),
    { numRuns: 50 },
  )
})

test.each([0, 55, 56, 63, 64, 119, 120])('a digest is SHA-256 at the edge of a block: %i bytes', (length) => {
  expect(sha256('a'.repeat(length))).toBe(expected('a'.repeat(length)))
})

test('the first digest of a process is like the others, and like those of long texts', () => {
  const texts = ['short', 'short', 'é'.repeat(5000)]
  expect(texts.map(digestOf)).toEqual(texts.map(expected))
})

test('an id is as many random bytes as were asked for, never the same ones', () => {
  const ids = Array.from({ length: 500 }, () => randomId(9))
  expect(ids.filter((id) => !/^[\w-]{12}$/.test(id))).toEqual([])
  expect(new Set(ids).size).toBe(500)
  expect(randomId(18)).toHaveLength(24)
})

test('ids of one process are in the order of their making, also when the clock was set back', () => {
  const later = Date.now() + 3_600_000
  const [first, second, third] = [newId(later), newId(later - 3_600_000), newId(later + 1)]
  expect(first!.slice(0, 8)).toBe(second!.slice(0, 8))
  expect(third! > second!.slice(0, 8)).toBe(true)
  expect(new Set([first, second, third]).size).toBe(3)
})
