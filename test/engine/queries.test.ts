import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { capabilities, type Store } from '../../src/contract/index.ts'
import { answerQuery, followedTurns, type QuerySubject } from '../../src/engine/dispatch/queries.ts'
import type { LiveTurns } from '../../src/engine/session/live-turns.ts'
import type { CommandOf, TurnEvent } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { engineParts, settingsOf } from '../kit/engine-parts.ts'
import { plainAgent, plainTurn, start } from '../kit/plain.ts'

type What = CommandOf<'query'>['what']

let store: Store
let turns: LiveTurns
let known: Parameters<typeof answerQuery>[0]
beforeEach(() => {
  store = openStore({ kind: 'sqlite', path: ':memory:' })
  const parts = engineParts(store, settingsOf([]))
  turns = parts.turns
  known = { store, turns, sessions: parts.sessions }
})
afterEach(() => store.close())

const agent = plainAgent('')
const KEY = { tenant: 'ann', agent: 'plain', session: 's', conversation: '' }

/** What a query is answered: its data, or the code and text of its fault. */
async function asked(what: What, more: { args?: object | string } & Partial<QuerySubject> = {}): Promise<unknown> {
  const { args, ...subject } = more
  const text = typeof args === 'string' ? args : args && JSON.stringify(args)
  const command: CommandOf<'query'> = { type: 'query', exchange: 'x', what, ...(text !== undefined && { args: text }) }
  const answer = await answerQuery(known, command, {
    settings: settingsOf([agent]),
    agent,
    viewer: { tenant: 'ann', admin: false },
    session: 's',
    live: undefined,
    record: undefined,
    ...subject,
  })
  return typeof answer === 'string' ? JSON.parse(answer) : `${answer.code}: ${answer.message}`
}

/** A turn of a session, with these events. */
async function recorded(turn: string, events: TurnEvent[] = [], more: object = {}): Promise<void> {
  await store.openSession(KEY, 'kept', 3)
  const about = { session: 'kept', tenant: 'ann', agent: 'plain', front: 'acp', owner: 'o', epoch: 1 }
  const record = { ...about, turn, startedAt: 4, endedAt: 6, outcome: 'completed' as const, delivered: true, ...more }
  const lines = events.map((event) => JSON.stringify(event)).join('\n')
  await store.endTurn(record, events.length > 0 ? { events: { turn, seq: 1, lines } } : {})
}

describe('the gateway', () => {
  test('is well', async () => {
    expect(await asked('health')).toEqual({ ok: true })
  })

  test('has the agents that a key may use', async () => {
    const others = ['coder', 'helper', 'cook'].map((name) => plainAgent('', { name, protocol: `p-${name}` }))
    const settings = settingsOf(others)
    const named = (...names: string[]) => ({ agents: names.map((name) => ({ name, protocol: `p-${name}` })) })
    expect(await asked('agents', { settings })).toEqual(named('coder', 'helper', 'cook'))
    expect(await asked('agents', { settings, allowed: ['co*'] })).toEqual(named('coder', 'cook'))
    expect(await asked('agents', { settings, allowed: [] })).toEqual(named())
  })

  test('knows what an agent carries', async () => {
    const able = capabilities({ full: ['turn-start'], partial: ['part.text'] })
    const weak = plainAgent('', { name: 'weak', protocol: 'p' }, { able })
    const { name, protocol, carries } = (await asked('agent', { agent: weak })) as Record<string, unknown>
    expect([name, protocol]).toEqual(['weak', 'p'])
    expect(carries).toEqual(expect.arrayContaining(['turn-start', 'part.text']))
    expect(carries).not.toContain('ask')
  })

  test.each(['offers', 'hints'] as const)('cannot answer %s for an agent', async (what) => {
    expect(await asked(what)).toBe(`invalid-request: The gateway cannot answer the query "${what}" for this agent.`)
  })

  test('says that nobody was free to list the sessions of an agent that lists them', async () => {
    expect(await asked('agent-sessions')).toBe(
      'agent-unavailable: No process of the agent was free to answer; try again later.',
    )
    const mute = plainAgent('', {}, { able: capabilities({ full: ['turn-start'] }) })
    expect(await asked('agent-sessions', { agent: mute })).toBe(
      'invalid-request: The gateway cannot answer the query "agent-sessions" for this agent.',
    )
  })
})

