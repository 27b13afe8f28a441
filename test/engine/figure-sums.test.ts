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
