import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Loss, LossLedger, lossSummary } from '../../src/model/index.ts'

const loss = fc.record({
  kind: fc.constantFrom<Loss['kind'][]>('dropped', 'weakened'),
  item: fc.constantFrom<Loss['item'][]>('ext', 'option.effort'),
  why: fc.constantFrom<Loss['why'][]>('no-place', 'policy'),
  count: fc.integer({ min: 1, max: 5 }),
})
const losses = fc.array(loss, { maxLength: 8 })
const sorted = (list: readonly Loss[]): string[] => list.map((one) => JSON.stringify(one)).sort()
const ledgerOf = (...lists: readonly (readonly Loss[])[]): LossLedger => {
  const ledger = new LossLedger()
  for (const one of lists.flat()) ledger.add(one)
  return ledger
}

describe('a ledger of losses', () => {
  test('counts equal ones together and keeps others apart', () => {
    const ledger = new LossLedger()
    ledger.add({ kind: 'dropped', item: 'ext', field: 'a', why: 'no-place', count: 1 })
    ledger.add({ kind: 'dropped', item: 'ext', field: 'b', why: 'no-place', count: 1 })
    ledger.add({ kind: 'dropped', item: 'ext', field: 'a', why: 'no-place', count: 2 })
    expect(ledger.list.map(({ field, count }) => [field, count])).toEqual([
      ['a', 3],
      ['b', 1],
    ])
    expect(lossSummary(ledger.list)).toBe('dropped=4')
  })

  test('is as if what is taken back had never been', () => {
    fc.assert(
      fc.property(losses, losses, (stay, go) => {
        const ledger = ledgerOf(stay, go)
        ledger.subtract(ledgerOf(go).list)
        expect(sorted(ledger.list)).toEqual(sorted(ledgerOf(stay).list))
      }),
    )
  })

  test('gives what it forgets', () => {
    fc.assert(
      fc.property(losses, (all) => {
        const ledger = ledgerOf(all)
        expect(sorted(ledger.clear())).toEqual(sorted(ledgerOf(all).list))
        expect(ledger.list).toEqual([])
      }),
    )
  })
})
