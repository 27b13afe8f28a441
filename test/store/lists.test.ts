import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TurnPage } from '../../src/contract/index.ts'
import {
  type Found,
  hasConditions,
  type Place,
  pageOf,
  sessionConditions,
  turnConditions,
} from '../../src/store/lists.ts'

test('a page has what was found twice once, as it was found last', () => {
  const row = (id: string, at: number, state: string) => ({ id, at, state })
  const running = { rows: [row('a', 3, 'runs'), row('b', 2, 'runs')] }
  const ended = { rows: [row('b', 2, 'ended'), row('c', 1, 'ended')] }
  const placeOf = ({ id, at }: ReturnType<typeof row>) => ({ id, at })
  expect(pageOf([running, ended], 3, placeOf)).toEqual({
    rows: [row('a', 3, 'runs'), row('b', 2, 'ended'), row('c', 1, 'ended')],
  })
  expect(pageOf([running, ended], 2, placeOf)).toEqual({ rows: [row('a', 3, 'runs'), row('b', 2, 'ended')], next: 'b' })
})

interface Item {
  at: number
  id: string
  tenant: string
}
const placeOf = ({ at, id }: Item): Place => ({ at, id })
/** The order of lists: the latest first; of one time the greatest id. */
const inOrder = (one: Place, other: Place): number =>
  other.at - one.at || (one.id === other.id ? 0 : one.id < other.id ? 1 : -1)

test('rows of one time come by id, the greatest first', () => {
  const rows = ['b', 'c', 'a'].map((id) => ({ id, at: 1, tenant: 't' }))
  expect(pageOf([{ rows }], 9, placeOf).rows.map(({ id }) => id)).toEqual(['c', 'b', 'a'])
})

test('a page says where the next one begins when there may be more, and only then', () => {
  const rows = ['c', 'b', 'a'].map((id, at) => ({ id, at: 3 - at, tenant: 't' }))
  expect(pageOf([{ rows }], 3, placeOf)).toStrictEqual({ rows })
  expect(pageOf([{ rows }], 2, placeOf)).toStrictEqual({ rows: rows.slice(0, 2), next: 'b' })
  expect(pageOf([], 2, placeOf)).toStrictEqual({ rows: [] })
  expect(pageOf([{ rows: [], cut: { at: 5, id: 'z' } }], 2, placeOf)).toStrictEqual({ rows: [], next: 'z' })
})

test('a page ends at the first place at which reading stopped, that row included', () => {
  const rows = ['c', 'b', 'a'].map((id, at) => ({ id, at: 3 - at, tenant: 't' }))
  const later = { id: 'x', at: 2, tenant: 'u' }
  const page = pageOf(
    [
      { rows, cut: { at: 2, id: 'b' } },
      { rows: [later], cut: { at: 1, id: 'w' } },
    ],
    9,
    placeOf,
  )
  expect(page).toStrictEqual({ rows: [rows[0], later, rows[1]], next: 'b' })
})

test('law: pages that follow each other have every row once, in order, however far each tenant is read', () => {
  const item = fc.record({
    at: fc.nat(9),
    id: fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 3 }),
  })
  const items = fc.uniqueArray(item, { maxLength: 30, selector: ({ id }) => id })
  fc.assert(
    fc.property(items, fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 6 }), (made, limit, read) => {
      const all: Item[] = made.map((one, at) => ({ ...one, tenant: `t${at % 3}` })).sort(inOrder)
      /** What one tenant's rows after a place are, of which so many are looked at. */
      const found = (tenant: string, from: Place | undefined): Found<Item> => {
        const after = all.filter((one) => one.tenant === tenant && (!from || inOrder(from, one) < 0))
        const seen = after.slice(0, read)
        return { rows: seen.slice(0, limit + 1), ...(after.length > read && { cut: placeOf(seen.at(-1)!) }) }
      }
      const got: Item[] = []
      let from: Place | undefined
      for (let page = 0; page <= 2 * all.length + 1; page += 1) {
        const { rows, next } = pageOf(
          ['t0', 't1', 't2'].map((tenant) => found(tenant, from)),
          limit,
          placeOf,
        )
        expect(rows.length).toBeLessThanOrEqual(limit)
        got.push(...rows)
        if (next === undefined) break
        from = placeOf(all.find(({ id }) => id === next)!)
      }
      expect(got).toEqual(all)
    }),
  )
})

test.each<[TurnPage, boolean]>([
  [{ limit: 1 }, false],
  [{ limit: 1, tenant: 'a', before: 'x' }, false],
  [{ limit: 1, agent: 'a' }, true],
  [{ limit: 1, text: '' }, true],
  [{ limit: 1, state: 'running' }, true],
  [{ limit: 1, front: 'acp' }, true],
  [{ limit: 1, session: 's' }, true],
])('the page %j has conditions: %s', (page, has) => {
  expect(hasConditions(page)).toBe(has)
})

test('conditions are what a statement is given: small letters of ASCII, texts as columns have them, else null', () => {
  expect(sessionConditions({ limit: 1 })).toEqual({ agent: null, text: null })
  expect(sessionConditions({ limit: 1, agent: 'Coder', text: 'ÄBC\0' })).toEqual({
    agent: 'Coder',
    text: '\ufdd0"Äbc\\u0000"',
  })
  const nothing = { agent: null, text: null, front: null, state: null, session: null }
  expect(turnConditions({ limit: 1 })).toEqual(nothing)
  expect(turnConditions({ limit: 1, front: 'ACP', state: 'failed', session: '\ud800', text: 'X' })).toEqual({
    ...nothing,
    text: 'x',
    front: 'ACP',
    state: 'failed',
    session: '\ufdd0"\\ud800"',
  })
})
