import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { capabilities, type Store } from '../../src/contract/index.ts'
import { Breakers } from '../../src/engine/agent/breakers.ts'
import type { AgentSettings, EngineSettings } from '../../src/engine/common/index.ts'
import { Placement } from '../../src/engine/dispatch/placement.ts'
import type { SessionOpener } from '../../src/engine/dispatch/session-opener.ts'
import { fault } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { type EntryOptions, engineParts, entryFor, settingsOf } from '../kit/engine-parts.ts'
import { plainAgent, plainTurn } from '../kit/plain.ts'
import { storeFailure } from '../kit/store-failure.ts'

let store: Store
beforeEach(() => {
  store = openStore({ kind: 'sqlite', path: ':memory:' })
})
afterEach(() => store.close())

const DOWN = fault('agent-unavailable', 'down')
const named = (name: string, more: Partial<AgentSettings> = {}): AgentSettings => plainAgent('', { name, ...more })

/** Placement among these agents, on a clock that the test moves. */
function placing(agents: readonly AgentSettings[], settings: Partial<EngineSettings> = {}) {
  const clock = { now: 0 }
  const breakers = new Breakers(() => clock.now)
  const parts = engineParts(store, settingsOf(agents, settings))
  const opener: SessionOpener = parts.opener
  const placement = new Placement(opener, breakers, { current: settingsOf(agents, settings) })
  const find = async (options: EntryOptions = {}, at = 9) => {
    const { entry } = entryFor(agents[0]!, options)
    const record = await opener.record({ tenant: 'local', agent: agents[0]!.name, session: 's', conversation: '' }, at)
    return { entry, place: await placement.find(entry, record, at) }
  }
  /** The names of the agents at the place, or why there is none. */
  const agentsAt = async (options: EntryOptions = {}): Promise<readonly string[]> => {
    const { place } = await find(options)
    return 'code' in place ? [place.code] : place.agents.map(({ name }) => name)
  }
  return { ...parts, breakers, placement, find, agentsAt, clock }
}

/** Opens the circuit of an agent. */
const down = (breakers: Breakers, name: string): void => {
  for (let failure = 0; failure < 2; failure += 1) breakers.recordOutcome(named(name), DOWN)
}

describe('the agent of a turn', () => {
  const agents = [named('a'), named('b'), named('c')]
  const route = { fallback: ['b', 'gone', 'c'] }

  test.each([
    [[], undefined, ['a', 'b', 'c']],
    [['a'], undefined, ['b', 'c']],
    [['a', 'b'], undefined, ['c']],
    [['a', 'b', 'c'], undefined, ['agent-unavailable']],
    [['a'], ['a', 'c'], ['c']],
    [['a'], ['a'], ['agent-unavailable']],
  ])('while %j are down, for a client that may use %j, is the first of %j', async (broken, allowed, expected) => {
    const { breakers, agentsAt } = placing(agents)
    for (const name of broken) down(breakers, name)
    expect(await agentsAt({ route, ...(allowed && { allowed }) })).toEqual(expected)
  })

  test('is none that cannot do what is asked for', async () => {
    const weak = plainAgent('', { name: 'b' }, { able: capabilities({ full: ['turn-start', 'part.text'] }) })
    const { agentsAt } = placing([named('a'), weak, named('c')])
    const { command } = entryFor(named('a')).entry
    expect(await agentsAt({ route, command: { ...command, task: 'compact' } })).toEqual(['a', 'c'])
  })

  test('that is tried once again is tried by one turn, or by the next when that one finds no room', async () => {
    const { breakers, find, placement, clock, turns } = placing([named('a')])
    down(breakers, 'a')
    clock.now = 2000
    const { entry, place } = await find()
    expect(breakers.state(named('a'))).toBe('open')
    const barred = fault('overloaded', 'full')
    expect(placement.judge(entry, place as never, barred)).toEqual({ do: 'refuse', why: barred })
    expect([breakers.state(named('a')), turns.size]).toEqual(['half-open', 0])
  })
})

