import { describe, expect, test } from 'vitest'
import { importsOf, type Source } from './sources.ts'
import {
  type Count,
  classFields,
  constructorMembers,
  cycles,
  fileSizes,
  functionSizes,
  lineCounts,
  percentile,
  untestedEngineFiles,
} from './structure.ts'

/** What the structure may not exceed. Each is what has been reached: a change may lower it, never raise it. */
const LIMITS = {
  medianFile: 70,
  p90File: 180,
  p90Function: 15,
  classFields: 12,
  constructorMembers: 6,
  untestedEngineFiles: 5,
} as const

/** The lines of tests for each line of the product, at least. A change may raise it, never lower it. */
const TESTS_PER_LINE = 1.5

/** The places with more than a limit. */
function over(counts: readonly Count[], limit: number): string[] {
  return counts.filter(({ count }) => count > limit).map(({ place, count }) => `${place}: ${count}`)
}

describe('the structure', () => {
  test('has small files and functions', () => {
    expect(percentile(fileSizes(), 0.5)).toBeLessThanOrEqual(LIMITS.medianFile)
    expect(percentile(fileSizes(), 0.9)).toBeLessThanOrEqual(LIMITS.p90File)
    expect(percentile(functionSizes(), 0.9)).toBeLessThanOrEqual(LIMITS.p90Function)
  })

  test('has classes with few fields, made of few parts', () => {
    expect(over(classFields(), LIMITS.classFields)).toEqual([])
    expect(over(constructorMembers(), LIMITS.constructorMembers)).toEqual([])
  })

  test('has no circle of imports, types included', () => {
    expect(cycles()).toEqual([])
  })

  test('has tests of its own for the engine', () => {
    expect(untestedEngineFiles().length).toBeLessThanOrEqual(LIMITS.untestedEngineFiles)
  })

  test('has as many lines of tests for each line of the product as have been reached', () => {
    expect(lineCounts().ratio).toBeGreaterThanOrEqual(TESTS_PER_LINE)
  })
})

describe('the scanner', () => {
  const text = [
    "import type { Two } from './two.ts'",
    'interface Parts {',
    '  readonly one: string',
    '  two?(given: Two): void',
    '}',
    'export class One {',
    '  readonly #parts: Parts',
    '  #late: (() => void) | undefined',
    '  constructor(parts: Parts) {',
    '    this.#parts = parts',
    '  }',
    '  get late(): boolean {',
    '    if (!this.#late) {',
    '      return false',
    '    }',
    '    return true',
    '  }',
    '}',
    'export function free(',
    '  given: string,',
    '): string {',
    '  return given',
    '}',
    'class Plain extends Error {}',
    '',
  ].join('\n')
  const source = (path: string, code: string): Source => ({ path, text: code, imports: importsOf(path, code) })
  const sources = [source('src/one.ts', text), source('src/two.ts', "import { One } from './one.ts'\n")]

  test('measures files, functions, fields and what a constructor takes', () => {
    expect(fileSizes(sources)).toEqual([
      { place: 'src/one.ts', count: 24 },
      { place: 'src/two.ts', count: 1 },
    ])
    expect(functionSizes(sources)).toEqual([
      { place: 'src/one.ts constructor', count: 3 },
      { place: 'src/one.ts late', count: 6 },
      { place: 'src/one.ts free', count: 5 },
    ])
    expect(classFields(sources)).toEqual([{ place: 'src/one.ts One', count: 2 }])
    expect(constructorMembers(sources)).toEqual([{ place: 'src/one.ts One', count: 2 }])
  })

  test('counts suites apart from the product', () => {
    const suites = ['suites/zot/read.ts', 'bad-answers.ts', 'bad-requests.ts', 'kit/model-rules.ts']
    const product = ['bad-player.ts', 'kit/judges.ts', 'player.ts', 'suites.ts']
    const all = [...suites, ...product].map((path) => source(`src/conformance/${path}`, text))
    expect(lineCounts([...all, ...sources])).toMatchObject({ product: 4 * 24 + 25, suites: 4 * 24 })
  })

  test('finds circles of imports', () => {
    expect(cycles(sources)).toEqual([['src/one.ts', 'src/two.ts']])
    expect(cycles(sources.slice(0, 1))).toEqual([])
  })
})
