import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { capabilities, type SessionKey, type Store, type TurnRecord } from '../../src/contract/index.ts'
import { Conversations } from '../../src/engine/dispatch/conversations.ts'
import { type Entry, entryOf } from '../../src/engine/dispatch/entry.ts'
import { conversationDigest, knownAs } from '../../src/engine/record/conversation.ts'
import type { StoreWatch } from '../../src/engine/record/index.ts'
import type { LiveSession } from '../../src/engine/session/index.ts'
import { LiveSessions } from '../../src/engine/session/live-sessions.ts'
import { LiveTurns } from '../../src/engine/session/live-turns.ts'
import { ITEMS, type Message } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { type EntryOptions, entryFor } from '../kit/engine-parts.ts'
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
/** Whether the store can be written, and what could not. */
const watch = {
  writable: true,
  failures: [] as unknown[],
  unavailable: (error: unknown) => void watch.failures.push(error),
}

beforeEach(async () => {
  Object.assign(watch, { writable: true, failures: [] })
  store = openStore({ kind: 'sqlite', path: ':memory:' })
  turns = new LiveTurns()
  sessions = new LiveSessions()
  conversations = new Conversations({ store, turns, sessions, watch: watch as unknown as StoreWatch, now: () => 9 })
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
  const first = await conversations.find(asking())
  await conversations.giveUp(first as Entry)
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

test('a session of its own is told what the request adds, too', async () => {
  await found()
  const { entry } = entryFor(agent, { command: start({ turn: 't2', after: 't0', history: [said('more')] }) })
  expect(await conversations.find(entry)).toMatchObject({ command: { history: [said('hi'), said('more')] } })
})

test('a session of its own has what the client has set for the one that it means', async () => {
  await store.setSession('S1', { mode: 'plan' })
  await found()
  expect(await conversations.find(asking('t0', 't2'))).toMatchObject({ settings: { mode: 'plan' } })
  const command = start({ turn: 't3', session: { id: 'theirs', conversation: 'c' }, historyMode: 'complete' })
  expect(await conversations.find(entryFor(agent, { command }).entry)).toMatchObject({
    command: { session: { id: expect.not.stringMatching('theirs') } },
    settings: { mode: 'plan' },
  })
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

describe('a client that tells the whole conversation', () => {
  const HISTORY = [said('hi')]
  const WHOSE = { tenant: 'local', agent: 'plain' }
  const digest = conversationDigest(HISTORY)

  /** A request of such a client; `id` is the session that it names. */
  const telling = (id?: string, more: Parameters<typeof start>[0] = {}, options: EntryOptions = {}) => {
    const { session: _, ...rest } = start({ turn: 't1', history: HISTORY, historyMode: 'complete', ...more })
    const session = { id: id ?? 'made' }
    const { entry } = entryFor(agent, { command: { ...rest, session }, ...options })
    const { asked: _asked, ...unnamed } = entry
    return id === undefined ? unnamed : entry
  }
  /** The session, the turn that the request follows, and what it says of the conversation. */
  async function placed(entry: Entry) {
    const is = await conversations.find(entry)
    return 'code' in is ? is.code : { id: is.command.session?.id, after: is.command.after, told: is.told }
  }
  /** A turn of the session S1 has left it with the conversation, told under this name. */
  const known = (turn = 'left', named = '["",""]', session = 'S1') =>
    store.endTurn({ ...ENDED, turn, session }, { known: knownAs({ named, digest }, WHOSE) })

  test('goes on with the session that knows it, with all of it at hand', async () => {
    await known()
    const is = await conversations.find(telling())
    expect(is).toMatchObject({
      command: { session: { id: 'theirs', conversation: 'c' }, after: 'left', history: HISTORY },
      told: { named: '["",""]', digest },
    })
  })

  test('of another user, or of none, never goes on with the session of a user', async () => {
    const mine = { user: 'me' }
    const named = (await placed(telling(undefined, mine))) as { told: { named: string } }
    await known('left', named.told.named)
    for (const more of [{ user: 'you' }, {}, { user: '' }]) {
      expect(await placed(telling(undefined, more))).toMatchObject({ id: 'made', after: undefined })
    }
    expect(await placed(telling('named', mine))).toMatchObject({ after: undefined })
    expect(await placed(telling(undefined, mine))).toMatchObject({ id: 'theirs', after: 'left' })
  })

  test('of no user goes on with no session of one, whatever the names', async () => {
    const texts = fc.string({ maxLength: 4, unit: fc.constantFrom('a', '"', ',', ']', '') })
    const whose = fc.record({ id: texts, user: fc.option(texts, { nil: undefined }) })
    const nameOf = async ({ id, user }: { id: string; user: string | undefined }): Promise<unknown> => {
      const more = { history: [], ...(user !== undefined && { user }) }
      return ((await placed(telling(id, more))) as { told: { named: string } }).told.named
    }
    await fc.assert(
      fc.asyncProperty(whose, whose, async (one, other) => {
        const same = one.id === other.id && one.user === other.user
        expect((await nameOf(one)) === (await nameOf(other))).toBe(same)
      }),
      { numRuns: 50 },
    )
  })

  test('goes on with another session that knows it when one is taken', async () => {
    await store.openSession({ ...KEY, session: 'second' }, 'S2', 1)
    await known()
    await known('left too', '["",""]', 'S2')
    expect(await placed(telling())).toMatchObject({ id: 'second', after: 'left too' })
    expect(await placed(telling(undefined, { turn: 't2' }))).toMatchObject({ id: 'theirs', after: 'left' })
    expect(await placed(telling(undefined, { turn: 't3' }))).toMatchObject({ id: 'made', after: undefined })
  })

  test.each<[what: string, so: () => unknown, entry: () => Entry]>([
    ['nobody knows', () => {}, () => telling()],
    ['another tenant knows', () => store.endTurn({ ...ENDED, turn: 'x', tenant: 'other' }, knowing()), () => telling()],
    ['was cleared', async () => [await known(), await store.clearSession('S1', 20)], () => telling()],
    ['is of another name', () => known('left', '["else",""]'), () => telling()],
    ['a busy session has', () => [known(), sessions.add(busy())], () => telling()],
    ['is to be told again', known, () => telling(undefined, {}, { route: { history: 'replay' } })],
    ['begins here', known, () => telling(undefined, { history: [] })],
  ])('begins a session with one that %s', async (_what, so, entry) => {
    await so()
    expect(await placed(entry())).toMatchObject({ id: 'made', after: undefined })
  })
  /** The additions of a turn that leaves the conversation. */
  const knowing = () => ({ known: knownAs({ named: '["",""]', digest }, WHOSE) })

  test('has a session of its own where the one that it names is used, or taken at once', async () => {
    expect(await placed(telling('new'))).toMatchObject({ id: 'new', told: { named: '["new",""]' } })
    expect(await placed(telling('new', { turn: 't2' }))).toMatchObject({ id: expect.not.stringMatching(/^new$/) })
    await store.openSession({ ...KEY, session: 'used', conversation: '' }, 'S3', 1)
    expect(await placed(telling('used'))).toMatchObject({ id: 'used' })
    await store.endTurn({ ...ENDED, turn: 'u', session: 'S3' })
    expect(await placed(telling('used', { turn: 't4' }))).toMatchObject({ id: expect.not.stringMatching(/^used$/) })
  })

  test('may say what is new alone, and is known by it where the session begins', async () => {
    const delta = { historyMode: 'delta', history: [] } as const
    const begins = { named: '["new",""]', digest: '' }
    expect(await placed(telling('new', delta))).toEqual({ id: 'new', after: undefined, told: begins })
    await store.openSession({ ...KEY, session: 'used', conversation: '' }, 'S3', 1)
    await store.endTurn({ ...ENDED, turn: 'u', session: 'S3' })
    expect(await placed(telling('used', delta))).toEqual({ id: 'used', after: undefined, told: undefined })
    const replay = { route: { history: 'replay' } } as const
    expect(await placed(telling('new', delta, replay))).toMatchObject({ id: 'new', told: undefined })
  })

  test('is refused on a route that takes no losses, unless its agent knows the conversation', async () => {
    const able = capabilities({ full: ITEMS.filter((item) => item !== 'start.history') })
    const narrow = plainAgent('', {}, { able })
    const strict = { loss: 'strict' } as const
    const asks = (turn: string): Entry => ({ ...telling(undefined, { turn }, { route: strict }), agent: narrow })
    await known()
    expect(await placed(asks('t1'))).toMatchObject({ after: 'left' })
    expect(await placed(asks('t2'))).toBe('lossy-refused')
    const { client, exchange, route } = asks('t3')
    const command = start({ history: HISTORY, historyMode: 'complete' })
    expect(entryOf(client, command, { agent: narrow, route }, exchange)).toHaveProperty('command')
    const delta = start({ history: HISTORY })
    expect(entryOf(client, delta, { agent: narrow, route }, exchange)).toMatchObject({ code: 'lossy-refused' })
  })
})

test.each(['is known', 'is found out'] as const)('that the store cannot be written %s', async (how) => {
  if (how === 'is known') watch.writable = false
  const failing = new Error('disk full')
  const claim = (): never => {
    throw failing
  }
  const broken = new Proxy(store, { get: (of, name: keyof Store) => (name === 'claim' ? claim : of[name]?.bind(of)) })
  conversations = new Conversations({
    store: broken,
    turns,
    sessions,
    watch: watch as unknown as StoreWatch,
    now: () => 9,
  })
  // What rests on the record is refused, the rest goes on without it.
  expect(await found()).toBe('agent-unavailable')
  const session = { id: 'asked' }
  const whole = start({ session, historyMode: 'complete', history: [said('hi')] })
  expect(await conversations.find(entryFor(agent, { command: whole }).entry)).toMatchObject({
    command: { session: { id: expect.not.stringMatching('asked') }, history: [said('hi')] },
  })
  const adding = start({ session, historyMode: 'delta' })
  expect(await conversations.find(entryFor(agent, { command: adding }).entry)).toMatchObject({ command: { session } })
  expect(watch.failures).toEqual(how === 'is known' ? [] : [failing, failing])
})

/** The session in memory, which has a turn that is not recorded yet. */
function busy(): LiveSession {
  return { busy: true, record: { ...KEY, id: 'S1', createdAt: 1, usedAt: 1 } } as LiveSession
}
