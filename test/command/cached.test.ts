import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../kit/gateway.ts'

/** Loads a file by `src/startup/cached.cjs` in a folder of its own, whose code is kept in `dist/cache`; then runs `behind`. */
function run(folder: string, behind: string, options: string[] = []): number | null {
  for (const part of ['cli', 'dist']) mkdirSync(join(folder, part), { recursive: true })
  writeFileSync(join(folder, 'file.cjs'), 'exports.answer = 42')
  const load = `require(${JSON.stringify(join(ROOT, 'src/startup/cached.cjs'))}).load(${JSON.stringify(join(folder, 'file.cjs'))}, 'b')`
  const code = `if (${load}.answer !== 42) process.exit(1); ${behind}`
  const env = { ...process.env, TURNPIKE_CACHE: './cli/../dist/cache' }
  return spawnSync(process.execPath, [...options, '-e', code], { cwd: folder, env, timeout: 4000 }).status
}

test('the code that V8 has made is kept by a process that succeeds, and not where the program has gone', () => {
  const place = mkdtempSync(join(tmpdir(), 'turnpike-cached-'))
  try {
    const kept = join(place, 'kept')
    expect(run(kept, '')).toBe(0)
    expect(readdirSync(join(kept, 'dist/cache'))).toHaveLength(1)
    // V8 takes the code of a process with other options for none of its own.
    expect(run(kept, '', ['--max-semi-space-size=8'])).toBe(0)
    expect(run(kept, '', ['--max-semi-space-size=8'])).toBe(0)
    expect(readdirSync(join(kept, 'dist/cache'))).toHaveLength(2)
    // Later ones add what they have compiled, until there have been enough.
    const late = (): string[] => readdirSync(join(kept, 'dist/cache')).filter((name) => name.includes('=8'))
    expect(late()).toEqual([expect.stringMatching(/\.2$/)])
    for (let n = 0; n < 3; n += 1) expect(run(kept, '', ['--max-semi-space-size=8'])).toBe(0)
    expect(late()).toEqual([expect.stringMatching(/\.3$/)])
    const failed = join(place, 'failed')
    expect(run(failed, 'process.exitCode = 3')).toBe(3)
    expect(existsSync(join(failed, 'dist/cache'))).toBe(false)
    const gone = join(place, 'gone')
    expect(run(gone, `require('node:fs').rmSync(${JSON.stringify(gone)}, { recursive: true })`)).toBe(0)
    expect(existsSync(gone)).toBe(false)
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
})
