import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { LiveTurns } from '../../src/engine/session/live-turns.ts'
import type { Turn } from '../../src/engine/turn/turn.ts'
import { LIMITS, plainAgent, plainTurn, start } from '../kit/plain.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const agent = plainAgent('', { limits: { ...LIMITS, ask: 60_000, total: 90_000, firstEvent: 90_000 } })

/** The turns of a gateway that stops, and whether it has stopped to wait for them. */
function stopping(ms: number) {
  const turns = new LiveTurns()
  const run = (id: string, { works = true } = {}) => {
    const peers = { turns }
    const { turn, run } = plainTurn({ command: start({ turn: id }), answer: { asks: 'next-request' }, agent, peers })
    turns.add(turn)
    const end = (): void => void turn.take({ type: 'turn-end', turn: id, outcome: 'cancelled' })
    if (works) Object.assign(turn, { link: { send() {}, pause() {}, cancel: end, abort: () => false } })
    const park = async (): Promise<void> => {
      const question = { kind: 'input', message: 'm' } as const
      run.asks.asked({ type: 'ask', turn: id, ask: 'a', question })
      await vi.advanceTimersByTimeAsync(0)
    }
    return { turn, park, end }
  }
  const stop = () => {
    const state = { done: false }
    void turns.untilDone(ms).then(() => {
      state.done = true
    })
    return state
  }
  return { run, stop }
}

const outcomeOf = ({ view }: Turn): string => view.end?.outcome ?? 'none'

describe('a gateway that stops', () => {
  test('waits for a turn that works, as long as it may', async () => {
    const { run, stop } = stopping(30_000)
    const { turn } = run('a')
    const state = stop()
    await vi.advanceTimersByTimeAsync(29_900)
    expect(state.done).toBe(false)
    await vi.advanceTimersByTimeAsync(100)
    expect([state.done, outcomeOf(turn)]).toEqual([true, 'none'])
  })

  test('ends what waits for the next request of a client when nothing else is left for a while', async () => {
    const { run, stop } = stopping(30_000)
    const [parked, working] = [run('a'), run('b')]
    const waiting = run('c', { works: false })
    await parked.park()
    const state = stop()
    await vi.advanceTimersByTimeAsync(2000)
    expect(outcomeOf(parked.turn)).toBe('none')
    working.end()
    await vi.advanceTimersByTimeAsync(4700)
    expect(outcomeOf(parked.turn)).toBe('none')
    await vi.advanceTimersByTimeAsync(500)
    // Who waits in line behind it comes next.
    expect([outcomeOf(parked.turn), outcomeOf(waiting.turn), state.done]).toEqual(['failed', 'none', false])
    waiting.turn.cancel()
    await vi.advanceTimersByTimeAsync(250)
    expect(state.done).toBe(true)
  })

  test('lets a turn go on whose client answers in time', async () => {
    const { run, stop } = stopping(30_000)
    const { turn, park, end } = run('a')
    await park()
    const state = stop()
    await vi.advanceTimersByTimeAsync(4000)
    turn.answer(
      { exchange: 'y', type: 'ask-reply', target: { turn: 'a' }, reply: { kind: 'input', values: '{}' } } as never,
      'me',
    )
    await vi.advanceTimersByTimeAsync(20_000)
    expect([outcomeOf(turn), state.done]).toEqual(['none', false])
    end()
    await vi.advanceTimersByTimeAsync(250)
    expect(state.done).toBe(true)
  })
})