describe('the session of a turn', () => {
  test('on another agent has the mode that was set for the first one', async () => {
    const { breakers, find, opener } = placing([named('a'), named('b')])
    const record = await opener.record({ tenant: 'local', agent: 'a', session: 's', conversation: '' }, 5)
    await store.setSession(record.id, { mode: 'plan', model: 'm' })
    down(breakers, 'a')
    const { place } = await find({ route: { fallback: ['b'] } })
    expect(place).toMatchObject({ session: { record: { agent: 'b', settings: { mode: 'plan' } } } })
    const kept = await store.findSession({ tenant: 'local', agent: 'b', session: 's', conversation: '' })
    expect(kept?.settings).toEqual({ mode: 'plan' })
  })

  test('was used when its record is older and had a turn', async () => {
    const { find, opener } = placing([named('a')])
    const key = { tenant: 'local', agent: 'a', session: 's', conversation: '' }
    const { id } = await opener.record(key, 1)
    const about = {
      turn: 'old',
      session: id,
      tenant: 'local',
      agent: 'a',
      front: 'plain',
      owner: 'o',
      delivered: false,
    }
    await store.beginTurn({ ...about, startedAt: 1, epoch: 1 })
    const { place } = await find()
    expect(place).toMatchObject({ session: { memory: { used: true } } })
  })

  test('is one in memory while nothing can be written, the same for each turn', async () => {
    const { opener, watch, live, sessions } = placing([named('a')])
    watch.failed(storeFailure('full'))
    const key = { tenant: 'local', agent: 'a', session: 's', conversation: '' }
    const record = await opener.record(key, 1)
    expect(record).toMatchObject({ ...key, createdAt: 1, usedAt: 1 })
    sessions.open(record, named('a'), undefined)
    expect([await opener.record(key, 2), [...live.values()].length]).toEqual([record, 1])
    watch.close()
  })

  test.each([
    ['steer', 'report', true, 'steer'],
    ['steer', 'report', false, 'run'],
    ['queue', 'report', true, 'run'],
    ['reject', 'report', true, 'refuse'],
  ] as const)(
    'with a turn in it, on a route of %s and %s (it can be steered: %s), has it %s',
    async (busy, loss, steerable, verdict) => {
      const { find, placement } = placing([named('a')])
      const { entry, place } = await find({ route: { busy, loss } })
      if ('code' in place) throw new Error(place.code)
      const { turn } = plainTurn({ session: place.session, agent: named('a') })
      turn.link = { ready: steerable, pause() {}, send() {} } as never
      const session = { refusal: place.session.refusal.bind(place.session), restWhenIdle() {}, running: turn }
      place.session.enqueue(turn)
      expect(placement.judge(entry, { ...place, session: session as never }).do).toBe(verdict)
      turn.link = undefined
      turn.cancel()
      expect(place.session.busy).toBe(false)
      place.session.close()
    },
  )
})

describe('a place', () => {
  test('of an agent whose turns are refused is given back, and its session rests when it is idle', async () => {
    const { find, placement, breakers } = placing([named('a')])
    const { entry, place } = await find()
    if ('code' in place) throw new Error(place.code)
    const released: string[] = []
    breakers.release = ({ name }) => void released.push(name)
    const rests: string[] = []
    const session = { refusal: () => undefined, restWhenIdle: () => void rests.push('rests') } as never
    const barred = fault('overloaded', 'full')
    expect(placement.judge(entry, { ...place, session }, barred)).toEqual({ do: 'refuse', why: barred })
    expect([released, rests]).toEqual([['a'], ['rests']])
    expect(placement.judge(entry, { ...place, session })).toEqual({ do: 'run' })
    expect([released, rests]).toEqual([['a'], ['rests']])
  })

  test('has room for as many as its route lets wait, and the session says so before the key does', async () => {
    const { find, placement } = placing([named('a')])
    const { entry, place } = await find({ route: { limits: { queue: 7 } } })
    if ('code' in place) throw new Error(place.code)
    const full = fault('session-busy', 'full')
    const asked: number[] = []
    const session = {
      restWhenIdle() {},
      refusal: (room: number) => {
        asked.push(room)
        return full
      },
    } as never
    expect(placement.judge(entry, { ...place, session }, fault('overloaded', 'key'))).toEqual({
      do: 'refuse',
      why: full,
    })
    expect(asked).toEqual([7])
  })

  test.each([
    ['report', {}, 'steer'],
    ['strict', {}, 'steer'],
    // Options of a request that steers are lost: the turn has its own.
    ['report', { model: 'm' }, 'steer'],
    ['strict', { model: 'm' }, 'run'],
  ] as const)(
    'on a route that takes losses (%s) is steered by a request with %j: %s',
    async (loss, options, verdict) => {
      const { find, placement } = placing([named('a')])
      const { command } = entryFor(named('a')).entry
      const { entry, place } = await find({ route: { busy: 'steer', loss }, command: { ...command, options } })
      if ('code' in place) throw new Error(place.code)
      const running = { steerable: true, inputRefusal: () => undefined, audience: { full: false } }
      const session = { refusal: () => undefined, restWhenIdle() {}, running } as never
      expect(placement.judge(entry, { ...place, session }).do).toBe(verdict)
    },
  )

  test('that a key would refuse is steered all the same: no other turn begins', async () => {
    const { find, placement } = placing([named('a')])
    const { entry, place } = await find({ route: { busy: 'steer' } })
    if ('code' in place) throw new Error(place.code)
    const running = { steerable: true, inputRefusal: () => undefined, audience: { full: false } }
    const session = { refusal: () => fault('session-busy', 'full'), restWhenIdle() {}, running } as never
    const verdict = placement.judge(entry, { ...place, session }, fault('overloaded', 'key'))
    expect(verdict).toEqual({ do: 'steer', turn: running })
  })

  test('is found the same way when the store answers later', async () => {
    const { opener, placement, find } = placing([named('a')])
    const { entry, place } = await find()
    const record = await opener.record({ tenant: 'local', agent: 'a', session: 's', conversation: '' }, 9)
    opener.heardBy = () => Promise.resolve(undefined)
    const later = placement.find(entry, record, 9)
    expect(later).toBeInstanceOf(Promise)
    expect(await later).toEqual(place)
  })

  test('knows the agents after the one that takes the turn, in the order of the route', async () => {
    const { breakers, find } = placing([named('a'), named('b'), named('c')])
    down(breakers, 'a')
    const { place } = await find({ route: { fallback: ['c', 'b'] } })
    expect('code' in place ? place.code : place.agents.map(({ name }) => name)).toEqual(['c', 'b'])
    expect(place).toMatchObject({ session: { record: { agent: 'c', session: 's' } } })
  })
})
