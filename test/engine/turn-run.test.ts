import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { capabilities } from '../../src/contract/index.ts'
import { AgentPool } from '../../src/engine/agent/agent-pool.ts'
import { Breakers } from '../../src/engine/agent/index.ts'
import type { AgentSession } from '../../src/engine/turn/index.ts'
import { type Fault, fault, ITEMS, type TurnEvent } from '../../src/model/index.ts'
import { LIMITS, type PlainTurn, plainAgent, plainBack, plainTurn } from '../kit/plain.ts'
import { ScriptedBackend } from '../kit/scripted-backend.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const SESSION: AgentSession = { names: { id: 's' }, settings: {} }
const LOST: Fault = { ...fault('session-not-found', 'unknown'), retry: 'fresh-session' }
const FRESH: Fault = { ...fault('internal', 'stale'), retry: 'fresh-session' }
const CRASHED = fault('agent-crashed', 'gone')

/** A turn that runs on a ready agent, and the agent's side of it. */
async function running(more: PlainTurn = {}, session = SESSION) {
  const backend = new ScriptedBackend()
  const agent = plainAgent('', { backend, dialect: plainBack({ persistent: true }) })
  const it = plainTurn({ agent, ...more })
  const link = new AgentPool(agent, () => false).take(it.turn.scope, { idleEvent() {}, callFailed() {} }, {})!
  const say = async (event: object): Promise<void> => {
    backend.call.say(`${JSON.stringify({ turn: 't', ...event })}\n`)
    await settle()
  }
  await say({ turn: null, type: 'agent-ready' })
  let done = false
  const run = it.turn.run(link, session).then(() => {
    done = true
  })
  await settle()
  const fail = (found: Fault) => say({ type: 'turn-end', outcome: 'failed', fault: found })
  /** The agent's ids of the session in its attempts. */
  const bounds = () => backend.call.written.map((line) => JSON.parse(line)).filter(({ type }) => type === 'turn-start')
  return { ...it, link, backend, say, fail, run, done: () => done, bounds }
}

/** Lets all that is decided already happen. */
async function settle(): Promise<void> {
  for (let step = 0; step < 20; step += 1) await Promise.resolve()
}

const ends = ({ events }: { events: readonly TurnEvent[] }) =>
  events.flatMap((event) => (event.type === 'turn-end' ? [event.fault?.code ?? event.outcome] : []))

describe('attempts with the same agent', () => {
  test.each([
    ['the session is lost', [LOST]],
    ['a fresh session is asked for', [FRESH]],
    ['a session is lost, then a fresh one is asked for', [LOST, FRESH]],
    ['a session is lost twice', [LOST, LOST]],
    ['a fresh session is asked for, then that is lost', [FRESH, LOST]],
  ] as const)('follow each other when %s', async (_when, faults) => {
    const { host, fail, say, bounds, run } = await running()
    for (const found of faults) await fail(found)
    expect(ends(host)).toEqual([])
    await say({ type: 'turn-end', outcome: 'completed' })
    await run
    expect([ends(host), bounds().length]).toEqual([['completed'], faults.length + 1])
  })

  test('end when nothing is left to try', async () => {
    const { host, fail, run } = await running()
    for (const found of [FRESH, LOST, LOST]) await fail(found)
    await run
    expect(ends(host)).toEqual(['session-not-found'])
  })

  test('say what the agent is to know then, and lose what the one before lost', async () => {
    const lost = async (): Promise<AgentSession> => ({ ...SESSION, bound: 'another' })
    const { fail, bounds, turn, say, run } = await running({ session: { lost } }, { ...SESSION, bound: 'its id' })
    turn.loss({ kind: 'dropped', item: 'ext', why: 'no-place', count: 1 })
    await fail(LOST)
    expect([bounds().map(({ session }) => session.bound), turn.losses.list]).toEqual([['its id', 'another'], []])
    await fail(FRESH)
    expect([bounds().at(-1).session.bound, turn.losses.list]).toEqual([
      'fresh',
      [{ kind: 'weakened', item: 'session.id', why: 'policy', count: 1 }],
    ])
    await say({ type: 'turn-end', outcome: 'completed' })
    await run
  })

  test('are none once the client was shown something', async () => {
    const { host, fail, say, run } = await running()
    await say({ type: 'text-delta', message: 'm', text: 'hi' })
    await fail(LOST)
    await run
    expect(ends(host)).toEqual(['session-not-found'])
  })

  test.each([
    ['is refused', async () => fault('session-busy', 'no'), 'session-busy'],
    ['fails inside', () => Promise.reject(new Error('broken')), undefined],
  ] as const)('end when the session %s', async (_how, lost, code) => {
    const { host, fail, run } = await running({ session: { lost } })
    const outcome = run.then(
      () => 'done',
      () => 'thrown',
    )
    await fail(LOST)
    expect([await outcome, ends(host)]).toEqual(code ? ['done', [code]] : ['thrown', []])
  })

  test('are not begun for a turn that was cancelled or has ended meanwhile', async () => {
    for (const [act, end] of [
      ['cancel', 'cancelled'],
      ['fail', 'internal'],
    ] as const) {
      const { promise, resolve } = Promise.withResolvers<AgentSession>()
      const { host, turn, fail, bounds, run } = await running({ session: { lost: () => promise } })
      await fail(LOST)
      if (act === 'cancel') turn.cancel()
      else turn.fail(fault('internal', 'x'))
      resolve(SESSION)
      await run
      expect([ends(host), bounds().length]).toEqual([[end], 1])
    }
  })
})

