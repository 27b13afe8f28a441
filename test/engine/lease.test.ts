import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { LeaseRef, Store } from '../../src/contract/index.ts'
import { LOST } from '../../src/engine/common/faults.ts'
import { LAST_CALL_MS, Lease, leaseTimes, RENEW_MS } from '../../src/engine/record/lease.ts'
import type { Fault } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { SILENT_LOG } from '../kit/plain.ts'
import { storeFailure } from '../kit/store-failure.ts'

const EXPIRES_MS = 5000

let store: Store
let turns: { busy: boolean; refuse: (why: Fault) => void }
let losses: number
let lease: Lease
let now: number

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'hrtime'] })
  store = openStore({ kind: 'sqlite', path: ':memory:' })
  now = 1000
  losses = 0
  const refuse = (why: Fault): void => {
    expect(why).toBe(LOST)
    losses += 1
  }
  turns = { busy: true, refuse }
  lease = newLease()
})
afterEach(async () => {
  vi.useRealTimers()
  await store.close()
})

/** The lease of a process. */
function newLease(): Lease {
  return new Lease({ store, log: SILENT_LOG, now: () => now }, turns)
}

/** Time passes, with the wall clock. */
async function pass(ms: number): Promise<void> {
  now += ms
  await vi.advanceTimersByTimeAsync(ms)
}

/** True when others find the lease expired `ms` from now on. */
async function expired(of: LeaseRef, ms: number): Promise<boolean> {
  await store.lapseLease(of, now + ms, LAST_CALL_MS)
  return store.lapseLease(of, now + ms + LAST_CALL_MS, LAST_CALL_MS)
}

test('is taken once, however many turns begin at once, and renewed while turns run', async () => {
  expect(lease.held).toBeUndefined()
  const [one, two] = await Promise.all([lease.hold(), lease.hold()])
  expect(two).toBe(one)
  expect(lease.hold()).toBe(one)
  expect(lease.held).toBe(one)
  expect(lease.covers({ ...one })).toBe(true)
  expect(lease.covers({ ...one, epoch: one.epoch + 1 })).toBe(false)
  expect(lease.covers({ ...one, owner: 'another' })).toBe(false)
  await pass(10 * RENEW_MS)
  expect(await store.lapseLease(one, now + EXPIRES_MS - 1, 1)).toBe(false)
  expect(await expired(one, EXPIRES_MS)).toBe(true)
})

test('is given up when no turn runs, and taken anew with the next one', async () => {
  const first = await lease.hold()
  turns.busy = false
  await pass(RENEW_MS)
  expect(lease.held).toBeUndefined()
  expect(await store.lapseLease(first, now, 1)).toBe(true)
  turns.busy = true
  const second = await lease.hold()
  expect([second.owner, second.epoch > first.epoch]).toEqual([lease.owner, true])
  await pass(2 * EXPIRES_MS)
  expect(await expired(second, 0)).toBe(false)
})

test('is kept by a process that serves, and taken over by the next one of its name', async () => {
  turns.busy = false
  await lease.serve('host http://127.0.0.1:1')
  const first = lease.held!
  expect(first).toEqual({ owner: 'host http://127.0.0.1:1', epoch: 1000 })
  await pass(10 * EXPIRES_MS)
  expect(await expired(first, 0)).toBe(false)
  const next = newLease()
  await next.serve('host http://127.0.0.1:1')
  expect(next.held!.epoch).toBeGreaterThan(first.epoch)
  expect(await store.lapseLease(first, now, 1)).toBe(true)
  await next.drop()
  expect(await store.lapseLease(lease.held!, now, 1)).toBe(true)
})

test('is renewed again when the store could not be written for a while', async () => {
  const held = await lease.hold()
  const broken = vi.spyOn(store, 'renewLease').mockImplementation(() => {
    throw storeFailure('disk full')
  })
  await pass(RENEW_MS)
  expect(broken).toHaveBeenCalledTimes(1)
  broken.mockRestore()
  await pass(RENEW_MS)
  expect(await expired(held, EXPIRES_MS - 1)).toBe(false)
})

