import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { capabilities, LOCAL_TENANT, type Store, type TurnRecord } from '../../src/contract/index.ts'
import type { ClientLink } from '../../src/engine/client/client-link.ts'
import { Exchange } from '../../src/engine/client/exchange.ts'
import type { AgentSettings } from '../../src/engine/common/index.ts'
import type { Controls } from '../../src/engine/dispatch/controls.ts'
import type { ControlCommand } from '../../src/engine/dispatch/own-controls.ts'
import { answerQuery, followedTurns } from '../../src/engine/dispatch/queries.ts'
import type { TurnCommands } from '../../src/engine/dispatch/turn-commands.ts'
import type { LiveTurns } from '../../src/engine/session/live-turns.ts'
import type { Sessions } from '../../src/engine/session/sessions.ts'
import type { Turn } from '../../src/engine/turn/turn.ts'
import type { TurnRun } from '../../src/engine/turn/turn-run.ts'
import type { Command, Question, TurnEvent } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { engineParts, settingsOf } from '../kit/engine-parts.ts'
import { ANSWER, DONE, PlainHost, plainAgent, plainTurn, say, serving } from '../kit/plain.ts'
import { until } from '../kit/processes.ts'
import { ScriptedBackend } from '../kit/scripted-backend.ts'

const TEXT_ONLY = capabilities({ full: ['turn-start', 'part.text', 'text-delta', 'turn-end'] })
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

let store: Store
let sessions: Sessions
let turns: LiveTurns
let controls: Controls
let turnCommands: TurnCommands

beforeEach(() => {
  store = openStore({ kind: 'sqlite', path: ':memory:' })
  ;({ sessions, turns, controls, turnCommands } = engineParts(store, settingsOf([])))
})
afterEach(async () => {
  await sessions.close(50)
  await store.close()
})

const mute = plainAgent('', {}, { able: TEXT_ONLY })

/** What a command is answered: its data, or the code of its fault. */
async function asked(command: ControlCommand, agent = mute, allowed?: readonly string[]): Promise<unknown> {
  const host = new PlainHost()
  const other = { ...mute, name: 'other', protocol: 'zot' }
  const context = {
    settings: settingsOf([agent, other]),
    agent,
    tenant: LOCAL_TENANT,
    admin: false,
    at: 7,
    ...(allowed && { allowed }),
  }
  const exchange = new Exchange(command, ANSWER, host)
  const { promise, resolve } = Promise.withResolvers<void>()
  host.ended = () => resolve()
  await controls.run({} as ClientLink, command, context, exchange)
  await promise
  const [reply] = host.replies
  if (reply?.type !== 'command-reply') return host.faults.map(({ code }) => code)
  return reply.fault ? reply.fault.code : reply.data === undefined ? 'done' : JSON.parse(reply.data)
}

const query = (what: Extract<Command, { type: 'query' }>['what'], more: object = {}): ControlCommand => ({
  exchange: 'x',
  type: 'query',
  what,
  session: { id: 's' },
  ...more,
})