test('a turn is done when the process that serves it has exited, although its client has the end before', async () => {
  const backend = new ScriptedBackend()
  const agent = plainAgent('', { backend, dialect: plainBack() })
  const { host, turn } = plainTurn({ agent })
  const link = new AgentPool(agent, () => false).take(turn.scope, { idleEvent() {}, callFailed() {} }, {})!
  let done = false
  const run = turn.run(link, SESSION).then(() => {
    done = true
  })
  backend.call.say(`${JSON.stringify({ type: 'turn-end', turn: 't', outcome: 'completed' })}\n`)
  await settle()
  expect([ends(host), done]).toEqual([['completed'], false])
  backend.call.end()
  await run
  expect([backend.call.stops, vi.getTimerCount()]).toEqual([[], 0])
})

describe('the mode of a session', () => {
  const PLAN: AgentSession = { ...SESSION, settings: { mode: 'plan' } }
  const replied = (more = {}) => ({ turn: null, type: 'command-reply', exchange: 't-mode', ...more })
  const types = (lines: readonly string[]) => lines.map((line) => JSON.parse(line).type)

  test('is set before the turn, once for a process', async () => {
    const { host, backend, say, run, link, turn } = await running({}, PLAN)
    expect(types(backend.call.written)).toEqual(['config-set'])
    await say(replied())
    expect(types(backend.call.written)).toEqual(['config-set', 'turn-start'])
    await say({ type: 'turn-end', outcome: 'completed' })
    await run
    expect([ends(host), turn.link]).toEqual([['completed'], link])
    const next = plainTurn({ agent: turn.agent })
    void next.turn.run(link, PLAN)
    expect(types(backend.call.written)).toEqual(['config-set', 'turn-start', 'turn-start'])
    await say({ type: 'turn-end', outcome: 'completed' })
  })

  test('that the agent refuses refuses the turn', async () => {
    const { host, backend, say, run } = await running({}, PLAN)
    await say(replied({ fault: fault('invalid-request', 'unknown') }))
    await run
    expect([ends(host), types(backend.call.written)]).toEqual([['invalid-request'], ['config-set']])
  })

  test.each(['cancel', 'expire'] as const)('is waited for no longer after %s, and no turn begins', async (how) => {
    const { host, backend, turn, run, say } = await running({}, PLAN)
    if (how === 'cancel') turn.cancel()
    vi.advanceTimersByTime(how === 'cancel' ? LIMITS.grace : LIMITS.start + 1)
    await run
    await say(replied())
    expect(ends(host)).toEqual([how === 'cancel' ? 'cancelled' : 'agent-unavailable'])
    expect(types(backend.call.written).filter((type) => type !== 'turn-cancel')).toEqual(['config-set'])
    expect(backend.call.stops.length).toBeGreaterThan(0)
  })
})

