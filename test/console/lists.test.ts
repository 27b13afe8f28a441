import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { filterQuery, passes, readFilters } from '../../console/logic/filters.ts'
import { readRoute, writeRoute } from '../../console/logic/route.ts'
import { TurnRows } from '../../console/logic/turn-rows.ts'
import type { TurnRow } from '../../console/logic/types.ts'
import { windowOf } from '../../console/logic/window.ts'

const TURN: TurnRow = {
  turn: 'q3-2',
  state: 'failed',
  agent: 'coder',
  front: 'zene',
  session: 's1',
  request: 'R-77',
  key: 'ops',
  code: 'timeout',
  error: 'The agent said nothing for 2m.',
  startedAt: 1_000,
}

describe('addresses', () => {
  test.each([
    ['', { page: 'overview', query: {} }],
    ['#/nowhere', { page: 'overview', query: {} }],
    ['#/turns?agent=coder&q=a%20b', { page: 'turns', query: { agent: 'coder', q: 'a b' } }],
    ['#/turns/q3%2F2', { page: 'turns', id: 'q3/2', query: {} }],
    ['#/turns/%zz', { page: 'turns', id: '%zz', query: {} }],
  ])('%s', (hash, route) => {
    expect(readRoute(hash)).toEqual(route)
  })

  test('what is written is read again', () => {
    const text = fc.string({ unit: 'binary', minLength: 1 }).filter((value) => value.isWellFormed())
    fc.assert(
      fc.property(text, text, (id, value) => {
        expect(readRoute(writeRoute('turns', id, { q: value, agent: '' }))).toEqual({
          page: 'turns',
          id,
          query: { q: value },
        })
      }),
    )
  })
})

describe('filters', () => {
  test('are those settings of the address that have a value', () => {
    expect(readFilters({ agent: 'coder', q: '', other: 'x' })).toEqual({ agent: 'coder' })
    expect(filterQuery({ q: 'a b' }, { limit: '5' })).toBe('q=a+b&limit=5')
  })

  test.each([
    [{}, true],
    [{ agent: 'coder', front: 'zene', session: 's1', state: 'failed', key: 'ops' }, true],
    [{ agent: 'other' }, false],
    [{ front: 'zot' }, false],
    [{ session: 's' }, false],
    [{ state: 'running' }, false],
    [{ key: 'web' }, false],
    [{ q: 'Q3' }, true],
    [{ q: 'r-77' }, true],
    [{ q: 'S1' }, true],
    [{ q: 'said NOTHING' }, true],
    [{ q: 'coder' }, false],
  ])('%o', (filters, passed) => {
    expect(passes(TURN, filters)).toBe(passed)
  })
})

describe('rows', () => {
  test('are in order, each once, and an ended turn does not run again', () => {
    const rows = new TurnRows()
    rows.add([TURN, { ...TURN, turn: 'q3-3', startedAt: 2_000, state: 'running' }])
    rows.add([
      { ...TURN, state: 'running' },
      { ...TURN, turn: 'q3-1' },
    ])
    rows.add([{ ...TURN, turn: 'q3-3', startedAt: 2_000, state: 'completed' }])
    expect(rows.list().map(({ turn, state }) => `${turn} ${state}`)).toEqual([
      'q3-3 completed',
      'q3-2 failed',
      'q3-1 failed',
    ])
  })

  test('are those that pass, as long as they do', () => {
    const rows = new TurnRows({ state: 'running' })
    const running: TurnRow = { ...TURN, state: 'running' }
    rows.add([running, { ...TURN, turn: 'q3-9' }])
    expect(rows.list()).toEqual([running])
    rows.add([{ ...TURN, state: 'completed' }])
    expect(rows.list()).toEqual([])
  })

  test('are at most so many, the newest', () => {
    const rows = new TurnRows({}, 2)
    rows.add([1, 2, 3].map((startedAt) => ({ ...TURN, turn: `t${startedAt}`, startedAt })))
    expect(rows.list().map(({ turn }) => turn)).toEqual(['t3', 't2'])
    rows.add([{ ...TURN, turn: 't4', startedAt: 4 }])
    expect(rows.list().map(({ turn }) => turn)).toEqual(['t4', 't3'])
  })

  test('are drawn only where the reader looks: all in sight, and not many more', () => {
    const whole = fc.integer({ min: 0, max: 20_000 })
    fc.assert(
      fc.property(whole, whole, (rows, top) => {
        const { from, to } = windowOf(rows, 36, top, 720)
        expect(from).toBeGreaterThanOrEqual(0)
        expect(to).toBeLessThanOrEqual(rows)
        expect(to - from).toBeLessThanOrEqual(46)
        const [first, last] = [Math.floor(top / 36), Math.floor((top + 719) / 36)]
        for (const row of [first, last]) if (row < rows) expect(row >= from && row < to).toBe(true)
      }),
    )
  })
})
