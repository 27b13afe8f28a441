import { execFile } from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import v8 from 'node:v8'
import { expect, test, vi } from 'vitest'
import { keepCompiledCode } from '../../src/cli/compiled-code.ts'
import { ROOT } from '../kit/gateway.ts'

const run = promisify(execFile)

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

test('sets flags that Node.js knows', async () => {
  const set = vi.spyOn(v8, 'setFlagsFromString').mockReturnValue(undefined)
  syncBuiltinESMExports()
  await keepCompiledCode()
  expect(set.mock.calls).toEqual([['--no-memory-reducer-favors-memory'], ['--retain-maps-for-n-gc=1000']])
  set.mockRestore()
  syncBuiltinESMExports()
  const { stdout } = await run(process.execPath, ['--v8-options'], { maxBuffer: 10_000_000 })
  for (const flag of ['--memory-reducer-favors-memory (', '--retain-maps-for-n-gc (']) expect(stdout).toContain(flag)
})

test.each(['0', '50', '150', '300', '450', '600'])('collections may be under way: after %s ms', async (after) => {
  const flags = ['--gc-memory-reducer-start-delay-ms=100', '--input-type=module']
  await expect(run(process.execPath, [...flags, '-e', PROGRAM, after])).resolves.toEqual({ stdout: '', stderr: '' })
})