describe('what the gateway knows itself', () => {
  test('is answered without an agent', async () => {
    expect(await asked(query('health'))).toEqual({ ok: true })
    expect(await asked(query('agents'))).toEqual({
      agents: [
        { name: 'plain', protocol: 'plain' },
        { name: 'other', protocol: 'zot' },
      ],
    })
    expect(await asked(query('agents'), mute, ['other'])).toEqual({ agents: [{ name: 'other', protocol: 'zot' }] })
    expect(await asked(query('models'))).toEqual({ models: [] })
    const carries = ['turn-start', 'part.text', 'turn-end', 'text-delta']
    expect(await asked(query('agent'))).toEqual({ name: 'plain', protocol: 'plain', carries })
    expect(await asked(query('offers'))).toBe('invalid-request')
    expect(await asked(query('hints'))).toBe('invalid-request')
  })

  test('of a session is what its record has', async () => {
    expect(await asked(query('state'))).toEqual({ agent: 'plain', session: 's', busy: false, messageCount: 0 })
    expect(await asked(query('session'))).toBe('session-not-found')
    await store.openSession(key(), 'kept', 3)
    await store.setSession('kept', { cwd: '/work', title: 'hi' })
    const message = { role: 'user', parts: [{ type: 'text', text: 'hi' }] } as const
    const measures = { back: 'plain', timings: {}, usage: { input: 2 } }
    await store.endTurn({ ...TURN, endedAt: 4, outcome: 'completed', measures }, { messages: [message] })
    expect(await asked(query('messages'))).toEqual({ messages: [message] })
    expect(await asked(query('state'))).toMatchObject({ messageCount: 1, usage: { input: 2 } })
    const info = {
      id: 'kept',
      agent: 'plain',
      session: 's',
      conversation: '',
      createdAt: 3,
      usedAt: 3,
      cwd: '/work',
      title: 'hi',
      busy: false,
    }
    expect(await asked(query('sessions'))).toMatchObject({ sessions: [info] })
    expect(await asked(query('session', { args: '{"id":"kept"}' }))).toMatchObject({ ...info, messages: [message] })
    expect(await asked(query('session'))).toMatchObject({ ...info, messages: [message] })
    expect(await asked(query('session', { args: '{}' }))).toBe('session-not-found')
  })

  test.each([
    ['cleared', { type: 'session-clear', session: { id: 's' } }],
    ['deleted', { type: 'session-delete', id: 'kept' }],
  ] as const)('is not %s while a turn of it runs in another process', async (_how, command) => {
    await store.openSession(key(), 'kept', 3)
    const about = { session: 'kept', tenant: LOCAL_TENANT, agent: 'plain', front: 'zot', owner: 'there', epoch: 1 }
    await store.beginTurn({ ...about, turn: 'theirs', startedAt: 4, delivered: false })
    expect(await asked(query('sessions'))).toMatchObject({ sessions: [{ id: 'kept', busy: true }] })
    expect(await asked({ exchange: 'x', ...command })).toBe('session-busy')
    await store.endTurn({ ...(await store.readTurn('theirs'))!, endedAt: 6, outcome: 'completed' })
    expect(await asked(query('sessions'))).toMatchObject({ sessions: [{ id: 'kept', busy: false }] })
    expect(await asked({ exchange: 'x', ...command })).toBe('done')
  })

  test('of turns is what their records have, and of no other tenant’s', async () => {
    for (const [tenant, turn] of [
      [LOCAL_TENANT, 'mine'],
      ['other', 'theirs'],
    ] as const) {
      await store.openSession(key('s', tenant), tenant, 3)
      const record = { ...TURN, turn, session: tenant, tenant }
      const end = JSON.stringify({ type: 'turn-end', turn, outcome: 'completed', stop: 'end' })
      const events = { turn, seq: 1, lines: end }
      await store.endTurn({ ...record, endedAt: 6, outcome: 'completed' }, { events })
    }
    const info = {
      turn: 'mine',
      state: 'completed',
      agent: 'plain',
      front: 'zot',
      session: 's',
      startedAt: 4,
      endedAt: 6,
    }
    expect(await asked(query('turns'))).toEqual({ turns: [info] })
    expect(await asked(query('turn', { args: '{"turn":"mine"}' }))).toEqual({ ...info, seq: 1, text: '', stop: 'end' })
    expect(await asked(query('turn', { args: '{"turn":"theirs"}' }))).toBe('session-not-found')
    const subject = {
      settings: settingsOf([]),
      agent: mute,
      viewer: { tenant: 'none', admin: false },
      session: '',
      live: undefined,
      record: undefined,
    }
    const nothing = await answerQuery({ store, sessions, turns }, query('turns') as never, subject)
    expect(nothing).toBe('{"turns":[]}')
  })

  test('of the input of a turn is what its record has', async () => {
    await store.openSession(key(), 'kept', 3)
    const messages = [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }] as const
    await store.endTurn({ ...TURN, endedAt: 6, outcome: 'completed' }, { messages })
    expect(await asked(query('input', { args: '{"turn":"t"}' }))).toEqual({ messages })
    expect(await asked(query('input'))).toBe('session-not-found')
    expect(await asked(query('input', { args: '{"turn":"t","continuation":"t.x"}' }))).toBe('session-not-found')
  })

  test.each([
    ['turns', '{"follow":true}', true],
    ['turns', '{"follow":1}', false],
    ['turns', 'no json', false],
    ['turns', undefined, false],
    ['turn', '{"follow":true}', false],
  ] as const)('of %s with %j follows: %s', (what, args, follows) => {
    const followed = followedTurns({ exchange: 'x', type: 'query', what, ...(args !== undefined && { args }) })
    expect(followed !== undefined).toBe(follows)
  })
})

