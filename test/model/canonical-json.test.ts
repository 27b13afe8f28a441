import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson } from '../../src/model/index.ts'

/** The value as JSON with members in another order, white space, and escaped strings. */
function written(value: unknown, space: string): string {
  const text = (string: string): string =>
    `"${[...string].map((unit) => (unit < ' ' || unit === '"' || unit === '\\' || unit > '~' ? [...unit.split('')].map((half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`).join('') : unit)).join('')}"`
  if (typeof value === 'string') return text(value)
  if (Array.isArray(value)) return `[${space}${value.map((item) => written(item, space)).join(`${space},${space}`)}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).reverse()
  return `{${members.map(([key, member]) => `${space}${text(key)}${space}:${space}${written(member, space)}`).join(',')}${space}}`
}

describe('canonical JSON', () => {
  test('is one for all texts of a value, and means the same', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('', ' ', '\n\t'), (value, space) => {
        const canonical = canonicalJson(JSON.stringify(value))
        expect(canonicalJson(written(value, space))).toBe(canonical)
        expect(JSON.parse(canonical)).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  test.each([
    ['{"b":1,"a":{"d":[],"c":{}}}', '{"a":{"c":{},"d":[]},"b":1}'],
    ['[1.0, 1e3 ,-0,9007199254740993]', '[1.0,1e3,-0,9007199254740993]'],
    ['{"a":2,"a":1}', '{"a":2,"a":1}'],
    [' "\\u0041\\/" ', '"A/"'],
    ['["a:b,c","{"]', '["a:b,c","{"]'],
    ['null', 'null'],
    ['', ''],
  ])('of %s is %s', (json, canonical) => {
    expect(canonicalJson(json)).toBe(canonical)
  })

  test('of text that is no JSON is that text, whatever it is', () => {
    const cut = fc.tuple(fc.jsonValue(), fc.nat()).map(([value, at]) => {
      const json = JSON.stringify({ value })
      return json.slice(0, at % json.length)
    })
    fc.assert(
      fc.property(
        fc.oneof(cut, fc.constantFrom('', '}', '[}', '{"a" 1}', '1 2', '"\\', '{"a":"x', '{"a":1}}')),
        (text) => {
          expect(canonicalJson(text)).toBe(text)
        },
      ),
    )
  })

  test('takes any depth, in time that grows with the text', () => {
    const deep = `${'['.repeat(200_000)}1${']'.repeat(200_000)}`
    expect(canonicalJson(deep)).toBe(deep)
    const objects = `${'{"b":0,"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`
    expect(canonicalJson(objects)).toHaveLength(objects.length)
  })
})
