import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { SessionRecord, Store } from '../../src/contract/index.ts'
import type { AgentSettings } from '../../src/engine/common/index.ts'
import type { LiveSession } from '../../src/engine/session/live-session.ts'
import { LiveSessions, MAX_RESTING } from '../../src/engine/session/live-sessions.ts'
import type { Sessions } from '../../src/engine/session/sessions.ts'
import { openStore } from '../../src/store/index.ts'
import { engineParts, settingsOf } from '../kit/engine-parts.ts'
import { DONE, type PlainBack, plainAgent, plainTurn, serving } from '../kit/plain.ts'

let store: Store
let sessions: Sessions
beforeEach(() => {
  store = openStore({ kind: 'sqlite', path: ':memory:' })
  ;({ sessions } = engineParts(store, settingsOf([])))
})
afterEach(async () => {
  await sessions.close(50)
  await store.close()
})

const recordOf = (id: string, more: Partial<SessionRecord> = {}): SessionRecord => ({
  id,
  tenant: 'local',
  agent: 'plain',
  session: id,
  conversation: '',
  createdAt: 1,
  usedAt: 1,
  ...more,
})
const lasting = (more: Partial<AgentSettings> = {}, back: PlainBack = {}): AgentSettings =>
  plainAgent(serving(DONE), { pool: { warm: 0, max: 3, idle: 60_000 }, ...more }, { persistent: true, ...back })

/** Runs a turn in a session, which then has its process. */
async function served(session: LiveSession): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { turn } = plainTurn({ agent: session.pool.agent, session, recorder: { end: () => resolve() } })
  session.enqueue(turn)
  session.ready(turn)
  await promise
  while (session.occupied) await new Promise((after) => setImmediate(after))
}

describe('the sessions in memory', () => {
  test('are one for each record, which takes over what the store has now', () => {
    const agent = lasting()
    const first = sessions.open(recordOf('a', { settings: { mode: 'plan' } }), agent, undefined)
    const again = sessions.open(recordOf('a', { settings: { mode: 'act' }, epoch: 4 }), agent, {})
    expect(again).toBe(first)
    expect([first.record.settings, first.record.epoch, first.memory.used]).toEqual([{ mode: 'act' }, 4, false])
    expect(sessions.open(recordOf('b'), agent, {}).memory.used).toBe(true)
    expect([...sessions.live.values()].map(({ record }) => record.id)).toEqual(['a', 'b'])
  })

  test('are found by their whole key', () => {
    sessions.open(recordOf('a', { conversation: 'c' }), lasting(), undefined)
    const key = { tenant: 'local', agent: 'plain', session: 'a', conversation: 'c' }
    expect(sessions.live.find(key)?.record.id).toBe('a')
    for (const other of [{ tenant: 'x' }, { agent: 'x' }, { session: 'x' }, { conversation: '' }]) {
      expect(sessions.live.find({ ...key, ...other })).toBeUndefined()
    }
    expect(sessions.live.find({ ...key, session: 'ac', conversation: '' })).toBeUndefined()
    sessions.live.get('a')!.close()
    expect(sessions.live.find(key)).toBeUndefined()
  })

  test('forget one that is closed, and not one that took its place', () => {
    const live = new LiveSessions()
    const agent = lasting()
    const old = sessions.open(recordOf('a'), agent, undefined)
    live.add(old)
    old.close()
    expect(sessions.live.get('a')).toBeUndefined()
    const next = sessions.open(recordOf('a'), agent, undefined)
    live.add(next)
    live.delete(old)
    expect([live.get('a'), sessions.live.get('a')]).toEqual([next, next])
    live.delete(next)
    expect(live.get('a')).toBeUndefined()
  })

  test('give up the process that has been idle for longest', async () => {
    const agent = lasting()
    const [first, second] = ['a', 'b'].map((id) => sessions.open(recordOf(id), agent, undefined))
    await served(second!)
    await served(first!)
    expect(sessions.live.idleOf(agent)).toBe(first)
    expect(sessions.live.evictIdle(agent === second!.pool.agent ? second!.pool : first!.pool)).toBe(true)
    expect([first!.link?.persistent, second!.link]).toEqual([true, undefined])
    expect(sessions.live.evictIdle(first!.pool)).toBe(true)
    expect([sessions.live.evictIdle(first!.pool), sessions.live.idleOf(agent)]).toEqual([false, undefined])
  })
})

