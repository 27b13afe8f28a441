import { describe, expect, test } from 'vitest'
import { median, quantile } from './statistics.ts'
import { type LineInfo, markdown, missedBy, type Results, regressions, rowOf, shown, worsened } from './table.ts'

const FAST: LineInfo = {
  name: 'fast',
  what: 'turns/s',
  unit: '/s',
  against: 'bridge',
  by: 'ratio',
  budget: 0.8,
  bound: 'least',
}
const SOON: LineInfo = {
  ...FAST,
  name: 'soon',
  what: 'first event',
  unit: 'ms',
  by: 'difference',
  budget: 0.5,
  bound: 'most',
}
const SMALL: LineInfo = { ...FAST, name: 'small', what: 'memory', unit: 'MB', by: 'figure', budget: 90, bound: 'most' }

const results = (rows: Results['rows']): Results => ({
  machine: { 'Node.js': 'v24' },
  command: 'bench',
  date: 'today',
  lost: [0, 0.5, 0.02],
  quiet: true,
  rows,
})

describe('statistics', () => {
  test('the value in the middle, and shares of the values', () => {
    expect(median([3, 1, 2])).toBe(2)
    expect(median([4, 1, 3, 2])).toBe(2.5)
    expect(quantile([10, 20, 30, 40, 50], 0.25)).toBe(20)
    expect(quantile([1], 0.99)).toBe(1)
    expect(median([])).toBeNaN()
  })
})

describe('a row', () => {
  test('is the median of what each round gave, not the quotient of medians', () => {
    const samples = [
      { figure: 80, limit: 100 },
      { figure: 45, limit: 50 },
      { figure: 700, limit: 1000 },
    ]
    expect(rowOf(FAST, samples)).toEqual({ ...FAST, figure: 80, limit: 100, value: 0.8, met: true, rounds: 3 })
  })

  test('may be a difference or a figure without a limit', () => {
    expect(rowOf(SOON, [{ figure: 2, limit: 1.25 }])).toMatchObject({ value: 0.75, met: false })
    expect(rowOf(SMALL, [{ figure: 90, limit: 0 }])).toMatchObject({ value: 90, met: true })
  })

  test('says by how much it is outside of its budget', () => {
    expect(missedBy(rowOf(FAST, [{ figure: 60, limit: 100 }]))).toBe('25.0 %')
    expect(missedBy(rowOf(SOON, [{ figure: 2, limit: 1.25 }]))).toBe('50.0 %')
    expect(missedBy(rowOf(FAST, [{ figure: 90, limit: 100 }]))).toBe('')
  })
})

describe('two runs', () => {
  const before = [rowOf(FAST, [{ figure: 80, limit: 100 }]), rowOf(SMALL, [{ figure: 50, limit: 0 }])]

  test('less of what should be much and more of what should be little is worse', () => {
    expect(worsened(before[0]!, rowOf(FAST, [{ figure: 40, limit: 100 }]))).toBe(0.5)
    expect(worsened(before[0]!, rowOf(FAST, [{ figure: 120, limit: 100 }]))).toBeCloseTo(-0.5)
    expect(worsened(before[1]!, rowOf(SMALL, [{ figure: 75, limit: 0 }]))).toBe(0.5)
  })

  test('only a fall over the allowed one is named', () => {
    const now = [rowOf(FAST, [{ figure: 73, limit: 100 }]), rowOf(SMALL, [{ figure: 60, limit: 0 }])]
    expect(regressions(results(before), results(now), 0.1)).toEqual(['small is worse by 20.0 % (50.0 was, 60.0 is)'])
    expect(regressions(results([]), results(now), 0.1)).toEqual([])
  })
})

test('numbers have three figures that count', () => {
  expect([1234.5, 123.4, 12.34, 1.234, 0.1234, Number.NaN].map(shown)).toEqual([
    '1235',
    '123',
    '12.3',
    '1.23',
    '0.123',
    '-',
  ])
})

test('the table', () => {
  const table = markdown(results([rowOf(FAST, [{ figure: 60, limit: 100 }]), rowOf(SMALL, [{ figure: 50, limit: 0 }])]))
  expect(table.split('\n')).toEqual([
    '- date: today',
    '- command: `bench`',
    '- Node.js: v24',
    '- processor time lost to others: median 2.00 %',
    '',
    '| line | what | figure | limit | ratio, difference or figure | budget | met |',
    '|---|---|---|---|---|---|---|',
    '| `fast` | turns/s | 60.0 /s | 100 (bridge) | 0.600 | ≥ 0.8 | no, by 25.0 % |',
    '| `small` | memory | 50.0 MB | - | 50.0 | ≤ 90 | yes |',
    '',
    '- `fast`: not known',
    '',
  ])
})

test('the table names what limits the lines that miss their budgets, those with one reason together', () => {
  const slow = { ...FAST, name: 'slow', limitedBy: 'the disk' }
  const missed = [slow, { ...slow, name: 'slower' }].map((line) => rowOf(line, [{ figure: 60, limit: 100 }]))
  const met = rowOf({ ...slow, name: 'good' }, [{ figure: 90, limit: 100 }])
  const table = markdown(results([...missed, met]))
  expect(table.split('\n').slice(-3)).toEqual(['', '- `slow`, `slower`: the disk', ''])
})
