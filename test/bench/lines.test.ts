import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT } from '../kit/gateway.ts'
import { Bench } from './bench.ts'
import { GROUPS } from './groups.ts'

/** Processor time and memory of a process are read from /proc. */
const LINUX = process.platform === 'linux'
/** Starts 128 processes and more, on a machine that may be busy. */
const SLOW_MS = 120_000

/**
 * Lines whose figure is a difference to an estimate: in the few milliseconds that they are measured for here, idle replicas
 * may do more than they are taken to do.
 */
const ESTIMATED = new Set(['cluster-trips'])

describe.skipIf(!LINUX || !existsSync(join(ROOT, 'dist/turnpike.cjs')))(
  'every line is measured once (Linux, built)',
  () => {
    let bench: Bench

    beforeAll(() => {
      bench = new Bench({ ms: 20, times: 1, scale: 0.01, widest: 8 })
    })
    afterAll(() => bench.close())

    test.each(GROUPS.map((group) => [group.name, group] as const))(
      '%s',
      async (_name, group) => {
        const samples = await group.round(bench)
        for (const { name, by } of group.lines) {
          const { figure, limit } = samples[name]!
          if (ESTIMATED.has(name)) expect(figure, name).toEqual(expect.any(Number))
          else expect(figure, name).toBeGreaterThan(0)
          if (by !== 'figure') expect(limit, name).toBeGreaterThan(0)
        }
      },
      SLOW_MS,
    )
  },
)
