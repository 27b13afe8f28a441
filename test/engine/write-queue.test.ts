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

test('a write does not wait for the one before it, which the store may do together with it', async () => {
  const { it } = queue()
  const { promise, resolve } = Promise.withResolvers<void>()
  const done: string[] = []
  const slow = it.write(() => promise)
  expect(it.write(() => void done.push('next'))).toBe(true)
  expect([it.busy, done]).toEqual([true, ['next']])
  const settled = it.settled().then(() => done.push('settled'))
  resolve()
  expect(await slow).toBe(true)
  await settled
  expect([it.busy, done]).toEqual([false, ['next', 'settled']])
})

test.each([false, true])(
  'writes that are held up run in order, before those that come later (rejected: %s)',
  async (rejects) => {
    const { it, failures } = queue()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const done: string[] = []
    it.hold(promise)
    it.hold(Promise.resolve())
    const held = ['a', 'b'].map((name) => it.write(() => void done.push(name)))
    await Promise.resolve()
    expect(done).toEqual([])
    if (rejects) reject(new Error('no lease'))
    else resolve()
    expect(await Promise.all(held)).toEqual([true, true])
    expect([done, failures]).toEqual([['a', 'b'], []])
    await it.settled()
    expect(it.write(() => void done.push('at once'))).toBe(true)
    expect(done).toEqual(['a', 'b', 'at once'])
  },
)

test('law: every write begins once and in order, whether it answers at once, later or not at all, and failures are told', async () => {
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
      expect(failures.sort()).toEqual(failed)
      expect(await Promise.all(results)).toEqual(writes.map((_, at) => !failed.includes(at)))
    }),
  )
})
