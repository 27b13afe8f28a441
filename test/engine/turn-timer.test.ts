import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { TurnTimer } from '../../src/engine/turn/turn-timer.ts'
import type { Fault } from '../../src/model/index.ts'
import { LIMITS } from '../kit/plain.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A timer, and what it said. */
function timer(totalMs?: number, limits = LIMITS) {
  const said: Fault[] = []
  const init = { agent: 'a', limits, totalMs }
  return { timer: new TurnTimer(init, (fault) => said.push(fault)), said }
}

describe.each([
  ['place', 10_000, 'overloaded', 'No process of the agent "a" was free within 10 s (limit "start")'],
  ['start', 10_000, 'agent-unavailable', 'The agent "a" was not ready within 10 s (limit "start").'],
  ['firstEvent', 20_000, 'timeout', 'The agent "a" sent nothing for 20 s (limit "firstEvent").'],
  ['idle', 30_000, 'timeout', 'The agent "a" sent nothing for 30 s (limit "idle").'],
] as const)('the phase %s', (phase, ms, code, text) => {
  test(`ends after ${ms} ms with ${code}`, () => {
    const { timer: it, said } = timer()
    it.enter(phase)
    vi.advanceTimersByTime(ms - 2)
    expect(said).toEqual([])
    vi.advanceTimersByTime(3)
    expect(said.map((fault) => fault.code)).toEqual([code])
    expect(said[0]!.message).toContain(text)
    vi.advanceTimersByTime(LIMITS.total)
    expect(said).toHaveLength(1)
  })

  test('has no end while it is held, and begins again after that', () => {
    const { timer: it, said } = timer(undefined, { ...LIMITS, total: 1e7 })
    it.enter(phase)
    it.hold(true)
    const { setTimeout: faked } = globalThis
    const armed = vi.fn(faked)
    // Not `vi.spyOn`, which would put the timer of this test back in later files of the process.
    globalThis.setTimeout = armed as never
    vi.advanceTimersByTime(5 * ms)
    globalThis.setTimeout = faked
    expect(armed.mock.calls.length).toBeLessThanOrEqual(5)
    it.hold(false)
    vi.advanceTimersByTime(ms - 2)
    expect(said).toEqual([])
    vi.advanceTimersByTime(ms)
    expect(said.map((fault) => fault.code)).toEqual([code])
  })
})

test('a turn that waits for its session has the limit of the whole turn alone', () => {
  const { timer: it, said } = timer()
  vi.advanceTimersByTime(LIMITS.total - 2)
  expect([said, it.leftMs]).toEqual([[], 2])
  vi.advanceTimersByTime(2)
  expect(said.map(({ code, message }) => [code, message])).toEqual([
    ['timeout', 'The turn did not end within its limit of 60 s.'],
  ])
  expect(it.leftMs).toBe(0)
})

test.each([
  [100, 100, '100 ms'],
  [1_500, 1_500, '1.5 s'],
  [1_001, 1_001, '1001 ms'],
  [90_000, 60_000, '60 s'],
])('a client that asks for %i ms gets %i', (asked, ms, time) => {
  const { said } = timer(asked)
  vi.advanceTimersByTime(ms)
  expect(said.map(({ message }) => message)).toEqual([`The turn did not end within its limit of ${time}.`])
})

test('another agent has its own whole limit; the time that the client asked for goes on', () => {
  const { timer: it, said } = timer(100_000)
  vi.advanceTimersByTime(50_000)
  it.moveTo('b', LIMITS)
  expect(it.leftMs).toBe(50_000)
  it.enter('start')
  vi.advanceTimersByTime(10_001)
  expect(said.map(({ message }) => message)).toEqual(['The agent "b" was not ready within 10 s (limit "start").'])
})

test('the first event ends the wait for it, and each further one begins the silence again', () => {
  const { timer: it, said } = timer()
  it.enter('firstEvent')
  vi.advanceTimersByTime(19_000)
  it.touch()
  vi.advanceTimersByTime(29_000)
  it.touch()
  expect(said).toEqual([])
})

test('a turn that has its end is never out of time, whatever its agent does then', () => {
  const { timer: it, said } = timer()
  it.stop()
  expect(vi.getTimerCount()).toBe(0)
  it.enter('firstEvent')
  it.touch()
  vi.advanceTimersByTime(LIMITS.total)
  expect(said).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

test('law: an agent is silent for too long exactly when two of its events are further apart than the limit', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 12 }), (gaps) => {
      const { timer: it, said } = timer(undefined, { ...LIMITS, idle: 30, total: 1e6 })
      it.enter('idle')
      let silent = false
      for (const gap of gaps) {
        vi.advanceTimersByTime(gap)
        silent ||= gap >= 31
        if (said.length > 0) break
        it.touch()
      }
      it.stop()
      if (silent) expect(said).toHaveLength(1)
      if (!gaps.some((gap) => gap >= 29)) expect(said).toEqual([])
    }),
  )
})
