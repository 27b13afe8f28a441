import { expect, onTestFinished, test } from 'vitest'
import { LOCAL_TENANT } from '../../src/contract/index.ts'
import {
  listSessions,
  listTurns,
  maySee,
  scopeOf,
  sessionInfo,
  type Viewer,
  viewerOf,
} from '../../src/engine/dispatch/lists.ts'
import type { CommandOf, SessionsReply, TurnsReply } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { engineParts, settingsOf } from '../kit/engine-parts.ts'
import { plainTurn, start } from '../kit/plain.ts'

const USER = viewerOf({ tenant: 'ann', role: 'user' })
const ADMIN = viewerOf({ tenant: 'root', role: 'admin' })

test('a client may see its own, an operator all', () => {
  expect([maySee(USER, { tenant: 'ann' }), maySee(USER, { tenant: 'bob' }), maySee(USER, undefined)]).toEqual([
    true,
    false,
    false,
  ])
  expect([maySee(ADMIN, { tenant: 'bob' }), maySee(ADMIN, undefined)]).toEqual([true, false])
})

test.each([
  [USER, {}, { tenant: 'ann' }],
  [USER, { all: true }, { tenant: 'ann' }],
  [USER, { all: true, key: 'bob' }, 'none'],
  [USER, { key: 'ann' }, { tenant: 'ann' }],
  [ADMIN, {}, { tenant: 'root' }],
  [ADMIN, { all: true }, {}],
  [ADMIN, { all: true, key: 'bob' }, { tenant: 'bob' }],
  [ADMIN, { key: 'bob' }, 'none'],
] as const)('a list for %j that asks for %j is of %j', (viewer, args, scope) => {
  expect(scopeOf(viewer, args)).toEqual(scope)
})

/** A store with two sessions of ann and one of bob, each with a turn, and what is in memory beside it. */
async function known() {
  const store = openStore({ kind: 'sqlite', path: ':memory:' })
  onTestFinished(() => store.close())
  const { sessions, turns } = engineParts(store, settingsOf([]))
  for (const [tenant, session, at] of [
    ['ann', 'one', 10],
    ['ann', 'two', 20],
    ['bob', 'three', 30],
  ] as const) {
    const id = `kept ${session}`
    await store.openSession({ tenant, agent: 'plain', session, conversation: '' }, id, at)
    const about = { session: id, tenant, agent: 'plain', front: 'acp', owner: 'o', epoch: 1, delivered: false }
    const record = { ...about, turn: `turn ${session}`, startedAt: at, request: `request ${session}` }
    const outcome = session === 'two' ? ('failed' as const) : ('completed' as const)
    const code = outcome === 'failed' ? { code: 'timeout' } : {}
    await store.endTurn({ ...record, ...code, endedAt: at + 5, outcome })
  }
  return { store, sessions, turns }
}

const query = (what: 'turns' | 'sessions', args?: object): CommandOf<'query'> => ({
  type: 'query',
  exchange: 'x',
  what,
  ...(args && { args: JSON.stringify(args) }),
})

/** The ids of the turns that are listed, and where the list goes on; or the code of a fault. */
async function turnsOf(by: Viewer, args?: object): Promise<unknown> {
  const listed = await listTurns(await known(), query('turns', args), by)
  if (typeof listed !== 'string') return listed.code
  const { turns, next } = JSON.parse(listed) as TurnsReply
  return [turns.map(({ turn }) => turn.slice('turn '.length)), next]
}

test.each<[string, Viewer, object | undefined, unknown]>([
  ['of a client are its own, the newest first', USER, undefined, [['two', 'one'], undefined]],
  ['of a client that asks for all are its own', USER, { all: true }, [['two', 'one'], undefined]],
  ['of another client are not there', USER, { key: 'bob' }, [[], undefined]],
  ['of all are an operator’s to see', ADMIN, { all: true }, [['three', 'two', 'one'], undefined]],
  ['of an operator are its own', ADMIN, undefined, [[], undefined]],
  ['of one client are an operator’s to see', ADMIN, { all: true, key: 'bob' }, [['three'], undefined]],
  ['in a state', USER, { state: 'failed' }, [['two'], undefined]],
  ['of a session, by the client’s name', USER, { session: 'one' }, [['one'], undefined]],
  ['of a session, by its id', USER, { session: 'kept one' }, [['one'], undefined]],
  ['with a text', USER, { q: 'request two' }, [['two'], undefined]],
  ['of an agent that has none', USER, { agent: 'other' }, [[], undefined]],
  ['of a front that has none', USER, { front: 'zot' }, [[], undefined]],
  ['on a page', ADMIN, { all: true, limit: 2 }, [['three', 'two'], 'turn two']],
  ['on the page after it', ADMIN, { all: true, limit: 2, before: 'turn two' }, [['one'], undefined]],
  ['after a turn that is not there', USER, { before: 'turn none' }, 'session-not-found'],
  ['asked for in a wrong way', USER, { limit: 0 }, 'invalid-request'],
])('the turns %s', async (_which, by, args, found) => {
  expect(await turnsOf(by, args)).toEqual(found)
})

test('a turn is listed with what its record has', async () => {
  const listed = (await listTurns(await known(), query('turns', { state: 'failed' }), USER)) as string
  expect((JSON.parse(listed) as TurnsReply).turns).toEqual([
    {
      turn: 'turn two',
      state: 'failed',
      agent: 'plain',
      front: 'acp',
      session: 'two',
      request: 'request two',
      startedAt: 20,
      endedAt: 25,
      code: 'timeout',
      key: 'ann',
    },
  ])
})

