import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JournalEntry } from '../../src/contract/index.ts'
import { foldUpTo, reissue } from '../../src/engine/events/recorded.ts'
import { acceptedTurn } from '../../src/engine/events/turn-events.ts'
import { LiveView, viewOf } from '../../src/engine/events/view.ts'
import type { TurnEvent } from '../../src/model/index.ts'

const entry = (seq: number, event: TurnEvent): JournalEntry => ({ seq, json: JSON.stringify(event) }) as JournalEntry
const text: TurnEvent = { type: 'text-delta', turn: 't', message: 'm', text: 'x' }

test('a recorded acceptance is shown under the request of the exchange that it is shown to', () => {
  const recorded = entry(1, acceptedTurn('t', 'new', 's', 'first'))
  expect(reissue(recorded, 'replayed', 'second')).toEqual({
    seq: 1,
    event: acceptedTurn('t', 'replayed', 's', 'second'),
  })
  expect(reissue(recorded, 'joined', undefined)).toEqual({ seq: 1, event: acceptedTurn('t', 'joined', 's', undefined) })
})

test('any other recorded event is shown as it was', () => {
  expect(reissue(entry(7, text), 'replayed', 'r')).toEqual({ seq: 7, event: text })
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
