import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromColumn, keyDigest, toColumn } from '../../src/store/key-text.ts'

/** Any UTF-16 text: also lone surrogates, NUL and the mark of the column. */
const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 3 }),
      fc.constantFrom('\ud800', '\udfff', '\0', '\ufdd0', '"', '\\'),
    ),
  )
  .map((pieces) => pieces.join(''))

describe('a text in a column', () => {
  test('comes back as it was, and a database can hold it', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const column = toColumn(text)
        expect(fromColumn(column)).toBe(text)
        expect(column.isWellFormed()).toBe(true)
        expect(column.includes('\0')).toBe(false)
      }),
    )
  })

  test('is that of no other text', () => {
    fc.assert(fc.property(anyText, anyText, (one, other) => (toColumn(one) === toColumn(other)) === (one === other)))
  })

  test.each([
    ['plain', 'plain'],
    ['', ''],
    ['é😀"\\', 'é😀"\\'],
    ['a\0b', '\ufdd0"a\\u0000b"'],
    ['\ud800', '\ufdd0"\\ud800"'],
    ['\ufdd0', '\ufdd0"\ufdd0"'],
  ])('of %j is %j', (text, column) => {
    expect(toColumn(text)).toBe(column)
  })
})

describe('the digest of a session key', () => {
  const KEY = { tenant: 'a', agent: 'b', session: 'c', conversation: 'd' }

  test('depends on each part, and on where one part ends', () => {
    const keys = [
      KEY,
      { ...KEY, tenant: 'x' },
      { ...KEY, agent: 'x' },
      { ...KEY, session: 'x' },
      { ...KEY, conversation: 'x' },
      { ...KEY, tenant: 'ab', agent: '' },
      { ...KEY, tenant: '', agent: 'ab' },
      { ...KEY, session: '\ud800' },
      { ...KEY, session: '\ud801' },
      { ...KEY, session: '\ufffd' },
    ]
    expect(new Set(keys.map(keyDigest)).size).toBe(keys.length)
  })

  test('does not depend on other members or their order', () => {
    const record = { id: 'S1', conversation: 'd', session: 'c', agent: 'b', tenant: 'a', usedAt: 9 }
    expect(keyDigest(record)).toBe(keyDigest(KEY))
  })
})