test('a turn that runs here is listed as it is now, and not where another state is asked for', async () => {
  const all = await known()
  const id = 'kept one'
  const record = { tenant: 'ann', agent: 'plain', session: 'one', conversation: '', id, createdAt: 1, usedAt: 1 }
  const { turn } = plainTurn({ command: start({ turn: 'live', session: { id: 'one' } }), session: { record } })
  all.turns.add(turn)
  const about = { session: id, tenant: 'ann', agent: 'plain', front: 'plain', owner: 'o', epoch: 1, delivered: false }
  await all.store.beginTurn({ ...about, turn: 'live', startedAt: 40 })
  const statesOf = async (args: object): Promise<unknown> => {
    const listed = (await listTurns(all, query('turns', args), USER)) as string
    return (JSON.parse(listed) as TurnsReply).turns.map(({ turn: of, state, phase }) => [of, state, phase])
  }
  expect(await statesOf({ state: 'running' })).toEqual([['live', 'running', turn.scope.phase]])
  turn.take({ type: 'turn-end', turn: 'live', outcome: 'cancelled' })
  // Its record does not have the end yet.
  expect(await statesOf({ session: 'one', limit: 1 })).toEqual([['live', 'running', undefined]])
})

/** The sessions that are listed, by the client's names, and where the list goes on; or the code of a fault. */
async function sessionsOf(by: Viewer, args?: object): Promise<unknown> {
  const listed = await listSessions(await known(), query('sessions', args), by)
  if (typeof listed !== 'string') return listed.code
  const { sessions, next } = JSON.parse(listed) as SessionsReply
  return [sessions.map(({ session }) => session), next]
}

test.each<[string, Viewer, object | undefined, unknown]>([
  ['of a client are its own, the newest first', USER, undefined, [['two', 'one'], undefined]],
  ['of another client are not there', USER, { key: 'bob' }, [[], undefined]],
  ['of all are an operator’s to see', ADMIN, { all: true }, [['three', 'two', 'one'], undefined]],
  ['of one client are an operator’s to see', ADMIN, { all: true, key: 'ann' }, [['two', 'one'], undefined]],
  ['with a text', USER, { q: 'one' }, [['one'], undefined]],
  ['of an agent that has none', USER, { agent: 'other' }, [[], undefined]],
  ['on a page', ADMIN, { all: true, limit: 2 }, [['three', 'two'], 'kept two']],
  ['on the page after it', ADMIN, { all: true, limit: 2, before: 'kept two' }, [['one'], undefined]],
  ['after one that is not there', USER, { before: 'kept none' }, 'session-not-found'],
  ['asked for in a wrong way', USER, { agent: 7 }, 'invalid-request'],
])('the sessions %s', async (_which, by, args, found) => {
  expect(await sessionsOf(by, args)).toEqual(found)
})

const ONE = { id: 'kept one', agent: 'plain', session: 'one', conversation: '', createdAt: 10, usedAt: 10 }

test('a session is listed without what is the gateway’s alone', async () => {
  const all = await known()
  await all.store.bindSession('kept one', 'its own id', undefined)
  const record = { ...(await all.store.readSession('kept one'))!, epoch: 3, renamed: true as const }
  expect(await sessionInfo(all, record)).toEqual({ ...ONE, key: 'ann', busy: false, process: 'none' })
  expect(await sessionInfo(all, { ...record, tenant: LOCAL_TENANT })).not.toHaveProperty('key')
})

test('a session is listed with what was set for it, and what its turns have used', async () => {
  const all = await known()
  const settings = { cwd: '/work', title: 'hi', model: 'm', mode: 'plan' }
  await all.store.setSession('kept one', settings)
  const about = { session: 'kept one', tenant: 'ann', agent: 'plain', front: 'acp', owner: 'o', epoch: 1 }
  const measures = { back: 'plain', timings: {}, usage: { input: 2, output: 3 } }
  const ended = { endedAt: 50, outcome: 'completed' as const, measures, delivered: false }
  await all.store.endTurn({ ...about, turn: 'more', startedAt: 40, ...ended })
  const info = await sessionInfo(all, (await all.store.readSession('kept one'))!)
  expect(info).toMatchObject({ ...settings, usage: { input: 2, output: 3 } })
  expect(info).not.toHaveProperty('settings')
})

test.each<[string, object, boolean, string, string | undefined]>([
  ['has a turn that runs or waits', { busy: true, occupied: true, link: { model: 'big' } }, true, 'running', 'big'],
  [
    'has a process between two turns',
    { busy: false, occupied: false, link: { persistent: true } },
    false,
    'idle',
    undefined,
  ],
  [
    'has no process between two turns',
    { busy: false, occupied: false, link: { persistent: false } },
    false,
    'none',
    undefined,
  ],
  ['never had a turn', { busy: false, occupied: false, link: undefined }, false, 'none', undefined],
])('a session in memory that %s', async (_what, live, busy, process, model) => {
  const all = await known()
  const sessions = { ...all.sessions, live: { get: () => live } } as never
  const record = (await all.store.readSession('kept one'))!
  const info = await sessionInfo({ ...all, sessions }, record)
  expect([info.busy, info.process, info.model]).toEqual([busy, process, model])
  // What was set for it comes before what its process says.
  const set = await sessionInfo({ ...all, sessions }, { ...record, settings: { model: 'set' } })
  expect(set.model).toBe('set')
})

test.each([
  [true, false],
  [false, true],
])('a session whose last turn has ended (%s) is busy elsewhere: %s', async (ended, busy) => {
  const all = await known()
  const record = { ...(await all.store.readSession('kept one'))!, last: { turn: 't', owner: 'there', ended } }
  const info = await sessionInfo(all, record)
  expect([info.busy, 'last' in info]).toEqual([busy, false])
})