describe('another agent', () => {
  const others = [plainAgent('', { name: 'b' })]

  test('takes a turn that showed nothing', async () => {
    const { host, told, turn, fail, run } = await running({ others })
    await fail(CRASHED)
    await run
    expect([ends(host), turn.agent.name, turn.link, turn.ended]).toEqual([[], 'b', undefined, false])
    expect(told.filter(([what]) => what === 'move')).toEqual([['move', 'b']])
  })

  test('is not tried, and may be tried by others, when the turn was cancelled while the first one left', async () => {
    const breakers = new Breakers(() => 0)
    const probes = vi.spyOn(breakers, 'release')
    const backend = new ScriptedBackend()
    const agent = plainAgent('', { backend, dialect: plainBack() })
    const { host, turn, told } = plainTurn({ agent, others, peers: { breakers } })
    const link = new AgentPool(agent, () => false).take(turn.scope, { idleEvent() {}, callFailed() {} }, {})!
    const run = turn.run(link, SESSION)
    await settle()
    backend.call.stubborn = true
    backend.call.say(`${JSON.stringify({ type: 'turn-end', turn: 't', outcome: 'failed', fault: CRASHED })}\n`)
    turn.cancel()
    expect(ends(host)).toEqual([])
    backend.call.end()
    await run
    expect([ends(host), told.filter(([what]) => what === 'move'), probes.mock.lastCall?.[0].name]).toEqual([
      ['cancelled'],
      [],
      'b',
    ])
  })

  test('is none for a turn that is refused', async () => {
    const { host, turn, run } = await running({ others })
    turn.refuse(fault('agent-unavailable', 'not now'))
    await run
    expect([ends(host), turn.agent.name]).toEqual([['agent-unavailable'], 'plain'])
  })
})

describe('a turn that is ended from outside', () => {
  test('by an internal error has its end at once, and its agent is stopped', async () => {
    const { host, turn, backend, link, say, run } = await running()
    await say({ type: 'text-delta', message: 'm', text: 'hi' })
    turn.fail(fault('internal', 'x'))
    expect([ends(host), host.types.slice(-2)]).toEqual([['internal'], ['message-end', 'turn-end']])
    await run
    expect([backend.call.stops, link.dead]).toEqual([['timeout'], true])
  })

  test.each([
    ['firstEvent', LIMITS.firstEvent],
    ['total', LIMITS.total],
  ])('by the limit %s has its end when that has passed', async (which, ms) => {
    const { host, backend, say, run } = await running()
    if (which === 'total') {
      for (let at = 0; at < ms - 1000; at += 1000) {
        vi.advanceTimersByTime(1000)
        await say({ type: 'step-start', step: at })
      }
      vi.advanceTimersByTime(1001)
    } else vi.advanceTimersByTime(ms + 1)
    await run
    expect([ends(host), backend.call.stops, vi.getTimerCount()]).toEqual([['timeout'], ['timeout'], 0])
  })

  test('by no limit of silence while its agent answers as a whole, but once that streams', async () => {
    const backend = new ScriptedBackend()
    const able = capabilities({ full: ITEMS.filter((item) => item !== 'text-delta') })
    const agent = plainAgent('', { backend, dialect: plainBack({ able }), limits: { ...LIMITS, total: 1e9 } })
    const { host, turn } = plainTurn({ agent })
    const link = new AgentPool(agent, () => false).take(turn.scope, { idleEvent() {}, callFailed() {} }, {})!
    const run = turn.run(link, SESSION)
    vi.advanceTimersByTime(10 * LIMITS.firstEvent)
    expect(ends(host)).toEqual([])
    backend.call.head('text/event-stream')
    vi.advanceTimersByTime(LIMITS.firstEvent - 1)
    backend.call.say('data: {"turn":null,"type":"notice"}\n\n')
    vi.advanceTimersByTime(LIMITS.idle - 1)
    expect(ends(host)).toEqual([])
    vi.advanceTimersByTime(2)
    await run
    expect(ends(host)).toEqual(['timeout'])
  })

  test('by a handler that throws fails its run, and its agent is stopped', async () => {
    const { say, backend, run } = await running({
      recorder: {
        event: (_turn, event) => {
          if (event.type === 'text-delta') throw new Error('broken')
        },
      },
    })
    const outcome = expect(run).rejects.toThrow('broken')
    await say({ type: 'text-delta', message: 'm', text: 'hi' })
    await outcome
    expect(JSON.parse(backend.call.written.at(-1)!)).toMatchObject({ type: 'turn-cancel' })
    vi.advanceTimersByTime(LIMITS.grace)
    expect(backend.call.stops).toEqual(['cancelled'])
  })
})
