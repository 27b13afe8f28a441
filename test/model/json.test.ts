import fc from 'fast-check'
import { expect, test } from 'vitest'
import { elements, members, oneLine, overlaid, quote, quoteAscii } from '../../src/model/index.ts'

/** Texts that are full of what ends or escapes a string. */
const odd = fc.string({
  unit: fc.constantFrom('"', '\\', '\n', '\u0085', '\u2028', '\ud800', '😀', 'é', ' ', 'a', '{', ','),
})
const text = fc.oneof(odd, fc.string({ unit: 'binary' }))

test('a quoted string is read as what it was, on one line for every reader', () => {
  fc.assert(
    fc.property(text, (said) => {
      for (const json of [quote(said), quoteAscii(said)]) {
        expect(JSON.parse(json)).toBe(said)
        expect(json).not.toMatch(/[\u0000-\u001f\u0085\u2028\u2029]/)
      }
    }),
  )
})

test('a string is quoted as JSON.stringify does it, but for the separators', () => {
  fc.assert(
    fc.property(text, (said) => {
      const escaped = JSON.stringify(said).replace(/[\u0085\u2028\u2029]/g, (unit) => {
        return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
      })
      expect(quote(said)).toBe(escaped)
    }),
  )
})

test('members and elements are found whatever their strings hold', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.tuple(
          text,
          fc.jsonValue().filter((value) => value !== undefined),
        ),
      ),
      (entries) => {
        const raw = entries.map(([key, value]) => [key, JSON.stringify(value)] as const)
        const json = ` { ${raw.map(([key, value]) => `${JSON.stringify(key)} : ${value} `).join(',')}}`
        expect(members(json)).toEqual(raw)
        expect(elements(`[${raw.map(([, value]) => value).join(' , ')}]`)).toEqual(raw.map(([, value]) => value))
      },
    ),
  )
})

test('a quote behind backslashes ends its string only when they are even in number', () => {
  expect(members(String.raw`{"a":"\\","b":"\"","c\\":"\\\"}","d\"":[",",{"e":"]"}]}`)).toEqual([
    ['a', String.raw`"\\"`],
    ['b', String.raw`"\""`],
    ['c\\', String.raw`"\\\"}"`],
    ['d"', '[",",{"e":"]"}]'],
  ])
})

test('JSON on one line says the same', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const pretty = JSON.stringify({ value, odd: '\u2028\u0085' }, undefined, 1)
      const line = oneLine(pretty.replaceAll('\n', '\r\n'))
      expect(line).not.toMatch(/[\n\r\u0085\u2028\u2029]/)
      expect(JSON.parse(line)).toEqual(JSON.parse(pretty))
    }),
  )
})

test.each([
  ['{}', '{}', '{}'],
  ['{"a":1.0,"b":2}', '{"b":[ 3],"c":4}', '{"a":1.0,"b":[ 3],"c":4}'],
  ['{"a":1}', '{}', '{"a":1}'],
  ['{}', '{"a":1}', '{"a":1}'],
])('%s with the changes %s is %s', (json, changes, both) => expect(overlaid(json, changes)).toBe(both))
