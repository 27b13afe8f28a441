import fc from 'fast-check'
import { expect, test } from 'vitest'
import { count } from '../../src/engine/common/index.ts'
import {
  type Cell,
  figureOf,
  heardCell,
  newSum,
  type ToldCell,
  toldCell,
} from '../../src/engine/session/figure-sums.ts'

const cell: fc.Arbitrary<Cell> = fc
  .record({
    turns: fc.nat(9),
    failed: fc.nat(9),
    input: fc.nat(99),
    output: fc.nat(99),
    costUsd: fc.nat(9),
    durations: fc.array(fc.nat(2_000_000_000)),
    firstEvents: fc.array(fc.nat(1000)),
  })
  .map(({ durations, firstEvents, ...sums }) => {
    const sum = { ...newSum(), ...sums }
    for (const ms of durations) count(sum.total, ms)
    for (const ms of firstEvents) count(sum.firstEvent, ms)
    return { tenant: 'acme', agent: 'coder', sum }
  })

test('law: figures are the same whether replicas tell their cells or one process has counted all of them', () => {
  fc.assert(
    fc.property(fc.array(cell), fc.array(cell), (own, others) => {
      const told = JSON.parse(JSON.stringify(others.map((other) => toldCell(7, other)))) as ToldCell[]
      expect(figureOf([...own, ...told.map(heardCell)])).toEqual(figureOf([...own, ...others]))
    }),
  )
})

test('a replica does not tell whose turns it has counted', () => {
  expect(JSON.stringify(toldCell(7, { tenant: 'acme', agent: 'coder', sum: newSum() }))).not.toContain('acme')
})

test('a new sum has nothing, in histograms of its own', () => {
  const [one, other] = [newSum(), newSum()]
  count(one.total, 5)
  count(one.firstEvent, 5)
  const empty = { turns: 0, failed: 0, input: 0, output: 0, costUsd: 0 }
  expect(other).toMatchObject(empty)
  expect(figureOf([{ tenant: 't', agent: 'a', sum: other }])).toStrictEqual(empty)
})

test('a figure has the sum of its cells, and the percentiles of all durations', () => {
  const of = (factor: number): Cell => {
    const sum = { ...newSum(), turns: factor, failed: 2 * factor, input: 3 * factor, output: 4 * factor }
    sum.costUsd = factor / 2
    count(sum.total, 100 * factor)
    count(sum.firstEvent, factor)
    return { tenant: 't', agent: 'a', sum }
  }
  expect(figureOf([of(1), of(10)])).toEqual({
    turns: 11,
    failed: 22,
    input: 33,
    output: 44,
    costUsd: 5.5,
    firstEvent: { p50: 1, p95: 10 },
    total: { p50: 99, p95: 939 },
  })
})

test('a figure has no durations where no turn had any', () => {
  const sum = { ...newSum(), turns: 1 }
  count(sum.total, 0)
  expect(figureOf([{ tenant: 't', agent: 'a', sum }])).toStrictEqual({
    turns: 1,
    failed: 0,
    input: 0,
    output: 0,
    costUsd: 0,
    total: { p50: 0, p95: 0 },
  })
})

test('a replica tells the buckets that have counts, and nothing of the others', () => {
  const sum = { ...newSum(), turns: 2 }
  count(sum.total, 1)
  count(sum.total, 1)
  count(sum.total, 2)
  const told = toldCell(7, { tenant: 'acme', agent: 'coder', sum })
  expect(told).toEqual({
    minute: 7,
    agent: 'coder',
    sum: { turns: 2, failed: 0, input: 0, output: 0, costUsd: 0, firstEvent: {}, total: { 1: 2, 5: 1 } },
  })
  expect(heardCell(told)).toEqual({ tenant: '', agent: 'coder', sum })
})
