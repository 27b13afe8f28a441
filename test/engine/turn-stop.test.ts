import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { capabilities } from '../../src/contract/index.ts'
import type { AgentLink } from '../../src/engine/agent/index.ts'
import { TurnStop } from '../../src/engine/turn/turn-stop.ts'
import { type Command, ITEMS } from '../../src/model/index.ts'
import { ALL, LIMITS, plainAgent, plainTurn } from '../kit/plain.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const MUTE = capabilities({ full: ITEMS.filter((item) => item !== 'turn-cancel') })

/** A turn's stop on a link of this kind, and what the link and the turn were told, with the time of each. */
function stopping({ persistent = true, ready = true, able = ALL } = {}) {
  const agent = plainAgent('', {}, { able })
  const { turn } = plainTurn({ agent })
  const began = Date.now()
  const said: [ms: number, what: string][] = []
  const note = (what: string): void => void said.push([Date.now() - began, what])
  const link = {
    agent,
    persistent,
    ready,
    send: (command: Command) => note(command.type),
    stop: async (why: string, grace: number) => note(`${why} ${grace}`),
  } as unknown as AgentLink
  return { stop: new TurnStop(turn, () => note('given up')), link, turn, said }
}

test('an agent that goes on is asked first, then ended, then given up', () => {
  const { stop, link, said } = stopping()
  stop.begin(link)
  vi.advanceTimersByTime(10 * LIMITS.grace)
  expect(said).toEqual([
    [0, 'turn-cancel'],
    [100, 'cancelled 100'],
    [300, 'given up'],
  ])
})

test.each([
  ['has no word for it', { able: MUTE }, ['cancelled 100']],
  ['serves one turn', { persistent: false }, ['turn-cancel', 'cancelled 100']],
  ['is not ready', { ready: false }, ['turn-cancel', 'cancelled 100']],
])('an agent that %s is ended at once', (_what, of, first) => {
  const { stop, link, said } = stopping(of)
  stop.begin(link)
  expect(said.map(([, what]) => what)).toEqual(first)
  vi.advanceTimersByTime(10 * LIMITS.grace)
  expect(said.slice(first.length)).toEqual([
    [200, 'cancelled 100'],
    [400, 'given up'],
  ])
})

test('an agent that heeds the cancel is left alone', () => {
  const { stop, link, said } = stopping()
  stop.begin(link)
  stop.done()
  vi.advanceTimersByTime(10 * LIMITS.grace)
  expect(said).toEqual([[0, 'turn-cancel']])
})

test('a turn that has its end waits for nothing', () => {
  const { stop, link, turn, said } = stopping()
  turn.take({ type: 'turn-end', turn: 't', outcome: 'completed' })
  stop.begin(link)
  vi.advanceTimersByTime(10 * LIMITS.grace)
  expect(said).toEqual([[0, 'turn-cancel']])
})