describe('a session', () => {
  const live = (more: object): QuerySubject['live'] => ({ busy: false, link: undefined, ...more }) as never

  test('has the model that its process says, else that of others of the agent', async () => {
    expect(await asked('models')).toEqual({ models: [] })
    expect(await asked('models', { live: live({ link: { model: 'own' } }) })).toEqual({ models: [{ id: 'own' }] })
    known = { ...known, sessions: { ...known.sessions, modelOf: () => 'theirs' } as never }
    expect(await asked('models')).toEqual({ models: [{ id: 'theirs' }] })
    expect(await asked('models', { live: live({ link: { model: 'own' } }) })).toEqual({ models: [{ id: 'own' }] })
    expect(await asked('models', { live: live({ link: {} }) })).toEqual({ models: [{ id: 'theirs' }] })
  })

  test('has its messages once it is recorded', async () => {
    expect(await asked('messages')).toEqual({ messages: [] })
    await recorded('t')
    const message = { role: 'user', parts: [{ type: 'text', text: 'hi' }] } as const
    await store.appendMessage('kept', message)
    expect(await asked('messages', { record: 'kept' })).toEqual({ messages: [message] })
    expect(await asked('messages')).toEqual({ messages: [] })
  })

  test('has its state, as far as it is known', async () => {
    const bare = { agent: 'plain', session: 's', busy: false, messageCount: 0 }
    expect(await asked('state')).toEqual(bare)
    await recorded('t', [], { measures: { back: 'plain', timings: {}, usage: { input: 2 } } })
    await store.appendMessage('kept', { role: 'user', parts: [] })
    expect(await asked('state', { record: 'kept', live: live({ busy: true, link: { model: 'm' } }) })).toEqual({
      ...bare,
      busy: true,
      messageCount: 1,
      model: 'm',
      usage: { input: 2 },
    })
  })

  test('is that of the client, or the one that it names, if that is its own', async () => {
    await recorded('t')
    const info = { id: 'kept', agent: 'plain', session: 's', conversation: '', createdAt: 3, key: 'ann', messages: [] }
    expect(await asked('session', { record: 'kept' })).toMatchObject(info)
    expect(await asked('session', { args: { id: 'kept' } })).toMatchObject(info)
    expect(await asked('session', { args: { id: 'kept' }, viewer: { tenant: 'root', admin: true } })).toMatchObject(
      info,
    )
    const NONE = 'session-not-found: There is no such session.'
    expect(await asked('session')).toBe(NONE)
    expect(await asked('session', { record: 'kept', args: {} })).toBe(NONE)
    expect(await asked('session', { record: 'kept', args: 'no json' })).toBe(NONE)
    expect(await asked('session', { args: { id: 'gone' } })).toBe(NONE)
    expect(await asked('session', { args: { id: 'kept' }, viewer: { tenant: 'bob', admin: false } })).toBe(NONE)
  })
})

describe('a turn', () => {
  const NONE = 'session-not-found: There is no such turn.'
  const of = { turn: 't' } as const
  const events: TurnEvent[] = [
    { ...of, type: 'turn-accepted', how: 'new', session: 's' },
    { ...of, type: 'message-start', message: 'm', role: 'assistant' },
    { ...of, type: 'text-delta', message: 'm', text: 'hello' },
    { ...of, type: 'message-end', message: 'm' },
    { ...of, type: 'usage', scope: 'turn', usage: { input: 3 } },
  ]
  const info = { turn: 't', state: 'completed', agent: 'plain', front: 'acp', session: 's', startedAt: 4, endedAt: 6 }

  test('is what its record has, with what was said and used, and how it ended', async () => {
    await recorded('t', [...events, { ...of, type: 'turn-end', outcome: 'completed', stop: 'max-tokens' }])
    expect(await asked('turn', { args: of })).toEqual({
      ...info,
      key: 'ann',
      seq: 6,
      text: 'hello',
      usage: { input: 3 },
      stop: 'max-tokens',
    })
  })

  test('has its fault where it failed', async () => {
    const fault = { code: 'timeout', message: 'late', retryable: true } as const
    const failed = { outcome: 'failed', code: 'timeout' }
    await recorded('t', [events[0]!, { ...of, type: 'turn-end', outcome: 'failed', fault }], failed)
    const answer = (await asked('turn', { args: of })) as object
    expect(answer).toMatchObject({ state: 'failed', code: 'timeout', fault, seq: 2, text: '' })
    for (const absent of ['asks', 'usage', 'stop']) expect(answer).not.toHaveProperty(absent)
  })

  test('that runs here is as it is now, with its open questions', async () => {
    const record = { ...KEY, id: 'kept', createdAt: 1, usedAt: 1 }
    const { turn } = plainTurn({ command: start(), session: { record } })
    turns.add(turn)
    await store.openSession(KEY, 'kept', 3)
    const about = { session: 'kept', tenant: 'ann', agent: 'plain', front: 'plain', owner: 'o', epoch: 1 }
    await store.beginTurn({ ...about, turn: 't', startedAt: 5, delivered: false })
    for (const event of events.slice(1, 3)) turn.take(event)
    const question = { kind: 'approval', name: 'rm', args: '{}', options: [] } as const
    turn.take({ ...of, type: 'ask', ask: 'q', question })
    expect(await asked('turn', { args: of })).toMatchObject({
      turn: 't',
      state: 'running',
      session: 's',
      seq: 3,
      text: 'hello',
      asks: [{ ask: 'q', question }],
    })
  })

  test('is not there for others, and not without a name', async () => {
    await recorded('t', events)
    expect(await asked('turn', { args: of, viewer: { tenant: 'bob', admin: false } })).toBe(NONE)
    expect(await asked('turn', { args: of, viewer: { tenant: 'bob', admin: true } })).toMatchObject({ turn: 't' })
    for (const args of [undefined, {}, { turn: '' }, { turn: 7 }, 'no json', '[]'])
      expect(await asked('turn', args === undefined ? {} : { args })).toBe(NONE)
  })
})

test.each<[What, string | undefined, object | undefined]>([
  ['turns', '{"follow":true}', { follow: true, limit: 200 }],
  ['turns', '{"follow":true,"agent":"a"}', { follow: true, limit: 200, agent: 'a' }],
  ['turns', '{"follow":false}', undefined],
  ['turns', '{"follow":true,"limit":0}', undefined],
  ['sessions', '{"follow":true}', undefined],
])('the query %s with %s follows %j', (what, args, followed) => {
  const command: CommandOf<'query'> = { type: 'query', exchange: 'x', what, ...(args !== undefined && { args }) }
  expect(followedTurns(command)).toEqual(followed)
})
