import { expect, test } from 'vitest'
import { maySee, scopeOf, viewerOf } from '../../src/engine/dispatch/lists.ts'

const USER = viewerOf({ tenant: 'ann', role: 'user' })
const ADMIN = viewerOf({ tenant: 'root', role: 'admin' })

test('a client may see its own, an operator all', () => {
  expect([maySee(USER, { tenant: 'ann' }), maySee(USER, { tenant: 'bob' }), maySee(USER, undefined)]).toEqual([
    true,
    false,
    false,
  ])
  expect([maySee(ADMIN, { tenant: 'bob' }), maySee(ADMIN, undefined)]).toEqual([true, false])
})

test.each([
  [USER, {}, { tenant: 'ann' }],
  [USER, { all: true }, { tenant: 'ann' }],
  [USER, { all: true, key: 'bob' }, 'none'],
  [USER, { key: 'ann' }, { tenant: 'ann' }],
  [ADMIN, {}, { tenant: 'root' }],
  [ADMIN, { all: true }, {}],
  [ADMIN, { all: true, key: 'bob' }, { tenant: 'bob' }],
  [ADMIN, { key: 'bob' }, 'none'],
] as const)('a list for %j that asks for %j is of %j', (viewer, args, scope) => {
  expect(scopeOf(viewer, args)).toEqual(scope)
})
