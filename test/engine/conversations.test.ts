import { afterEach, beforeEach, expect, test } from 'vitest'
import type { SessionKey, Store, TurnRecord } from '../../src/contract/index.ts'
import { Conversations } from '../../src/engine/dispatch/conversations.ts'
import type { LiveSession } from '../../src/engine/session/index.ts'
import { LiveSessions } from '../../src/engine/session/live-sessions.ts'
import { LiveTurns } from '../../src/engine/session/live-turns.ts'
import type { Message } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { entryFor } from '../kit/engine-parts.ts'
import { plainAgent, plainTurn, start } from '../kit/plain.ts'

const agent = plainAgent('')
const KEY: SessionKey = { tenant: 'local', agent: 'plain', session: 'theirs', conversation: 'c' }
const ENDED: TurnRecord = {
  turn: 't0',
  session: 'S1',
  tenant: 'local',
  agent: 'plain',
  front: 'plain',
  owner: 'me',
  epoch: 1,
  startedAt: 5,
  endedAt: 6,
  outcome: 'completed',
  delivered: true,
}
const said = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })
const LOST = [{ kind: 'weakened', item: 'session.id', why: 'policy', count: 1 }]

let store: Store
let turns: LiveTurns
let sessions: LiveSessions
let conversations: Conversations

beforeEach(async () => {
  store = openStore({ kind: 'sqlite', path: ':memory:' })
  turns = new LiveTurns()
  sessions = new LiveSessions()
  conversations = new Conversations({ store, turns, sessions, now: () => 9 })
  await store.openSession(KEY, 'S1', 1)
  await store.endTurn(ENDED, { messages: [said('hi')] })
})
afterEach(async () => {
  await store.close()
})

/** A request that follows this turn. */
const asking = (after: string | undefined = 't0', turn = 't1', of = agent) =>
  entryFor(of, { command: start({ turn, session: { id: 'asked', channel: 'x' }, ...(after && { after }) }) }).entry

/** The session, and what the agent is told, of a request that follows a turn; or the code of the fault. */
async function found(entry = asking()) {
  const is = await conversations.find(entry)
  if ('code' in is) return is.code
  const { session, after, history, historyMode } = is.command
  return { session, after, history, historyMode, losses: is.losses }
}

/** The request goes on with the session of the turn. */
const GOES_ON = {
  session: { id: 'theirs', conversation: 'c', channel: 'x' },
  after: 't0',
  history: undefined,
  historyMode: undefined,
  losses: undefined,
}
/** The request is in a session of its own, whose agent is told what was said. */
const RETOLD = {
  session: { id: expect.stringMatching(/^[\w-]{10,}$/), conversation: undefined, channel: 'x' },
  after: undefined,
  history: [said('hi')],
  historyMode: 'complete',
  losses: LOST,
}

test('a request that follows no turn is what it was', () => {
  const { entry } = entryFor(agent)
  expect(conversations.find(entry)).toBe(entry)
})

test('the first that follows a turn goes on with its session, the others are told what was said until then', async () => {
  expect(await found()).toEqual(GOES_ON)
  expect(await found(asking('t0', 't2'))).toEqual(RETOLD)
})

test('of many at once exactly one goes on with the session', async () => {
  const all = await Promise.all(Array.from({ length: 8 }, (_, at) => found(asking('t0', `t${at + 1}`))))
  expect(all.filter((one) => typeof one === 'object' && one.after === 't0')).toEqual([GOES_ON])
})

test('the next goes on with it when the turn of the first does not begin', async () => {
  await found()
  await conversations.giveUp(asking())
  expect(await found(asking('t0', 't2'))).toEqual(GOES_ON)
})

test('a request that followed none gives nothing up', async () => {
  await expect(conversations.giveUp(entryFor(agent).entry)).resolves.toBeUndefined()
})

test('a session without a conversation goes on without one', async () => {
  await store.openSession({ ...KEY, conversation: '' }, 'S2', 1)
  await store.endTurn({ ...ENDED, turn: 'u', session: 'S2' })
  expect(await found(asking('u'))).toMatchObject({ session: { id: 'theirs', channel: 'x' } })
})

test.each<[what: string, so: () => unknown, turn: string, is: unknown]>([
  ['that nobody knows', () => {}, 'unknown', 'session-not-found'],
  ['of another tenant', () => store.endTurn({ ...ENDED, turn: 'x', tenant: 'other' }), 'x', 'session-not-found'],
  ['that was deleted', () => store.deleteSession('S1'), 't0', 'session-not-found'],
  ['whose conversation was cleared', () => store.clearSession('S1', 20), 't0', 'session-not-found'],
  ['that another process runs', () => store.beginTurn({ ...ENDED, turn: 'x' }), 'x', 'session-busy'],
  ['after which another one has ended', () => store.endTurn({ ...ENDED, turn: 't9' }), 't0', RETOLD],
  ['after which another one runs elsewhere', () => store.beginTurn({ ...ENDED, turn: 't9' }), 't0', RETOLD],
  ['whose session works on something else', () => sessions.add(busy()), 't0', RETOLD],
])('a request that follows a turn %s', async (_what, so, turn, is) => {
  await so()
  expect(await found(asking(turn))).toEqual(is)
})

test('another agent is told what was said, and the first one’s session waits for the next', async () => {
  expect(await found(asking('t0', 't1', plainAgent('', { name: 'other' })))).toEqual(RETOLD)
  expect(await found(asking('t0', 't2'))).toEqual(GOES_ON)
})

test('what is not kept cannot be told again', async () => {
  const measures = { back: 'plain', timings: {}, shape: true } as const
  await store.endTurn({ ...ENDED, turn: 'shape', measures })
  expect(await found(asking('shape'))).toMatchObject({ after: 'shape' })
  expect(await found(asking('shape', 't2'))).toBe('session-not-found')
})

test('a turn that runs here is waited for by the first that follows it, on its agent', async () => {
  const { turn } = plainTurn({ command: start({ turn: 'runs' }), agent })
  turns.add(turn)
  expect(await found(asking('runs', 't1', plainAgent('', { name: 'other' })))).toBe('session-busy')
  expect(await found(asking('runs'))).toMatchObject({ session: { id: 's', channel: 'x' }, after: 'runs' })
  expect(await found(asking('runs', 't2'))).toBe('session-busy')
  turn.session = { ...turn.session, record: { ...turn.session.record, tenant: 'other' } }
  expect(await found(asking('runs'))).toBe('session-not-found')
})

/** The session in memory, which has a turn that is not recorded yet. */
function busy(): LiveSession {
  return { busy: true, record: { ...KEY, id: 'S1', createdAt: 1, usedAt: 1 } } as LiveSession
}
