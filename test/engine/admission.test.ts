import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { capabilities, type Route, type Store } from '../../src/contract/index.ts'
import { Exchange } from '../../src/engine/client/exchange.ts'
import type { AgentSettings, EngineSettings } from '../../src/engine/common/index.ts'
import type { Admission } from '../../src/engine/dispatch/admission.ts'
import type { Sessions } from '../../src/engine/session/sessions.ts'
import { type Command, fault, type TurnEvent, type TurnStart } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { engineParts, plainClient, settingsOf } from '../kit/engine-parts.ts'
import { ANSWER, DONE, LIMITS, type PlainBack, PlainHost, plainAgent, ROUTE, start } from '../kit/plain.ts'
import { storeFailure } from '../kit/store-failure.ts'

const DOWN = fault('agent-unavailable', 'down')

let store: Store
let sessions: Sessions

beforeEach(() => {
  store = openStore({ kind: 'sqlite', path: ':memory:' })
})
afterEach(async () => {
  await sessions.close(0)
  await store.close()
})

/** An agent of one process a turn, which ends each turn under the id that it was given. */
const named = (name: string, script: string, more: Partial<AgentSettings> = {}, back: PlainBack = {}): AgentSettings =>
  plainAgent(script, { name, ...more }, back)
/** Ends the turn `t` when it has read its command. */
const QUICK = `read -r line; ${DONE}`
/** Never ends a turn. */
const SLOW = 'read -r line; read -r never'

/** Admission to these agents, the first of which the route gives turns to. */
function admitting(agents: readonly AgentSettings[], settings: Partial<EngineSettings> = {}) {
  const parts = engineParts(store, settingsOf(agents, settings))
  const admission: Admission = parts.admission
  const { turns, breakers, recorder, watch, live, use } = parts
  sessions = parts.sessions
  const shared: string[] = []
  const client = plainClient(shared)
  /** Asks for a turn; its exchange, and its client's events once that has its end. */
  const ask = (command: Command & TurnStart = start(), route: Partial<Route> = {}) => {
    const host = new PlainHost()
    const exchange = new Exchange(command, ANSWER, host)
    const ended = new Promise<readonly TurnEvent[]>((resolve) => {
      host.ended = () => resolve(host.events)
    })
    const choice = { agent: agents[0]!, route: { ...ROUTE, ...route } }
    const admitted = admission.start(client, command, choice as never, exchange)
    return { host, exchange, ended, admitted }
  }
  return { ask, turns, breakers, recorder, watch, shared, live, use }
}

const types = (events: readonly TurnEvent[]): string[] => events.map(({ type }) => type)
const outcome = (events: readonly TurnEvent[]): unknown => events.at(-1)?.type === 'turn-end' && events.at(-1)

