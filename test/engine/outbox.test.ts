import { setImmediate as tick } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Outbox } from '../../src/engine/client/outbox.ts'

describe('the outbox', () => {
  it('commits once, then sends in order what came in one tick', async () => {
    const done: string[] = []
    const outbox = new Outbox(
      () => void done.push('commit'),
      () => done.push('uncommitted'),
      () => done.push('unsent'),
    )
    for (const name of ['a', 'b']) outbox.add(() => done.push(name))
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
    outbox.add(() => outbox.add(() => done.push('second')))
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
    outbox.add(() => done.push('sent'))
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
    outbox.add(() => {
      throw new Error('broken')
    })
    outbox.add(() => done.push('sent'))
    await tick()
    expect(done).toEqual(['Error: broken', 'sent'])
  })
})
