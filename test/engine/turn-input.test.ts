import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LOCAL_TENANT, type Store, type TurnRecord } from '../../src/contract/index.ts'
import { turnInput } from '../../src/engine/dispatch/turn-input.ts'
import { LiveTurns } from '../../src/engine/session/live-turns.ts'
import type { Message, Question } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { plainTurn, start } from '../kit/plain.ts'

const key = (session = 's', tenant = LOCAL_TENANT) => ({ tenant, agent: 'plain', session, conversation: '' })
const TURN: TurnRecord = {
  turn: 't',
  session: 'kept',
  tenant: LOCAL_TENANT,
  agent: 'plain',
  front: 'zot',
  owner: 'o',
  epoch: 1,
  startedAt: 4,
  delivered: false,
}
const APPROVAL: Question = { kind: 'approval', name: 'rm', args: '{}', options: [] }

let store: Store
let turns: LiveTurns
beforeEach(() => {
  store = openStore({ kind: 'sqlite', path: ':memory:' })
  turns = new LiveTurns()
})
afterEach(() => store.close())

/** The answer to the query, or the code of its fault. */
async function input(turn = 't', continuation = ''): Promise<unknown> {
  const answer = await turnInput({ store, turns }, LOCAL_TENANT, turn, continuation)
  return typeof answer === 'string' ? JSON.parse(answer) : answer.code
}

describe('the input of a turn', () => {
  const said = (text: string, more: object = {}) =>
    ({ role: 'user', parts: [{ type: 'text', text }], ...more }) as Message
  const answered = (text: string): Message => ({ ...said(text), role: 'assistant' })
  const ends = async (messages: Message[], measures: object = {}, tenant = LOCAL_TENANT): Promise<void> => {
    await store.openSession(key('s', tenant), 'kept', 3)
    const record = { ...TURN, tenant, endedAt: 6, outcome: 'completed' } as const
    await store.endTurn({ ...record, measures: { back: 'plain', timings: {}, ...measures } }, { messages })
  }

  test('is its prompt, with the conversation that its request told', async () => {
    await ends([said('hi', { at: 4 }), answered('Hello.'), said('and?')])
    expect(await input()).toEqual({ messages: [said('hi', { at: 4 })] })
    const told = [said('one'), answered('two')]
    await store.deleteSession('kept')
    await ends([...told, said('three'), answered('four')], { told: 2 })
    expect(await input()).toEqual({ messages: [...told, said('three')] })
    await store.deleteSession('kept')
    await ends([answered('compacted')])
    expect(await input()).toEqual({ messages: [] })
  })

  test('is that of its request while it runs', async () => {
    const { turn } = plainTurn({ command: start({ history: [said('before')], historyMode: 'complete' }) })
    turns.add(turn)
    const prompt = said('hi', { at: turn.view.startedAt })
    expect(await input()).toEqual({ messages: [said('before'), prompt] })
    const other = plainTurn({ command: start({ turn: 'compaction', task: 'compact' }) }).turn
    turns.add(other)
    expect(await input('compaction')).toEqual({ messages: [] })
  })

  test('is not told of others’ turns, of those that another process runs, and where nothing is kept', async () => {
    await ends([said('theirs')], {}, 'other')
    expect(await input()).toBe('session-not-found')
    expect(await input('none')).toBe('session-not-found')
    await store.deleteSession('kept')
    await ends([], { shape: true })
    expect(await input()).toBe('session-not-found')
    await store.beginTurn({ ...TURN, turn: 'runs' })
    expect(await input('runs')).toBe('session-busy')
    const { turn } = plainTurn({ command: start({ turn: 'secret', environment: { privacy: 'secret', json: '{}' } }) })
    turns.add(turn)
    expect(await input('secret')).toBe('session-not-found')
  })

  test('where it goes on after a park is the results that came', async () => {
    const tool = (ask: string) => ({ ask, question: { kind: 'tool', tool: ask } })
    const parked = { type: 'turn-parked', turn: 't', continuation: 't.x', deadline: 9 }
    const end = { type: 'tool-end', turn: 't', status: 'ok', parts: [{ type: 'text', text: '7' }] }
    const approval = { ask: 'c', question: APPROVAL }
    const events = [
      { ...parked, continuation: 't.before', asks: [tool('b')] },
      { ...end, tool: 'a', parts: [] },
      { ...parked, asks: [tool('a'), tool('b'), approval, tool('never')] },
      { ...end, tool: 'b' },
      { ...end, tool: 'a', status: 'error' },
    ]
    await ends([said('hi')])
    await store.deleteSession('kept')
    await store.openSession(key(), 'kept', 3)
    const lines = events.map((event) => JSON.stringify(event)).join('\n')
    await store.endTurn({ ...TURN, endedAt: 6, outcome: 'completed' }, { events: { turn: 't', seq: 1, lines } })
    const results = [
      { at: 0, status: 'error', parts: end.parts },
      { at: 1, status: 'ok', parts: end.parts },
    ]
    expect(await input('t', 't.x')).toEqual({ messages: [], results })
    expect(await input('t', 't.other')).toBe('session-not-found')
  })

  test('has what its front has kept of each request', async () => {
    const kept = (json: string) => ({ protocol: 'plain', json })
    const events = [
      { type: 'turn-accepted', turn: 't', how: 'new', session: 's', ext: kept('{"first":true}') },
      { type: 'ask-settled', turn: 't', ask: 'z', how: 'answered', by: 'policy' },
      { type: 'turn-parked', turn: 't', continuation: 't.x', deadline: 9, asks: [] },
      { type: 'ask-settled', turn: 't', ask: 'a', how: 'answered', by: 'client', ext: kept('{"second":true}') },
    ]
    await store.openSession(key(), 'kept', 3)
    const lines = events.map((event) => JSON.stringify(event)).join('\n')
    const record = { ...TURN, endedAt: 6, outcome: 'completed' } as const
    await store.endTurn(record, { events: { turn: 't', seq: 1, lines }, messages: [] })
    expect(await input()).toEqual({ messages: [], ext: kept('{"first":true}') })
    expect(await input('t', 't.x')).toEqual({ messages: [], results: [], ext: kept('{"second":true}') })
  })
})