describe('a request for a turn', () => {
  test('is accepted, recorded, run and ended', async () => {
    const { ask, turns, recorder } = admitting([named('a', QUICK)])
    const { ended } = ask(start({ request: 'r' }))
    expect(types(await ended)).toEqual(['turn-accepted', 'turn-end'])
    await recorder.flush()
    expect(await store.readTurn('t')).toMatchObject({ agent: 'a', request: 'r', outcome: 'completed' })
    expect(turns.size).toBe(0)
  })

  test('that names its folder leaves it with the session, and the beginning of the first prompt', async () => {
    const { ask } = admitting([named('a', QUICK)])
    const settings = async () => (await store.listSessions({ tenant: 'local', limit: 1 }))!.rows[0]?.settings
    const input = [{ type: 'text', text: `\n ${'x'.repeat(79)}😀 and more\nbelow` }] as const
    await ask(start({ cwd: '/work', input }), { journal: 'shape' }).ended
    expect(await settings()).toEqual({ cwd: '/work' })
    await ask(start({ turn: 't', cwd: '/other', input })).ended
    expect(await settings()).toEqual({ cwd: '/other', title: `${'x'.repeat(79)}…` })
    await ask(start({ cwd: '/third' })).ended
    expect(await settings()).toEqual({ cwd: '/third', title: `${'x'.repeat(79)}…` })
  })

  test('without a session gets one of its own', async () => {
    const { ask } = admitting([named('a', QUICK)])
    const command = start()
    delete command.session
    expect((await ask(command).ended)[0]).toMatchObject({
      type: 'turn-accepted',
      session: expect.stringMatching(/^[\w-]{10,}$/),
    })
  })

  test('that an agent is not fit for is refused before anything is kept', async () => {
    const agent = named('a', QUICK, {}, { able: capabilities({ full: ['turn-start', 'part.text'] }) })
    const { ask } = admitting([agent])
    const { ended, host } = ask(start({ task: 'compact' }))
    await ended
    expect(host.faults.map(({ code }) => code)).toEqual(['invalid-request'])
    expect((await store.listSessions({ tenant: 'local', limit: 9 }))!.rows).toEqual([])
  })

  test('of a key that has as many turns as it may is refused', async () => {
    const { ask, turns } = admitting([named('a', SLOW)], { turnLimits: new Map([['local', { turns: 1 }]]) })
    await ask().admitted
    const { host, ended } = ask(start({ turn: 't2' }, 'y'))
    await ended
    expect(host.faults).toMatchObject([
      {
        code: 'overloaded',
        message: 'This key has a turn under way, which is all that it may; send this one when one ends.',
      },
    ])
    turns.get('t')!.cancel()
  })

  test('that begins a session instead of another one runs in the mode that was set for that', async () => {
    // An agent that never says that it took the mode.
    const limits = { ...LIMITS, start: 50 }
    const { ask, recorder } = admitting([named('a', QUICK, { pool: { warm: 0, max: 9, idle: 1000 }, limits })])
    await ask().ended
    await recorder.flush()
    const key = { tenant: 'local', agent: 'a', session: 's', conversation: '' }
    const { id } = (await store.findSession(key))!
    await store.setSession(id, { mode: 'plan', model: 'm', title: 'theirs' })
    const command = start({ turn: 't2', historyMode: 'complete' }, 'y')
    const [accepted] = await ask(command).ended
    const { session } = accepted as { session: string }
    expect(session).not.toBe('s')
    expect((await store.findSession({ ...key, session }))?.settings).toEqual({ mode: 'plan', model: 'm' })
  })

  test('that is refused leaves its place behind another turn to the next one', async () => {
    const { ask, use } = admitting([named('a', QUICK)], { turnLimits: new Map([['local', { turns: 1 }]]) })
    await ask().ended
    const { session: _, ...next } = start({ turn: 't2', after: 't' }, 'y')
    await use.take('local', 'other')
    await ask(next).ended
    use.give('other')
    const { ended } = ask({ ...next, turn: 't3', exchange: 'z' })
    const [accepted] = await ended
    expect(accepted).toMatchObject({ type: 'turn-accepted', session: 's' })
  })

  test.each<[Partial<Route>, number]>([
    [{ busy: 'reject' }, 0],
    [{ limits: { queue: 1 } }, 1],
  ])('on the route %j finds room for %i that wait', async (route, room) => {
    const { ask, turns } = admitting([named('a', SLOW, { pool: { warm: 0, max: 9, idle: 1000 } })])
    await ask(start(), route).admitted
    for (let more = 0; more < room; more += 1) await ask(start({ turn: `w${more}` }, `w${more}`), route).admitted
    const { host, ended } = ask(start({ turn: 'last' }, 'z'), route)
    await ended
    expect(host.faults.map(({ code }) => code)).toEqual(['session-busy'])
    expect(turns.size).toBe(1 + room)
    for (const turn of turns.values().reverse()) turn.cancel()
  })
})

describe('an agent that cannot be used', () => {
  const route = { fallback: ['b'] }

  test('is passed over for one that can', async () => {
    const { ask, breakers, recorder } = admitting([named('a', SLOW), named('b', QUICK)])
    for (let failure = 0; failure < 2; failure += 1) breakers.recordOutcome({ ...named('a', ''), name: 'a' }, DOWN)
    const events = await ask(start(), route).ended
    expect(outcome(events)).toMatchObject({ outcome: 'completed' })
    expect(events[1]).toMatchObject({ code: 'fallback', text: 'The agent "a" could not be used; "b" answers.' })
    await recorder.flush()
    expect(await store.readTurn('t')).toMatchObject({ agent: 'b' })
  })

  test('gives its turn to the next one as long as its client was shown nothing', async () => {
    const { ask, recorder } = admitting([named('a', 'exit 9'), named('b', QUICK)])
    const events = await ask(start(), route).ended
    expect(types(events)).toEqual(['turn-accepted', 'notice', 'turn-end'])
    expect(events[1]).toMatchObject({ code: 'fallback', text: 'The agent "a" could not be used; "b" answers.' })
    await recorder.flush()
    expect(await store.readTurn('t')).toMatchObject({ agent: 'b', outcome: 'completed' })
  })

  test('has the request refused where there is no other', async () => {
    const { ask, breakers, turns } = admitting([named('a', SLOW)])
    for (let failure = 0; failure < 2; failure += 1) breakers.recordOutcome(named('a', ''), DOWN)
    const { host, ended } = ask(start(), route)
    await ended
    expect(host.faults).toMatchObject([{ code: 'agent-unavailable' }])
    expect(turns.size).toBe(0)
  })
})