describe('turns that run or wait', () => {
  const made = (id: string, more: Parameters<typeof start>[0] = {}, tenant = 'local'): Turn => {
    const record = { id: 'kept', tenant, agent: 'plain', session: 's', conversation: '', createdAt: 1, usedAt: 1 }
    return plainTurn({ command: start({ turn: id, ...more }), session: { record } }).turn
  }

  test('are counted once, however often they are added or forgotten', () => {
    const turns = new LiveTurns()
    const [one, other] = [made('a'), made('b')]
    expect([turns.size, turns.busy]).toEqual([0, false])
    for (const turn of [one, one, other]) turns.add(turn)
    expect([turns.size, turns.busy, turns.values()]).toEqual([2, true, [one, other]])
    for (const turn of [one, one]) turns.delete(turn)
    expect([turns.size, turns.busy, turns.get('a'), turns.get('b')]).toEqual([1, true, undefined, other])
    turns.delete(other)
    expect([turns.size, turns.busy]).toEqual([0, false])
  })

  test('have no ids but their own', () => {
    const turns = new LiveTurns()
    for (const id of ['constructor', 'toString', '__proto__']) {
      expect(turns.get(id)).toBeUndefined()
      turns.add(made(id))
      expect(turns.get(id)?.id).toBe(id)
    }
    expect(turns.size).toBe(3)
  })

  test('that have begun are refused together, and those that wait are not', () => {
    const turns = new LiveTurns()
    const [begun, waits] = [made('a'), made('b')]
    for (const turn of [begun, waits]) turns.add(turn)
    begun.take({ type: 'turn-started', turn: 'a' })
    turns.refuse({ code: 'internal', message: 'lost', retryable: false })
    expect([outcomeOf(begun), begun.view.end?.fault?.message, outcomeOf(waits)]).toEqual(['failed', 'lost', 'none'])
  })

  test('are those of a tenant, by what its client calls them', () => {
    const turns = new LiveTurns()
    const [own, theirs] = [made('a', { request: 'r' }), made('b', { request: 'r' }, 'other')]
    for (const turn of [own, theirs]) turns.add(turn)
    expect(turns.find('local', { request: 'r' })).toBe(own)
    expect(turns.find('other', { request: 'r' })).toBe(theirs)
    expect(turns.find('local', { turn: 'b' })).toBeUndefined()
    expect(turns.find('local', { request: 'none' })).toBeUndefined()
    expect(turns.find('local', { continuation: 'c' })).toBeUndefined()
    expect(turns.find('local', 'running')).toBeUndefined()
    expect([turns.countOf('local'), turns.countOf('other'), turns.countOf('nobody')]).toEqual([1, 1, 0])
  })

  test('are found by the continuation of their park', async () => {
    const turns = new LiveTurns()
    const { turn, run } = plainTurn({ answer: { asks: 'next-request' }, agent, peers: { turns } })
    turns.add(turn)
    Object.assign(turn, { link: { send() {}, pause() {}, cancel() {}, abort: () => false } })
    run.asks.asked({ type: 'ask', turn: 't', ask: 'a', question: { kind: 'input', message: 'm' } })
    await vi.advanceTimersByTimeAsync(0)
    const { continuation } = turn.questions!.parked!
    expect(turns.find('local', { continuation })).toBe(turn)
    expect(turns.find('other', { continuation })).toBeUndefined()
    turn.fail({ code: 'internal', message: 'm', retryable: false })
  })
})

describe('the end of a turn', () => {
  const end = (turns: LiveTurns, id: string, keyed = true): void => {
    const once = keyed ? { once: { key: id, duplicate: 'join', replay: 'success' } as const } : {}
    turns.delete(plainTurn({ command: start({ turn: id, ...once }) }).turn)
  }

  test('is remembered for turns with a key alone', () => {
    const turns = new LiveTurns()
    end(turns, 'a')
    end(turns, 'b', false)
    vi.advanceTimersByTime(7)
    expect([Math.round(turns.endedSince('a')!), turns.endedSince('b')]).toEqual([7, undefined])
  })

  test('is remembered of ten thousand turns, the newest ones', () => {
    const turns = new LiveTurns()
    const command = start({ once: { key: 'k', duplicate: 'join', replay: 'success' } })
    for (let id = 0; id <= 10_000; id += 1) turns.delete({ id: `t${id}`, command } as Turn)
    expect([turns.endedSince('t0'), turns.endedSince('t1')]).toEqual([undefined, 0])
    for (let id = 10_001; id <= 20_000; id += 1) turns.delete({ id: `t${id}`, command } as Turn)
    expect([turns.endedSince('t10000'), turns.endedSince('t10001')]).toEqual([undefined, 0])
  })
})

test('a gateway without turns is done at once, and one that may not wait too', async () => {
  const turns = new LiveTurns()
  await turns.untilIdle(1000)
  await turns.untilDone(1000)
  turns.add(plainTurn().turn)
  const before = vi.getTimerCount()
  await turns.untilIdle(0)
  await turns.untilIdle(-5)
  await turns.untilDone(0)
  expect(vi.getTimerCount()).toBe(before)
})

test('who waits for the last turn leaves no timer when it ends', async () => {
  const turns = new LiveTurns()
  const { turn } = plainTurn()
  turns.add(turn)
  const before = vi.getTimerCount()
  const waits = [turns.untilIdle(1000), turns.untilIdle(2000)]
  expect(vi.getTimerCount()).toBe(before + 2)
  turns.delete(turn)
  await Promise.all(waits)
  expect(vi.getTimerCount()).toBe(before)
})
