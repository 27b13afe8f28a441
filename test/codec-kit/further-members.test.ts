import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { furtherMembers, withFurther } from '../../src/codec-kit/index.ts'

const KNOWN = { type: true, inner: { url: true } } as const

const further = (json: string) => furtherMembers(json, JSON.parse(json) as Record<string, unknown>, KNOWN)

describe('further members', () => {
  test.each([
    ['{}', undefined],
    ['{"type":"a","inner":{"url":"u"}}', undefined],
    ['{"type":{"x":1},"inner":"u"}', undefined],
    ['{"x":null,"inner":{"x":null}}', undefined],
    ['{"type":"a","x": 1.0 ,"y":null}', '{"x":1.0}'],
    ['{"inner":{"url":"u","x":1.0},"y":2}', '{"inner":{"x":1.0},"y":2}'],
    ['{"inner":{"url":"u"},"y":2}', '{"y":2}'],
    ['{"__proto__":1,"constructor":2}', '{"__proto__":1,"constructor":2}'],
  ])('of %s are %s', (json, found) => {
    expect(further(json)).toBe(found)
  })

  test.each([
    ['{"a":1}', undefined, '{"a":1}'],
    ['{"a":1}', '{"b":2.0}', '{"a":1,"b":2.0}'],
    ['{"a":1}', '{"a":2,"b":3}', '{"a":1,"b":3}'],
    ['{"a":{"c":1}}', '{"a":{"d":1.0},"b":3}', '{"a":{"c":1,"d":1.0},"b":3}'],
    ['{"a":"u"}', '{"a":{"d":1}}', '{"a":"u"}'],
    ['{"a":{"c":1}}', '{"a":7}', '{"a":{"c":1}}'],
  ])('of %s with %s make %s', (json, more, whole) => {
    expect(withFurther(json, more)).toBe(whole)
  })

  test('and the known ones are the whole object again', () => {
    const member = fc.constantFrom('type', 'url', 'x', 'inner', '__proto__')
    const scalar = fc.oneof(fc.integer(), fc.string(), fc.boolean())
    const { object } = fc.letrec<{ object: object; value: unknown }>((tie) => ({
      object: fc.dictionary(member, tie('value'), { noNullPrototype: false }),
      value: fc.oneof({ maxDepth: 2 }, scalar, tie('object')),
    }))
    fc.assert(
      fc.property(object, (whole) => {
        const json = JSON.stringify(whole)
        const { type, inner } = whole as { type?: unknown; inner?: unknown }
        const isObject = typeof inner === 'object'
        const known = JSON.stringify({
          ...(type !== undefined && { type }),
          ...(isObject && { inner: Object.hasOwn(inner!, 'url') ? { url: (inner as { url: unknown }).url } : {} }),
          ...(!isObject && inner !== undefined && { inner }),
        })
        expect(JSON.parse(withFurther(known, further(json)))).toEqual(JSON.parse(json))
      }),
    )
  })
})