test('is not renewed twice at once', async () => {
  await lease.hold()
  let renewed = (_done: boolean): void => {}
  const slow = vi.spyOn(store, 'renewLease').mockImplementation(
    () =>
      new Promise((resolve) => {
        renewed = resolve
      }),
  )
  await pass(3 * RENEW_MS)
  expect(slow).toHaveBeenCalledTimes(1)
  renewed(true)
  await pass(RENEW_MS)
  expect(slow).toHaveBeenCalledTimes(2)
})

test('is given up once, and not without having been taken', async () => {
  const dropped = vi.spyOn(store, 'dropLease')
  await lease.drop()
  const held = await lease.hold()
  await lease.drop()
  await lease.drop()
  expect(dropped.mock.calls).toEqual([[held]])
})

/** What others do when they have waited for it long enough. */
async function lapse(of: LeaseRef): Promise<void> {
  expect(await expired(of, EXPIRES_MS)).toBe(true)
}

test('that others have ended is lost at the next renewal, and another one is taken after that', async () => {
  const first = await lease.hold()
  await lapse(first)
  expect(lease.confirm()).toBe(true)
  await pass(RENEW_MS)
  expect([losses, lease.held]).toEqual([1, undefined])
  expect(lease.confirm()).toBe(true)
  const second = await lease.hold()
  expect([second.owner, second.epoch > first.epoch]).toEqual([lease.owner, true])
  expect([lease.confirm(), losses]).toEqual([true, 1])
})

test.each(['the process was stopped', 'the machine slept, or its clock was set'])(
  'is looked up before anything rests on it when %s',
  async (what) => {
    const first = await lease.hold()
    const renewed = vi.spyOn(store, 'renewLease')
    // No timer runs meanwhile.
    const skip = (ms: number): void => {
      if (what === 'the process was stopped') stopped += ms
      else now += ms
    }
    let stopped = 0
    // Until the clock is a real one again. Not `vi.spyOn`, which would put the faked one back in later files.
    process.hrtime = (() => [stopped / 1000, 0]) as never
    skip(4000)
    expect([lease.confirm(), renewed.mock.calls.length]).toEqual([true, 0])
    skip(1000)
    expect([lease.confirm(), renewed.mock.calls.length]).toEqual([true, 1])
    expect([lease.confirm(), renewed.mock.calls.length]).toEqual([true, 1])
    await lapse(first)
    skip(5000)
    expect([lease.confirm(), lease.confirm(), losses]).toEqual([false, false, 0])
    await Promise.resolve()
    expect([losses, lease.held]).toEqual([1, undefined])
  },
)

test('counts as lost when the store cannot say at once, and as held when it cannot say at all', async () => {
  await lease.hold()
  const slow = vi.spyOn(store, 'renewLease')
  slow.mockImplementation(() => {
    throw storeFailure('disk full')
  })
  now += EXPIRES_MS
  expect(lease.confirm()).toBe(true)
  slow.mockImplementation(async () => true)
  expect(lease.confirm()).toBe(false)
})

test('is not lost by a renewal that was under way when it was given up', async () => {
  await lease.hold()
  let renewed = (_done: boolean): void => {}
  vi.spyOn(store, 'renewLease').mockImplementation(
    () =>
      new Promise((resolve) => {
        renewed = resolve
      }),
  )
  await pass(RENEW_MS)
  await lease.drop()
  renewed(false)
  await pass(0)
  expect(losses).toBe(0)
})

test('of a turn that begins when it is lost is another one', async () => {
  const first = await lease.hold()
  await lapse(first)
  now += EXPIRES_MS
  const second = await lease.hold()
  expect([second.owner, second.epoch > first.epoch]).toEqual([first.owner, true])
  expect([losses, lease.confirm()]).toEqual([1, true])
})

test('of a name that is served is lost with the name, which another process may have taken', async () => {
  await lease.serve('host http://127.0.0.1:1')
  await newLease().serve('host http://127.0.0.1:1')
  await pass(RENEW_MS)
  expect(losses).toBe(1)
  expect((await lease.hold()).owner).not.toBe('host http://127.0.0.1:1')
})

