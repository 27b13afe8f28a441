import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  elements,
  isPlain,
  member,
  members,
  oneLine,
  overlaid,
  quote,
  quoteAscii,
  rest,
} from '../../src/model/index.ts'

/** Texts that are full of what ends or escapes a string. */
const odd = fc.string({
  unit: fc.constantFrom(...'"\\\n\u0085\u2028\ud800😀é a{}[],:'.split('')),
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

test('a member is the last of its key, and the rest are the others in their order', () => {
  const key = fc.constantFrom('a', 'b', 'a:b', '__proto__', 'a"', '')
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.jsonValue())), key, (entries, wanted) => {
      const raw = entries.map(([name, value]) => [name, JSON.stringify(value)] as const)
      const json = `{${raw.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
      expect(member(json, wanted)).toBe(raw.findLast(([name]) => name === wanted)?.[1])
      const others = raw.filter(([name]) => name !== wanted)
      const left = rest(json, new Set([wanted]))
      expect(left === undefined ? [] : members(left)).toEqual(others)
      expect(left === undefined).toBe(others.length === 0)
    }),
  )
})

test.each(['', ' ', 'null', '7', '-1.5e3', '"x"', '"{"', 'true', ' 7 '])(
  '%j has no members and no elements',
  (json) => {
    expect([members(json), elements(json), member(json, 'x'), rest(json, new Set())]).toEqual([
      [],
      [],
      undefined,
      undefined,
    ])
  },
)

test.each(['[]', ' [ ] ', '[1]', '\ufeff[1]'])('%j is no object, and %j no array', (json) => {
  expect(members(json)).toEqual([])
  expect(elements(json.replace('[', '{"a":').replace(']', '}'))).toEqual([])
  expect(elements(json)).toEqual(json.includes('1') ? ['1'] : [])
})

test('law: text that is no JSON is read to its end, and no further', () => {
  const json = fc.jsonValue().map((value) => JSON.stringify({ a: value, b: [value, 'x:"\\"'] }))
  const broken = fc
    .tuple(json, fc.nat(), fc.nat(), odd)
    .map(([whole, from, to, other]) => whole.slice(from % whole.length) + other + whole.slice(0, to % whole.length))
  fc.assert(
    fc.property(fc.oneof(broken, odd), (said) => {
      for (const found of [...members(said).map(([, value]) => value), ...elements(said)]) expect(said).toContain(found)
      member(said, 'a')
      rest(said, new Set(['a']))
    }),
    { numRuns: 1000 },
  )
})

test.each<[said: string, found: [string, string][]]>([
  [
    '{"\\q":1,"b":2}',
    [
      ['\\q', '1'],
      ['b', '2'],
    ],
  ],
  ['{"\\u12":1}', [['\\u12', '1']]],
  ['{"\\n\n":1}', [['\\n\n', '1']]],
  ['{"a\\":1', []],
])('%j has a key that is no JSON string, which says itself', (said, found) => expect(members(said)).toEqual(found))

test('a text is plain when it is quoted without escapes, whatever was plain before', () => {
  const before = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('a first piece', '"', '\n', '\u2028', '\ud800', ''),
  )
  const long = fc.string({ minLength: 300, maxLength: 400, unit: fc.constantFrom('a', 'é', ' ') })
  fc.assert(
    fc.property(before, long, before, (first, known, last) => {
      expect(isPlain(known)).toBe(true)
      for (const text of [`${first}${known}`, `${first}${known}${last}`, known.slice(1), `${known}${known}`]) {
        expect(isPlain(known)).toBe(true)
        const plain = JSON.stringify(text) === `"${text}"` && !/[\u0085\u2028\u2029\ud800-\udfff]/.test(text)
        expect(isPlain(text)).toBe(plain)
      }
    }),
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
