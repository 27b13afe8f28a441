import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { capabilities, type Route } from '../../src/contract/index.ts'
import { Breakers } from '../../src/engine/agent/breakers.ts'
import { Exchange } from '../../src/engine/client/exchange.ts'
import { UNWRITABLE } from '../../src/engine/common/faults.ts'
import { join, maySteer, steer } from '../../src/engine/turn/joining.ts'
import type { Turn } from '../../src/engine/turn/turn.ts'
import { type Command, type ErrorCode, fault, ITEMS, type TurnEvent, type TurnView } from '../../src/model/index.ts'
import { ANSWER, LIMITS, PlainHost, plainAgent, plainTurn, start } from '../kit/plain.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'hrtime'] }))
afterEach(() => void vi.useRealTimers())

const named = (name: string) => plainAgent('', { name })
const DOWN: ErrorCode[] = ['agent-unavailable', 'agent-crashed', 'overloaded', 'provider-down', 'provider-rate-limit']
const OWN: ErrorCode[] = ['invalid-request', 'timeout', 'internal', 'session-not-found', 'forbidden']

describe('a turn that cannot be run on its agent', () => {
  test.each(DOWN)('goes to the next that may be tried: %s', (code) => {
    const breakers = new Breakers(() => 0)
    for (let failure = 0; failure < 2; failure += 1) breakers.recordOutcome(named('b'), fault('agent-unavailable', 'x'))
    const { turn, host, told } = plainTurn({ others: [named('b'), named('c')], peers: { breakers } })
    turn.fail(fault(code, 'why'))
    expect([turn.agent.name, turn.ended, host.types]).toEqual(['c', false, ['notice']])
    expect(told).toContainEqual(['move', 'c'])
    turn.fail(fault(code, 'again'))
    expect(turn.view.end?.fault?.message).toBe('again')
  })

  test.each(OWN)('ends where another agent could do no better: %s', (code) => {
    const { turn } = plainTurn({ others: [named('b')] })
    turn.fail(fault(code, 'why'))
    expect([turn.agent.name, turn.view.end?.fault?.code]).toEqual(['plain', code])
  })

  test('ends when it is refused, whoever could take it', () => {
    const { turn } = plainTurn({ others: [named('b')] })
    turn.refuse(UNWRITABLE)
    expect([turn.agent.name, turn.view.end?.fault]).toEqual(['plain', UNWRITABLE])
  })

  test('that is refused says nothing of its agent, which is used as before', () => {
    const breakers = new Breakers(() => 0)
    const agent = plainAgent('', { breaker: { failures: 1, cooldown: 1000 } })
    const { turn } = plainTurn({ agent, peers: { breakers } })
    turn.refuse(UNWRITABLE)
    expect([breakers.state(agent), breakers.choose([agent, named('b')])]).toEqual(['closed', agent])
  })

  test('ends when it was cancelled, as a cancelled one', () => {
    const { turn } = plainTurn({ others: [named('b')] })
    turn.cancel()
    turn.fail(fault('overloaded', 'late'))
    expect(turn.view.end?.outcome).toBe('cancelled')
  })

  test('has the time limits of the agent that takes it', () => {
    const slow = plainAgent('', { name: 'slow', limits: { ...LIMITS, total: 90_000 } })
    const { turn } = plainTurn({ others: [slow] })
    turn.fail(fault('overloaded', 'why'))
    vi.advanceTimersByTime(89_000)
    expect(turn.ended).toBe(false)
    vi.advanceTimersByTime(2000)
    expect(turn.view.end?.fault).toMatchObject({ code: 'timeout' })
  })
})

describe('the end of a turn', () => {
  test('is reported once to each part: its place, its agent, the turns, the record', () => {
    const breakers = new Breakers(() => 0)
    const heard: string[] = []
    const turns = { delete: () => void heard.push('turns') }
    const { turn, told, host } = plainTurn({ peers: { breakers, turns } })
    turn.accept()
    turn.cancel()
    turn.cancel()
    turn.fail(fault('internal', 'late'))
    expect(host.types).toEqual(['turn-accepted', 'turn-end'])
    expect(told.map(([what]) => what)).toEqual(['event', 'event', 'abandon', 'end'])
    expect(heard).toEqual(['turns'])
  })

  test('counts for the agent that had it', () => {
    const breakers = new Breakers(() => 0)
    const agent = plainAgent('', { breaker: { failures: 1, cooldown: 1000 } })
    plainTurn({ agent, peers: { breakers } }).turn.fail(fault('agent-unavailable', 'x'))
    expect(breakers.state(agent)).toBe('open')
  })
})

