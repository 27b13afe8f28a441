import { describe, expect, test } from 'vitest'
import type { SessionRecord } from '../../src/contract/index.ts'
import type { AgentLink } from '../../src/engine/agent/index.ts'
import { AgentMemory } from '../../src/engine/session/agent-memory.ts'
import { LOST } from '../../src/engine/session/lost-session.ts'
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

describe('what a client is told of a lost conversation', () => {
  const told = (known: AgentMemory, restore: 'fresh' | 'fail' | 'replay', ofProcess = true, isCopy = false) => {
    const { turn, host } = plainTurn()
    const notes: unknown[] = []
    turn.scope.note = (...about) => void notes.push(about)
    const why = known.restore(turn, plainAgent('', { restore }), ofProcess, isCopy)
    return { why, notes, events: host.events }
  }

  test('is a warning, which its trace has too', () => {
    const { why, notes, events } = told(memory().known, 'fresh')
    expect([why, notes]).toEqual([undefined, [['session-reset']]])
    expect(events).toMatchObject([{ type: 'notice', severity: 'warning', code: 'session-reset' }])
  })

  test('is the reason, and no warning, where its turn is refused', () => {
    const { why, notes, events } = told(memory().known, 'fail')
    expect([why?.code, notes, events]).toEqual(['session-not-found', [], []])
  })

  const MOVED_ON = memory().known
  MOVED_ON.goOn(MOVED_ON.record, {})
  const CHANGED = memory().known
  CHANGED.served(plainAgent('', { protocol: 'zot' }))
  CHANGED.meet(plainAgent('', { protocol: 'acp' }))

  test.each([
    ['its process is gone', memory().known, true, false, LOST.process],
    ['its agent has forgotten it', memory().known, false, false, LOST.forgotten],
    ['it is a copy', memory().known, false, true, LOST.copied],
    ['it is a copy, of a process', memory().known, true, true, LOST.copied],
    ['another process went on with it', MOVED_ON, true, false, LOST.wentOn],
    ['its agent has another protocol', CHANGED, true, false, LOST.protocol],
    ['it is a copy, and its agent has another protocol', CHANGED, true, true, LOST.protocol],
  ])('says that %s', (_what, known, ofProcess, isCopy, [now, before]) => {
    expect(told(known, 'fail', ofProcess, isCopy).why?.message).toBe(`${now}; begin a new session.`)
    expect(told(known, 'fresh', ofProcess, isCopy).events).toMatchObject([
      { text: `${before}: the agent starts a new session.` },
    ])
    expect(told(known, 'replay', ofProcess, isCopy).events).toMatchObject([
      { text: `${before}: the agent gets the conversation so far.` },
    ])
  })

  test('is over once the agent has run a turn', () => {
    const { known } = memory()
    known.goOn(known.record, {})
    known.served(plainAgent(''))
    expect(told(known, 'fail').why?.message).toBe(`${LOST.process[0]}; begin a new session.`)
  })
})

describe('a copy of a session', () => {
  test.each([
    ['process', true],
    ['named', true],
    ['bound', true],
    ['resumed', true],
    ['request', false],
  ] as const)('kept by %s has its conversation lost: %s', (where, lost) => {
    expect(memory({ bound: 'b' }).known.isLostOn(ONE_TURN, where, true)).toBe(lost)
    expect(memory({ bound: 'b' }, false).known.isLostOn(ONE_TURN, where, true)).toBe(false)
  })
})

describe('the session as an agent gets it', () => {
  const stateless = plainAgent('', {}, { memory: 'request' })

  test('has the conversation with each request of an agent that keeps none, once there is one', async () => {
    const { turn } = plainTurn()
    expect((await memory({}, false).known.tellOf(stateless, false, turn)).history).toBeUndefined()
    expect((await memory().known.tellOf(stateless, false, turn)).history).toHaveLength(1)
    expect(await memory().known.tellOf(stateless, false, turn)).not.toHaveProperty('remembers')
  })

  test('has no conversation that is empty', async () => {
    const known = new AgentMemory(
      memory().known.record,
      {},
      {
        bind() {},
        transcript: async () => [],
        origin: async () => undefined,
        copied() {},
        unasked() {},
      },
    )
    expect(await known.tellOf(stateless, false, plainTurn().turn)).not.toHaveProperty('history')
  })

  test('has what was set for it, and no id that it has not', async () => {
    const { known } = memory({ settings: { mode: 'plan' } })
    const told = await known.tellOf(plainAgent(''), false, plainTurn().turn)
    expect(told).toStrictEqual({ names: { id: 's' }, settings: { mode: 'plan' }, remembers: true })
  })

  test('of other agents has the turns that came after the last that it has heard', async () => {
    const said: Record<string, number[]> = { kept: [1, 4], other: [2, 5], third: [6] }
    const message = (at: number) => ({ role: 'user', parts: [{ type: 'text', text: `at ${at}` }], at }) as const
    const known = new AgentMemory(
      memory().known.record,
      {},
      {
        bind() {},
        transcript: async (id) => said[id]!.map(message),
        origin: async () => undefined,
        copied() {},
        unasked() {},
      },
    )
    known.goesOnIn(['other'])
    const { turn, host } = plainTurn()
    expect((await known.tellOf(plainAgent(''), false, turn)).history).toEqual([message(5)])
    known.goesOnIn(['third', 'other'])
    expect((await known.tellOf(plainAgent(''), false, turn)).history).toEqual([message(5), message(6)])
    // One that is told all of it is told it in the order of time.
    const whole = (await known.tellOf(stateless, false, turn)).history
    expect(whole?.map(({ at }) => at)).toEqual([1, 2, 4, 5, 6])
    expect(host.events).toEqual([])
  })
})

test('names are made once for an agent, and again for another one or after a reset', () => {
  const { known } = memory()
  const agent = plainAgent('')
  const names = known.namesFor(agent)
  expect(known.namesFor(agent)).toBe(names)
  expect(known.namesFor(plainAgent(''))).not.toBe(names)
  known.forget(undefined)
  expect(known.namesFor(agent)).toEqual(names)
  expect(known.record).not.toHaveProperty('epoch')
})

test('a change of the place of an agent is no news to a client that sends the whole conversation', () => {
  const { known } = memory()
  known.served(plainAgent('', { protocol: 'zot' }))
  known.meet(plainAgent('', { protocol: 'zot', target: { kind: 'process', command: '/elsewhere' } }))
  const { turn, host } = plainTurn({ command: start({ historyMode: 'complete' }) })
  known.tellChange(turn, 'bound')
  expect(host.events).toEqual([])
  const { turn: other, host: told } = plainTurn()
  known.tellChange(other, 'bound')
  expect(told.events).toMatchObject([{ severity: 'warning', code: 'agent-changed' }])
})
