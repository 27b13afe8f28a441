import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Excerpt } from '../../src/backends/excerpt.ts'

function excerptOf(...pieces: string[]): string {
  const excerpt = new Excerpt()
  for (const piece of pieces) excerpt.add(piece)
  return excerpt.text()
}

test('up to twice 4096 characters are kept whole', () => {
  const text = 'a'.repeat(4096) + 'b'.repeat(4096)
  expect(excerptOf(text)).toBe(text)
  expect(excerptOf('')).toBe('')
})

test('of more, the first and last 4096 are kept and the gap is named', () => {
  expect(excerptOf(`${'a'.repeat(4096)}${'-'.repeat(100_000)}${'b'.repeat(4096)}`)).toBe(
    `${'a'.repeat(4096)}\n[100000 characters left out]\n${'b'.repeat(4096)}`,
  )
})

test('a character that a cut goes through is no broken one', () => {
  expect(excerptOf(`${'a'.repeat(4095)}😀${'b'.repeat(5000)}`).isWellFormed()).toBe(true)
})

test('pieces make no difference', () => {
  const pieces = fc.array(fc.string({ maxLength: 3000 }), { maxLength: 20 })
  fc.assert(
    fc.property(pieces, (all) => {
      expect(excerptOf(...all)).toBe(excerptOf(all.join('')))
    }),
  )
})
