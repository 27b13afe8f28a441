import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { looseObject } from '../../src/codec-kit/loose-object.ts'

const ENTRIES = {
  name: v.string(),
  count: v.optional(v.number()),
  size: v.nullish(v.number()),
  lenient: v.fallback(v.nullish(v.string()), undefined),
  inner: v.optional(looseObject({ text: v.string() }, 'must be an object')),
}
const quick = looseObject(ENTRIES)

describe('an object with some members known', () => {
  test('is read as valibot reads it', () => {
    const plain = v.looseObject({
      ...ENTRIES,
      inner: v.optional(v.looseObject({ text: v.string() }, 'must be an object')),
    })
    const values = [
      { name: 'n' },
      { name: 'n', count: 1, size: null, more: [1] },
      { name: 'n', lenient: 1, inner: { text: 't', more: 2 } },
      { name: 'n', count: '1' },
      { name: 'n', inner: { text: 1 } },
      { name: 'n', inner: 'no' },
      { count: 1 },
      { name: null },
      {},
      [],
      null,
      'text',
    ]
    for (const value of values) {
      const { output, issues, success } = v.safeParse(plain, value)
      const read = v.safeParse(quick, value)
      expect(read.success).toBe(success)
      if (success) expect(read.output).toEqual(output)
      expect(read.issues?.map(told)).toEqual(issues?.map(told))
    }
  })

  test('is not copied unless a member is read as another value', () => {
    const same = { name: 'n', inner: { text: 't' }, more: 1 }
    expect(v.parse(quick, same)).toBe(same)
    const other = { name: 'n', lenient: 1 }
    expect(v.parse(quick, other)).toEqual({ name: 'n' })
    expect(other).toEqual({ name: 'n', lenient: 1 })
  })

  test('gets the defaults of members that it has not', () => {
    expect(v.parse(looseObject({ model: v.optional(v.string(), '') }), {})).toEqual({ model: '' })
    expect(v.parse(looseObject({ kind: v.fallback(v.optional(v.string()), 'any') }), {})).toEqual({ kind: 'any' })
  })
})

/** An issue as far as a client is told of it. */
function told(issue: v.BaseIssue<unknown>): readonly [string, string | null, string] {
  return [issue.message, v.getDotPath(issue), issue.received]
}
