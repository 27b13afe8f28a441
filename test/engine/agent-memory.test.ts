import { describe, expect, test } from 'vitest'
import type { SessionRecord } from '../../src/contract/index.ts'
import type { AgentLink } from '../../src/engine/agent/index.ts'
import { AgentMemory } from '../../src/engine/session/agent-memory.ts'
import { plainAgent, plainTurn, start } from '../kit/plain.ts'

/** What an agent knows of a session that had turns before. */
function memory(record: Partial<SessionRecord> = {}, used = true) {
  const kept: (string | undefined)[] = []
  const known = new AgentMemory(
    { id: 'kept', tenant: 'local', agent: 'plain', session: 's', conversation: '', createdAt: 1, usedAt: 1, ...record },
    used ? {} : undefined,
    {
      bind: ({ bound }) => void kept.push(bound),
      transcript: async () => [{ role: 'user', parts: [{ type: 'text', text: 'before' }] }],
      origin: async () => undefined,
      copied() {},
      unasked() {},
    },
  )
  return { known, kept }
}

const PROCESS = { persistent: true } as AgentLink
const ONE_TURN = { persistent: false } as AgentLink

describe('the agent’s own id of a session', () => {
  test('is kept when it is another one', () => {
    const { known, kept } = memory()
    known.bind('one')
    known.bind('one')
    known.bind(undefined)
    expect([kept, known.record.bound]).toEqual([['one', undefined], undefined])
  })

  test('is made anew for an agent that wants a fresh session', () => {
    const { known, kept } = memory({ bound: 'old' })
    const id = known.rebind()
    expect([kept, known.record.bound]).toEqual([[id], id])
  })

  test('is kept once more after a turn of a session that an older version named', () => {
    const { known, kept } = memory({ renamed: true, bound: 'one' }, false)
    known.served(plainAgent(''))
    known.served(plainAgent(''))
    expect([kept, known.used, known.record.renamed]).toEqual([['one'], true, undefined])
  })
})

describe('a conversation', () => {
  test.each([
    ['process', {}, PROCESS, true],
    ['process', {}, ONE_TURN, false],
    ['named', {}, PROCESS, false],
    ['named', { renamed: true }, PROCESS, true],
    ['named', { renamed: true, bound: 'b' }, PROCESS, false],
    ['bound', {}, PROCESS, true],
    ['bound', { bound: 'b' }, PROCESS, false],
    ['bound', {}, ONE_TURN, false],
    ['resumed', {}, PROCESS, true],
    ['resumed', { bound: 'b' }, PROCESS, false],
  ] as const)('kept by %s as %j on a new link %j is lost: %s', (where, record, link, lost) => {
    expect(memory(record).known.isLostOn(link, where)).toBe(lost)
    expect(memory(record, false).known.isLostOn(link, where)).toBe(false)
  })

  test('is not lost on the link that had its last turn', () => {
    const { known } = memory()
    expect([known.isLostOn(PROCESS, 'process'), known.isLostOn(PROCESS, 'process')]).toEqual([true, false])
  })

  test.each([
    ['fail', true, 'The process of this session is gone; begin a new session.', []],
    ['fail', false, 'The agent does not know this session any more; begin a new session.', []],
    ['fresh', true, undefined, ['The process of this session was gone: the agent starts a new session.']],
    [
      'replay',
      false,
      undefined,
      ['The agent did not know this session any more: the agent gets the conversation so far.'],
    ],
  ] as const)('that is lost goes on by %s (of its process: %s)', async (restore, ofProcess, why, notices) => {
    const { known } = memory()
    const { turn, host } = plainTurn()
    const agent = plainAgent('', { restore })
    expect(known.restore(turn, agent, ofProcess)?.message).toBe(why)
    expect(host.events.map((event) => event.type === 'notice' && event.text)).toEqual(notices)
    const { history } = await known.tellOf(agent, true, turn)
    expect(history?.length).toBe(restore === 'replay' ? 1 : undefined)
  })

  test.each([
    [true, false, 'process', true],
    [false, false, 'process', undefined],
    [true, true, 'process', undefined],
    [true, false, 'request', undefined],
  ] as const)('used: %s, lost: %s, kept by %s is remembered: %s', async (used, lost, where, remembers) => {
    const { known } = memory({}, used)
    const { turn } = plainTurn({ command: start({ historyMode: 'complete' }) })
    const told = await known.tellOf(plainAgent('', { restore: 'replay' }, { memory: where }), lost, turn)
    expect(told).toEqual({ names: { id: 's' }, settings: {}, ...(remembers && { remembers }) })
  })

  test('that its client tells again is not lost', () => {
    const { known } = memory()
    const { turn, host } = plainTurn({ command: start({ historyMode: 'complete' }) })
    expect(known.restore(turn, plainAgent('', { restore: 'fail' }), true)).toBeUndefined()
    expect(host.events).toEqual([])
  })

  test('that was cleared begins under another name', async () => {
    const { known } = memory({ bound: 'b', settings: { model: 'm' } })
    const agent = plainAgent('')
    expect(await known.tellOf(agent, false, plainTurn().turn)).toEqual({
      names: { id: 's' },
      settings: { model: 'm' },
      bound: 'b',
      remembers: true,
    })
    known.forget(7)
    expect([known.used, known.record.epoch]).toEqual([false, 7])
    const { id } = known.namesFor(agent)
    expect(id).toMatch(/^tp-[0-9a-f]{64}$/)
    known.forget(8)
    expect(known.namesFor(agent).id).not.toBe(id)
    expect(known.namesFor(plainAgent(''))).toEqual(known.namesFor(agent))
  })
})

