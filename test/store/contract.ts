import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Awaitable, ListedTurn, Page, SessionKey, Store, TurnPage, TurnRecord } from '../../src/contract/index.ts'
import type { Message } from '../../src/model/index.ts'
import { MOST_READ } from '../../src/store/lists.ts'
import { keyContract } from './key-contract.ts'

export const KEY: SessionKey = { tenant: 'acme', agent: 'coder', session: 's-1', conversation: 'c-1' }

export const TURN: TurnRecord = {
  turn: 't1',
  session: 'S1',
  tenant: 'acme',
  agent: 'coder',
  front: 'zene',
  owner: 'host:1',
  epoch: 1,
  startedAt: 100,
  delivered: false,
}

const message = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }], at: 7 })
const answer = (text: string): Message => ({ ...message(text), role: 'assistant' })

/** Any well-formed text, with NUL, quotes, astral characters. */
const text = fc.string({ unit: 'binary', maxLength: 20 })

/** Texts of others that are hard to write. */
const HARD = ['a\0b', '\ud800x', 'x\udfff', '\ufdd0"x"', '\\"\n', "it's", '😀', '']

/** A turn of a list's property, as it is made. */
interface MadeTurn {
  tenant: string
  agent: string
  front: string
  session: string
  request?: string | undefined
  startedAt: number
  outcome?: 'completed' | 'failed' | undefined
  error?: string | undefined
}

const word = fc.constantFrom('one', 'two', 'Ünï', "it's", 'ONE')
const someTurn: fc.Arbitrary<MadeTurn> = fc.record({
  tenant: fc.constantFrom('one', 'two'),
  agent: word,
  front: word,
  session: word,
  request: fc.option(word, { nil: undefined }),
  startedAt: fc.nat(4),
  outcome: fc.constantFrom('completed', 'failed', undefined),
  error: fc.option(word, { nil: undefined }),
})

const conditions = fc.record(
  {
    all: fc.boolean(),
    agent: word,
    front: word,
    session: word,
    state: fc.constantFrom('running', 'completed', 'failed', 'cancelled'),
    text: fc.constantFrom('n', 'ONE', 'ünï', 'Ün', "'", '%'),
  },
  { requiredKeys: ['all'] },
)

/** Records the turns; gives them as a list has them, the newest first. */
async function putIn(store: Store, made: readonly MadeTurn[]): Promise<ListedTurn[]> {
  const rows: ListedTurn[] = []
  for (const [at, { session: named, request, outcome, error, ...rest }] of made.entries()) {
    const { id } = await store.openSession(
      { ...KEY, tenant: rest.tenant, agent: rest.agent, session: named },
      `S-${named}-${at}`,
      1,
    )
    const record = { ...TURN, ...rest, turn: `turn-${at}`, session: id, ...(request !== undefined && { request }) }
    const measures = { back: 'zot', timings: {}, ...(error !== undefined && { error }) }
    const ended = { ...record, endedAt: 9, measures }
    await (outcome ? store.endTurn({ ...ended, outcome }) : store.beginTurn(record))
    rows.push({ ...record, named, ...(outcome && { outcome, measures }) })
  }
  return rows.sort((a, b) => b.startedAt - a.startedAt || (a.turn < b.turn ? 1 : -1))
}

/** The same conditions, read as the documentation has them. */
function isWanted(row: ListedTurn, { agent, front, session, state, text }: Omit<TurnPage, 'limit'>): boolean {
  const lower = (said: string): string => said.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
  const texts = [row.turn, row.request ?? '', row.named, row.measures?.error ?? ''].map(lower)
  return (
    (agent === undefined || agent === row.agent) &&
    (front === undefined || front === row.front) &&
    (session === undefined || session === row.named || session === row.session) &&
    (state === undefined || state === (row.outcome ?? 'running')) &&
    (text === undefined || texts.some((said) => said.includes(lower(text))))
  )
}

/**
 * What every driver must do. `open` gives a new, empty store; the suite closes it.
 */
