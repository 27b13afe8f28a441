import { execFile } from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import v8 from 'node:v8'
import { expect, test, vi } from 'vitest'
import { boundCompilers, compileSooner, keepCompiledCode } from '../../src/cli/compiled-code.ts'
import { ROOT } from '../kit/gateway.ts'

const run = promisify(execFile)
const MB = 2 ** 20

/** The flags that put collections in idle times off. */
const PUT_OFF = ['--gc-memory-reducer-start-delay-ms=2147483647', '--memory-reducer-delay-ms=2147483647']

/** Fills and empties the heap again and again, and keeps compiled code from a time on, in milliseconds. */
const PROGRAM = `
const { keepCompiledCode } = await import('${join(ROOT, 'src/cli/compiled-code.ts')}')
setTimeout(keepCompiledCode, Number(process.argv[1]))
for (let round = 0; round < 4; round++) {
  const kept = []
  for (let i = 0; i < 200; i++) kept.push(new Array(20_000).fill(i))
  await new Promise((resolve) => setTimeout(resolve, 400))
}
`

test('sets the flags that Node.js knows, and no others', async () => {
  const set = vi.spyOn(v8, 'setFlagsFromString').mockReturnValue(undefined)
  syncBuiltinESMExports()
  await boundCompilers()
  await compileSooner()
  await keepCompiledCode()
  const flags = set.mock.calls.flat()
  set.mockRestore()
  syncBuiltinESMExports()
  const { stdout } = await run(process.execPath, ['--v8-options'], { maxBuffer: 10_000_000 })
  const isKnown = (flag: string): boolean => stdout.includes(`  ${flag} (`)
  expect(flags).toEqual([
    '--concurrent-turbofan-max-threads=1',
    '--no-maglev-destroy-on-background',
    ...(isKnown('--invocation-count-for-turbofan') ? ['--invocation-count-for-turbofan=1000'] : []),
    ...(isKnown('--memory-reducer-favors-memory') ? ['--no-memory-reducer-favors-memory'] : []),
    ...(isKnown('--memory-reducer-delay-ms') ? PUT_OFF : []),
    '--retain-maps-for-n-gc=1000',
  ])
  expect(isKnown('--concurrent-turbofan-max-threads')).toBe(true)
  expect(isKnown('--maglev-destroy-on-background')).toBe(true)
  expect(isKnown('--retain-maps-for-n-gc')).toBe(true)
})

test.each([
  ['12.4.254.21-node.57', []],
  ['13.5.1', []],
  ['13.6.233.17-node.30', ['--no-memory-reducer-favors-memory']],
  ['14.1.146.11-node.25', ['--no-memory-reducer-favors-memory']],
  ['14.5.1', []],
  ['14.6.202.34-node.40', PUT_OFF],
  ['15.0.1', []],
])('has V8 %s keep memory in idle times: %j', async (version, flags) => {
  const set = vi.spyOn(v8, 'setFlagsFromString').mockReturnValue(undefined)
  syncBuiltinESMExports()
  await keepCompiledCode(version)
  expect(set.mock.calls.flat()).toEqual([...flags, '--retain-maps-for-n-gc=1000'])
  set.mockRestore()
  syncBuiltinESMExports()
})

test.each([
  ['12.4.254.21-node.57', false],
  ['13.5.1', false],
  ['13.6.233.17-node.30', true],
  ['14.6.202.34-node.40', true],
  ['14.7.1', false],
])('asks V8 %s to optimize sooner: %j', async (version, asks) => {
  const set = vi.spyOn(v8, 'setFlagsFromString').mockReturnValue(undefined)
  syncBuiltinESMExports()
  await compileSooner(version)
  expect(set.mock.calls.flat()).toEqual(asks ? ['--invocation-count-for-turbofan=1000'] : [])
  set.mockRestore()
  syncBuiltinESMExports()
})

test.each([
  ['13.6.233.17-node.63', ['--memory-reducer-favors-memory'], ['--no-memory-reducer-favors-memory']],
  ['14.6.202.34-node.40', ['--gc-memory-reducer-start-delay-ms=30000', '--memory-reducer-delay-ms=8000'], PUT_OFF],
])('lets V8 %s give memory back once much of it is outside of the heap', async (version, gives, keeps) => {
  vi.useFakeTimers()
  const set = vi.spyOn(v8, 'setFlagsFromString').mockReturnValue(undefined)
  syncBuiltinESMExports()
  const usage = vi.spyOn(process, 'memoryUsage')
  const outside = (mb: number) =>
    void usage.mockReturnValue({
      rss: (150 + mb) * MB,
      heapTotal: 120 * MB,
      external: 30 * MB,
      heapUsed: 0,
      arrayBuffers: 0,
    })
  outside(60)
  await keepCompiledCode(version)
  set.mockClear()
  const flagsAfter = (mb: number): unknown[] => {
    outside(mb)
    vi.advanceTimersByTime(4000)
    return set.mock.calls.splice(0).flat()
  }
  expect(flagsAfter(160)).toEqual([])
  expect(flagsAfter(161)).toEqual(gives)
  expect(flagsAfter(180)).toEqual([])
  expect(flagsAfter(70)).toEqual(keeps)
  vi.useRealTimers()
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

test('collects the garbage of a very large answer once, when nothing else is done', async () => {
  vi.useFakeTimers()
  const set = vi.spyOn(v8, 'setFlagsFromString')
  syncBuiltinESMExports()
  const [usage, cpu] = [vi.spyOn(process, 'memoryUsage'), vi.spyOn(process, 'cpuUsage')]
  const { rss, external, heapTotal, arrayBuffers } = process.memoryUsage()
  const used = (mb: number) => void usage.mockReturnValue({ rss, external, heapTotal, arrayBuffers, heapUsed: mb * MB })
  const spent = (ms: number) => void cpu.mockReturnValue({ user: ms * 500, system: ms * 500 })
  used(50)
  spent(0)
  await keepCompiledCode()
  const collections = (mb: number, ms: number): number => {
    used(mb)
    spent(ms)
    set.mockClear()
    vi.advanceTimersByTime(4000)
    return set.mock.calls.filter(([flag]) => flag === '--expose-gc').length
  }
  expect(collections(40, 0)).toBe(0)
  expect(collections(140, 0)).toBe(0)
  expect(collections(500, 100)).toBe(0)
  expect(collections(500, 99)).toBe(1)
  // What is still there is no garbage.
  expect(collections(600, 0)).toBe(0)
  expect(collections(601, 0)).toBe(1)
  expect('gc' in globalThis).toBe(false)
  vi.useRealTimers()
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

test.each(['0', '50', '150', '300', '450', '600'])('collections may be under way: after %s ms', async (after) => {
  const flags = ['--gc-memory-reducer-start-delay-ms=100', '--input-type=module']
  await expect(run(process.execPath, [...flags, '-e', PROGRAM, after])).resolves.toEqual({ stdout: '', stderr: '' })
})
