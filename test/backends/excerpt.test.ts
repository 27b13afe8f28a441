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

test('of more, the first and last 4096 are kept in whole words, and the gap is named', () => {
  const [head, tail] = ['a '.repeat(2000), ' b'.repeat(2000)]
  expect(excerptOf(`${head}${'-'.repeat(100_000)}${tail}`)).toBe(
    `${head.slice(0, -1)}\n[100001 characters left out]\n${tail}`,
  )
})

test('of a secret that a cut goes through nothing is kept', () => {
  const secret = 'sk-0123456789abcdef'
  for (let at = 4096 - secret.length; at <= 4096; at += 1) {
    const text = `${'x'.repeat(at - 1)} ${secret} ${'y'.repeat(9000)} ${secret} ${'z'.repeat(at - 1)}`
    const parts = /sk-[0-9a-f]*|[0-9a-f]*cdef/g
    expect((excerptOf(text).match(parts) ?? []).filter((part) => part !== secret)).toEqual([])
  }
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