/** A further client of the turn. */
function joining(turn: Turn, command: Command = start({ request: 'again' }, 'y')) {
  const host = new PlainHost()
  const exchange = new Exchange(command, ANSWER, host)
  return { host, exchange, joined: join(turn, exchange, 0) }
}

describe('a client that leaves', () => {
  test.each<[Partial<Route>, boolean]>([
    [{}, true],
    [{ onDisconnect: 'drain' }, false],
    [{ onDisconnect: 'cancel' }, true],
  ])('as the last one on the route %j takes the turn with it: %s', (route, cancels) => {
    const { turn, exchange } = plainTurn({ route })
    turn.leave(exchange)
    expect(turn.cancelled).toBe(cancels)
    turn.cancel()
  })

  test('leaves it to another one that is there', async () => {
    const { turn, exchange } = plainTurn()
    turn.accept()
    const { exchange: other, joined } = joining(turn)
    await joined
    turn.leave(exchange)
    expect(turn.cancelled).toBe(false)
    turn.leave(other)
    expect(turn.cancelled).toBe(true)
  })
})

describe('a further client', () => {
  test('that joins while the turn ends has the time of its end', async () => {
    let at = 5
    let read = (): void => {}
    const recorded = new Promise<[]>((resolve) => {
      read = () => resolve([])
    })
    const { turn } = plainTurn({ now: () => at, recorder: { events: () => recorded } })
    turn.accept()
    const ended: number[] = []
    const host = Object.assign(new PlainHost(), {
      encode: ({ type }: TurnEvent, _: Exchange, { at }: TurnView) => type === 'turn-end' && ended.push(at),
    })
    const joined = join(turn, new Exchange(start({}, 'y'), ANSWER, host), 0)
    at = 6
    turn.cancel()
    at = 13
    read()
    await joined
    expect([turn.view.at, ended]).toEqual([6, [6]])
  })

  test('is refused while the record of the turn is incomplete', async () => {
    const { turn } = plainTurn({ recorder: { keeps: () => false } })
    const { host, joined } = joining(turn)
    await joined
    expect(host.faults).toEqual([UNWRITABLE])
    turn.cancel()
  })

  test('that steers gives its words to the agent and the record, and gets the rest', () => {
    const { turn, told } = plainTurn()
    const sent: Command[] = []
    turn.accept()
    turn.link = { ready: true, send: (command: Command) => sent.push(command), pause() {} } as never
    const command = start({ turn: 't2', request: 'r2', input: [{ type: 'text', text: 'left' }] }, 'y')
    const host = new PlainHost()
    steer(turn, new Exchange(command, ANSWER, host), command)
    expect(sent).toMatchObject([{ type: 'turn-steer', target: { turn: 't' }, input: command.input }])
    expect(told).toContainEqual(['steered', command.input])
    expect(host.events).toMatchObject([{ type: 'turn-accepted', turn: 't', how: 'joined', request: 'r2' }])
  })

  test('cannot say more to the agent than a request may have', () => {
    const sent: unknown[] = []
    const { turn, told } = plainTurn({ agent: plainAgent('') })
    turn.link = { ready: true, pause() {}, send: (command: unknown) => sent.push(command) } as never
    const input = [{ type: 'text', text: 'x'.repeat(10_000) }] as const
    const refusals = Array.from({ length: 7 }, () => turn.tellAgent({ exchange: 'y', input })?.code)
    // Each also counts for what it takes besides its text: six would be 60,000 of 65,536 without that.
    expect(refusals).toEqual([...Array(5).fill(undefined), 'payload-too-large', 'payload-too-large'])
    expect(turn.tellAgent({ exchange: 'y', input: [{ type: 'text', text: 'short' }] })).toBeUndefined()
    expect([sent.length, told.filter(([what]) => what === 'steered').length]).toEqual([6, 6])
    const command = start({ input: [{ type: 'text', text: 'x'.repeat(10_000) }] })
    expect([maySteer(turn, command), maySteer(turn, start())]).toEqual([false, true])
  })

  test.each([
    ['that is not ready', { ready: false }, ITEMS],
    ['that has no word for it', { ready: true }, ITEMS.filter((item) => item !== 'turn-steer')],
  ])('cannot steer an agent %s', (_which, link, full) => {
    const { turn } = plainTurn({ agent: plainAgent('', {}, { able: capabilities({ full }) }) })
    turn.link = { ...link, send() {}, pause() {} } as never
    expect([turn.steerable, turn.tellAgent({ exchange: 'y', input: [] })?.code]).toEqual([false, 'invalid-request'])
  })
})
