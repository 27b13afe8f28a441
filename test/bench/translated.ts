/** Lines of translation alone: a wire of one protocol in memory, into a wire of another. */
import type { Group } from './bench.ts'
import { MOST, pairs } from './pairs.ts'
import { median } from './statistics.ts'

const LIMITED =
  'two thirds of a run are the fixed costs of its turn: both links, one request, the closing lines. The median was 3.7 and ' +
  'the worst 8.7 before deltas were read by their shape, 1.5 and 2.3 before all fronts wrote those of one read together'

/** The groups of this file. */
export const TRANSLATED: readonly Group[] = [
  {
    name: 'translation',
    lines: [
      {
        name: 'translation-median',
        what: 'translation alone, wire to wire in memory, of all pairs: time per event, median',
        unit: 'µs',
        against: 'JSON.parse + JSON.stringify',
        by: 'ratio',
        budget: 1.5,
        bound: 'most',
        limitedBy: LIMITED,
      },
      {
        name: 'translation-worst',
        what: 'translation alone, wire to wire in memory, of all pairs: time per event, worst',
        unit: 'µs',
        against: 'JSON.parse + JSON.stringify',
        by: 'ratio',
        budget: 2.5,
        bound: 'most',
        limitedBy: LIMITED,
      },
    ],
    async round({ amounts, warming }) {
      const ms = amounts.ms < 100 ? 1 : Math.min(MOST, amounts.ms / 20)
      const begin = performance.now()
      let all = await pairs(ms)
      while (performance.now() - begin < (warming?.ms ?? 0) / 2) all = await pairs(ms)
      const ratios = all.map(({ micros, baseline }) => micros / baseline)
      const middle = median(ratios)
      const near = all.toSorted((a, b) => distance(a, middle) - distance(b, middle))[0]!
      const worst = all.toSorted((a, b) => b.micros / b.baseline - a.micros / a.baseline)[0]!
      if (process.env['BENCH_PAIRS']) {
        for (const { from, to, micros, baseline } of all) {
          process.stderr.write(`${from} -> ${to}: ${(micros / baseline).toFixed(2)}\n`)
        }
      }
      return {
        'translation-median': { figure: near.micros, limit: near.micros / middle },
        'translation-worst': { figure: worst.micros, limit: worst.baseline },
      }
    },
  },
]

function distance({ micros, baseline }: { micros: number; baseline: number }, to: number): number {
  return Math.abs(micros / baseline - to)
}
