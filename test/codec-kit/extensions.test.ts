import { expect, test } from 'vitest'
import { extensions, keysOf, unknownMembers } from '../../src/codec-kit/index.ts'

const { ownExt, ownMember, toExt, entriesExt, unknownExt } = extensions('tea')
const tea = { protocol: 'tea', json: '{"cup":1.0,"cup":2.0}' }
const coffee = { protocol: 'coffee', json: '{"cup":1}' }
const KNOWN = new Set(['type'])

test('only an ext of the protocol itself is read', () => {
  expect([tea, coffee, undefined].map(ownExt)).toEqual(['{"cup":1.0,"cup":2.0}', undefined, undefined])
  expect([tea, coffee, undefined].map((ext) => ownMember(ext, 'cup'))).toEqual(['2.0', undefined, undefined])
  expect(ownMember(tea, 'pot')).toBeUndefined()
})

test('an ext is made of an object, or of entries with a value', () => {
  expect(toExt('{"a":1}')).toEqual({ protocol: 'tea', json: '{"a":1}' })
  expect(toExt(undefined)).toBeUndefined()
  expect(
    entriesExt([
      ['a', '1.0'],
      ['b', undefined],
    ]),
  ).toEqual({ protocol: 'tea', json: '{"a":1.0}' })
  expect(entriesExt([['b', undefined]])).toBeUndefined()
})

test('unknown members are kept as they came', () => {
  const json = '{"type":"x", "n":1.50,"__proto__":{}}'
  expect(unknownMembers(json, JSON.parse(json) as object, KNOWN)).toBe('{"n":1.50,"__proto__":{}}')
  expect(unknownExt(json, JSON.parse(json) as object, KNOWN)).toEqual({
    protocol: 'tea',
    json: '{"n":1.50,"__proto__":{}}',
  })
  expect(unknownExt('{"type":"x"}', { type: 'x' }, KNOWN)).toBeUndefined()
})

test('the keys of a schema are those of its entries', () => {
  expect([...keysOf({ entries: { type: 1, text: 2 } })]).toEqual(['type', 'text'])
})
