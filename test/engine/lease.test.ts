import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { LeaseRef, Store } from '../../src/contract/index.ts'
import { LOST } from '../../src/engine/common/faults.ts'
import { LAST_CALL_MS, Lease, RENEW_MS } from '../../src/engine/record/lease.ts'
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
    vi.spyOn(process, 'hrtime').mockImplementation((() => [stopped / 1000, 0]) as never)
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