describe('a request under a key', () => {
  const once = { key: 'k', duplicate: 'join', replay: 'success' } as const
  const command = (turn: string, more: Partial<TurnStart> = {}) => start({ turn, once, ...more }, `x-${turn}`)

  test('that comes again joins the turn that runs', async () => {
    const { ask, turns, shared } = admitting([named('a', SLOW)])
    await ask(command('t')).admitted
    const { host, ended, admitted } = ask(command('t2'))
    await admitted
    expect(host.events[0]).toMatchObject({ type: 'turn-accepted', how: 'joined', turn: 't' })
    turns.get('t')!.cancel()
    expect(outcome(await ended)).toMatchObject({ turn: 't', outcome: 'cancelled' })
    expect(shared).toEqual(['joined'])
  })

  test('that comes again after its end is answered from the record', async () => {
    const { ask, recorder, shared } = admitting([named('a', QUICK)])
    await ask(command('t')).ended
    await recorder.flush()
    const { ended, exchange } = ask(command('t2'))
    expect((await ended)[0]).toMatchObject({ how: 'replayed', turn: 't' })
    expect([exchange.replays, shared]).toEqual([true, ['replayed']])
  })

  test('that differs from the one before is a conflict', async () => {
    const { ask, turns } = admitting([named('a', SLOW)])
    await ask(command('t')).admitted
    const { host, ended } = ask(command('t2', { input: [{ type: 'text', text: 'other' }] }))
    await ended
    expect(host.faults.map(({ code }) => code)).toEqual(['idempotency-conflict'])
    turns.get('t')!.cancel()
  })

  test('was refused before has its key free again', async () => {
    const { ask, breakers } = admitting([named('a', QUICK)])
    const agent = named('a', '')
    for (let failure = 0; failure < 2; failure += 1) breakers.recordOutcome(agent, DOWN)
    await ask(command('t')).ended
    breakers.recordOutcome(agent, undefined)
    // Also for another request: it is no conflict.
    const { ended, host } = ask(command('t2', { input: [{ type: 'text', text: 'other' }] }))
    expect((await ended)[0]).toMatchObject({ type: 'turn-accepted', turn: 't2', how: 'new' })
    expect(host.faults).toEqual([])
  })

  test('is refused while nothing can be written', async () => {
    const { ask, watch } = admitting([named('a', QUICK)])
    const probe = store.probe.bind(store)
    store.probe = () => {
      throw storeFailure('full')
    }
    watch.failed(storeFailure('full'))
    const { host, ended } = ask(command('t'))
    await ended
    expect(host.faults.map(({ code }) => code)).toEqual(['agent-unavailable'])
    store.probe = probe
    watch.close()
  })
})

test('a request that steers goes to the turn that runs, and has the rest of it', async () => {
  const ready = '{"turn":null,"type":"agent-ready"}'
  const script = `echo '${ready}'; read -r line; read -r steered; ${DONE}; read -r never`
  const { ask, turns } = admitting([named('a', script, {}, { persistent: true })])
  const first = ask(start(), { busy: 'steer' })
  await first.admitted
  while (!turns.get('t')?.steerable) await new Promise((after) => setImmediate(after))
  const second = ask(start({ turn: 't2', request: 'r2' }, 'y'), { busy: 'steer' })
  expect((await second.ended)[0]).toMatchObject({ type: 'turn-accepted', turn: 't', how: 'joined', request: 'r2' })
  expect(outcome(await first.ended)).toMatchObject({ outcome: 'completed' })
})
