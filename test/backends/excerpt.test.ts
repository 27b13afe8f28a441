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

test('what is kept does not grow with the text, and the number that is left out is exact', () => {
  const excerpt = new Excerpt()
  // One word for each character, so that no word is cut.
  for (let piece = 0; piece < 1000; piece += 1) excerpt.add('ab '.repeat(100))
  const [head, gap, tail] = excerpt.text().split('\n') as [string, string, string]
  const left = Number(/^\[(\d+) characters left out\]$/.exec(gap)![1])
  expect(head.length + left + tail.length).toBe(300_000)
  expect([head.length <= 4096, tail.length <= 4096, head.length > 4090, tail.length > 4090]).toEqual([
    true,
    true,
    true,
    true,
  ])
})

test('reading it changes nothing', () => {
  const excerpt = new Excerpt()
  const texts: string[] = []
  for (const piece of ['a '.repeat(3000), 'b '.repeat(3000), 'c '.repeat(3000)]) {
    excerpt.add(piece)
    texts.push(excerpt.text())
    expect(excerpt.text()).toBe(texts.at(-1))
  }
  expect(texts[2]).toBe(excerptOf('a '.repeat(3000) + 'b '.repeat(3000) + 'c '.repeat(3000)))
})
