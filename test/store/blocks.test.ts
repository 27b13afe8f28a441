import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { blocksOf, eventsOf } from '../../src/store/blocks.ts'

/** Events of up to three turns, each turn's numbers from 1 on without a gap, in any interleaving. */
const written = fc.array(fc.record({ turn: fc.constantFrom('a', 'b', 'c'), json: fc.json() })).map((events) => {
  const count = (turn: string, until: number) => events.slice(0, until).filter((event) => event.turn === turn).length
  return events.map(({ turn, json }, at) => ({ turn, seq: count(turn, at) + 1, json }))
})

describe('blocks', () => {
  it('give back every event of every turn, behind any number', () => {
    fc.assert(
      fc.property(written, fc.nat(12), (entries, after) => {
        const blocks = blocksOf(entries)
        for (const turn of ['a', 'b', 'c']) {
          const found = eventsOf(
            blocks.filter((block) => block.turn === turn),
            after,
          )
          expect(found).toEqual(entries.filter((entry) => entry.turn === turn && entry.seq > after))
        }
      }),
    )
  })

  it('are one row for events that follow each other, until the row is long', () => {
    const of = (count: number, units: number) =>
      Array.from({ length: count }, (_, at) => ({ turn: 't', seq: at + 1, json: `"${'x'.repeat(units - 2)}"` }))
    expect(blocksOf(of(200, 50)).map(({ seq }) => seq)).toEqual([1])
    expect(blocksOf(of(5, 40_000)).map(({ seq }) => seq)).toEqual([1, 3, 5])
  })

  it('begin anew behind a gap and with another turn', () => {
    const entries = [
      { turn: 't', seq: 1, json: '1' },
      { turn: 't', seq: 3, json: '3' },
      { turn: 'u', seq: 4, json: '4' },
    ]
    expect(blocksOf(entries)).toHaveLength(3)
  })
})
