import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { EndedTurns } from '../../src/engine/session/ended-turns.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('it is remembered when a turn ended, for ten minutes', () => {
  const ended = new EndedTurns()
  ended.add('a')
  vi.advanceTimersByTime(599_999)
  ended.add('b')
  expect([Math.round(ended.since('a')!), ended.since('b'), ended.since('c')]).toEqual([599_999, 0, undefined])
  vi.advanceTimersByTime(1)
  ended.add('c')
  expect([ended.since('a'), Math.round(ended.since('b')!)]).toEqual([undefined, 1])
})

test('ten thousand turns are remembered, whatever their number was before', () => {
  const ended = new EndedTurns()
  for (let id = 0; id < 45_000; id += 1) {
    ended.add(`t${id}`)
    if (id % 4999 === 0 && id > 10_000) {
      expect([ended.since(`t${id - 10_000}`), ended.since(`t${id - 9999}`)]).toEqual([undefined, 0])
    }
  }
})
