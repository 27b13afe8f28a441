import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sameJson } from '../../../codecs/qwen-code/wire.ts'

describe('the same JSON', () => {
  test.each([
    ['{"a":1,"b":[true,null]}', '{ "b" : [true, null], "a" : 1.0 }', true],
    ['{"a":1e2}', '{"a":100}', true],
    ['{"a":"\\u00e9"}', '{"a":"é"}', true],
    ['{"a":"1"}', '{"a":1}', false],
    ['{"a":[1,2]}', '{"a":[2,1]}', false],
    ['{"a":1}', '{"a":1,"b":1}', false],
    ['{"a":1}', 'nonsense', false],
    ['nonsense', '{"a":1}', false],
  ])('%s and %s: %s', (one, other, same) => {
    expect(sameJson(one, other)).toBe(same)
  })

  test('is found in any order of members', () => {
    const reversed = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(reversed)
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, held]) => [key, reversed(held)]),
      )
    }
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(sameJson(JSON.stringify(value), JSON.stringify(reversed(value), null, 1))).toBe(true)
      }),
    )
  })

  test('is compared at any depth', () => {
    const deep = (inner: string) => `{"a":${'['.repeat(100_000)}${inner}${']'.repeat(100_000)}}`
    expect(sameJson(deep('1.0'), deep('1'))).toBe(true)
    expect(sameJson(deep('1'), deep('2'))).toBe(false)
  })
})
