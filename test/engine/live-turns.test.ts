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
    if (works) Object.assign(turn, { link: { send() {}, pause() {}, cancel: end } })
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

  test('cancels what waits for the next request of a client when nothing else is left for a while', async () => {
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
    expect([outcomeOf(parked.turn), outcomeOf(waiting.turn), state.done]).toEqual(['cancelled', 'none', false])
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
