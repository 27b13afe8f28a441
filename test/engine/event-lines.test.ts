import fc from 'fast-check'
import { expect, test } from 'vitest'
import { appendLine, appendTexts, newLines, takeLines } from '../../src/engine/events/event-lines.ts'
import { numbered } from '../../src/engine/events/recorded.ts'
import { type EventOf, TextRun, type TurnEvent } from '../../src/model/index.ts'

const text = fc.string({ unit: 'binary', maxLength: 8 })
const message = fc.constantFrom('m1', 'm2', 'a "\n" b')
const type = fc.constantFrom('text-delta', 'reasoning-delta')

/** Deltas, also such as have more, less or other members, or their members in another order, and other events. */
const event: fc.Arbitrary<object> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type, turn: fc.constant('t'), message, text }) },
  fc.record({ type, turn: fc.constant('t'), message, text, lane: fc.constant('sub') }),
  fc.record({ type, turn: fc.constant('another'), message, text }),
  { weight: 6, arbitrary: fc.record({ turn: fc.constant('t'), type, message, text }) },
  fc.record({ message, turn: fc.constant('t'), type, text }),
  fc.record({ type, turn: fc.constant('t'), text }),
  fc.record({ type: fc.constant('tool-args-delta'), turn: fc.constant('t'), tool: message, text }),
  fc.record({ type: fc.constant('message-end'), turn: fc.constant('t'), message }),
)

test('law: every event comes back as it was, with its number, wherever blocks begin', () => {
  fc.assert(
    fc.property(fc.array(event), fc.array(fc.nat(20)), fc.nat(20), (events, cuts, after) => {
      const lines = newLines('t')
      const blocks = events.flatMap((one, at) => {
        appendLine(lines, at + 1, one as TurnEvent)
        return cuts.includes(at) ? [takeLines(lines)!] : []
      })
      const last = takeLines(lines)
      const read = numbered(last ? [...blocks, last] : blocks, after)
      const written = events.map((one, at) => [at + 1, JSON.stringify(one)])
      expect(read.map(({ seq, event: one }) => [seq, JSON.stringify(one)])).toEqual(written.slice(after))
    }),
  )
})

test('deltas of one message are one line, and its first event has the number of the block', () => {
  const lines = newLines('t')
  const delta = (id: string, piece: string): TurnEvent => ({ type: 'text-delta', turn: 't', message: id, text: piece })
  for (const [at, piece] of ['a', '"', '\n'].entries()) appendLine(lines, at + 5, delta('m', piece))
  appendLine(lines, 8, delta('n', 'b'))
  expect(takeLines(lines)).toEqual({
    turn: 't',
    seq: 5,
    lines: '[1,"m","a","\\"","\\n"]\n[1,"n","b"]',
  })
  expect(takeLines(lines)).toBeUndefined()
  appendLine(lines, 9, delta('n', 'c'))
  expect(takeLines(lines)).toEqual({ turn: 't', seq: 9, lines: '[1,"n","c"]' })
})

test('law: pieces of text together are the lines that they are one by one', () => {
  const texts = fc.array(fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }), { minLength: 2, maxLength: 5 })
  const first = fc.oneof(
    fc.record({ turn: fc.constant('t'), type: fc.constant('text-delta' as const), message }),
    fc.record({ type: fc.constant('text-delta' as const), turn: fc.constant('t'), message }),
    fc.record({ message, type: fc.constant('text-delta' as const), turn: fc.constant('t') }),
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(first, texts)), (runs) => {
      const [alone, together] = [newLines('t'), newLines('t')]
      let seq = 1
      for (const [like, pieces] of runs) {
        const run = new TextRun({ ...like, text: pieces[0]! } as EventOf<'text-delta'>, pieces)
        for (const [at, one] of run.events.entries()) appendLine(alone, seq + at, one)
        appendTexts(together, seq, run)
        seq += run.length
      }
      expect(together).toEqual(alone)
    }),
  )
})
