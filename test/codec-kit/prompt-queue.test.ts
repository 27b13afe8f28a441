import { expect, test } from 'vitest'
import { PromptQueue } from '../../src/codec-kit/index.ts'

/** Issues numbers; negative ones end at once. */
class Numbers extends PromptQueue<number, { exchange: string }> {
  readonly issued: number[] = []

  protected issue(waiting: number): void {
    this.issued.push(waiting)
    this.start({ exchange: `e${waiting}` })
    if (waiting < 0) this.finish(`e${waiting}`)
  }

  finish(exchange: string): boolean {
    if (!this.running(exchange)) return false
    this.end()
    return true
  }

  get current(): string | undefined {
    return this.active?.exchange
  }

  withdraw(number: number): number | undefined {
    return this.take((waiting) => waiting === number)
  }
}

test('prompts run in order, one at a time', () => {
  const queue = new Numbers()
  expect(queue.idle).toBe(true)
  expect([1, 2, 3].map((number) => queue.add(number))).toEqual([true, true, true])
  expect([queue.issued, queue.current, queue.idle]).toEqual([[1], 'e1', false])
  expect(queue.finish('e2')).toBe(false)
  expect(queue.finish('e1')).toBe(true)
  expect([queue.issued, queue.current]).toEqual([[1, 2], 'e2'])
  queue.finish('e2')
  queue.finish('e3')
  expect([queue.issued, queue.current, queue.idle]).toEqual([[1, 2, 3], undefined, true])
})

test('a waiting prompt can be withdrawn, and all of them dropped', () => {
  const queue = new Numbers()
  for (const number of [1, 2, 3, 4]) queue.add(number)
  expect([queue.withdraw(3), queue.withdraw(1)]).toEqual([3, undefined])
  queue.finish('e1')
  queue.drop()
  queue.finish('e2')
  expect([queue.issued, queue.idle]).toEqual([[1, 2], true])
})

test('nothing is issued while the queue is held', () => {
  let held = true
  const queue = new Numbers(() => held)
  queue.add(1)
  queue.resume()
  expect([queue.issued, queue.idle]).toEqual([[], false])
  held = false
  queue.resume()
  expect(queue.issued).toEqual([1])
})

test('1000 prompts wait at most, and as many refused ones are no recursion', () => {
  const queue = new Numbers()
  queue.add(1)
  const added = Array.from({ length: 1001 }, (_, at) => queue.add(-1 - at))
  expect([added.lastIndexOf(true), added.indexOf(false)]).toEqual([999, 1000])
  queue.finish('e1')
  expect([queue.issued.length, queue.issued.at(-1), queue.idle]).toEqual([1001, -1000, true])
})