test('that the store refuses is logged once for each reason, and is taken as soon as it may be', async () => {
  const logged: unknown[] = []
  const log = { ...SILENT_LOG, error: (message: string, about?: object) => void logged.push([message, about]) }
  const one = new Lease({ store, log, now: () => now }, turns)
  await one.serve('host http://127.0.0.1:1')
  const { takeLease, renewLease } = store
  let why = 'too old'
  store.renewLease = () => false
  store.takeLease = () => Promise.reject(storeFailure(why))
  await pass(3 * RENEW_MS)
  why = 'away'
  await pass(RENEW_MS)
  expect([one.safe, one.held]).toEqual([false, undefined])
  Object.assign(store, { takeLease, renewLease })
  await pass(RENEW_MS)
  expect([one.safe, logged]).toEqual([
    true,
    [
      ['this process did not run for a while, and others have given up its turns', undefined],
      ['no lease could be taken', { error: 'StoreError: too old' }],
      ['no lease could be taken', { error: 'StoreError: away' }],
    ],
  ])
})

test('law: a process that runs is never given up, however often others look and the clock is set', async () => {
  /** The clock is set `by` so much when `after` milliseconds have passed, which is enough for a renewal. */
  const setting = fc.record({
    after: fc.integer({ min: RENEW_MS, max: 2 * EXPIRES_MS }),
    by: fc.integer({ min: -86_400_000, max: 86_400_000 }),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(setting, { maxLength: 6 }),
      fc.integer({ min: 20, max: 900 }),
      async (settings, pause) => {
        losses = 0
        const one = newLease()
        const held = await one.hold()
        for (const { after, by } of settings) {
          for (let passed = 0; passed < after; passed += pause) {
            await store.lapseLease(held, now, LAST_CALL_MS)
            await pass(pause)
          }
          now += by
        }
        expect([one.covers(held), losses, await store.renewLease(held, now)]).toEqual([true, 0, true])
        await one.drop()
      },
    ),
  )
})

test('law: a process that is gone is given up within 8 s by those who look, and before that by nobody', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 3000 }), { maxLength: 30 }), async (pauses) => {
      const owner = `gone ${now}`
      const held = { owner, epoch: await store.takeLease(owner, now, now + EXPIRES_MS) }
      const began = now
      let over = false
      for (const pause of pauses) {
        now += pause
        const is = await store.lapseLease(held, now, LAST_CALL_MS)
        if (is) expect(now - began).toBeGreaterThanOrEqual(EXPIRES_MS + LAST_CALL_MS)
        // Whoever looks all the time loses no more than a pause on each of the two steps.
        if (now - began >= EXPIRES_MS + LAST_CALL_MS + 2 * 3000) expect(is).toBe(true)
        expect(over && !is).toBe(false)
        over = is
      }
    }),
  )
})

test.each([
  [8000, { lastsMs: 5000, renewMs: 2000 }],
  [13_000, { lastsMs: 10_000, renewMs: 4000 }],
  [63_000, { lastsMs: 60_000, renewMs: 24_000 }],
  [4001, { lastsMs: 1001, renewMs: 400 }],
])('a process that is given up after %i ms without a renewal has the times %j', (ms, times) => {
  expect(leaseTimes(ms)).toEqual(times)
})

test('has the usual times where no others are given', () => {
  const times = { renewMs: 10, lastsMs: 25 }
  expect(lease.times).toEqual({ renewMs: RENEW_MS, lastsMs: EXPIRES_MS })
  expect(new Lease({ store, log: SILENT_LOG, now: () => now, times }, turns).times).toBe(times)
})

test('lasts as long as its own times say, and is renewed at theirs', async () => {
  const own = new Lease({ store, log: SILENT_LOG, now: () => now, times: { renewMs: 100, lastsMs: 250 } }, turns)
  const held = await own.hold()
  const renewed = vi.spyOn(store, 'renewLease')
  await pass(99)
  expect(renewed).not.toHaveBeenCalled()
  await pass(1)
  expect(renewed.mock.calls).toEqual([[held, now + 250]])
  await own.drop()
})