describe('sessions without work and without a process', () => {
  const agent = plainAgent(serving(DONE))
  const ids = (): string[] => [...sessions.live.values()].map(({ record }) => record.id)
  const rested = (id: string, of = agent): LiveSession => {
    const session = sessions.open(recordOf(id), of, undefined)
    session.restWhenIdle()
    return session
  }
  /** As many as stay in memory, all resting. */
  const many = (): string[] => Array.from({ length: MAX_RESTING }, (_, at) => `${at}`)

  test('are a bounded number: the one that has rested for longest leaves', () => {
    const all = many()
    for (const id of all) rested(id)
    rested('0')
    rested('new')
    expect(ids()).toEqual(['0', ...all.slice(2), 'new'])
    expect(sessions.live.find(recordOf('1'))).toBeUndefined()
  })

  test('stay while one has a turn, or is about to get one', async () => {
    const [opened, busy] = [rested('opened'), rested('busy')]
    sessions.open(recordOf('opened'), agent, undefined)
    const { turn } = plainTurn({ agent, session: busy })
    busy.enqueue(turn)
    busy.ready(turn)
    const all = many()
    for (const id of all) rested(id)
    expect(ids()).toEqual(['opened', 'busy', ...all])
    opened.restWhenIdle()
    expect(ids()).toEqual(['opened', 'busy', ...all.slice(1)])
    busy.abandon(turn)
  })

  test('are not those that have a process, until it is gone', async () => {
    const [kept, evicted, exited] = ['kept', 'evicted', 'exited'].map((id) =>
      sessions.open(recordOf(id), lasting(), undefined),
    )
    for (const session of [evicted!, kept!, exited!]) await served(session)
    for (const id of many()) rested(id)
    expect(ids()).toEqual(['kept', 'evicted', 'exited', ...many()])
    sessions.live.evictIdle(evicted!.pool)
    process.kill(exited!.link!.process!.pid!)
    while (ids().includes('1')) await new Promise((after) => setImmediate(after))
    expect(ids()).toEqual(['kept', 'evicted', 'exited', ...many().slice(2)])
    for (const id of [...many().slice(2), '0', '1']) rested(id)
    expect(ids()).toEqual(['kept', ...many().slice(2), '0', '1'])
  })
})

describe('another configuration of an agent', () => {
  test('ends its sessions without a turn, and its processes', async () => {
    const [old, next] = [lasting(), lasting()]
    const session = sessions.open(recordOf('a'), old, undefined)
    await served(session)
    const { link } = session
    sessions.retire(new Map([['plain', next]]))
    expect([sessions.live.get('a'), link?.dead, session.pool.retired]).toEqual([undefined, true, true])
  })

  test('is for the next turn of a session that has one', async () => {
    const [old, next] = [lasting(), lasting()]
    const session = sessions.open(recordOf('a'), old, undefined)
    const { turn } = plainTurn({ agent: old, session })
    session.enqueue(turn)
    session.ready(turn)
    sessions.retire(new Map([['plain', next]]))
    expect([sessions.live.get('a'), session.pool.agent]).toEqual([session, old])
    sessions.open(recordOf('a'), next, {})
    expect(session.nextPool.agent).toBe(next)
    turn.cancel()
  })

  test('that is the same changes nothing', () => {
    const agent = lasting()
    const session = sessions.open(recordOf('a'), agent, undefined)
    sessions.retire(new Map([['plain', agent]]))
    expect([sessions.live.get('a'), session.pool.retired]).toEqual([session, false])
  })
})

test('the room for an agent is its share among the replicas that run it', () => {
  const agent = lasting({ pool: { warm: 0, max: 8, total: 12, idle: 60_000 } })
  expect(sessions.roomFor(agent)).toBe(8)
  sessions.share((name) => (name === agent.name ? 3 : 1))
  expect(sessions.roomFor(agent)).toBe(4)
  sessions.open(recordOf('a'), agent, undefined)
  expect(sessions.roomFor(agent)).toBe(4)
  sessions.share(() => 2)
  expect(sessions.roomFor(agent)).toBe(6)
})

test('the model of an agent is what a process of it has said, else what it is configured to', async () => {
  const agent = lasting()
  const configured = { ...agent, name: 'other', dialect: { ...agent.dialect } }
  configured.dialect.back = { ...agent.dialect.back, configuredModel: () => 'set' }
  expect([sessions.modelOf(agent), sessions.modelOf(configured)]).toEqual([undefined, 'set'])
  await served(sessions.open(recordOf('a'), agent, undefined))
  expect(sessions.modelOf(agent)).toBe('m1')
})