describe('a session', () => {
  test('is cleared, deleted and closed by the gateway where its agent has no word for that', async () => {
    await store.openSession(key(), 'kept', 3)
    await store.appendMessage('kept', { role: 'user', parts: [] })
    expect(await asked({ exchange: 'x', type: 'session-clear', session: { id: 's' } })).toBe('done')
    expect([await store.readMessages('kept'), (await store.readSession('kept'))?.epoch]).toEqual([[], 7])
    expect(await asked({ exchange: 'x', type: 'session-close', session: { id: 's' } })).toBe('done')
    expect(await asked({ exchange: 'x', type: 'session-delete', id: 'kept' })).toBe('done')
    expect(await store.readSession('kept')).toBeUndefined()
    expect(await asked({ exchange: 'x', type: 'session-delete', id: 'kept' })).toBe('session-not-found')
  })

  describe('that its agent keeps too', () => {
    const deletion = { exchange: 'x', type: 'session-delete', id: 'kept' } as const
    const told = { ...deletion, session: { bound: 'its id' } }
    /** An agent whose process a test plays, and what it was told. */
    const keeping = () => {
      const backend = new ScriptedBackend()
      const agent = plainAgent('', { backend }, { persistent: true, memory: 'bound' })
      return { backend, agent, written: () => backend.call.written.map((line) => JSON.parse(line)) }
    }
    const bind = async (): Promise<void> => {
      const record = await store.openSession(key(), 'kept', 3)
      await store.bindSession(record.id, 'its id')
    }
    const replied = (backend: ScriptedBackend, more: object = {}): void =>
      backend.call.say(`${JSON.stringify({ turn: null, type: 'command-reply', exchange: 'x', ...more })}\n`)

    test.each([{}, { fault: { code: 'internal', message: 'no', retryable: false } }])(
      'is deleted by any process of it; what it answers changes nothing: %j',
      async (answer) => {
        await bind()
        const { backend, agent, written } = keeping()
        const done = asked(deletion, agent)
        await until(() => backend.calls.length > 0)
        backend.call.say(`${JSON.stringify({ turn: null, type: 'agent-ready' })}\n`)
        expect(written()).toEqual([told])
        replied(backend, answer)
        expect(await done).toBe('done')
        expect(await store.readSession('kept')).toBeUndefined()
      },
    )

    test('is deleted by the process that has it', async () => {
      await bind()
      const { backend, agent, written } = keeping()
      const live = sessions.open((await store.readSession('kept'))!, agent, undefined)
      const { turn } = plainTurn({ agent, session: live })
      live.enqueue(turn)
      live.ready(turn)
      await until(() => backend.calls.length > 0)
      backend.call.say(`${JSON.stringify({ turn: null, type: 'agent-ready' })}\n`)
      expect(await asked(deletion, agent)).toBe('session-busy')
      backend.call.say(`${JSON.stringify({ turn: 't', type: 'turn-end', outcome: 'completed' })}\n`)
      await until(() => !live.occupied)
      const done = asked(deletion, agent)
      await until(() => written().length > 1)
      expect(written().at(-1)).toEqual(told)
      replied(backend)
      expect(await done).toBe('done')
      expect(backend.calls).toHaveLength(1)
    })
  })

  test('of another tenant is not there', async () => {
    await store.openSession(key('s', 'other'), 'theirs', 3)
    expect(await asked({ exchange: 'x', type: 'session-delete', id: 'theirs' })).toBe('session-not-found')
  })

  test('has no place for what neither side knows', async () => {
    expect(await asked({ exchange: 'x', type: 'session-open' })).toBe('invalid-request')
  })
})

describe('a question to the agent itself', () => {
  const replying = (data: object) =>
    plainAgent(
      serving(say({ turn: null, type: 'command-reply', exchange: 'x', data: JSON.stringify(data) })),
      {},
      { persistent: true },
    )

  test('is answered by a process of it', async () => {
    expect(await asked(query('models'), replying({ models: [{ id: 'big' }] }))).toEqual({ models: [{ id: 'big' }] })
    expect(await asked(query('state'), replying({ session: 'its own' }))).toEqual({ session: 's' })
  })

  test('for the sessions that it keeps is answered for administrators alone', async () => {
    expect(await asked(query('agent-sessions'), replying({ sessions: [] }))).toBe('forbidden')
    expect(await asked(query('agent-sessions'))).toBe('invalid-request')
  })

  test('about what it offers has the time that it may take to start, as nobody else knows', async () => {
    const ask = vi.spyOn(sessions, 'ask').mockResolvedValue(undefined)
    const agent = replying({})
    await asked(query('offers'), agent)
    await asked(query('models'), agent)
    expect(ask.mock.calls.map(([, asked, timeMs]) => [asked.type === 'query' && asked.what, timeMs])).toEqual([
      ['offers', agent.limits.start],
      ['models', 3000],
    ])
  })

  test('that it refuses is answered by the gateway', async () => {
    const fault = { code: 'internal', message: 'no', retryable: false }
    const agent = plainAgent(
      serving(say({ turn: null, type: 'command-reply', exchange: 'x', fault })),
      {},
      { persistent: true },
    )
    expect(await asked(query('models'), agent)).toEqual({ models: [{ id: 'm1' }] })
  })
})

