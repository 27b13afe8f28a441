import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { furtherMembers, reportFurther, withFurther } from '../../src/codec-kit/index.ts'
import type { Loss } from '../../src/model/index.ts'

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

describe('further members of an answer', () => {
  const lost = (value: object, item?: 'usage') => {
    const losses: Loss[] = []
    reportFurther(value as Record<string, unknown>, KNOWN, (loss) => losses.push(loss), item)
    return losses.map(({ kind, item: of, field }) => `${kind} ${of} ${field}`)
  }

  test('are a loss by their names, also within objects', () => {
    expect(lost({ type: { x: 1 }, inner: { url: 'u', deep: 0 }, none: null, [`${'n'.repeat(99)}`]: 1 })).toEqual([
      'dropped ext deep',
      `dropped ext ${'n'.repeat(60)}`,
    ])
    expect(lost({ inner: 'text' })).toEqual([])
  })

  test('are none where they count nothing', () => {
    expect(lost({ a: 0, b: null, c: { d: 0, e: { f: 0 } } }, 'usage')).toEqual([])
    expect(lost({ a: 1, c: { d: 0, e: { f: 2 } }, g: 'text' }, 'usage')).toEqual([
      'dropped usage a',
      'dropped usage c',
      'dropped usage g',
    ])
  })
})
