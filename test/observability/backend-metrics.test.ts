import { expect, test } from 'vitest'
import { openMetrics } from '../../observability/index.ts'
import { type Backend, silentHooks } from '../../src/contract/index.ts'

test('a counted backend does all that its backend does', async () => {
  const asked: string[] = []
  // A member that is added to backends does not compile without a place here.
  const full: Required<Backend> = {
    open: () => ({ write: () => true, endInput() {}, pause() {}, resume() {}, stop() {} }),
    close: async (graceMs) => void asked.push(`close ${graceMs}`),
    file: async ({ path }) => ({ text: path }),
    isWithin: (path) => path === '/in',
  }
  const metrics = await openMetrics()
  const counted = metrics.hooks(silentHooks).backend!('it', full)
  expect(Object.keys(counted).toSorted()).toEqual(Object.keys(full).toSorted())
  expect(await counted.file!({ kind: 'read', path: '/a', roots: [] })).toEqual({ text: '/a' })
  expect(['/in', '/out'].map((path) => counted.isWithin!(path, []))).toEqual([true, false])
  await counted.close(5)
  expect(asked).toEqual(['close 5'])
  const { file: _, isWithin: __, ...plain } = full
  expect(Object.keys(metrics.hooks(silentHooks).backend!('it', plain))).toEqual(['open', 'close'])
  metrics.close()
})
