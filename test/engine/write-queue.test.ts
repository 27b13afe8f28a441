import fc from 'fast-check'
import { expect, test } from 'vitest'
import { WriteQueue } from '../../src/engine/record/write-queue.ts'

/** A queue, and the errors that it was told of. */
function queue() {
  const failures: unknown[] = []
  return { it: new WriteQueue((error) => failures.push(error)), failures }
}

test('a write runs at once while the store answers at once', () => {
  const { it } = queue()
  const done: number[] = []
  expect([it.write(() => done.push(1)), it.write(() => done.push(2))]).toEqual([true, true])
  expect(done).toEqual([1, 2])
})

test('a write waits for the one before it', async () => {
  const { it } = queue()
  const done: string[] = []
  let release = (): void => {}
  const slow = it.write(() => new Promise<void>((resolve) => (release = resolve)).then(() => void done.push('slow')))
  const next = it.write(() => void done.push('next'))
  const settled = it.settled().then(() => done.push('settled'))
  await Promise.resolve()
  expect(done).toEqual([])
  release()
  expect([await slow, await next]).toEqual([true, true])
  await settled
  expect(done).toEqual(['slow', 'next', 'settled'])
  expect(it.write(() => void done.push('at once'))).toBe(true)
})

test('law: every write runs once and in order, whether it answers at once, later or not at all, and failures are told', async () => {
  const kinds = fc.constantFrom('now', 'later', 'throws', 'rejects')
  await fc.assert(
    fc.asyncProperty(fc.array(kinds, { maxLength: 12 }), async (writes) => {
      const { it, failures } = queue()
      const begun: number[] = []
      const results = writes.map((kind, at) =>
        it.write(() => {
          begun.push(at)
          if (kind === 'throws') throw at
          if (kind === 'later') return Promise.resolve()
          if (kind === 'rejects') return Promise.reject(at)
        }),
      )
      await it.settled()
      expect(begun).toEqual(writes.map((_, at) => at))
      const failed = writes.flatMap((kind, at) => (kind === 'throws' || kind === 'rejects' ? [at] : []))
      expect(failures).toEqual(failed)
      expect(await Promise.all(results)).toEqual(writes.map((_, at) => !failed.includes(at)))
    }),
  )
})