export function storeContract(name: string, open: () => Awaitable<Store>): void {
  describe(`${name} keeps the contract of a store`, () => {
    let store: Store

    beforeEach(async () => {
      store = await open()
    })

    afterEach(async () => {
      await store.close()
    })

    /** The process that runs `TURN` has its lease. */
    const lives = (): Awaitable<number> => store.takeLease(TURN.owner, TURN.epoch, 9e15)

    describe('sessions', () => {
      it('makes a session for a new key and finds it again, touching the time of its use', async () => {
        const made = { ...KEY, id: 'S1', createdAt: 10, usedAt: 10 }
        expect(await store.openSession(KEY, 'S1', 10)).toEqual(made)
        expect(await store.openSession(KEY, 'S2', 25)).toEqual({ ...made, usedAt: 25 })
        expect(await store.readSession('S1')).toEqual({ ...made, usedAt: 25 })
        expect(await store.readSession('S2')).toBeUndefined()
      })

      it('finds a session without making or touching one', async () => {
        expect(await store.findSession(KEY)).toBeUndefined()
        expect((await store.listSessions({ tenant: 'acme', limit: 9 }))!.rows).toEqual([])
        const made = await store.openSession(KEY, 'S1', 10)
        expect(await store.findSession(KEY)).toEqual(made)
        expect(await store.findSession({ ...KEY, conversation: 'other' })).toBeUndefined()
      })

      it('knows the agent of the last turn that one has taken', async () => {
        await store.openSession(KEY, 'S1', 1)
        const end = (turn: string, back: string, more: object = {}) =>
          store.endTurn({
            ...TURN,
            turn,
            endedAt: 200,
            outcome: 'completed',
            measures: { back, timings: {}, ...more },
          })
        await end('one', 'zot')
        expect(await store.heardBy('S1')).toEqual({ back: 'zot' })
        await end('two', 'acp', { place: 'p' })
        expect(await store.heardBy('S1')).toEqual({ back: 'acp', place: 'p' })
        await store.endTurn({ ...TURN, turn: 'three', endedAt: 201, outcome: 'failed', code: 'agent-unavailable' })
        expect(await store.heardBy('S1')).toEqual({ back: 'acp', place: 'p' })
      })

      it.each(HARD)('knows that agent whatever it said: %j', async (hard) => {
        await store.openSession(KEY, 'S1', 1)
        const measures = { back: 'zot', place: hard, error: hard, timings: {} }
        await store.endTurn({ ...TURN, endedAt: 200, outcome: 'failed', code: 'internal', measures })
        expect(await store.heardBy('S1')).toEqual({ back: 'zot', place: hard })
      })

      it('knows whether an agent has taken part in a session', async () => {
        await store.openSession(KEY, 'S1', 1)
        expect(await store.heardBy('S1')).toBeUndefined()
        await store.beginTurn(TURN)
        expect(await store.heardBy('S1')).toEqual({})
        await store.endTurn({ ...TURN, endedAt: 200, outcome: 'failed', code: 'overloaded' })
        expect(await store.heardBy('S1')).toBeUndefined()
        const end = { endedAt: 200, outcome: 'failed' } as const
        for (const code of ['agent-unavailable', 'session-busy', 'session-not-found']) {
          await store.endTurn({ ...TURN, ...end, turn: code, code })
          expect(await store.heardBy('S1')).toBeUndefined()
        }
        await store.endTurn({ ...TURN, ...end, turn: 'tried', code: 'timeout' })
        expect(await store.heardBy('S1')).toEqual({})
        await store.prune(300, 99)
        await store.appendMessage('S1', message('asked'))
        expect(await store.heardBy('S1')).toBeUndefined()
        await store.appendMessage('S1', answer('answered'))
        expect(await store.heardBy('S1')).toEqual({})
      })

      it('adds up the usage of its turns, also of deleted ones; what no turn told stays unknown', async () => {
        await store.openSession(KEY, 'S1', 1)
        expect(await store.usageOf('S1')).toBeUndefined()
        const usages = [{ input: 3, output: 1 }, undefined, { input: 2, costUsd: 0.5 }]
        for (const [at, usage] of usages.entries()) {
          const measures = { back: 'zot', timings: {}, ...(usage && { usage }) }
          await store.endTurn({ ...TURN, turn: `t${at}`, endedAt: 100 + at, outcome: 'completed', measures })
        }
        const sum = { input: 5, output: 1, costUsd: 0.5 }
        for (const before of [100, 101, 102, 103, 104]) {
          await store.prune(before, 99)
          expect(await store.usageOf('S1')).toEqual(sum)
        }
      })

      it('keeps the latest time of use', async () => {
        await store.openSession(KEY, 'S1', 10)
        await store.touchSession('S1', 30)
        await store.touchSession('S1', 20)
        expect((await store.readSession('S1'))?.usedAt).toBe(30)
        await store.touchSession('S9', 30)
      })

      it('never turns the time of use back', async () => {
        await store.openSession(KEY, 'S1', 30)
        expect((await store.openSession(KEY, 'S1', 20)).usedAt).toBe(30)
      })

      it.each(['tenant', 'agent', 'session', 'conversation'] as const)('tells sessions apart by %s', async (part) => {
        await store.openSession(KEY, 'S1', 1)
        expect((await store.openSession({ ...KEY, [part]: 'other' }, 'S2', 1)).id).toBe('S2')
      })

      it('keeps any text in a key exactly', async () => {
        let count = 0
        await fc.assert(
          fc.asyncProperty(text, text, async (session, conversation) => {
            const key = { tenant: `tenant-${count}`, agent: 'a', session, conversation }
            const id = `id-${count++}`
            await store.openSession(key, id, 1)
            expect(await store.readSession(id)).toEqual({ ...key, id, createdAt: 1, usedAt: 1 })
          }),
          { numRuns: 50 },
        )
      })

      it('binds the id of the agent and takes it away', async () => {
        await store.openSession(KEY, 'S1', 1)
        await store.bindSession('S1', 'agent-7')
        expect((await store.readSession('S1'))?.bound).toBe('agent-7')
        expect((await store.openSession(KEY, 'S1', 2)).bound).toBe('agent-7')
        await store.bindSession('S1', undefined)
        expect(await store.readSession('S1')).toEqual({ ...KEY, id: 'S1', createdAt: 1, usedAt: 2 })
      })

      it('lists the sessions of one tenant, the last used first, up to the limit', async () => {
        for (const [id, now] of [
          ['A', 1],
          ['B', 3],
          ['C', 2],
        ] as const) {
          await store.openSession({ ...KEY, session: id }, id, now)
        }
        await store.openSession({ ...KEY, tenant: 'globex' }, 'X', 9)
        expect((await store.listSessions({ tenant: 'acme', limit: 10 }))!.rows.map(({ id }) => id)).toEqual([
          'B',
          'C',
          'A',
        ])
        expect((await store.listSessions({ tenant: 'acme', limit: 2 }))!.rows.map(({ id }) => id)).toEqual(['B', 'C'])
        expect((await store.listSessions({ tenant: 'nobody', limit: 10 }))!.rows).toEqual([])
      })

      it('gives pages of sessions, and finds them by agent, ids and title', async () => {
        for (const [id, now] of ['A', 'B', 'C'].entries())
          await store.openSession({ ...KEY, session: now }, `id-${now}`, id >> 1)
        await store.openSession({ ...KEY, tenant: 'globex', agent: 'writer' }, 'X', 9)
        await store.setSession('id-A', { title: 'The "long" WALK', model: 'title":"b' })
        const page = async (of: Omit<Page, 'limit'>) => {
          const listed = await store.listSessions({ limit: 2, ...of })
          return listed && [listed.rows.map(({ id }) => id), listed.next]
        }
        expect(await page({ tenant: 'acme' })).toEqual([['id-C', 'id-B'], 'id-B'])
        expect(await page({ tenant: 'acme', before: 'id-B' })).toEqual([['id-A'], undefined])
        expect(await page({ tenant: 'acme', before: 'X' })).toBeUndefined()
        expect(await page({ before: 'X' })).toEqual([['id-C', 'id-B'], 'id-B'])
        expect(await page({ agent: 'writer' })).toEqual([['X'], undefined])
        expect(await page({ tenant: 'acme', agent: 'writer' })).toEqual([[], undefined])
        expect(await page({ text: 'walk' })).toEqual([['id-A'], undefined])
        expect(await page({ text: 'ID-c' })).toEqual([['id-C'], undefined])
        expect(await page({ text: 'nothing' })).toEqual([[], undefined])
      })

      it('deletes a session with its transcript, turns and events, and nothing else', async () => {
        await lives()
        for (const id of ['S1', 'S2']) {
          await store.openSession({ ...KEY, session: id }, id, 1)
          await store.appendMessage(id, message(id))
          await store.beginTurn({ ...TURN, turn: `t-${id}`, session: id })
          await store.appendEvents([{ turn: `t-${id}`, seq: 1, lines: '{}' }])
          const ended = { ...TURN, turn: `e-${id}`, session: id, endedAt: 101, outcome: 'completed' } as const
          await store.endTurn(ended, { messages: [answer(id)], events: { turn: `e-${id}`, seq: 1, lines: '{}' } })
        }
        await store.deleteSession('S1')
        expect(await store.readSession('S1')).toBeUndefined()
        expect(await store.readMessages('S1')).toEqual([])
        for (const turn of ['t-S1', 'e-S1']) {
          expect(await store.readTurn(turn)).toBeUndefined()
          expect(await store.readEvents(turn, 0)).toEqual([])
        }
        expect(await store.readMessages('S2')).toEqual([message('S2'), answer('S2')])
        for (const turn of ['t-S2', 'e-S2']) {
          expect(await store.readEvents(turn, 0)).toEqual([{ turn, seq: 1, lines: '{}' }])
        }
        const again = { ...KEY, session: 'S1', id: 'S3', createdAt: 5, usedAt: 5, epoch: 5 }
        expect(await store.openSession({ ...KEY, session: 'S1' }, 'S3', 5)).toEqual(again)
        expect(await store.readSession('S3')).toEqual(again)
        expect((await store.openSession({ ...KEY, session: 'S4' }, 'S4', 5)).epoch).toBeUndefined()
      })

      it('keeps what a client has set, and leaves the rest as it was', async () => {
        await store.openSession(KEY, 'S1', 1)
        await store.setSession('S1', { model: 'big', mode: 'plan' })
        expect((await store.openSession(KEY, 'S2', 2)).settings).toEqual({ model: 'big', mode: 'plan' })
        await store.setSession('S1', { effort: 'high', mode: 'default' })
        const set = { model: 'big', effort: 'high', mode: 'default' }
        expect((await store.readSession('S1'))?.settings).toEqual(set)
        await store.setSession('S1', { fork: { of: 'S0', turn: 't' } })
        expect((await store.readSession('S1'))?.settings).toEqual({ ...set, fork: { of: 'S0', turn: 't' } })
        await store.setSession('S1', { fork: null })
        expect((await store.readSession('S1'))?.settings).toEqual(set)
      })

      it.each([
        ['\ud800', '\udbff'],
        ['\ud800', '\ufffd'],
        ['\ud800', '\ufdd0"\\ud800"'],
        ['\ufdd0"x"', 'x'],
        ['a\0b', 'a\0c'],
        ['a', 'a\0'],
        ['', '\0'],
      ])('keeps apart, and gives back, ids that are hard to write: %j and %j', async (one, other) => {
        for (const [id, session] of [
          ['S1', one],
          ['S2', other],
        ] as const) {
          const made = await store.openSession({ ...KEY, session, conversation: session }, id, 1)
          expect(made).toMatchObject({ id, session, conversation: session })
          expect(await store.findSession({ ...KEY, session, conversation: session })).toEqual(made)
        }
      })
    })

    describe('transcripts', () => {
      beforeEach(async () => {
        await store.openSession(KEY, 'S1', 1)
      })

      /** A turn of the session that ends with this answer. */
      const ends = (turn: string, messages: Message[] = [message(turn), answer(turn)], at = 200): Awaitable<boolean> =>
        store.endTurn({ ...TURN, turn, endedAt: at, outcome: 'completed' }, { messages })

      it('has the messages of turns in the order of their ends, and those between turns where they came', async () => {
        await store.appendMessage('S1', answer('first'))
        await store.beginTurn({ ...TURN, turn: 'waits' })
        await store.beginTurn({ ...TURN, turn: 'runs' })
        await ends('runs')
        await store.appendMessage('S1', answer('between'))
        await store.appendMessage('S1', answer('and'))
        await ends('waits')
        await ends('silent', [])
        await store.appendMessage('S1', answer('last'))
        const expected = [
          answer('first'),
          ...[message('runs'), answer('runs')],
          ...[answer('between'), answer('and')],
          ...[message('waits'), answer('waits')],
          answer('last'),
        ]
        expect(await store.readMessages('S1')).toEqual(expected)
        // It is the same when the turns are deleted, one after the other.
        for (let left = 3; left > 0; left--) {
          expect(await store.prune(300, 1)).toBe(1)
          expect(await store.readMessages('S1')).toEqual(expected)
        }
        expect(await store.prune(300, 1)).toBe(0)
        await ends('new', undefined, 300)
        expect(await store.readMessages('S1')).toEqual([...expected, message('new'), answer('new')])
      })

      it('ends where it did after one of its turns', async () => {
        await store.appendMessage('S1', answer('first'))
        await ends('one')
        await ends('other', undefined, 200)
        await store.appendMessage('S1', answer('between'))
        await ends('two')
        const expected = [answer('first'), message('one'), answer('one'), message('other'), answer('other')]
        expect(await store.readMessages('S1', 'other')).toEqual(expected)
        expect(await store.readMessages('S1', 'one')).toEqual(expected.slice(0, 3))
        expect(await store.readMessages('S1', 'unknown')).toEqual([])
        expect(await store.prune(300, 1)).toBe(1)
        expect(await store.readMessages('S1', 'other')).toEqual(expected)
      })

      it('keeps every part as it was, raw arguments included', async () => {
        const whole: Message = {
          role: 'assistant',
          parts: [
            { type: 'tool-call', tool: 'x', name: 'add', args: '{"n":1.00000000000000000001,"__proto__":{}}' },
            { type: 'text', text: '\u0000\u2028"\\ 🜂' },
          ],
        }
        await store.appendMessage('S1', whole)
        await ends('t1', [whole])
        expect(await store.readMessages('S1')).toEqual([whole, whole])
        await store.prune(300, 1)
        expect(await store.readMessages('S1')).toEqual([whole, whole])
      })

      it('clears the transcript and the id of the agent, and keeps the session with an epoch that is a new one each time', async () => {
        await store.appendMessage('S1', message('one'))
        await ends('t1')
        await store.bindSession('S1', 'agent-7')
        expect(await store.clearSession('S1', 5)).toBe(5)
        expect(await store.readMessages('S1')).toEqual([])
        const last = { turn: 't1', owner: TURN.owner, ended: true }
        expect(await store.readSession('S1')).toEqual({ ...KEY, id: 'S1', createdAt: 1, usedAt: 1, epoch: 5, last })
        await store.appendMessage('S1', message('two'))
        expect(await store.readMessages('S1')).toEqual([message('two')])
        expect(await store.clearSession('S1', 5)).toBe(6)
        expect((await store.openSession(KEY, 'S2', 7)).epoch).toBe(6)
        expect(await store.clearSession('S9', 5)).toBeUndefined()
      })

      it('knows a cleared session for one that no agent has taken part in', async () => {
        await store.endTurn({ ...TURN, startedAt: 4, endedAt: 4, outcome: 'completed' })
        expect(await store.heardBy('S1')).toEqual({})
        await store.clearSession('S1', 5)
        expect(await store.heardBy('S1')).toBeUndefined()
        await store.beginTurn({ ...TURN, turn: 't2', startedAt: 5 })
        expect(await store.heardBy('S1')).toEqual({})
      })
    })

    describe('turns', () => {
      beforeEach(async () => {
        await store.openSession(KEY, 'S1', 1)
      })

      it('keeps a turn from its beginning to its end', async () => {
        const begun = { ...TURN, request: 'r-9' }
        await store.beginTurn(begun)
        expect(await store.readTurn('t1')).toEqual(begun)
        await store.endTurn({ ...begun, endedAt: 200, outcome: 'failed', code: 'timeout' })
        await store.markDelivered('t1')
        expect(await store.readTurn('t1')).toEqual({
          ...TURN,
          request: 'r-9',
          endedAt: 200,
          outcome: 'failed',
          code: 'timeout',
          delivered: true,
        })
      })

      it('keeps what a turn lost, and which agent took it in the end', async () => {
        await store.openSession({ ...KEY, agent: 'helper' }, 'S2', 1)
        await store.beginTurn(TURN)
        await store.beginTurn({ ...TURN, session: 'S2', agent: 'helper' })
        expect(await store.readTurn('t1')).toEqual({ ...TURN, session: 'S2', agent: 'helper' })
        const losses = [{ kind: 'dropped', item: 'part.image', why: 'no-place', count: 2, side: 'client' }] as const
        const measures = {
          back: 'zot',
          route: 'front=zene',
          timings: { queue: 1, firstEvent: 20 },
          usage: { input: 3 },
        }
        const ended = {
          ...TURN,
          session: 'S2',
          agent: 'helper',
          endedAt: 9,
          outcome: 'completed',
          losses,
          measures,
        } as const
        await store.endTurn(ended)
        expect(await store.readTurn('t1')).toEqual(ended)
      })

      it('lists the turns of one tenant, the newest first, up to the limit', async () => {
        for (const [turn, startedAt] of [
          ['a', 1],
          ['b', 3],
          ['c', 2],
        ] as const) {
          await store.beginTurn({ ...TURN, turn, startedAt })
        }
        await store.endTurn({ ...TURN, turn: 'b', startedAt: 3, endedAt: 4, outcome: 'completed' })
        await store.endTurn({ ...TURN, turn: 'd', startedAt: 3, endedAt: 4, outcome: 'completed' })
        expect((await store.listTurns({ tenant: 'acme', limit: 3 }))!.rows.map(({ turn }) => turn)).toEqual([
          'd',
          'b',
          'c',
        ])
        expect((await store.listTurns({ tenant: 'acme', limit: 9 }))!.rows.map(({ turn }) => turn)).toEqual([
          'd',
          'b',
          'c',
          'a',
        ])
        expect((await store.listTurns({ tenant: 'other', limit: 2 }))!.rows).toEqual([])
      })

      it('gives each page of a list what follows the one before', async () => {
        await store.openSession({ ...KEY, tenant: 'globex' }, 'G1', 1)
        for (const [at, turn] of ['a', 'b', 'c', 'd'].entries()) {
          await store.endTurn({ ...TURN, turn, startedAt: at >> 1, endedAt: 9, outcome: 'completed' })
        }
        await store.endTurn({ ...TURN, turn: 'x', tenant: 'globex', session: 'G1', endedAt: 9, outcome: 'completed' })
        await store.beginTurn({ ...TURN, turn: 'e', startedAt: 1 })
        const page = async (before?: string, tenant?: string) => {
          const listed = await store.listTurns({ limit: 2, ...(before && { before }), ...(tenant && { tenant }) })
          return listed && [listed.rows.map(({ turn }) => turn), listed.next]
        }
        expect(await page(undefined, 'acme')).toEqual([['e', 'd'], 'd'])
        expect(await page('d', 'acme')).toEqual([['c', 'b'], 'b'])
        expect(await page('b', 'acme')).toEqual([['a'], undefined])
        expect(await page('a', 'acme')).toEqual([[], undefined])
        expect(await page('x', 'acme')).toBeUndefined()
        expect(await page('nobody')).toBeUndefined()
        expect(await page()).toEqual([['x', 'e'], 'e'])
        expect(await page('e')).toEqual([['d', 'c'], 'c'])
      })

      it('finds the turns that the conditions of a list ask for, and no others', async () => {
        await fc.assert(
          fc.asyncProperty(
            fc.array(someTurn, { maxLength: 12 }),
            fc.array(conditions, { maxLength: 8 }),
            async (made, asked) => {
              const all = await putIn(store, made)
              for (const wanted of asked) {
                const { all: everybody, ...page } = wanted
                const scope = everybody ? {} : { tenant: 'one' }
                const found: ListedTurn[] = []
                for (let before: string | undefined, more = true; more; ) {
                  const listed = (await store.listTurns({ ...page, ...scope, limit: 3, ...(before && { before }) }))!
                  found.push(...listed.rows)
                  before = listed.next
                  more = before !== undefined
                }
                const right = all.filter((row) => (everybody || row.tenant === 'one') && isWanted(row, page))
                expect(found.map(({ turn, named }) => [turn, named])).toEqual(
                  right.map(({ turn, named }) => [turn, named]),
                )
              }
              for (const tenant of ['one', 'two']) {
                for (const { id } of (await store.listSessions({ tenant, limit: 99 }))!.rows)
                  await store.deleteSession(id)
              }
            },
          ),
          { numRuns: 25 },
        )
      })

      it('reads no more at a time than it should where little is found, and goes on from there', async () => {
        for (let at = 0; at <= MOST_READ + 1; at++) {
          const end = { turn: `t${at}`, startedAt: at, endedAt: at, outcome: 'completed' } as const
          void store.endTurn({ ...TURN, ...end, agent: at === 0 ? 'rare' : 'coder' })
        }
        const first = await store.listTurns({ tenant: 'acme', agent: 'rare', limit: 5 })
        expect(first).toEqual({ rows: [], next: 't1' })
        const second = await store.listTurns({ tenant: 'acme', agent: 'rare', limit: 5, before: 't1' })
        expect([second?.rows.map(({ turn }) => turn), second?.next]).toEqual([['t0'], undefined])
        const all = await store.listTurns({ tenant: 'acme', limit: 5 })
        expect(all?.next).toBe(`t${MOST_READ - 3}`)
      })

      it('keeps a turn whole that was never recorded as running', async () => {
        const ended = { ...TURN, endedAt: 200, outcome: 'completed' } as const
        await store.endTurn(ended, { events: { turn: 't1', seq: 1, lines: '1\n2' }, messages: [message('one')] })
        expect(await store.readTurn('t1')).toEqual(ended)
        expect(await store.readEvents('t1', 0)).toEqual([{ turn: 't1', seq: 1, lines: '1\n2' }])
        expect(await store.readMessages('S1')).toEqual([message('one')])
        expect(await store.unfinishedTurns()).toEqual([])
      })

      it('tells of a session its last turn, and which process has it', async () => {
        await store.openSession({ ...KEY, session: 'other' }, 'S2', 1)
        const last = async (): Promise<unknown> => (await store.readSession('S1'))?.last
        expect(await last()).toBeUndefined()
        await store.beginTurn({ ...TURN, turn: 'b', owner: 'one', startedAt: 3 })
        await store.beginTurn({ ...TURN, turn: 'a', owner: 'two', startedAt: 2 })
        await store.beginTurn({ ...TURN, turn: 'c', session: 'S2', startedAt: 9 })
        expect(await last()).toEqual({ turn: 'b', owner: 'one', ended: false })
        await store.endTurn({ ...TURN, turn: 'b', owner: 'one', startedAt: 3, endedAt: 4, outcome: 'completed' })
        expect(await last()).toEqual({ turn: 'a', owner: 'two', ended: false })
        await store.endTurn({ ...TURN, turn: 'a', owner: 'two', startedAt: 2, endedAt: 5, outcome: 'completed' })
        expect(await last()).toEqual({ turn: 'a', owner: 'two', ended: true })
        await store.beginTurn({ ...TURN, turn: 'c2', owner: 'two', startedAt: 3 })
        const newest = { turn: 'c2', owner: 'two', ended: false }
        expect((await store.openSession(KEY, 'S3', 5)).last).toEqual(newest)
        expect((await store.findSession(KEY))?.last).toEqual(newest)
        expect(
          (await store.listSessions({ tenant: 'acme', limit: 9 }))!.rows.find(({ id }) => id === 'S1')?.last,
        ).toEqual(newest)
      })

      it('lists the unfinished turns of a session, the oldest first', async () => {
        await store.openSession({ ...KEY, session: 'other' }, 'S2', 1)
        await store.beginTurn({ ...TURN, turn: 'new', startedAt: 3 })
        await store.beginTurn({ ...TURN, turn: 'old', startedAt: 2 })
        await store.beginTurn({ ...TURN, turn: 'other', session: 'S2' })
        await store.beginTurn({ ...TURN, turn: 'ended' })
        await store.endTurn({ ...TURN, turn: 'ended', endedAt: 4, outcome: 'completed' })
        expect((await store.unfinishedTurns('S1')).map(({ turn }) => turn)).toEqual(['old', 'new'])
        expect((await store.unfinishedTurns('S2')).map(({ turn }) => turn)).toEqual(['other'])
        expect(await store.unfinishedTurns('S3')).toEqual([])
      })

      it('lists the unfinished turns, the oldest first', async () => {
        await store.beginTurn({ ...TURN, turn: 'new', startedAt: 3 })
        await store.beginTurn({ ...TURN, turn: 'old', startedAt: 1 })
        await store.beginTurn({ ...TURN, turn: 'done', startedAt: 2 })
        await store.endTurn({ ...TURN, turn: 'done', endedAt: 4, outcome: 'cancelled' })
        expect((await store.unfinishedTurns()).map(({ turn }) => turn)).toEqual(['old', 'new'])
      })

      it('knows no turn that was never begun', async () => {
        expect(await store.readTurn('nope')).toBeUndefined()
      })
    })

    describe('texts of others', () => {
      it.each(HARD)('are kept and found: %j', async (hard) => {
        await store.openSession(KEY, 'S1', 1)
        await store.bindSession('S1', hard)
        await store.setSession('S1', { title: hard, model: hard })
        const running = { ...TURN, turn: 't0', request: hard }
        await store.beginTurn(running)
        const measures = { back: 'zot', timings: {}, error: `before ${hard} AFTER` }
        const ended = { ...TURN, request: hard, endedAt: 200, outcome: 'failed', measures } as const
        await store.endTurn(ended, { messages: [message(hard)] })
        expect(await store.readSession('S1')).toMatchObject({ bound: hard, settings: { title: hard, model: hard } })
        expect([await store.readTurn('t0'), await store.readTurn('t1')]).toEqual([running, ended])
        expect(await store.readMessages('S1')).toEqual([message(hard)])
        const found = await store.listTurns({ limit: 9, text: 'after' })
        expect(found?.rows.map(({ turn, request }) => [turn, request])).toEqual([['t1', hard]])
        expect((await store.listSessions({ limit: 9, text: 's-1' }))?.rows).toHaveLength(1)
      })
    })

    describe('known conversations', () => {
      const KNOWN = 'digest'
      const ends = (turn: string, session: string, known?: string): Awaitable<boolean> =>
        store.endTurn({ ...TURN, turn, session, endedAt: 200, outcome: 'completed' }, { ...(known && { known }) })

      beforeEach(async () => {
        for (const id of ['S1', 'S2', 'S3']) await store.openSession({ ...KEY, session: id }, id, 1)
        await ends('t1', 'S1', KNOWN)
        await ends('t2', 'S2', KNOWN)
        await ends('t3', 'S3', 'another')
      })

      it('are found at the turns that left them, the newest first', async () => {
        expect(await store.findKnown(KNOWN, 9)).toEqual(['t2', 't1'])
        expect(await store.findKnown(KNOWN, 1)).toEqual(['t2'])
        expect(await store.findKnown('unknown', 9)).toEqual([])
      })

      it('are over with the next turn of their session', async () => {
        await ends('t4', 'S2')
        expect(await store.findKnown(KNOWN, 9)).toEqual(['t1'])
        await ends('t5', 'S2', KNOWN)
        expect(await store.findKnown(KNOWN, 9)).toEqual(['t5', 't1'])
      })

      it('go with their session, and with their turn', async () => {
        await store.deleteSession('S2')
        expect(await store.findKnown(KNOWN, 9)).toEqual(['t1'])
        await store.prune(300, 9)
        expect(await store.findKnown(KNOWN, 9)).toEqual([])
      })
    })

    describe('a deleted turn', () => {
      const ends = (turn: string, endedAt: number, known: string): Awaitable<boolean> => {
        const measures = { back: 'zot', timings: {}, usage: { input: endedAt } }
        const events = { turn, seq: 2, lines: `${turn}'s last` }
        const record = { ...TURN, turn, request: turn, startedAt: endedAt - 1, endedAt, outcome: 'completed', measures }
        return store.endTurn(record as TurnRecord, { events, messages: [message(turn), answer(turn)], known })
      }

      beforeEach(async () => {
        await store.openSession(KEY, 'S1', 1)
        await lives()
        for (const turn of ['t1', 't2']) {
          await store.beginTurn({ ...TURN, turn })
          await store.appendEvents([{ turn, seq: 1, lines: `${turn}'s first` }])
        }
        await ends('t1', 10, 'k1')
        await ends('t2', 20, 'k2')
      })

      it('is not found, and nothing of it is', async () => {
        expect(await store.readTurnMessages('t2')).toEqual([message('t2'), answer('t2')])
        expect([await store.deleteTurn('t2'), await store.deleteTurn('t2')]).toEqual([true, true])
        expect([await store.readTurn('t2'), await store.readTurnMessages('t2')]).toEqual([undefined, undefined])
        expect(await store.readEvents('t2', 0)).toEqual([])
        expect(await store.readMessages('S1')).toEqual([message('t1'), answer('t1')])
        expect((await store.listTurns({ tenant: 'acme', limit: 9 }))!.rows.map(({ turn }) => turn)).toEqual(['t1'])
        expect(await store.findKnown('k2', 9)).toEqual([])
        expect((await store.readEvents('t1', 0)).length).toBe(2)
      })

      it('keeps its place in its session, its usage, and that an agent has had it', async () => {
        await store.deleteTurn('t2')
        expect((await store.readSession('S1'))!.last).toEqual({ turn: 't2', owner: 'host:1', ended: true })
        expect(await store.findKnown('k1', 9)).toEqual([])
        expect(await store.readMessages('S1', 't1')).toEqual([message('t1'), answer('t1')])
        expect(await store.usageOf('S1')).toEqual({ input: 30 })
        await store.deleteTurn('t1')
        expect(await store.heardBy('S1')).toEqual({})
        await store.prune(30, 9)
        expect([await store.readMessages('S1'), await store.usageOf('S1')]).toEqual([[], { input: 30 }])
      })

      it('gets no second end, and no events', async () => {
        await store.deleteTurn('t2')
        await ends('t2', 40, 'k2')
        await store.appendEvents([{ turn: 't2', seq: 3, lines: 'late' }])
        expect([await store.readTurn('t2'), await store.readEvents('t2', 0)]).toEqual([undefined, []])
      })

      it('has ended before: one that runs stays, and so does one that there is not', async () => {
        await store.beginTurn({ ...TURN, turn: 't3' })
        await store.appendEvents([{ turn: 't3', seq: 1, lines: 'kept' }])
        expect([await store.deleteTurn('t3'), await store.deleteTurn('t9')]).toEqual([false, false])
        expect((await store.readTurn('t3'))?.turn).toBe('t3')
        expect(await store.readEvents('t3', 0)).toEqual([{ turn: 't3', seq: 1, lines: 'kept' }])
        expect(await store.readTurnMessages('t3')).toBeUndefined()
      })
    })

    describe('the journal', () => {
      beforeEach(async () => {
        await store.openSession(KEY, 'S1', 1)
        await lives()
        await store.beginTurn(TURN)
      })

      const block = (turn: string, seq: number, ...events: string[]) => ({ turn, seq, lines: events.join('\n') })

      it('gives the blocks that may hold the events after a number, in order, with the one that came with the end', async () => {
        const blocks = [block('t1', 1, '1.0'), block('t1', 2, '2.0', '3.0'), block('t1', 4, '4.0', '5.0')]
        const last = block('t1', 6, '6.0')
        await store.appendEvents([blocks[1]!, blocks[0]!])
        await store.appendEvents([blocks[2]!])
        expect(await store.readEvents('t1', 0)).toEqual(blocks)
        await store.endTurn({ ...TURN, endedAt: 200, outcome: 'completed' }, { events: last })
        const all = [...blocks, last]
        expect(await store.readEvents('t1', 0)).toEqual(all)
        expect(await store.readEvents('t1', 1)).toEqual(all.slice(1))
        expect(await store.readEvents('t1', 2)).toEqual(all.slice(1))
        expect(await store.readEvents('t1', 3)).toEqual(all.slice(2))
        expect(await store.readEvents('t2', 0)).toEqual([])
      })

      it('takes nothing more of a turn that has its end', async () => {
        await store.appendEvents([block('t1', 1, '"a"')])
        await store.endTurn({ ...TURN, endedAt: 200, outcome: 'failed', code: 'internal' })
        await store.appendEvents([block('t1', 2, '"late"')])
        const late = { events: block('t1', 2, '"late"'), messages: [message('late')] }
        await store.endTurn({ ...TURN, endedAt: 300, outcome: 'completed' }, late)
        expect(await store.readEvents('t1', 0)).toEqual([block('t1', 1, '"a"')])
        expect(await store.readMessages('S1')).toEqual([])
        expect(await store.readTurn('t1')).toMatchObject({ endedAt: 200, outcome: 'failed', code: 'internal' })
        expect(await store.unfinishedTurns()).toEqual([])
      })

      it('takes nothing of a turn whose lease is over: another process is about to end it', async () => {
        await store.appendEvents([block('t1', 1, '1')])
        await store.dropLease(TURN)
        await store.appendEvents([block('t1', 2, '2')])
        await store.takeLease(TURN.owner, 9, 9e15)
        await store.appendEvents([block('t1', 2, '2')])
        expect(await store.readEvents('t1', 0)).toEqual([block('t1', 1, '1')])
      })

      it('keeps a block that is written twice as it was first', async () => {
        await store.appendEvents([block('t1', 1, '1')])
        await store.appendEvents([block('t1', 1, '"again"'), block('t1', 2, '2')])
        expect(await store.readEvents('t1', 0)).toEqual([block('t1', 1, '1'), block('t1', 2, '2')])
      })

      it('takes a batch for several turns, keeps them apart, and leaves out those that there are not', async () => {
        await store.beginTurn({ ...TURN, turn: 't2' })
        await store.appendEvents([block('t1', 1, '"a"'), block('gone', 1, '"x"'), block('t2', 1, '"b"')])
        expect(await store.readEvents('t1', 0)).toEqual([block('t1', 1, '"a"')])
        expect(await store.readEvents('t2', 0)).toEqual([block('t2', 1, '"b"')])
        expect(await store.readEvents('gone', 0)).toEqual([])
      })

      it('keeps the text of events exactly', async () => {
        let seq = 0
        await fc.assert(
          fc.asyncProperty(fc.json(), async (lines) => {
            await store.appendEvents([{ turn: 't1', seq: ++seq, lines }])
            expect(await store.readEvents('t1', seq - 1)).toEqual([{ turn: 't1', seq, lines }].slice(-1))
          }),
          { numRuns: 50 },
        )
      })
    })

    describe('writes about what was deleted meanwhile', () => {
      it('change nothing and do not fail', async () => {
        await store.beginTurn(TURN)
        await store.endTurn({ ...TURN, endedAt: 2, outcome: 'completed' })
        await store.markDelivered('t1')
        await store.appendEvents([{ turn: 't1', seq: 1, lines: '{}' }])
        await store.appendMessage('S1', message('lost'))
        await store.bindSession('S1', 'x')
        expect(await store.setSession('S1', { mode: 'plan' })).toBe(true)
        expect(await store.clearSession('S1', 2)).toBeUndefined()
        expect(await store.deleteSession('S1')).toBe(true)
        await store.release('k', 't1')
        await store.openSession(KEY, 'S1', 1)
        expect(await store.readTurn('t1')).toBeUndefined()
        expect(await store.readEvents('t1', 0)).toEqual([])
        expect(await store.readMessages('S1')).toEqual([])
        expect((await store.readSession('S1'))?.bound).toBeUndefined()
      })
    })

    describe('claims', () => {
      const held = { state: 'held', turn: 't1', body: 'digest' }

      it('gives a key to the first and tells the others who holds it', async () => {
        expect(await store.claim('k', 't1', 'digest', 100, 50)).toEqual({ state: 'new' })
        expect(await store.claim('k', 't2', 'other', 149, 50)).toEqual(held)
        expect(await store.claim('k2', 't2', 'other', 149, 50)).toEqual({ state: 'new' })
      })

      it('gives a key again once its claim has expired, and not a moment before', async () => {
        await store.claim('k', 't1', 'digest', 100, 50)
        expect(await store.claim('k', 't2', 'd2', 149, 50)).toEqual(held)
        expect(await store.claim('k', 't3', 'd3', 150, 50)).toEqual({ state: 'new' })
        expect(await store.claim('k', 't4', 'd4', 199, 50)).toEqual({ state: 'held', turn: 't3', body: 'd3' })
      })

      it('gives a released key again', async () => {
        await store.claim('k', 't1', 'digest', 100, 50)
        await store.release('k', 't1')
        expect(await store.claim('k', 't2', 'd2', 101, 50)).toEqual({ state: 'new' })
      })

      it('keeps the key of a turn that another one gives up', async () => {
        await store.claim('k', 't1', 'digest', 100, 50)
        await store.release('k', 't0')
        expect(await store.claim('k', 't2', 'd2', 101, 50)).toEqual(held)
      })

      it('keeps the key of a turn that is recorded, while it runs and behind its end, until it is deleted', async () => {
        await store.openSession(KEY, 'S1', 1)
        await store.claim('k', 't1', 'digest', 100, 50)
        await store.beginTurn(TURN, 'k')
        await store.release('k', 't1')
        expect(await store.claim('k', 't2', 'd2', 101, 50)).toEqual(held)
        await store.endTurn({ ...TURN, endedAt: 102, outcome: 'completed' })
        await store.release('k', 't1')
        expect(await store.claim('k', 't2', 'd2', 103, 50)).toEqual(held)
        await store.deleteTurn('t1')
        await store.release('k', 't1')
        expect(await store.claim('k', 't2', 'd2', 104, 50)).toEqual({ state: 'new' })
      })

      it('begins no turn whose key another one has taken over, and hands over no key of a turn that runs', async () => {
        await store.openSession(KEY, 'S1', 1)
        await store.claim('k', 't1', 'digest', 100, 50)
        await store.claim('k2', 't2', 'd2', 100, 50)
        await store.reclaim('k', 't3', 'd3', 110, { turn: 't1', ended: false })
        expect(await store.beginTurn(TURN, 'k')).toBe(false)
        expect(await store.beginTurn({ ...TURN, turn: 't2' }, 'k2')).toBe(true)
        expect(await store.reclaim('k2', 't4', 'd4', 120, { turn: 't2', ended: true })).toEqual({
          state: 'held',
          turn: 't2',
          body: 'd2',
        })
        expect((await store.unfinishedTurns()).map(({ turn }) => turn)).toEqual(['t2'])
        await store.endTurn({ ...TURN, turn: 't2', endedAt: 130, outcome: 'failed' })
        expect(await store.reclaim('k2', 't4', 'd4', 140, { turn: 't2', ended: true })).toEqual({ state: 'new' })
        expect(await store.beginTurn({ ...TURN, turn: 't5' }, 'nobody has this key')).toBe(true)
      })

      it('gives a key away from no turn that began and ended since nothing was found of it', async () => {
        await store.openSession(KEY, 'S1', 1)
        await store.claim('k', 't1', 'digest', 100, 50)
        expect(await store.beginTurn(TURN, 'k')).toBe(true)
        await store.endTurn({ ...TURN, endedAt: 130, outcome: 'completed' })
        const unseen = { turn: 't1', ended: false }
        expect(await store.reclaim('k', 't2', 'd2', 140, unseen)).toEqual({ state: 'held', turn: 't1', body: 'digest' })
        expect(await store.reclaim('k', 't2', 'd2', 140, { turn: 't1', ended: true })).toEqual({ state: 'new' })
      })

      it('gives away a key whose turn was deleted', async () => {
        await store.openSession(KEY, 'S1', 1)
        await store.claim('k', 't1', 'digest', 100, 50)
        await store.endTurn({ ...TURN, endedAt: 130, outcome: 'completed' })
        await store.deleteTurn('t1')
        expect(await store.reclaim('k', 't2', 'd2', 140, { turn: 't1', ended: false })).toEqual({ state: 'new' })
      })

      it('hands a key over to another turn, for as long again', async () => {
        await store.claim('k', 't1', 'digest', 100, 50)
        await store.reclaim('k', 't2', 'd2', 140)
        expect(await store.claim('k', 't3', 'd3', 189, 50)).toEqual({ state: 'held', turn: 't2', body: 'd2' })
        expect(await store.claim('k', 't3', 'd3', 190, 50)).toEqual({ state: 'new' })
      })

      it('hands over a key that nobody holds any more', async () => {
        expect(await store.reclaim('k', 't1', 'digest', 100)).toEqual({ state: 'new' })
        expect(await store.claim('k', 't2', 'd2', 101, 50)).toEqual(held)
      })

      it('gives a key from the turn that holds it to exactly one of many that want its place', async () => {
        await store.claim('k', 't0', 'd', 1, 50)
        const claims = await Promise.all(
          Array.from({ length: 20 }, (_, n) => store.reclaim('k', `t${n + 1}`, 'd', 2, { turn: 't0', ended: false })),
        )
        expect(claims.filter(({ state }) => state === 'new')).toHaveLength(1)
        const held = claims.flatMap((claim) => (claim.state === 'held' ? [claim.turn] : []))
        expect(new Set(held).size).toBe(1)
        expect(held).toHaveLength(19)
      })

      it('gives each key to exactly one of many that claim at once', async () => {
        const claims = await Promise.all(Array.from({ length: 20 }, (_, n) => store.claim('k', `t${n}`, 'd', 1, 50)))
        expect(claims.filter(({ state }) => state === 'new')).toHaveLength(1)
      })
    })

    describe('leases', () => {
      const LEASE = { owner: 'gateway', epoch: 100 }

      it('are renewed until they are given up, and each taking of one ends the one before', async () => {
        expect(await store.takeLease('gateway', 100, 150)).toBe(100)
        expect(await store.renewLease(LEASE, 160)).toBe(true)
        // Within the same millisecond, and after the clock was set back.
        expect(await store.takeLease('gateway', 100, 150)).toBe(101)
        expect(await store.takeLease('gateway', 7, 150)).toBe(102)
        expect(await store.renewLease(LEASE, 999)).toBe(false)
        expect(await store.renewLease({ ...LEASE, epoch: 102 }, 170)).toBe(true)
        expect(await store.renewLease({ owner: 'other', epoch: 102 }, 170)).toBe(false)
        await store.dropLease(LEASE)
        expect(await store.renewLease({ ...LEASE, epoch: 102 }, 170)).toBe(true)
        await store.dropLease({ ...LEASE, epoch: 102 })
        expect(await store.renewLease({ ...LEASE, epoch: 102 }, 170)).toBe(false)
      })

      it('lapse when a last call brings no renewal, and never before', async () => {
        await store.takeLease('gateway', 100, 150)
        expect(await store.lapseLease(LEASE, 149, 30)).toBe(false)
        expect(await store.lapseLease(LEASE, 150, 30)).toBe(false)
        // Called, and renewed in time, however long ago it had expired.
        expect(await store.renewLease(LEASE, 200)).toBe(true)
        expect(await store.lapseLease(LEASE, 199, 30)).toBe(false)
        expect(await store.lapseLease(LEASE, 9000, 30)).toBe(false)
        expect(await store.lapseLease(LEASE, 9029, 30)).toBe(false)
        expect(await store.lapseLease(LEASE, 9030, 30)).toBe(true)
        expect(await store.renewLease(LEASE, 9999)).toBe(false)
        expect(await store.lapseLease(LEASE, 1, 30)).toBe(true)
      })

      it('are over when nobody has taken them, or somebody else has', async () => {
        expect(await store.lapseLease(LEASE, 1, 30)).toBe(true)
        await store.takeLease('gateway', 200, 999)
        expect(await store.lapseLease(LEASE, 1, 30)).toBe(true)
        expect(await store.lapseLease({ ...LEASE, epoch: 200 }, 1, 30)).toBe(false)
      })

      it('tell an owner whether others have one, which has not expired', async () => {
        expect(await store.hasOtherLease('gateway', 1)).toBe(false)
        await store.takeLease('gateway', 100, 150)
        expect(await store.hasOtherLease('gateway', 120)).toBe(false)
        await store.takeLease('other', 100, 150)
        expect([await store.hasOtherLease('gateway', 149), await store.hasOtherLease('gateway', 150)]).toEqual([
          true,
          false,
        ])
      })

      it('say which turns are lost: unfinished ones whose lease is over or has expired', async () => {
        await store.openSession(KEY, 'S1', 1)
        await store.takeLease('gateway', 100, 150)
        await store.takeLease('other', 100, 250)
        for (const [turn, owner, epoch] of [
          ['here', 'gateway', 100],
          ['there', 'other', 100],
          ['before', 'other', 99],
          ['alone', 'nobody', 100],
          ['ended', 'nobody', 100],
        ] as const) {
          await store.beginTurn({ ...TURN, turn, owner, epoch })
        }
        await store.endTurn({ ...TURN, turn: 'ended', endedAt: 120, outcome: 'completed' })
        const lost = async (now: number): Promise<string[]> => (await store.lostTurns(now)).map(({ turn }) => turn)
        expect(await lost(149)).toEqual(['alone', 'before'])
        expect(await lost(150)).toEqual(['alone', 'before', 'here'])
        expect(await lost(250)).toEqual(['alone', 'before', 'here', 'there'])
        expect((await store.lostTurns(149))[0]).toEqual({ ...TURN, turn: 'alone', owner: 'nobody', epoch: 100 })
      })

      it('are pruned when they expired before the time', async () => {
        await store.takeLease('gone', 100, 150)
        await store.takeLease('valid', 100, 250)
        await store.prune(200, 1)
        expect(await store.renewLease({ owner: 'gone', epoch: 100 }, 300)).toBe(false)
        expect(await store.renewLease({ owner: 'valid', epoch: 100 }, 300)).toBe(true)
      })
    })

    describe('pruning', () => {
      it('deletes turns that ended before the time with their events, and keeps the rest', async () => {
        await store.openSession(KEY, 'S1', 1)
        await lives()
        for (const turn of ['early', 'late', 'running']) {
          await store.beginTurn({ ...TURN, turn, startedAt: 1 })
          await store.appendEvents([{ turn, seq: 1, lines: '{}' }])
        }
        const ended = { ...TURN, startedAt: 1, outcome: 'completed' } as const
        const events = { turn: 'early', seq: 2, lines: '{}' }
        await store.endTurn({ ...ended, turn: 'early', endedAt: 99 }, { events })
        await store.endTurn({ ...ended, turn: 'late', endedAt: 100 })
        expect(await store.prune(100, 99)).toBe(1)
        expect(await store.readTurn('early')).toBeUndefined()
        expect(await store.readEvents('early', 0)).toEqual([])
        expect((await store.readTurn('late'))?.endedAt).toBe(100)
        expect(await store.readEvents('running', 0)).toHaveLength(1)
        expect((await store.readSession('S1'))?.id).toBe('S1')
      })

      it('deletes the turns of every tenant, no more at a time than it is told', async () => {
        for (const tenant of ['acme', 'b', 'c']) {
          await store.openSession({ ...KEY, tenant }, tenant, 1)
          for (const turn of ['x', 'y']) {
            await store.endTurn({
              ...TURN,
              turn: tenant + turn,
              tenant,
              session: tenant,
              endedAt: 101,
              outcome: 'failed',
            })
          }
        }
        await store.endTurn({ ...TURN, turn: 'later', session: 'b', tenant: 'b', endedAt: 500, outcome: 'failed' })
        expect([await store.prune(300, 4), await store.prune(300, 4), await store.prune(300, 4)]).toEqual([4, 2, 0])
        const left = await Promise.all(['acme', 'b', 'c'].map((tenant) => store.listTurns({ tenant, limit: 9 })))
        expect(left.flatMap((page) => page!.rows).map(({ turn }) => turn)).toEqual(['later'])
      })

      it('deletes claims that expired before the time, and no valid one', async () => {
        await store.claim('gone', 't1', 'd', 0, 50)
        await store.claim('valid', 't2', 'd', 0, 200)
        await store.prune(100, 99)
        // At a time before its expiry only a deleted claim can be made anew.
        expect(await store.claim('gone', 't3', 'd', 10, 50)).toEqual({ state: 'new' })
        expect(await store.claim('valid', 't3', 'd', 10, 50)).toEqual({ state: 'held', turn: 't2', body: 'd' })
      })
    })

    keyContract(() => store, KEY, TURN)

    it('does everything in the order in which it is called, without waiting', async () => {
      const opened = store.openSession(KEY, 'S1', 1)
      const taken = lives()
      const begun = store.beginTurn(TURN)
      const block = { turn: 't1', seq: 1, lines: '1' }
      const appended = store.appendEvents([block])
      const running = store.findSession(KEY)
      const ended = store.endTurn({ ...TURN, endedAt: 200, outcome: 'completed' }, { messages: [message('one')] })
      const [after, events, messages, unfinished] = await Promise.all([
        store.findSession(KEY),
        store.readEvents('t1', 0),
        store.readMessages('S1'),
        store.unfinishedTurns(),
      ])
      expect((await running)?.last?.ended).toBe(false)
      expect(after?.last?.ended).toBe(true)
      expect([events, messages, unfinished]).toEqual([[block], [message('one')], []])
      await Promise.all([opened, taken, begun, appended, ended])
    })

    it('can be tried again and again, and shows nothing of it', async () => {
      await store.probe()
      await store.probe()
      expect(await store.unfinishedTurns()).toEqual([])
      await store.prune(1, 99)
    })

    it('can be closed twice', async () => {
      await store.close()
      await store.close()
    })
  })
}
