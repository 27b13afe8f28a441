import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Loss, LossLedger, lossSummary, mergedLosses, type SidedLoss } from '../../src/model/index.ts'

const loss = fc.record({
  kind: fc.constantFrom<Loss['kind'][]>('dropped', 'weakened'),
  item: fc.constantFrom<Loss['item'][]>('ext', 'option.effort'),
  why: fc.constantFrom<Loss['why'][]>('no-place', 'policy'),
  count: fc.integer({ min: 1, max: 5 }),
})
const losses = fc.array(loss, { maxLength: 8 })
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

  test('names so many alone, and counts all', () => {
    const lossOf = (item: Loss['item'], field: string): Loss => ({
      kind: 'dropped',
      item,
      field,
      why: 'no-place',
      count: 1,
    })
    const many = Array.from({ length: 1000 }, (_, at) => lossOf('ext', `k${at}`))
    const { list } = ledgerOf(many, many, [lossOf('part.ext', 'a'), lossOf('part.ext', 'b')])
    expect(list.slice(0, 256)).toEqual(many.slice(0, 256).map((loss) => ({ ...loss, count: 2 })))
    expect(list.slice(256)).toEqual([
      { kind: 'dropped', item: 'ext', why: 'no-place', count: 2 * (1000 - 256) },
      { kind: 'dropped', item: 'part.ext', why: 'no-place', count: 2 },
    ])
  })

  test('is empty once it is cleared', () => {
    const ledger = ledgerOf([{ kind: 'dropped', item: 'ext', why: 'no-place', count: 1 }])
    ledger.clear()
    expect(ledger.list).toEqual([])
  })
})

test('law: merged lists are what one ledger of all of them has, and stay as they are', () => {
  fc.assert(
    fc.property(losses, losses, (one, other) => {
      const before = structuredClone([one, other])
      expect(mergedLosses(one, other)).toEqual(ledgerOf(one, other).list)
      expect([one, other]).toEqual(before)
    }),
  )
})

test('a loss keeps the order of its members', () => {
  const loss: Loss = { why: 'policy', count: 2, kind: 'dropped', field: 'a', item: 'ext' }
  expect(JSON.stringify(ledgerOf([loss]).list)).toBe(JSON.stringify([loss]))
})

test('merged losses have no side', () => {
  const loss = { kind: 'dropped', item: 'ext', field: 'a', why: 'no-place', count: 1 } as const
  const sided: readonly SidedLoss[] = [
    { ...loss, side: 'agent' },
    { ...loss, side: 'client' },
  ]
  expect(mergedLosses(sided)).toEqual([{ ...loss, count: 2 }])
})
