import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { ROOT } from '../kit/gateway.ts'

/**
 * Fills and empties the heap again and again, and idles between for longer than V8 waits here; keeps compiled code from a
 * time on, in milliseconds, if any.
 */
const PROGRAM = `
const { keepCompiledCode } = await import('${join(ROOT, 'src/cli/compiled-code.ts')}')
const idle = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const use = () => {
  let kept = []
  for (let i = 0; i < 200; i++) kept.push(new Array(20_000).fill(i))
}
if (process.argv[1] === '0') await keepCompiledCode()
else if (process.argv[1] !== undefined) setTimeout(keepCompiledCode, Number(process.argv[1]))
for (let round = 0; round < 4; round++) {
  use()
  await idle(400)
}
`

/** What V8 says of its collections in idle times. */
async function collections(...after: string[]): Promise<string> {
  const flags = ['--trace-memory-reducer', '--gc-memory-reducer-start-delay-ms=100', '--input-type=module']
  return (await promisify(execFile)(process.execPath, [...flags, '-e', PROGRAM, ...after])).stdout
}

test('V8 collects garbage in idle times, unless compiled code is kept', async () => {
  const [plain, kept] = await Promise.all([collections(), collections('0')])
  expect(plain).toContain('Memory reducer: waiting for')
  expect(kept).toBe('')
})

test.each(['50', '150', '300', '450', '600'])('such collections may be under way: after %s ms', async (after) => {
  await expect(collections(after)).resolves.toEqual(expect.any(String))
})
