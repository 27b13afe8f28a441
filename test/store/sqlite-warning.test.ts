import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { withoutSqliteWarning } from '../../src/store/sqlite-warning.ts'

const SQLITE = 'SQLite is an experimental feature and might change at any time'

describe('withoutSqliteWarning', () => {
  afterEach(() => vi.restoreAllMocks())

  /** What reaches the process's own `emitWarning` while `load` runs. */
  function passed(load: () => void): unknown[][] {
    const emit = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    withoutSqliteWarning(load)
    return emit.mock.calls
  }

  it('keeps the warning of node:sqlite back, in both forms', () => {
    const calls = passed(() => {
      process.emitWarning(SQLITE, 'ExperimentalWarning')
      process.emitWarning(SQLITE, { type: 'ExperimentalWarning' })
    })
    expect(calls).toEqual([])
  })

  it.each([
    ['another experimental feature', ['glob is an experimental feature', 'ExperimentalWarning']],
    ['the same text of another type', [SQLITE, 'DeprecationWarning']],
    ['the same text without a type', [SQLITE]],
    ['an error', [new Error(SQLITE)]],
    ['a type in options', ['old', { type: 'DeprecationWarning', code: 'DEP1' }]],
  ])('lets through %s', (_, args) => {
    expect(passed(() => process.emitWarning(...(args as [string])))).toEqual([args])
  })

  it('gives back what was loaded, and the own emitWarning even after a failure', () => {
    const before = process.emitWarning
    expect(withoutSqliteWarning(() => 42)).toBe(42)
    expect(() =>
      withoutSqliteWarning(() => {
        throw new Error('no such module')
      }),
    ).toThrow('no such module')
    expect(process.emitWarning).toBe(before)
  })
})

it('opening a store prints no such warning', () => {
  const store = join(import.meta.dirname, '../../src/store/index.ts')
  const script = `import { openStore } from ${JSON.stringify(store)}; openStore({ kind: 'sqlite', path: ':memory:' })`
  const flags = process.features.typescript ? [] : ['--experimental-strip-types']
  const run = spawnSync(process.execPath, [...flags, '--input-type=module', '-e', script], { encoding: 'utf8' })
  expect([run.status, run.stdout]).toEqual([0, ''])
  expect(run.stderr).not.toContain('SQLite')
})
