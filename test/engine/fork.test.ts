import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LOCAL_TENANT, type SessionRecord, type Store } from '../../src/contract/index.ts'
import { forkSession } from '../../src/engine/dispatch/fork.ts'
import type { Known } from '../../src/engine/dispatch/lists.ts'
import type { SessionRef } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { engineParts, settingsOf } from '../kit/engine-parts.ts'

const KEY = { tenant: LOCAL_TENANT, agent: 'plain', session: 's', conversation: '' }
const SAID = { role: 'assistant', parts: [{ type: 'text', text: 'one' }] } as const

let store: Store
let known: Known
beforeEach(() => {
  store = openStore({ kind: 'sqlite', path: ':memory:' })
  const { sessions, turns } = engineParts(store, settingsOf([]))
  known = { store, sessions, turns }
})
afterEach(() => store.close())

const fork = (id: string, session?: SessionRef, tenant = LOCAL_TENANT) =>
  forkSession(known, { exchange: 'x', type: 'session-fork', id, ...(session && { session }) }, { tenant, at: 9 })

/** Ends a turn of the session `kept`. */
async function ended(turn: string): Promise<void> {
  const about = { turn, session: 'kept', tenant: LOCAL_TENANT, agent: 'plain', front: 'zot', owner: 'o', epoch: 1 }
  const times = { startedAt: 4, endedAt: 5, delivered: true, outcome: 'completed' } as const
  await store.endTurn({ ...about, ...times }, { messages: [SAID] })
}

/** The record of the copy that was made, by its client's name. */
const copyOf = async (session: string): Promise<SessionRecord> => (await store.findSession({ ...KEY, session }))!

describe('a copy of a session', () => {
  beforeEach(async () => {
    await store.openSession(KEY, 'kept', 3)
    await ended('t1')
    await store.bindSession('kept', 'its id')
    await store.setSession('kept', { model: 'big', cwd: '/work', title: 'hi' })
  })

  test('has its transcript and settings, and knows where it comes from', async () => {
    const answer = await fork('kept', { id: 'copy', conversation: '' })
    const made = await copyOf('copy')
    expect(answer).toEqual({ data: expect.any(String) })
    expect(JSON.parse('data' in answer ? answer.data : '')).toEqual({
      ...{ ...KEY, tenant: undefined },
      id: made.id,
      session: 'copy',
      createdAt: 9,
      usedAt: 9,
      cwd: '/work',
      title: 'hi',
      model: 'big',
      busy: false,
      process: 'none',
    })
    expect(made.settings).toEqual({
      model: 'big',
      cwd: '/work',
      title: 'hi',
      fork: { of: 'kept', bound: 'its id', turn: 't1' },
    })
    expect(made.bound).toBeUndefined()
    expect(await store.readMessages(made.id)).toEqual([SAID])
    expect(await store.heardBy(made.id)).toEqual({})
  })

  test('of a copy without a turn comes from the first', async () => {
    await fork('kept', { id: 'copy' })
    await fork((await copyOf('copy')).id, { id: 'second' })
    expect((await copyOf('second')).settings?.fork).toEqual({ of: 'kept', bound: 'its id', turn: 't1' })
    await store.bindSession((await copyOf('copy')).id, 'another')
    await fork((await copyOf('copy')).id, { id: 'third' })
    expect((await copyOf('third')).settings?.fork).toEqual({ of: (await copyOf('copy')).id, bound: 'another' })
  })

  test('is not made while a turn runs, of another tenant, or under a name that is taken', async () => {
    expect(await fork('kept', undefined, 'other')).toMatchObject({ fault: { code: 'session-not-found' } })
    expect(await fork('none')).toMatchObject({ fault: { code: 'session-not-found' } })
    expect(await fork('kept', { id: 's' })).toMatchObject({ fault: { code: 'invalid-request' } })
    const about = { session: 'kept', tenant: LOCAL_TENANT, agent: 'plain', front: 'zot', owner: 'there', epoch: 1 }
    await store.beginTurn({ ...about, turn: 'theirs', startedAt: 4, delivered: false })
    expect(await fork('kept')).toMatchObject({ fault: { code: 'session-busy' } })
  })
})