/** A session whose agent's process has had a turn. */
async function lived(each: string): Promise<AgentSettings> {
  const agent = plainAgent(
    serving(`case "$line" in *turn-start*) ${DONE};; *) ${each};; esac`),
    {},
    { persistent: true },
  )
  const record = await store.openSession(key(), 'kept', 3)
  const { promise, resolve } = Promise.withResolvers<void>()
  const live = sessions.open(record, agent, undefined)
  const { turn } = plainTurn({ agent, session: live, recorder: { end: () => resolve() } })
  live.enqueue(turn)
  live.ready(turn)
  await promise
  // The session is free a step after its turn's end.
  while (live.occupied) await new Promise((after) => setImmediate(after))
  return agent
}

describe('a command to a session whose agent lives', () => {
  const replied = (more: object) => say({ turn: null, type: 'command-reply', exchange: 'x', ...more })

  test('is the agent’s, and the record follows', async () => {
    const agent = await lived(replied({}))
    await store.appendMessage('kept', { role: 'user', parts: [] })
    expect(await asked({ exchange: 'x', type: 'session-clear', session: { id: 's' } }, agent)).toBe('done')
    expect(await store.readMessages('kept')).toEqual([])
    expect(await asked({ exchange: 'x', type: 'config-set', mode: 'plan', session: { id: 's' } }, agent)).toBe('done')
    expect([sessions.live.get('kept')?.link?.mode, (await store.readSession('kept'))?.settings]).toEqual([
      'plan',
      { mode: 'plan' },
    ])
  })

  test('that the agent refuses changes nothing', async () => {
    const agent = await lived(replied({ fault: { code: 'session-busy', message: 'no', retryable: true } }))
    await store.appendMessage('kept', { role: 'user', parts: [] })
    expect(await asked({ exchange: 'x', type: 'session-clear', session: { id: 's' } }, agent)).toBe('session-busy')
    expect(await store.readMessages('kept')).toHaveLength(1)
  })

  test('to close ends it, whatever the agent says', async () => {
    const agent = await lived(':')
    expect(await asked({ exchange: 'x', type: 'session-close', session: { id: 's' } }, agent)).toBe('done')
    expect(sessions.live.get('kept')).toBeUndefined()
  })
})

const APPROVAL: Question = {
  kind: 'approval',
  name: 'rm',
  args: '{}',
  options: [{ id: 'ok', kind: 'allow', scope: 'once' }],
}