test('is safe while it is renewed in time, and without one as long as nobody is served', async () => {
  expect(lease.safe).toBe(true)
  await lease.hold()
  vi.spyOn(store, 'renewLease').mockImplementation(() => {
    throw storeFailure('disk full')
  })
  await pass(EXPIRES_MS - 1)
  expect(lease.safe).toBe(true)
  await pass(1)
  expect(lease.safe).toBe(false)
})

test('is not renewed once it is given up', async () => {
  await lease.hold()
  await lease.drop()
  const renewed = vi.spyOn(store, 'renewLease')
  await pass(5 * RENEW_MS)
  expect([renewed.mock.calls.length, vi.getTimerCount()]).toEqual([0, 0])
})

describe('a process is alone on its store', () => {
  /** How the store answers who else has a lease, and how often it is asked. */
  function answering(shared: boolean | Promise<boolean>, version: number | undefined = 1) {
    const is = { shared, version: version as number | undefined, asked: [] as unknown[] }
    store.version = () => is.version as number
    store.hasOtherLease = ((...about: unknown[]) => {
      is.asked.push(about)
      return is.shared
    }) as Store['hasOtherLease']
    return is
  }

  test('never while it does not serve, or has no lease', async () => {
    const is = answering(false)
    expect(await lease.alone()).toBe(false)
    await lease.hold()
    expect(await lease.alone()).toBe(false)
    await lease.serve('host http://127.0.0.1:1')
    expect(await lease.alone()).toBe(true)
    await lease.drop()
    expect([await lease.alone(), is.asked.length]).toEqual([false, 1])
  })

  test('while no other one has a lease, which is looked up when somebody has written', async () => {
    const is = answering(false)
    await lease.serve('host http://127.0.0.1:1')
    expect([await lease.alone(), await lease.alone()]).toEqual([true, true])
    expect(is.asked).toEqual([['host http://127.0.0.1:1', now]])
    is.version = 2
    is.shared = true
    expect([await lease.alone(), await lease.alone()]).toEqual([false, false])
    expect(is.asked).toHaveLength(3)
    is.shared = false
    expect([await lease.alone(), await lease.alone(), is.asked.length]).toEqual([true, true, 4])
  })

  test('is looked up each time in a store that does not say whether somebody has written', async () => {
    const is = answering(false, undefined)
    is.version = undefined
    await lease.serve('host http://127.0.0.1:1')
    expect([await lease.alone(), await lease.alone(), is.asked.length]).toEqual([true, true, 2])
  })

  test.each([
    [false, true],
    [true, false],
  ])('in a store that answers later, that another one has a lease (%s): %s', async (shared, alone) => {
    answering(Promise.resolve(shared))
    await lease.serve('host http://127.0.0.1:1')
    const said = lease.alone()
    expect(said).toBeInstanceOf(Promise)
    expect(await said).toBe(alone)
  })
})

describe('a lease on a store of another machine', () => {
  beforeEach(() => {
    Object.assign(store, { replicas: {} })
  })
  /** Time passes without a renewal. */
  const stopped = async (ms: number): Promise<void> => {
    await pass(ms)
  }

  test('holds without asking the store, until half of the last call is over', async () => {
    await lease.hold()
    const renewed = vi.spyOn(store, 'renewLease').mockImplementation(() => {
      throw storeFailure('away')
    })
    await stopped(EXPIRES_MS + LAST_CALL_MS / 2 - 1)
    const asked = renewed.mock.calls.length
    expect([lease.confirm(), lease.safe, renewed.mock.calls.length]).toEqual([true, false, asked])
  })

  test('is lost after that, before others may end it, without being asked for it', async () => {
    await lease.hold()
    vi.spyOn(store, 'renewLease').mockImplementation(() => {
      throw storeFailure('away')
    })
    await stopped(EXPIRES_MS + LAST_CALL_MS / 2)
    expect(lease.confirm()).toBe(false)
    await Promise.resolve()
    expect([losses, lease.held]).toEqual([1, undefined])
    expect(lease.confirm()).toBe(true)
  })

  test('is lost by its own clock too', async () => {
    await lease.hold()
    vi.spyOn(store, 'renewLease').mockImplementation(() => {
      throw storeFailure('away')
    })
    await stopped(4 * RENEW_MS)
    expect([losses, lease.held]).toEqual([1, undefined])
  })
})
