import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isBase64 } from '../../src/codec-kit/index.ts'

test('the base64 of any bytes is base64, with and without its padding', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1 }), (bytes) => {
      const text = Buffer.from(bytes).toString('base64')
      expect([isBase64(text), isBase64(text.replace(/=+$/, ''))]).toEqual([true, true])
    }),
  )
})

test.each(['', '§§§', 'a-b_', 'ab=c', 'a===', 'ab c', 'ab\n'])('%j is not', (text) => {
  expect(isBase64(text)).toBe(false)
})

test('many megabytes are checked', () => {
  const text = 'QUJD'.repeat(4 * 1024 * 1024)
  expect([isBase64(text), isBase64(`${text}§`)]).toEqual([true, false])
})
