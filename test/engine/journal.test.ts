import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { JournalEntry, Store } from '../../src/contract/index.ts'
import { Journal } from '../../src/engine/record/journal.ts'
import type { TurnEvent } from '../../src/model/index.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const text = (said: string): TurnEvent => ({ type: 'text-delta', turn: 't', message: 'm', text: said })
const END: TurnEvent = { type: 'turn-end', turn: 't', outcome: 'completed' }

/** A journal, and what its store was given, write by write. */
function journal(append: (entries: readonly JournalEntry[]) => void | Promise<void> = () => {}) {
  const writes: string[][] = []
  const failures: string[] = []
  const store: Pick<Store, 'appendEvents'> = {
    appendEvents(entries) {
      writes.push(entries.map(({ turn, seq }) => `${turn}${seq}`))
      return append(entries)
    },
  }
  return { it: new Journal(store as Store, (error) => failures.push(String(error))), writes, failures }
}

test('events wait for those that come with them, at most 50 ms', () => {
  const { it, writes } = journal()
  it.append('a', 1, text('x'))
  it.append('b', 1, text('x'))
  it.append('a', 2, text('x'))
  vi.advanceTimersByTime(49)
  expect(writes).toEqual([])
  vi.advanceTimersByTime(1)
  expect(writes).toEqual([['a1', 'a2', 'b1']])
})

test('an end is written at once, with what its turn has waiting, and no other turn’s', () => {
  const { it, writes } = journal()
  it.append('a', 1, text('x'))
  it.append('b', 1, text('x'))
  it.append('a', 2, END)
  expect(writes).toEqual([['a1', 'a2']])
  vi.advanceTimersByTime(50)
  expect(writes).toEqual([['a1', 'a2'], ['b1']])
})

test('more than a mebi of characters does not wait', () => {
  const { it, writes } = journal()
  it.append('a', 1, text('x'.repeat(600_000)))
  it.append('b', 1, text('x'.repeat(600_000)))
  expect(writes).toEqual([['a1', 'b1']])
})

describe('a store that takes its time', () => {
  test('gets one write after the other, in order', async () => {
    const gates: (() => void)[] = []
    const { it, writes } = journal(() => new Promise<void>((resolve) => gates.push(resolve)))
    it.append('a', 1, END)
    it.append('b', 1, END)
    const flushed = it.flush()
    expect(writes).toEqual([['a1']])
    gates.shift()!()
    await vi.advanceTimersByTimeAsync(0)
    expect(writes).toEqual([['a1'], ['b1']])
    gates.shift()!()
    await flushed
  })

  test('that rejects is heard of, and gets the next write all the same', async () => {
    let times = 0
    const { it, writes, failures } = journal(async () => {
      times += 1
      if (times === 1) throw new Error('full')
    })
    it.append('a', 1, END)
    it.append('b', 1, END)
    await it.flush()
    expect([writes, failures]).toEqual([[['a1'], ['b1']], ['Error: full']])
  })
})

test('a store that throws is heard of', () => {
  const { it, failures } = journal(() => {
    throw new Error('full')
  })
  it.append('a', 1, END)
  expect(failures).toEqual(['Error: full'])
})

test('law: every event is written once, and those of a turn in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.boolean(), fc.nat(60)), { maxLength: 20 }),
      fc.boolean(),
      async (steps, later) => {
        const { it, writes } = journal(later ? async () => {} : () => {})
        const seqs = { a: 0, b: 0 } as Record<string, number>
        const appended: string[] = []
        for (const [turn, end, ms] of steps) {
          seqs[turn]! += 1
          const seq = seqs[turn]!
          appended.push(`${turn}${seq}`)
          it.append(turn, seq, end ? END : text('x'))
          await vi.advanceTimersByTimeAsync(ms)
        }
        await it.flush()
        for (const turn of ['a', 'b'])
          expect(writes.flat().filter((id) => id.startsWith(turn))).toEqual(
            appended.filter((id) => id.startsWith(turn)),
          )
      },
    ),
  )
})
