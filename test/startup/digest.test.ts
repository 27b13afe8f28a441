import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { digestOf, quickDigest, randomId } from '../../src/startup/index.ts'
import { sha256 } from '../../src/startup/sha256.ts'

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

test('the first digests of a process are like the others, and like those of long texts', () => {
  const texts = ['short', 'é'.repeat(5000), 'short', '', 'other', 'other']
  expect(texts.map(digestOf)).toEqual(texts.map(expected))
})

test('a quick digest tells apart what differs in a byte or in length, and is a name of a file', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1, maxLength: 40 }),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      (bytes, at, by) => {
        const other = bytes.slice()
        other[at % bytes.length]! ^= by
        expect(quickDigest(bytes)).toMatch(/^[0-9a-z-]+$/)
        expect(quickDigest(bytes.slice())).toBe(quickDigest(bytes))
        expect(quickDigest(other)).not.toBe(quickDigest(bytes))
        expect(quickDigest(new Uint8Array([...bytes, 0]))).not.toBe(quickDigest(bytes))
      },
    ),
  )
})

test('an id is as many random bytes as were asked for, never the same ones', () => {
  const ids = Array.from({ length: 500 }, () => randomId(9))
  expect(ids.filter((id) => !/^[\w-]{12}$/.test(id))).toEqual([])
  expect(new Set(ids).size).toBe(500)
  for (const bytes of [1, 16, 18, 32, 1024, 700]) {
    const id = randomId(bytes)
    expect([/^[\w-]+$/.test(id), Buffer.from(id, 'base64url').length]).toEqual([true, bytes])
  }
})
