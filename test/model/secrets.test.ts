import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { beginningOf, cleanJson, endOf, parse, quote, secretForms } from '../../src/model/index.ts'

describe('the forms of a secret', () => {
  test.each([
    ['plain-secret', ['plain-secret']],
    ['a"b\\c', ['a"b\\c', 'a\\"b\\\\c', 'a%22b%5Cc']],
    ['pässwört', ['pässwört', 'p\\u00e4ssw\\u00f6rt', 'p%C3%A4ssw%C3%B6rt']],
    ['a\u2028b', ['a\u2028b', 'a\\u2028b', 'a%E2%80%A8b']],
    ['half \ud800', ['half \ud800', 'half \\ud800']],
  ])('%j', (secret, forms) => {
    expect(secretForms(secret)).toEqual(forms)
  })
})

describe('JSON without secrets', () => {
  const clean = (text: string): string => text.replaceAll(/SECRET|12345678|"/g, '***')

  test.each([
    ['{"a":"SECRET","SECRET":["b"]}', '{"a":"***","***":["b"]}'],
    ['{"n":12345678,"m":-1.5e3}', '{"n":"***","m":-1.5e3}'],
    ['{"a":"say \\"x\\"","b":"\\u0053ECRET"}', '{"a":"say ***x***","b":"***"}'],
    ['{ "kept" : 1e400, "a\\u0062" : null }', '{ "kept" : 1e400, "a\\u0062" : null }'],
    ['12345678', '"***"'],
  ])('%s', (json, cleaned) => {
    expect(cleanJson(json, clean)).toBe(cleaned)
  })

  test('is JSON with every text cleaned, whatever is cleaned away', () => {
    const cleaned = fc.constantFrom(
      (text: string) => text.replaceAll(/[0-9a-e"\\]/g, '*'),
      (text: string) => `${text}"`,
      () => '',
      (text: string) => text,
    )
    fc.assert(
      fc.property(fc.json(), cleaned, (json, change) => {
        const found = parse(cleanJson(json, change))
        expect(JSON.stringify(found)).toBe(JSON.stringify(changed(JSON.parse(json), change)))
      }),
    )
  })
})

/** A value with every text of it changed, and every number that would be another one. */
function changed(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (typeof value === 'number') return change(String(value)) === String(value) ? value : change(String(value))
  if (Array.isArray(value)) return value.map((item) => changed(item, change))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, inner]) => [key, changed(inner, change)] as const)
  return parse(`{${entries.map(([key, inner]) => `${quote(change(key))}:${JSON.stringify(inner)}`).join(',')}}`)
}

describe('the ends of a text', () => {
  test.each([
    ['one two three', 20, 'one two three', 'one two three'],
    ['one two three', 13, 'one two three', 'one two three'],
    ['one two three', 10, 'one two', ' two three'],
    ['x'.repeat(300), 299, 'x'.repeat(43), 'x'.repeat(43)],
    ['x'.repeat(10), 5, '', ''],
  ])('%j, %i', (text, length, beginning, end) => {
    expect([beginningOf(text, length), endOf(text, length)]).toEqual([beginning, end])
  })

  test('hold no part of a word that is not in them whole', () => {
    const word = fc.stringMatching(/^[a-z]{1,20}$/)
    fc.assert(
      fc.property(fc.array(word, { maxLength: 30 }), fc.nat(400), (words, length) => {
        const text = words.join(' ')
        for (const kept of [beginningOf(text, length), endOf(text, length)]) {
          expect(kept.length).toBeLessThanOrEqual(Math.min(length, text.length))
          expect(` ${text} `).toContain(kept === '' ? '' : ` ${kept.trim()} `)
        }
      }),
    )
  })
})
