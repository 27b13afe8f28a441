import fc from 'fast-check'
import { expect, test } from 'vitest'
import { foldUpTo, type Numbered, numbered, reissue } from '../../src/engine/events/recorded.ts'
import { acceptedTurn } from '../../src/engine/events/turn-events.ts'
import { LiveView, viewOf } from '../../src/engine/events/view.ts'
import type { TurnEvent } from '../../src/model/index.ts'

const entry = (seq: number, event: TurnEvent): Numbered => ({ seq, event })
const text: TurnEvent = { type: 'text-delta', turn: 't', message: 'm', text: 'x' }

test('a recorded acceptance is shown under the request of the exchange that it is shown to', () => {
  const recorded = entry(1, acceptedTurn('t', 'new', 's', 'first'))
  expect(reissue(recorded, 'replayed', 'second')).toEqual({
    seq: 1,
    event: acceptedTurn('t', 'replayed', 's', 'second'),
  })
  expect(reissue(recorded, 'joined', undefined)).toEqual({ seq: 1, event: acceptedTurn('t', 'joined', 's', undefined) })
  const echo = { protocol: 'p', json: '{}' }
  const echoed = entry(1, acceptedTurn('t', 'new', 's', 'first', echo))
  expect(reissue(echoed, 'joined', 'r')).toEqual({ seq: 1, event: acceptedTurn('t', 'joined', 's', 'r', echo) })
})

test('any other recorded event is shown as it was', () => {
  expect(reissue(entry(7, text), 'replayed', 'r')).toEqual({ seq: 7, event: text })
})

test('law: blocks give every event after a number once, with its number, whatever was written twice', () => {
  const cuts = fc.array(fc.tuple(fc.nat(9), fc.nat(9)), { maxLength: 4 })
  fc.assert(
    fc.property(fc.array(fc.string(), { maxLength: 10 }), cuts, fc.nat(12), (pieces, again, after) => {
      const all = pieces.map((piece, at) => entry(at + 1, { ...text, text: piece } as TurnEvent))
      const block = (from: number, to: number) => ({
        turn: 't',
        seq: from + 1,
        lines: all
          .slice(from, to)
          .map(({ event }) => JSON.stringify(event))
          .join('\n'),
      })
      const middle = all.length >> 1
      const ranges = [[0, middle], [middle, all.length], ...again] as [number, number][]
      const blocks = ranges.filter(([from, to]) => from < Math.min(to, all.length)).map(([from, to]) => block(from, to))
      blocks.sort((one, other) => one.seq - other.seq)
      expect(numbered(blocks, after)).toEqual(all.slice(after))
    }),
  )
})

test('law: a fold up to an event is the fold of the events up to it', () => {
  const open: TurnEvent = { type: 'message-start', turn: 't', message: 'm', role: 'assistant' }
  fc.assert(
    fc.property(fc.array(fc.string(), { maxLength: 8 }), fc.nat(10), (pieces, last) => {
      const events: TurnEvent[] = [open, ...pieces.map((piece) => ({ ...text, text: piece }) as TurnEvent)]
      const entries = events.map((event, index) => entry(index + 1, event))
      const view = new LiveView({ turn: 't', session: 's', agent: 'a', at: 3 })
      const whole = viewOf({ turn: 't', session: 's', agent: 'a', startedAt: 3 }, events.slice(0, last))
      expect(foldUpTo(view, entries, last)).toBe(view)
      expect([view.text, view.seq, view.at]).toEqual([whole.text, whole.seq, 3])
    }),
  )
})
