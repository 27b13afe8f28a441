import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Store, TurnRecord } from '../../src/contract/index.ts'
import { Elsewhere } from '../../src/engine/record/elsewhere.ts'
import { LAST_CALL_MS, Lease } from '../../src/engine/record/lease.ts'
import type { Turn } from '../../src/engine/turn/index.ts'
import { openStore } from '../../src/store/index.ts'
import { plainTurn, SILENT_LOG, start } from '../kit/plain.ts'
import { until } from '../kit/processes.ts'

let store: Store
let now: number
let lease: Lease
let elsewhere: Elsewhere

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  store = openStore({ kind: 'sqlite', path: ':memory:' })
  now = 1000
  lease = new Lease({ store, log: SILENT_LOG, now: () => now }, { busy: true, refuse() {} })
  elsewhere = new Elsewhere(store, lease, () => now)
  await store.openSession({ tenant: 'local', agent: 'plain', session: 's', conversation: '' }, 'kept', 1)
  await store.takeLease('other', now, now + 5000)
})
afterEach(async () => {
  vi.useRealTimers()
  await store.close()
})

/** A turn of another process, or of this one, that begins at a time. */
async function begun(turn: string, startedAt: number, more: Partial<TurnRecord> = {}): Promise<void> {
  const about = { session: 'kept', tenant: 'local', agent: 'plain', front: 'plain', delivered: false }
  const record = { ...about, turn, startedAt, owner: 'other', epoch: 1000, ...more }
  await (record.outcome ? store.endTurn(record) : store.beginTurn(record))
}

/** The turn `m` of this process, that begins at 20. */
function turnOf(): Turn {
  return plainTurn({ command: { ...start(), turn: 'm' }, now: () => 20 }).turn
}

test('has the turns of every process but this one, with or without a lease', async () => {
  const have = (owner: string): boolean => elsewhere.have({ turn: 't', owner, ended: true })
  expect([have('other'), have(lease.owner)]).toEqual([true, false])
  await lease.hold()
  expect(have(lease.owner)).toBe(false)
  await lease.drop()
  expect(have(lease.owner)).toBe(false)
})

describe('a turn in a session that another process has', () => {
  test.each<[string, string, number, Partial<TurnRecord>]>([
    ['began later', 'z', 21, {}],
    ['began at the same time and has a later id', 'z', 20, {}],
    ['has ended', 'a', 1, { outcome: 'completed', endedAt: 2 }],
    ['is of another session', 'a', 1, { session: 'another' }],
  ])('does not wait for a turn that %s', async (_what, turn, startedAt, more) => {
    await store.openSession({ tenant: 'local', agent: 'plain', session: 'o', conversation: '' }, 'another', 1)
    await begun(turn, startedAt, more)
    expect(await elsewhere.over(turnOf())).toMatchObject({ record: { id: 'kept' } })
  })

  test('does not wait for one of its own process, which are in line here', async () => {
    await begun('a', 1, await lease.hold())
    expect(await elsewhere.over(turnOf())).toMatchObject({ heard: {} })
  })

  test.each([
    ['a', 1],
    ['z', 19],
    ['a', 20],
  ])('waits for turn %s that began before it, at %i, and gets the record as it is then', async (turn, startedAt) => {
    await begun(turn, startedAt)
    const looks = vi.spyOn(store, 'unfinishedTurns')
    let done = false
    const back = elsewhere.over(turnOf()).finally(() => {
      done = true
    })
    await until(() => looks.mock.calls.length > 1)
    expect(done).toBe(false)
    await store.bindSession('kept', 'its id')
    await store.endTurn({ ...(await store.readTurn(turn))!, endedAt: 30, outcome: 'completed' })
    expect(await back).toMatchObject({ record: { id: 'kept', bound: 'its id' }, heard: {} })
  })

  test('does not wait for one whose process is gone, which ends', async () => {
    await begun('a', 1)
    now += 5000
    await store.lapseLease({ owner: 'other', epoch: 1000 }, now, LAST_CALL_MS)
    now += LAST_CALL_MS
    expect(await elsewhere.over(turnOf())).toMatchObject({ heard: {} })
    expect(await store.readTurn('a')).toMatchObject({ outcome: 'failed', code: 'internal' })
  })

  test('waits no longer when it has its end', async () => {
    await begun('a', 1)
    const turn = turnOf()
    const back = elsewhere.over(turn)
    turn.cancel()
    expect(await back).toBeUndefined()
  })

  test('gets nothing of a session that was deleted meanwhile', async () => {
    await store.deleteSession('kept')
    expect(await elsewhere.over(turnOf())).toBeUndefined()
  })
})
