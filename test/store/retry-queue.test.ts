import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { RetryQueue } from '../../src/store/retry-queue.ts'

const BUSY = new Error('busy')

/** Work that finds the lock taken `times` times. */
function busyFor(times: number, name: string, done: string[]): () => string {
  let left = times
  return () => {
    left -= 1
    if (left >= 0) throw BUSY
    done.push(name)
    return name
  }
}

describe('a retry queue', () => {
  const newQueue = (patienceMs = 60_000): RetryQueue => new RetryQueue((error) => error === BUSY, patienceMs)

  it('answers at once while nothing is in the way', () => {
    const queue = newQueue()
    expect([queue.run(() => 1), queue.run(() => 2)]).toEqual([1, 2])
  })

  it('tries again what was busy, and keeps the order of all that came after it', async () => {
    const done: string[] = []
    const queue = newQueue()
    const work = [3, 0, 2, 0].map((times, at) => queue.run(busyFor(times, `${at}`, done)))
    expect(done).toEqual([])
    expect(await Promise.all(work)).toEqual(['0', '1', '2', '3'])
    expect(done).toEqual(['0', '1', '2', '3'])
    expect(queue.run(() => 'at once again')).toBe('at once again')
  })

  it('passes on what is not busy: at once, and of work that waits', async () => {
    const queue = newQueue()
    const broken = (): never => {
      throw new Error('broken')
    }
    expect(() => queue.run(broken)).toThrow('broken')
    const first = queue.run(busyFor(1, 'first', []))
    const second = queue.run(broken)
    await expect(second).rejects.toThrow('broken')
    expect(await first).toBe('first')
    expect(await queue.run(() => 'third')).toBe('third')
  })

  it('gives up after its patience, and is patient again once something has succeeded', async () => {
    const queue = newQueue(0)
    const always = (): never => {
      throw BUSY
    }
    const given = [queue.run(always), queue.run(always)]
    expect(await Promise.allSettled(given)).toMatchObject([{ reason: BUSY }, { reason: BUSY }])
    expect(() => queue.run(always)).toThrow(BUSY)
    expect(queue.run(() => 'free')).toBe('free')
    await expect(queue.run(always)).rejects.toBe(BUSY)
  })

  it('tries what has one attempt once, in its place', async () => {
    const done: string[] = []
    const queue = newQueue()
    expect(() => queue.run(busyFor(1, 'alone', done), 'once')).toThrow(BUSY)
    const first = queue.run(busyFor(1, 'first', done))
    const second = queue.run(busyFor(1, 'second', done), 'once')
    await expect(second).rejects.toBe(BUSY)
    expect(await queue.run(busyFor(0, 'third', done), 'once')).toBe('third')
    expect(await first).toBe('first')
    expect(done).toEqual(['first', 'third'])
  })
})

describe('the pauses of a retry queue', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
  afterEach(() => {
    vi.restoreAllMocks()
    vi.useRealTimers()
  })

  /** The times of the attempts of work that finds the lock taken `times` times, with the longest pauses there may be. */
  async function attemptsOf(times: number, patienceMs = 60_000, chance = 1): Promise<{ at: number[]; end: string }> {
    vi.spyOn(Math, 'random').mockReturnValue(chance)
    const began = performance.now()
    const at: number[] = []
    const queue = new RetryQueue((error) => error === BUSY, patienceMs)
    const done = queue.run(() => {
      at.push(performance.now() - began)
      if (at.length <= times) throw BUSY
      return 'done'
    })
    const end = Promise.resolve(done).catch(String)
    await vi.advanceTimersByTimeAsync(120_000)
    return { at, end: await end }
  }

  it('grow from 2 to 32 ms', async () => {
    expect((await attemptsOf(8)).at).toEqual([0, 2, 6, 14, 30, 62, 94, 126, 158])
  })

  it('are random parts of those', async () => {
    expect((await attemptsOf(3, 60_000, 0.5)).at).toEqual([0, 1, 3, 7])
  })

  it('end with the patience', async () => {
    expect(await attemptsOf(100, 30)).toEqual({ at: [0, 2, 6, 14, 30], end: 'Error: busy' })
    expect(await attemptsOf(4, 31)).toEqual({ at: [0, 2, 6, 14, 30], end: 'done' })
  })
})

describe('work of a retry queue that has given up', () => {
  it('fails at once until some work succeeds, in its place too', async () => {
    const queue = new RetryQueue((error) => error === BUSY, 0)
    let attempts = 0
    const always = (): never => {
      attempts += 1
      throw BUSY
    }
    const first = queue.run(always)
    const second = queue.run(always)
    await expect(first).rejects.toBe(BUSY)
    await expect(second).rejects.toBe(BUSY)
    expect(attempts).toBe(2)
    expect(() => queue.run(always)).toThrow(BUSY)
    expect(attempts).toBe(3)
  })
})
