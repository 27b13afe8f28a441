import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { ROOT } from '../kit/gateway.ts'

/** Fills and empties the heap, and then idles for longer than V8 waits here. */
const PROGRAM = `
const { keepCompiledCode } = await import('${join(ROOT, 'src/cli/compiled-code.ts')}')
if (process.argv[1] === 'keeps') await keepCompiledCode()
let kept = []
for (let i = 0; i < 200; i++) kept.push(new Array(20_000).fill(i))
kept = []
for (let i = 0; i < 300; i++) new Array(20_000).fill(i)
setTimeout(() => {}, 1000)
`

/** What V8 says of its collections in idle times. */
async function reducerOf(how: string): Promise<string> {
  const flags = ['--trace-memory-reducer', '--gc-memory-reducer-start-delay-ms=100', '--input-type=module']
  return (await promisify(execFile)(process.execPath, [...flags, '-e', PROGRAM, how])).stdout
}

test('V8 collects garbage in idle times, unless compiled code is kept', async () => {
  const [kept, plain] = await Promise.all([reducerOf('keeps'), reducerOf('collects')])
  expect(plain).toContain('waiting for')
  expect(kept).toContain('Memory reducer:')
  expect(kept).not.toContain('waiting for')
})
