import { setImmediate as tick } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Outbox, type Outgoing } from '../../src/engine/client/outbox.ts'

/** An output that has nothing to keep back. */
const output = (flush: () => void): Outgoing => ({ mark: () => 0, flush })

describe('the outbox', () => {
  it('commits once, then sends in order what came in one tick', async () => {
    const done: string[] = []
    const outbox = new Outbox(
      () => void done.push('commit'),
      () => done.push('uncommitted'),
      () => done.push('unsent'),
    )
    for (const name of ['a', 'b']) outbox.add(output(() => done.push(name)))
    expect(done).toEqual([])
    await tick()
    expect(done).toEqual(['commit', 'a', 'b'])
  })

  it('sends what a send adds behind the next commit', async () => {
    const done: string[] = []
    const outbox = new Outbox(
      () => void done.push('commit'),
      () => {},
      () => {},
    )
    outbox.add(output(() => outbox.add(output(() => done.push('second')))))
    await tick()
    await tick()
    expect(done).toEqual(['commit', 'commit', 'second'])
  })

  it.each([
    ['rejects', () => Promise.reject(new Error('full'))],
    [
      'throws',
      () => {
        throw new Error('full')
      },
    ],
  ])('sends all the same when the commit %s, and says so', async (_how, commit) => {
    const done: string[] = []
    const outbox = new Outbox(
      commit,
      (error) => {
        done.push(String(error))
        queueMicrotask(() => done.push('heard'))
      },
      () => done.push('unsent'),
    )
    outbox.add(output(() => done.push('sent')))
    await tick()
    await tick()
    expect(done).toEqual(['Error: full', 'heard', 'sent'])
  })

  it('sends the rest when one of them throws, and says so', async () => {
    const done: string[] = []
    const outbox = new Outbox(
      () => {},
      () => done.push('uncommitted'),
      (error) => done.push(String(error)),
    )
    outbox.add(
      output(() => {
        throw new Error('broken')
      }),
    )
    outbox.add(output(() => done.push('sent')))
    await tick()
    expect(done).toEqual(['Error: broken', 'sent'])
  })

  it('flushes what was there when the commit began, in the order of the commits', async () => {
    const commits: (() => void)[] = []
    const done: number[] = []
    let there = 0
    const outbox = new Outbox(
      () => new Promise((resolve) => commits.push(resolve)),
      () => {},
      () => {},
    )
    const growing: Outgoing = { mark: () => there, flush: (until) => done.push(until) }
    for (const place of [1, 2]) {
      there = place
      outbox.add(growing)
      await tick()
    }
    there = 3
    expect([commits.length, done]).toEqual([2, []])
    for (const resolve of commits) resolve()
    await tick()
    expect(done).toEqual([1, 2])
  })

  it('is empty when everything has left: also what waits for a commit, and what a send adds', async () => {
    const commits: (() => void)[] = []
    const done: string[] = []
    const outbox = new Outbox(
      () => new Promise((resolve) => commits.push(resolve)),
      () => {},
      () => {},
    )
    outbox.add(output(() => outbox.add(output(() => done.push('second')))))
    const empty = outbox.untilEmpty().then(() => done.push('empty'))
    await tick()
    for (const resolve of commits.splice(0)) resolve()
    await tick()
    await tick()
    expect(done).toEqual([])
    for (const resolve of commits.splice(0)) resolve()
    await empty
    expect(done).toEqual(['second', 'empty'])
  })
})
