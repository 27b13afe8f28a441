import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Utf8Reader } from '../../src/backends/utf8-reader.ts'

/** Bytes that are mostly characters of one to four bytes, with invalid ones between them. */
const bytes = fc
  .array(fc.oneof(fc.string({ unit: 'binary' }).map(Buffer.from), fc.uint8Array({ maxLength: 4 })), { maxLength: 8 })
  .map((pieces) => Buffer.concat(pieces))

/** Places at which the stream is cut, as shares of its length. */
const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 })

function pieces(all: Buffer, at: readonly number[]): Buffer[] {
  const ends = [...at.map((share) => Math.floor(share * all.length)), all.length].sort((a, b) => a - b)
  return ends.map((end, index) => all.subarray(index === 0 ? 0 : ends[index - 1], end))
}

test('reads the same text wherever the stream is cut', () => {
  fc.assert(
    fc.property(bytes, cuts, (all, at) => {
      const reader = new Utf8Reader()
      const text = pieces(all, at).map((piece) => reader.read(piece))
      expect(text.join('') + reader.end()).toBe(all.toString('utf8'))
    }),
  )
})

test('gives whole characters only', () => {
  const reader = new Utf8Reader()
  const euro = Buffer.from('a€b')
  expect([1, 2, 3, 4, 5].map((end) => reader.read(euro.subarray(end - 1, end)))).toEqual(['a', '', '', '€', 'b'])
  expect(reader.end()).toBe('')
})

test('reads the first bytes of a buffer that is larger', () => {
  const reader = new Utf8Reader()
  const buffer = Buffer.from('one€two')
  const texts = [reader.read(buffer, 3), reader.read(buffer, 5), reader.read(Buffer.from([0xac, 0x21]))]
  expect(texts).toEqual(['one', 'one', '€!'])
})

test('ends a stream within a character with one replacement', () => {
  const reader = new Utf8Reader()
  expect(reader.read(Buffer.from([0x61, 0xe2, 0x82]))).toBe('a')
  expect(reader.end()).toBe('\ufffd')
})
