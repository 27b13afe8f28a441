import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { LeaseRef, Store } from '../../src/contract/index.ts'
import { LAST_CALL_MS, Lease, RENEW_MS } from '../../src/engine/record/lease.ts'
import { openStore } from '../../src/store/index.ts'

const EXPIRES_MS = 5000

let store: Store
let holder: { busy: boolean }
let lease: Lease
let now: number

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  store = openStore({ kind: 'sqlite', path: ':memory:' })
  now = 1000
  holder = { busy: true }
  lease = new Lease(store, holder, () => now)
})
afterEach(async () => {
  vi.useRealTimers()
  await store.close()
})

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
  const [one, two] = await Promise.all([lease.take(), lease.take()])
  expect(two).toBe(one)
  expect(lease.held).toBe(one)
  expect(lease.covers({ ...one })).toBe(true)
  expect(lease.covers({ ...one, epoch: one.epoch + 1 })).toBe(false)
  expect(lease.covers({ ...one, owner: 'another' })).toBe(false)
  await pass(10 * RENEW_MS)
  expect(await store.lapseLease(one, now + EXPIRES_MS - 1, 1)).toBe(false)
  expect(await expired(one, EXPIRES_MS)).toBe(true)
})

test('is given up when no turn runs, and taken anew with the next one', async () => {
  const first = await lease.take()
  holder.busy = false
  await pass(RENEW_MS)
  expect(lease.held).toBeUndefined()
  expect(await store.lapseLease(first, now, 1)).toBe(true)
  holder.busy = true
  const second = await lease.take()
  expect(second.owner).not.toBe(first.owner)
  await pass(2 * EXPIRES_MS)
  expect(await expired(second, 0)).toBe(false)
})

test('is kept by a process that serves, and taken over by the next one of its name', async () => {
  holder.busy = false
  await lease.serve('host http://127.0.0.1:1')
  const first = lease.held!
  expect(first).toEqual({ owner: 'host http://127.0.0.1:1', epoch: 1000 })
  await pass(10 * EXPIRES_MS)
  expect(await expired(first, 0)).toBe(false)
  const next = new Lease(store, holder, () => now)
  await next.serve('host http://127.0.0.1:1')
  expect(next.held!.epoch).toBeGreaterThan(first.epoch)
  expect(await store.lapseLease(first, now, 1)).toBe(true)
  await next.drop()
  expect(await store.lapseLease(lease.held!, now, 1)).toBe(true)
})

test('is renewed again when the store could not be written for a while', async () => {
  const held = await lease.take()
  const broken = vi.spyOn(store, 'renewLease').mockImplementation(() => {
    throw new Error('disk full')
  })
  await pass(RENEW_MS)
  expect(broken).toHaveBeenCalledTimes(1)
  broken.mockRestore()
  await pass(RENEW_MS)
  expect(await expired(held, EXPIRES_MS - 1)).toBe(false)
})

test('is not renewed twice at once', async () => {
  await lease.take()
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
  const held = await lease.take()
  await lease.drop()
  await lease.drop()
  expect(dropped.mock.calls).toEqual([[held]])
})