describe('a command about a turn', () => {
  /** A live turn, and the commands that mean it. */
  function commanded() {
    const { turn, run: ofTurn }: { turn: Turn; run: TurnRun } = plainTurn({
      recorder: { events: async () => [{ seq: 1, event: accepted }] },
    })
    const accepted: TurnEvent = { type: 'turn-accepted', turn: 't', how: 'new', session: 's' }
    turn.accept()
    turns.add(turn)
    const client = {
      options: { access: { tenant: LOCAL_TENANT }, context: { principal: 'me' } },
      scope: {},
      exchangeOf: () => undefined,
    } as unknown as ClientLink
    const run = async (command: Parameters<TurnCommands['run']>[1]): Promise<PlainHost> => {
      const host = new PlainHost()
      await turnCommands.run(client, command, new Exchange(command, ANSWER, host))
      return host
    }
    /** What a command was answered: `done`, or its fault's text. */
    const told = async (command: Parameters<TurnCommands['run']>[1]): Promise<unknown> => {
      const { replies, faults } = await run(command)
      const [reply] = replies
      if (reply?.type !== 'command-reply') return faults[0]?.message
      return reply.fault?.message ?? 'done'
    }
    return { turn, asks: ofTurn.asks, run, told }
  }

  const target = { turn: 't' } as const
  const GONE = 'It is not running or not open here; it has ended, or was answered already.'
  const UNKNOWN = 'There is no such turn; it may have been deleted, or belong to another key.'

  test('cancels it once', async () => {
    const { turn, told } = commanded()
    expect(await told({ exchange: 'x', type: 'turn-cancel', target })).toBe('done')
    expect(turn.view.end?.outcome).toBe('cancelled')
    expect(await told({ exchange: 'x', type: 'turn-cancel', target })).toBe(GONE)
    expect(await told({ exchange: 'x', type: 'turn-cancel', target: { turn: 'none' } })).toBe(GONE)
  })

  test('deletes it once it has ended', async () => {
    const { turn, told } = commanded()
    const remove = { exchange: 'x', type: 'turn-delete', id: 't' } as const
    const RUNS = 'The turn still runs; cancel it first.'
    expect(await told(remove)).toBe(RUNS)
    expect(await told({ ...remove, id: 'none' })).toBe(UNKNOWN)
    await store.openSession(key(), 'kept', 3)
    await store.openSession(key('s', 'other'), 'theirs', 3)
    await store.beginTurn({ ...TURN, turn: 'elsewhere', owner: 'there' })
    await store.takeLease('there', 1, 99)
    expect(await told({ ...remove, id: 'elsewhere' })).toBe(RUNS)
    await store.endTurn({
      ...TURN,
      turn: 'theirs',
      session: 'theirs',
      tenant: 'other',
      endedAt: 6,
      outcome: 'completed',
    })
    expect(await told({ ...remove, id: 'theirs' })).toBe(UNKNOWN)
    await store.endTurn({ ...TURN, endedAt: 6, outcome: 'completed' })
    turns.delete(turn)
    expect([await told(remove), await told(remove)]).toEqual(['done', UNKNOWN])
  })

  test('does not say that it is deleted when it is pruned first, which keeps its messages', async () => {
    const { turn, told } = commanded()
    await store.openSession(key(), 'kept', 3)
    await store.endTurn({ ...TURN, endedAt: 6, outcome: 'completed' })
    turns.delete(turn)
    const remove = vi.spyOn(store, 'deleteTurn').mockImplementationOnce(async (id) => {
      remove.mockRestore()
      await store.prune(7, 9)
      return store.deleteTurn(id)
    })
    expect(await told({ exchange: 'x', type: 'turn-delete', id: 't' })).toBe(UNKNOWN)
  })

  test('steers it where its agent can be told', async () => {
    const { turn, told } = commanded()
    const steer = { exchange: 'x', type: 'turn-steer', target, input: [{ type: 'text', text: 'left' }] } as const
    expect(await told(steer)).toBe('The agent "plain" takes no input while it works; send it as a new turn.')
    const sent: Command[] = []
    turn.link = { ready: true, send: (command: Command) => sent.push(command), pause() {} } as never
    expect(await told(steer)).toBe('done')
    expect(sent).toEqual([steer])
  })

  test('follows it from its beginning', async () => {
    const { turn, run, told } = commanded()
    const host = await run({ exchange: 'x', type: 'turn-follow', target })
    turn.take({ type: 'turn-end', turn: 't', outcome: 'completed' })
    expect(host.types).toEqual(['turn-accepted', 'turn-end'])
    expect(host.events[0]).toMatchObject({ how: 'joined' })
    expect(await told({ exchange: 'x', type: 'turn-follow', target: { turn: 'none' } })).toBe(UNKNOWN)
    expect(await told({ exchange: 'x', type: 'turn-follow', target: { request: 'none' } })).toBe(UNKNOWN)
  })

  test('answers its question', async () => {
    const { asks, told } = commanded()
    const reply = (option: string) =>
      told({ exchange: 'x', type: 'ask-reply', target, ask: 'q', reply: { kind: 'approval', option } })
    expect(await reply('ok')).toBe(GONE)
    const ask = { type: 'ask', turn: 't', ask: 'q', question: APPROVAL } as const
    expect(asks.asked(ask)).toBe(true)
    expect(await reply('maybe')).toBe('The question has no such option; choose one of: ok.')
    expect(await reply('ok')).toBe('done')
    expect(await reply('ok')).toBe(GONE)
  })

  test('under the token of a park that is not known is refused', async () => {
    const { told } = commanded()
    const parked = { continuation: 't.unknown' }
    expect(
      await told({ exchange: 'x', type: 'ask-reply', target: parked, reply: { kind: 'approval', option: 'ok' } }),
    ).toBe(UNKNOWN)
  })
})
