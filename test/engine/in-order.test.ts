import fc from 'fast-check'
import { expect, test } from 'vitest'
import { InOrder } from '../../src/engine/dispatch/in-order.ts'

test('a step that finds none before it runs at once', async () => {
  const order = new InOrder<string>()
  const begun: string[] = []
  const slow = Promise.withResolvers<void>()
  const first = order.run('a', async () => {
    begun.push('a1')
    await slow.promise
  })
  const second = order.run('a', async () => void begun.push('a2'))
  void order.run('b', async () => void begun.push('b1'))
  expect(begun).toEqual(['a1', 'b1'])
  slow.resolve()
  await Promise.all([first, second])
  expect(begun).toEqual(['a1', 'b1', 'a2'])
  const third = order.run('a', async () => void begun.push('a3'))
  expect(begun.at(-1)).toBe('a3')
  await third
})

test('law: the steps of a key never overlap and keep their order, whatever becomes of each', async () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.nat(3), fc.boolean()), { maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const order = new InOrder<string>()
      const ended: Record<string, number[]> = { a: [], b: [] }
      const running = new Set<string>()
      const results = all.map(([key, ticks, fails], at) =>
        order.run(key, async () => {
          expect(running.has(key)).toBe(false)
          running.add(key)
          for (let tick = 0; tick < ticks; tick++) await Promise.resolve()
          running.delete(key)
          ended[key]!.push(at)
          if (fails) throw at
          return at
        }),
      )
      const settled = await Promise.allSettled(results)
      expect(settled.map(({ status }) => status === 'rejected')).toEqual(all.map(([, , fails]) => fails))
      for (const key of ['a', 'b']) {
        expect(ended[key]).toEqual(all.flatMap(([of], at) => (of === key ? [at] : [])))
      }
    }),
  )
})