test('a session that has gone on in another process is what its record says, and no link has heard of it', () => {
  const { known, kept } = memory({ bound: 'old', epoch: 2 }, false)
  expect(known.isLostOn(PROCESS, 'process')).toBe(false)
  known.goOn({ ...known.record, bound: 'new', epoch: 3, renamed: true }, {})
  expect([known.record, known.used]).toMatchObject([{ bound: 'new', epoch: 3, renamed: true }, true])
  expect(known.isLostOn(PROCESS, 'process')).toBe(true)
  const { bound: _bound, renamed: _renamed, ...nameless } = known.record
  known.goOn(nameless, undefined)
  expect([known.record.bound, known.record.renamed, known.used]).toEqual([undefined, undefined, false])
  // What comes from the record is not written back.
  expect(kept).toEqual([])
})

describe('an agent whose configuration has changed', () => {
  const before = plainAgent('', { protocol: 'zot' })
  const complete = () => plainTurn({ command: start({ historyMode: 'complete' }) }).turn

  /** The memory of a session that the agent before has had turns of. */
  function having(record: Partial<SessionRecord> = {}) {
    const { known, kept } = memory(record)
    known.served(before)
    return { known, kept }
  }

  test.each(['process', 'named', 'bound', 'resumed'] as const)('has lost it under another protocol: %s', (where) => {
    for (const link of [PROCESS, ONE_TURN]) {
      const { known, kept } = having({ bound: 'b' })
      known.meet(plainAgent('', { protocol: 'acp' }))
      expect([known.record.bound, kept]).toEqual([undefined, [undefined]])
      expect(known.isLostOn(link, where)).toBe(true)
    }
  })

  test('says so, and is another one once it has had a turn', () => {
    const { known } = having()
    const { turn, host } = plainTurn()
    const agent = plainAgent('', { protocol: 'acp', restore: 'replay' })
    known.meet(agent)
    expect(known.restore(turn, agent, true)).toBeUndefined()
    expect(host.events).toMatchObject([
      {
        code: 'session-reset',
        text: 'The agent of this session had another protocol before: the agent gets the conversation so far.',
      },
    ])
    expect(known.restore(turn, plainAgent('', { restore: 'fail' }), true)?.message).toBe(
      'The agent of this session has another protocol now; begin a new session.',
    )
    known.served(agent)
    known.meet(agent)
    expect(known.isLostOn(ONE_TURN, 'named')).toBe(false)
  })

  test('loses nothing where each request brings the conversation', async () => {
    const { known } = having()
    const agent = plainAgent('', { protocol: 'openai' }, { memory: 'request' })
    known.meet(agent)
    expect(known.isLostOn(PROCESS, 'request')).toBe(false)
    expect((await known.tellOf(agent, false, plainTurn().turn)).history).toHaveLength(1)
  })

  test.each([
    ['its command', { kind: 'process', command: '/elsewhere' }],
    ['its URL', { kind: 'http', url: 'http://elsewhere' }],
  ] as const)('may have lost it under the same protocol: %s', async (_, target) => {
    const { known } = having({ bound: 'b' })
    const agent = plainAgent('', { protocol: 'zot', target })
    known.meet(agent)
    expect([known.record.bound, known.isLostOn(ONE_TURN, 'bound')]).toEqual(['b', false])
    const { turn, host } = plainTurn()
    known.tellChange(turn, 'bound')
    expect(host.events).toMatchObject([
      {
        code: 'agent-changed',
        text: 'The command or URL of the agent has changed since the last turn: it may not know this session.',
      },
    ])
    known.tellChange(turn, 'request')
    expect(host.events).toHaveLength(1)
    // Who sends all of the conversation has the agent get all of it.
    expect(await known.tellOf(agent, false, complete())).not.toHaveProperty('remembers')
    expect(await known.tellOf(agent, false, plainTurn().turn)).toMatchObject({ remembers: true })
    known.served(agent)
    known.meet(agent)
    known.tellChange(turn, 'bound')
    expect(host.events).toHaveLength(1)
    expect(await known.tellOf(agent, false, complete())).toMatchObject({ remembers: true })
  })

  test('is the same one where the record does not say which it was', () => {
    const { known } = memory()
    known.meet(plainAgent('', { protocol: 'acp' }))
    expect(known.isLostOn(ONE_TURN, 'named')).toBe(false)
  })
})

test('turns that other agents have had are told to an agent, but not where the client brings the conversation', async () => {
  const { known } = memory()
  const { turn, host } = plainTurn()
  known.goesOnIn(['other'])
  known.goesOnIn(['other', 'kept', 'third'])
  expect(known.detours).toEqual(['other', 'third'])
  expect((await known.tellOf(plainAgent(''), false, turn)).history).toBeUndefined()
  expect(host.events).toMatchObject([
    { code: 'session-reset', text: 'The agent does not know what other agents of this session were told.' },
  ])
  const stateless = plainAgent('', {}, { memory: 'request' })
  expect((await known.tellOf(stateless, false, turn)).history).toHaveLength(3)
  const { turn: complete } = plainTurn({ command: start({ historyMode: 'complete' }) })
  expect((await known.tellOf(stateless, false, complete)).history).toBeUndefined()
})
